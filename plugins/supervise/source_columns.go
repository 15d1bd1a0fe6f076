// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/host/arrowipc"
	"github.com/nervix-go/nervix/host/node/connector"
	"github.com/nervix-go/nervix/plugins/descriptor"
	"github.com/nervix-go/nervix/plugins/wire"
)

// sourceColumns turns the frames of one epoch into batches of the port: the error column and the constant metadata columns, which do not
// travel, are added as slices of arrays that are made once. It belongs to the goroutine of its session.
type sourceColumns struct {
	full    *arrow.Schema
	readers [2]*arrowipc.Reader
	seen    [2]bool
	// from says for each metadata column which column of the wire it is, or -1 for a constant, whose text is in constants.
	from      []int
	constants []string
	cached    []arrow.Array // per column of full, nil unless it does not travel
	cachedLen int
}

// SourceSchema is the schema of the batches that a source with these metadata columns hands over.
func SourceSchema(metadata []descriptor.Column) *arrow.Schema {
	return wire.SourceSchema(metadata, func(string) bool { return false }, true)
}

func newSourceColumns(metadata []descriptor.Column, constants map[string]string) (*sourceColumns, error) {
	c := &sourceColumns{full: SourceSchema(metadata)}
	constant := func(name string) bool { _, ok := constants[name]; return ok }
	for i, errorsToo := range []bool{wire.SchemaGood: false, wire.SchemaErrors: true} {
		r, err := arrowipc.NewReader(wire.SourceSchema(metadata, constant, errorsToo), arrowipc.Limits{})
		if err != nil {
			return nil, err
		}
		c.readers[i] = r
	}
	next := 0
	for _, m := range metadata {
		if !constant(m.Name) {
			c.from, c.constants = append(c.from, next), append(c.constants, "")
			next++
			continue
		}
		if m.Type != descriptor.ColumnString {
			return nil, fmt.Errorf("metadata column %s is constant but no text", m.Name)
		}
		c.from, c.constants = append(c.from, -1), append(c.constants, constants[m.Name])
	}
	c.cached = make([]arrow.Array, c.full.NumFields())
	return c, nil
}

func (c *sourceColumns) schema(index int, body *memory.Buffer) error {
	if index < 0 || index >= len(c.readers) || body == nil {
		return errors.New("a schema that was not agreed")
	}
	got, err := arrowipc.ParseSchema(body.Bytes())
	if err != nil {
		return err
	}
	c.seen[index] = true
	return arrowipc.Same(c.readers[index].Schema(), got)
}

// decode checks a batch; the result retains body.
func (c *sourceColumns) decode(index int, body *memory.Buffer) (arrow.RecordBatch, error) {
	if index < 0 || index >= len(c.readers) || !c.seen[index] || body == nil {
		return nil, errors.New("a batch of a schema that was not sent")
	}
	got, err := c.readers[index].Decode(body)
	if err != nil {
		return nil, err
	}
	defer got.Release()
	rows := int(got.NumRows())
	positions, ok := got.Column(connector.SourcePosition).(*array.Binary)
	if !ok || rows == 0 {
		return nil, errors.New("a batch without rows")
	}
	offsets := positions.ValueOffsets()
	for i := range rows {
		if offsets[i+1]-offsets[i] > connector.MaxPositionBytes {
			return nil, fmt.Errorf("a position of %d bytes, the limit is %d", offsets[i+1]-offsets[i], connector.MaxPositionBytes)
		}
	}
	c.extend(rows)
	columns := make([]arrow.Array, c.full.NumFields())
	columns[connector.SourcePayload], columns[connector.SourcePosition] = got.Column(connector.SourcePayload), positions
	wireMeta := 2
	if index == wire.SchemaErrors {
		columns[connector.SourceError] = got.Column(2)
		wireMeta = 3
	}
	for i, from := range c.from {
		if from >= 0 {
			columns[connector.SourceMetadata+i] = got.Column(wireMeta + from)
		}
	}
	for i, cached := range c.cached {
		if columns[i] == nil {
			part := array.NewSlice(cached, 0, int64(rows))
			defer part.Release()
			columns[i] = part
		}
	}
	return array.NewRecordBatch(c.full, columns, int64(rows)), nil
}

// extend makes the arrays that do not travel long enough.
func (c *sourceColumns) extend(rows int) {
	if rows <= c.cachedLen {
		return
	}
	c.cachedLen = max(rows, 2*c.cachedLen, 256)
	c.dropCached()
	none := array.NewStringBuilder(memory.DefaultAllocator)
	defer none.Release()
	none.AppendNulls(c.cachedLen)
	c.cached[connector.SourceError] = none.NewArray()
	for i, from := range c.from {
		if from < 0 {
			c.cached[connector.SourceMetadata+i] = repeated(c.constants[i], c.cachedLen)
		}
	}
}

func repeated(text string, n int) arrow.Array {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	b.Reserve(n)
	b.ReserveData(n * len(text))
	for range n {
		b.Append(text)
	}
	return b.NewArray()
}

func (c *sourceColumns) dropCached() {
	for i, a := range c.cached {
		if a != nil {
			a.Release()
			c.cached[i] = nil
		}
	}
}

// release frees the arrays made here; batches handed over keep their own references. It may be called on nil.
func (c *sourceColumns) release() {
	if c != nil {
		c.dropCached()
		c.cachedLen = 0
	}
}

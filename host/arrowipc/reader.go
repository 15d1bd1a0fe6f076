// SPDX-License-Identifier: Apache-2.0

package arrowipc

import (
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Reader decodes record batches of one schema. It belongs to one caller at a time.
type Reader struct {
	schema  *arrow.Schema
	layouts []layout
	nodes   int
	buffers int
	maxRows int
}

// NewReader prepares a reader. A schema with a type that the package does not read is refused.
func NewReader(schema *arrow.Schema, limits Limits) (*Reader, error) {
	r := &Reader{schema: schema, maxRows: limits.rows()}
	for _, f := range schema.Fields() {
		l, err := layoutOf(f, 0)
		if err != nil {
			return nil, err
		}
		l.count(&r.nodes, &r.buffers)
		r.layouts = append(r.layouts, l)
	}
	return r, nil
}

// Schema is the schema the reader was made for.
func (r *Reader) Schema() *arrow.Schema { return r.schema }

// Decode checks one encapsulated record batch message that fills owner exactly and builds its columns over owner's bytes. The batch
// retains owner; the caller keeps its own reference and may release it at once. owner's bytes must not change while the batch lives.
// If the body is not aligned to 8 bytes in memory it is copied first.
func (r *Reader) Decode(owner *memory.Buffer) (arrow.RecordBatch, error) {
	m, rest, end, err := split(owner.Bytes())
	if err != nil {
		return nil, err
	}
	if end || len(rest) != 0 {
		return nil, invalid("the buffer does not hold exactly one message")
	}
	return r.decode(m, owner, m.bodyAt)
}

// DecodeStream checks a whole IPC stream held in owner: the schema message, record batches and an optional end mark. The schema must
// be the reader's. The batches retain owner.
func (r *Reader) DecodeStream(owner *memory.Buffer) (batches []arrow.RecordBatch, err error) {
	defer func() {
		if err != nil {
			for _, b := range batches {
				b.Release()
			}
			batches = nil
		}
	}()
	all := owner.Bytes()
	rest := all
	for first := true; ; first = false {
		at := len(all) - len(rest)
		m, after, end, err := split(rest)
		switch {
		case err != nil:
			return batches, err
		case end && (first || len(after) != 0):
			return batches, invalid("the stream is empty or goes on after its end")
		case end:
			return batches, nil
		case first:
			if err := r.checkSchema(m); err != nil {
				return batches, err
			}
		default:
			b, err := r.decode(m, owner, at+m.bodyAt)
			if err != nil {
				return batches, err
			}
			batches = append(batches, b)
		}
		rest = after
	}
}

func (r *Reader) checkSchema(m message) error {
	s, err := schemaOf(m)
	if err != nil {
		return err
	}
	return Same(r.schema, s)
}

func (r *Reader) decode(m message, owner *memory.Buffer, bodyAt int) (arrow.RecordBatch, error) {
	if m.kind != headerRecordBatch {
		return nil, invalid("the message is not a record batch")
	}
	w := walk{flat: m.meta, body: m.body, maxRows: r.maxRows}
	rows := w.flat.int64(m.header, 0, 0)
	var nodes, buffers int
	w.nodeAt, nodes = w.flat.vector(m.header, 1, 16)
	w.bufferAt, buffers = w.flat.vector(m.header, 2, 16)
	if w.flat.bad {
		return nil, invalid("the record batch metadata is damaged")
	}
	if w.flat.has(m.header, 3) {
		return nil, refused("the record batch is compressed")
	}
	if nodes != r.nodes || buffers != r.buffers {
		return nil, invalid("the record batch has other columns than its schema")
	}
	if rows < 0 || rows > int64(r.maxRows) {
		return nil, invalid("the row count is out of range")
	}
	checked := w
	for i := range r.layouts {
		if err := checked.check(&r.layouts[i], int(rows), true); err != nil {
			return nil, err
		}
	}
	w.owner, w.bodyAt = owner, bodyAt
	w.align()
	columns := make([]arrow.Array, len(r.layouts))
	for i := range r.layouts {
		data := w.build(&r.layouts[i])
		columns[i] = array.MakeFromData(data)
		data.Release()
	}
	if w.copied {
		w.owner.Release()
	}
	batch := array.NewRecordBatch(r.schema, columns, rows)
	for _, c := range columns {
		c.Release()
	}
	return batch, nil
}

// align makes the body aligned in memory; it normally is.
func (w *walk) align() {
	if len(w.body) == 0 || uintptr(unsafe.Pointer(&w.body[0]))%bufferAlign == 0 {
		return
	}
	buf := memory.NewResizableBuffer(memory.DefaultAllocator)
	buf.Resize(len(w.body))
	copy(buf.Bytes(), w.body)
	w.owner, w.bodyAt, w.copied = buf, 0, true
}

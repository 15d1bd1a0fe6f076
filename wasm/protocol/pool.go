// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/host/arrowipc"
	"github.com/nervix-go/nervix/host/kernel/fault"
)

// poolUse is what the columns of an envelope ask of its generated batch.
type poolUse struct {
	// columns is the greatest generated index and one.
	columns int64
}

// poolReader keeps the reader of the last generated schema: a guest sends the same one with each batch, so it is compared as bytes.
type poolReader struct {
	message []byte
	schema  *arrow.Schema
	reader  *arrowipc.Reader
}

func badArrow(detail string, cause error) error {
	return refuse(fault.WasmArrow, "Bind", "invalid generated Arrow IPC: "+detail, cause)
}

// generated judges the generated batch and how the outputs use it, and puts it into the group.
func (c *Contract) generated(o *Output, g *Group, use *poolUse) error {
	if len(o.Generated) == 0 {
		if use.columns > 0 {
			return badColumns("generated column %d is used, the generated batch has 0 columns", use.columns-1)
		}
		return nil
	}
	// Lengths are judged here, to take the stream apart; all else by arrowipc.
	schema, rest, err := message(o.Generated)
	if err != nil {
		return err
	}
	if err := c.pool.prepare(schema); err != nil {
		return err
	}
	batch, rest, err := message(rest)
	if err != nil {
		return err
	}
	if len(rest) != 0 && !bytes.Equal(rest, arrowipc.EndOfStream) {
		return badArrow("the stream goes on after its record batch", nil)
	}
	if err := c.match(g, use); err != nil {
		return err
	}
	var body *memory.Buffer
	if g.message == nil {
		body = memory.NewBufferBytes(batch)
	} else {
		body = memory.SliceBuffer(g.message, o.at+len(o.Generated)-len(rest)-len(batch), len(batch))
	}
	g.Generated, err = c.pool.reader.Decode(body)
	body.Release()
	if err != nil {
		return badArrow("the record batch is refused", err)
	}
	return sameRows(g)
}

// message takes one encapsulated message off a stream.
func message(b []byte) (first, rest []byte, err error) {
	const envelope = 8
	if len(b) < envelope {
		return nil, nil, badArrow("the stream ends before its record batch", nil)
	}
	if binary.LittleEndian.Uint32(b) != 0xFFFFFFFF {
		return nil, nil, badArrow("a message does not open with the continuation marker", nil)
	}
	meta := int64(binary.LittleEndian.Uint32(b[4:]))
	if meta == 0 {
		return nil, nil, badArrow("the stream ends before its record batch", nil)
	}
	if meta > int64(len(b)-envelope) {
		return nil, nil, badArrow("the metadata of a message does not lie inside the stream", nil)
	}
	// Only the body length is read here: member 3 of the root table.
	r := reader{b: b[:envelope+meta], tables: 1, apparent: 1 << 20}
	if meta < 4 {
		return nil, nil, badArrow("the metadata of a message is damaged", nil)
	}
	var body uint64
	t := r.table(r.follow(envelope), 5)
	if at := r.place(t, 3, 8); at != 0 {
		body = binary.LittleEndian.Uint64(b[at:])
	}
	if r.bad != nil {
		return nil, nil, badArrow("the metadata of a message is damaged", nil)
	}
	if body > uint64(len(b)-envelope)-uint64(meta) {
		return nil, nil, badArrow("the body of a message does not lie inside the stream", nil)
	}
	end := envelope + int(meta) + int(body)
	return b[:end:end], b[end:], nil
}

// prepare makes the reader of a schema: plain columns of the types Nervix carries, without names (W-066 to W-073).
func (p *poolReader) prepare(message []byte) error {
	if p.reader != nil && bytes.Equal(p.message, message) {
		return nil
	}
	parsed, err := arrowipc.ParseSchema(message)
	if err != nil {
		return badArrow("the schema is refused", err)
	}
	if parsed.NumFields() == 0 {
		return badArrow("a generated batch without columns is written as no bytes at all", nil)
	}
	if annotated(message) {
		return badArrow("a generated column has metadata, which no relay declares", nil)
	}
	fields := make([]arrow.Field, parsed.NumFields())
	for i, f := range parsed.Fields() {
		if !carried(f.Type) {
			return badArrow(fmt.Sprintf("generated column %d has a type that Nervix does not carry", i), nil)
		}
		if f.Name != "" {
			return badArrow(fmt.Sprintf("generated column %d has a name; names belong to the relays", i), nil)
		}
		fields[i] = arrow.Field{Type: plain(f.Type), Nullable: f.Nullable}
	}
	schema := arrow.NewSchema(fields, nil)
	reader, err := arrowipc.NewReader(schema, arrowipc.Limits{})
	if err != nil {
		return badArrow("the schema is refused", err)
	}
	p.message, p.schema, p.reader = bytes.Clone(message), schema, reader
	return nil
}

// carried says whether a column of this type may be generated (W-068).
func carried(t arrow.DataType) bool {
	switch t := t.(type) {
	case *arrow.ListType:
		return carried(t.Elem())
	case *arrow.FixedSizeListType:
		return carried(t.Elem())
	case *arrow.TimestampType:
		return t.Unit == arrow.Nanosecond
	}
	switch t.ID() {
	case arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64, arrow.UINT8, arrow.UINT16, arrow.UINT32, arrow.UINT64, arrow.FLOAT32, arrow.FLOAT64,
		arrow.BOOL, arrow.STRING, arrow.BINARY:
		return true
	}
	return false
}

// plain gives list elements the name that relays use, so that a generated column has exactly the type of a column of its relay. The names
// inside a list mean nothing and are not compared.
func plain(t arrow.DataType) arrow.DataType {
	switch t := t.(type) {
	case *arrow.ListType:
		return arrow.ListOfField(arrow.Field{Name: "item", Type: plain(t.Elem()), Nullable: t.ElemField().Nullable})
	case *arrow.FixedSizeListType:
		return arrow.FixedSizeListOfField(t.Len(), arrow.Field{Name: "item", Type: plain(t.Elem()), Nullable: t.ElemField().Nullable})
	}
	return t
}

// Members of the Arrow metadata that are looked at here (Message.fbs, Schema.fbs).
const (
	memberHeader        = 2 // of Message
	memberFields        = 1 // of Schema
	memberChildren      = 5 // of Field
	memberFieldMetadata = 6 // of Field
	maxNesting          = 16
)

// annotated says whether a field has metadata of its own, which arrowipc leaves out (W-074). Damage counts as well.
func annotated(message []byte) bool {
	r := reader{b: message, tables: len(message), apparent: 8 * len(message)}
	m := r.table(r.follow(8), 5)
	schema := r.child(m, memberHeader, 4)
	return r.annotated(schema, memberFields, 0) || r.bad != nil
}

func (r *reader) annotated(parent table, member, depth int) bool {
	if r.place(parent, member, 4) == 0 {
		return false
	}
	fields := r.vector(parent, member, 4)
	for i := 0; i < fields.n && r.bad == nil; i++ {
		f := r.table(r.follow(fields.at+4*i), 7)
		if r.place(f, memberFieldMetadata, 4) != 0 && r.vector(f, memberFieldMetadata, 4).n > 0 {
			return true
		}
		if depth > maxNesting || r.annotated(f, memberChildren, depth+1) {
			return true
		}
	}
	return false
}

// match compares each generated column with every field that takes it, and refuses columns that nothing takes (W-074, W-076, W-114).
func (c *Contract) match(g *Group, use *poolUse) error {
	have := c.pool.schema
	if use.columns > int64(have.NumFields()) {
		return badColumns("generated column %d is used, the generated batch has %d columns", use.columns-1, have.NumFields())
	}
	var few [64]bool // no allocation for the usual number of columns
	used := few[:min(have.NumFields(), len(few))]
	if have.NumFields() > len(few) {
		used = make([]bool, have.NumFields())
	}
	for i := range g.Outputs {
		out := &g.Outputs[i]
		route := &c.routes[out.Route]
		for field, column := range out.Columns {
			if column.Source != Generated {
				continue
			}
			used[column.Index] = true
			want, got := route.Schema.Arrow().Field(field), have.Field(int(column.Index))
			if want.Nullable != got.Nullable || !sameType(want.Type, got.Type) {
				return badColumns("generated column %d does not have the exact type of field %s of relay %s, which is %s", column.Index, want.Name, route.Relay, shape(route.Schema.Field(field)))
			}
		}
	}
	for i, taken := range used {
		if !taken {
			return badColumns("generated column %d is not used by any output", i)
		}
	}
	return nil
}

// sameType compares types; nested fields agree in nullability and type, their names are those of Arrow libraries and mean nothing.
func sameType(want, got arrow.DataType) bool {
	switch w := want.(type) {
	case *arrow.ListType:
		g, ok := got.(*arrow.ListType)
		return ok && sameElement(w.ElemField(), g.ElemField())
	case *arrow.FixedSizeListType:
		g, ok := got.(*arrow.FixedSizeListType)
		return ok && w.Len() == g.Len() && sameElement(w.ElemField(), g.ElemField())
	}
	return arrow.TypeEqual(want, got)
}

func sameElement(want, got arrow.Field) bool {
	return want.Nullable == got.Nullable && sameType(want.Type, got.Type)
}

// sameRows holds every output that takes a generated column to the rows of the batch (W-078, W-105).
func sameRows(g *Group) error {
	rows := int(g.Generated.NumRows())
	for i := range g.Outputs {
		out := &g.Outputs[i]
		for _, column := range out.Columns {
			if column.Source == Generated && out.Acks.Rows() != rows {
				return badColumns("generated column %d has %d rows, but the routed output has %d rows", column.Index, rows, out.Acks.Rows())
			}
		}
	}
	return nil
}

// SPDX-License-Identifier: Apache-2.0

package guest

import "github.com/nervix-go/nervix/wasm/guest/go/internal/flat"

// writeOutput writes an output that was judged. Order: head, routes with their decisions, rows, generated batch.
func writeOutput(w *flat.Writer, o *Output, rows uint32, e *encoder) {
	envelope := beginMessage(w, outputEnvelope)
	w.Point(envelope + 8)
	offset := w.Offsets(len(o.routes))
	for _, r := range o.routes {
		r.write(w, offset)
		offset += 4
	}
	for _, r := range o.routes {
		if r.same == nil {
			r.writeRows(w)
		}
	}
	for _, r := range o.routes {
		of := r
		if r.same != nil {
			of = r.same
		}
		w.PointAt(r.sidecarAt+4, of.rowsAt)
	}
	w.PadTo(12, 16) // the stream begins at a multiple of 16
	w.Point(envelope + 4)
	length := w.Add32(0)
	if len(o.columns) > 0 {
		e.writeSchema(w, o)
		e.writeBatch(w, o, rows)
		w.Put32(length, w.Len()-length-4)
	}
	endMessage(w)
}

// write writes everything of a route but its rows.
func (r *Route) write(w *flat.Writer, offset uint32) {
	w.Pad(4)
	w.Point(offset)
	t := w.Table(vtRouted, 16)
	w.Point(t + 4)
	w.Text(r.to.Name)
	w.Point(t + 8)
	at := w.Offsets(len(r.columns))
	for _, c := range r.columns {
		w.Point(at)
		ref := w.Table(vtRef, 12)
		w.Put32(ref+4, c.index)
		w.B[ref+8] = byte(c.source)
		at += 4
	}
	w.Point(t + 12)
	r.sidecarAt = w.Table(vtSidecar, 20)
	w.Point(r.sidecarAt + 8)
	if len(r.acked) == 0 {
		w.Offsets(0)
	} else {
		set := w.Offsets(1)
		w.Point(set)
		table := w.Table(vtTokens, 16)
		w.AlignVector8()
		w.Point(table + 4)
		w.Words(r.acked)
	}
	writeDecisions(w, r.sidecarAt+12, r.nacked)
	writeDecisions(w, r.sidecarAt+16, r.failed)
}

func writeDecisions(w *flat.Writer, member uint32, all []decision) {
	w.Pad(4)
	w.Point(member)
	offset := w.Offsets(len(all))
	for i := range all {
		w.Point(offset)
		t := w.Table(vtPair, 12)
		w.Point(t + 8)
		w.Text(all[i].reason)
		w.AlignVector8()
		w.Point(t + 4)
		w.Words(all[i].tokens)
		offset += 4
	}
}

func (r *Route) writeRows(w *flat.Writer) {
	w.Pad(4)
	r.rowsAt = w.Len()
	offset := w.Offsets(int(r.rows))
	w.Pad(8)
	at := w.Len()
	w.B = append(w.B, r.records.B...)
	for range r.rows {
		w.PointAt(offset, at)
		row := w.B[at:]
		vtable := uint32(vtTokens)
		if flat.Get32(row) != 0 {
			vtable = vtRow
		}
		flat.Put32(row, at-vtable)
		at += recordHead + 8*flat.Get32(row[20:])
		offset += 4
	}
}

// The vtables of Arrow's metadata, behind the offset of its root; those of Message and of tables of one member are in all metadata.
const (
	metaMessage = 4
	metaOne     = metaMessage + 12
	metaHeader  = 24
	metaField   = metaHeader + 8
	metaTwo     = metaField + 16
	metaNone    = metaTwo + 8
)

// beginMeta begins an Arrow message and gives where its metadata begins; its header is written next.
func beginMeta(w *flat.Writer, kind byte, body uint32, headerVTables ...uint16) uint32 {
	w.Add32(continuation)
	w.Add32(0) // the length, see endMeta
	meta := w.Add32(0)
	w.Add16(12, 20, 16, 18, 4, 8, 6, 8, 4, 0) // Message, and a table of one member
	w.Add16(headerVTables...)
	w.Pad(8)
	w.Put32(meta, w.Len()-meta)
	t := w.Table(meta+metaMessage, 20)
	w.Put64(t+8, uint64(body))
	w.Put16(t+16, 4) // version 5 of the metadata
	w.B[t+18] = kind
	w.Pad(8)
	w.Point(t + 4)
	return meta
}

func endMeta(w *flat.Writer, meta uint32) {
	w.Pad(8)
	w.Put32(meta-4, w.Len()-meta)
}

func writeField(w *flat.Writer, meta uint32, typ *Type, optional bool, name string) {
	field := w.Table(meta+metaField, 20)
	if optional {
		w.B[field+16] = 1
	}
	w.B[field+17] = arrowType(typ.Kind)
	w.Point(field + 4)
	w.Text(name)
	w.Point(field + 8)
	switch typ.Kind {
	case Bool, String, Bytes, Vec:
		w.Table(meta+metaNone, 4)
	case F32, F64, Array:
		t := w.Table(meta+metaOne, 8)
		one := typ.Length // of the list
		if typ.Kind != Array {
			one = uint32(typ.Kind-F32) + 1 // precision
		}
		w.Put32(t+4, one)
	case Datetime: // the unit has two bytes and the zone four
		own := w.Len()
		w.Add16(8, 12, 4, 8)
		w.Point(field + 8)
		t := w.Table(own, 12)
		w.Put16(t+4, unitNanosecond)
		w.Point(t + 8)
		w.Text(zone)
	default:
		t := w.Table(meta+metaTwo, 12)
		w.Put32(t+4, 8*typ.Kind.width())
		w.B[t+8] = byte(typ.Kind & 1) // signed
	}
	w.Point(field + 12)
	if typ.Element == nil {
		w.Offsets(0)
		return
	}
	child := w.Offsets(1)
	w.Point(child)
	writeField(w, meta, typ.Element, false, "item")
}

// encoder writes generated batches. It keeps the schema message of the last one: a guest emits the same columns again and again.
type encoder struct {
	message flat.Writer
	of      []cachedField
	buffers [][]byte
}

type cachedField struct {
	typ      *Type
	optional bool
}

func (e *encoder) holds(o *Output) bool {
	if len(e.of) != len(o.columns) {
		return false
	}
	for i, g := range o.columns {
		if e.of[i] != (cachedField{g.typ, g.optional}) {
			return false
		}
	}
	return true
}

func (e *encoder) writeSchema(w *flat.Writer, o *Output) {
	if !e.holds(o) {
		m := &e.message
		m.B, e.of = m.B[:0], e.of[:0]
		meta := beginMeta(m, headerSchema, 0, 8, 8, 0, 4, 16, 20, 4, 16, 17, 8, 0, 12, 8, 12, 4, 8, 4, 4) // Schema, Field, tables of two, tables of none
		t := m.Table(meta+metaHeader, 8)
		m.Point(t + 4)
		fields := m.Offsets(len(o.columns))
		for _, g := range o.columns {
			m.Point(fields)
			writeField(m, meta, g.typ, g.optional, "")
			fields += 4
			e.of = append(e.of, cachedField{g.typ, g.optional})
		}
		endMeta(m, meta)
	}
	w.B = append(w.B, e.message.B...)
}

func up8(n uint32) uint32 { return (n + 7) &^ 7 }

// buffers lists the buffers of a column in Arrow's order.
func (g *Generated) buffers(all [][]byte) [][]byte {
	all = append(all, g.validity)
	if g.typ.Kind != Array {
		all = append(all, g.values.B)
	}
	if g.typ.Kind == String || g.typ.Kind == Bytes {
		all = append(all, g.data)
	}
	if g.element != nil {
		all = g.element.buffers(all)
	}
	return all
}

func (e *encoder) writeBatch(w *flat.Writer, o *Output, rows uint32) {
	buffers := e.buffers[:0]
	var nodes uint64
	for _, g := range o.columns {
		buffers = g.buffers(buffers)
		for c := g; c != nil; c = c.element {
			nodes++
		}
	}
	e.buffers = buffers
	body := uint32(0)
	for _, b := range buffers {
		body += up8(uint32(len(b)))
	}
	meta := beginMeta(w, headerBatch, body, 10, 20, 8, 4, 16) // RecordBatch
	t := w.Table(meta+metaHeader, 20)
	w.Put64(t+8, uint64(rows))
	w.AlignVector8()
	w.Point(t + 4)
	w.Add32(uint32(nodes))
	for _, g := range o.columns {
		for c := g; c != nil; c = c.element {
			w.Add64(uint64(c.rows))
			w.Add64(uint64(c.nulls))
		}
	}
	w.AlignVector8()
	w.Point(t + 16)
	w.Add32(uint32(len(buffers)))
	at := uint64(0)
	for _, b := range buffers {
		w.Add64(at)
		w.Add64(uint64(len(b)))
		at += uint64(up8(uint32(len(b))))
	}
	endMeta(w, meta)
	for _, b := range buffers {
		w.B = append(w.B, b...)
		w.Pad(8)
	}
}

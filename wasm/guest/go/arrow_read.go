// SPDX-License-Identifier: Apache-2.0

package guest

import (
	"unsafe"

	"github.com/nervix-go/nervix/wasm/guest/go/internal/flat"
)

// Members of the union of Arrow's types, and of its message headers.
const (
	arrowInt       = 2
	arrowFloat     = 3
	arrowBinary    = 4
	arrowUTF8      = 5
	arrowBool      = 6
	arrowTimestamp = 10
	arrowList      = 12
	arrowFixedList = 16

	headerSchema = 1
	headerBatch  = 3

	unitNanosecond = 3
	zone           = "+00:00"
	continuation   = 0xFFFFFFFF
)

func arrowType(k Kind) byte {
	const all = "\x02\x02\x02\x02\x02\x02\x02\x02\x06\x05\x04\x0a\x03\x03\x10\x0c"
	return all[k]
}

// arrowMessage is one message of a stream.
type arrowMessage struct {
	meta   flat.Reader
	header flat.Table
	body   []byte
}

// nextMessage takes the next message of a stream apart. A header has at most four members.
func nextMessage(stream []byte, kind uint8) (m arrowMessage, rest []byte, ok bool) {
	if len(stream) < 16 || flat.Get32(stream) != continuation {
		return m, nil, false
	}
	size := flat.Get32(stream[4:])
	if size%8 != 0 || size < 8 || size > uint32(len(stream)-8) {
		return m, nil, false
	}
	rest = stream[8+size:]
	m.meta = flat.NewReader(stream[8 : 8+size])
	root := flat.Table{}
	if at := m.meta.Get32(0); at >= 4 && at%4 == 0 && at <= size-4 {
		root = m.meta.TableAt(at, 5)
	}
	body := m.meta.U64(&root, 3)
	if m.meta.U8(&root, 1) != kind || body%8 != 0 || body > uint64(len(rest)) {
		return m, nil, false
	}
	m.header = m.meta.Child(&root, 2, 4)
	m.body = rest[:body]
	return m, rest[body:], !m.meta.Bad
}

// fieldIs holds a field of an Arrow schema against a type.
func fieldIs(r *flat.Reader, t flat.Table, typ *Type, optional bool) bool {
	detail := r.Child(&t, 3, 2)
	if r.Bad || (r.U8(&t, 1) != 0) != optional || r.U8(&t, 2) != arrowType(typ.Kind) || r.Member(&t, 4, 4) != 0 {
		return false
	}
	switch typ.Kind {
	case Bool, String, Bytes:
	case F32:
		return r.U16(&detail, 0) == 1 && !r.Bad
	case F64:
		return r.U16(&detail, 0) == 2 && !r.Bad
	case Datetime:
		return r.U16(&detail, 0) == unitNanosecond && string(r.Text(&detail, 1)) == zone && !r.Bad
	case Array, Vec:
		if typ.Kind == Array && r.U32(&detail, 0) != typ.Length {
			return false
		}
		children := r.Vector(&t, 5, 4)
		return !r.Bad && children.Count == 1 && fieldIs(r, r.Element(children, 0, 7), typ.Element, false)
	default:
		signed := uint8(typ.Kind & 1)
		return r.U32(&detail, 0) == 8*typ.Kind.width() && r.U8(&detail, 1) == signed && !r.Bad
	}
	return !r.Bad
}

// inputReader reads the batches of one input schema. It keeps the schema message that was found right: a host sends the same with every batch.
type inputReader struct {
	schema  *Schema
	right   []byte
	columns []Column
	aligned []uint64
}

func (in *inputReader) skipSchema(stream []byte) (rest []byte, ok bool) {
	if n := len(in.right); n > 0 && len(stream) >= n && string(stream[:n]) == string(in.right) {
		return stream[n:], true
	}
	m, rest, ok := nextMessage(stream, headerSchema)
	if !ok || len(m.body) > 0 || m.meta.U16(&m.header, 0) != 0 {
		return nil, false
	}
	fields := m.meta.Vector(&m.header, 1, 4)
	if m.meta.Bad || fields.Count != uint32(len(in.schema.Fields)) {
		return nil, false
	}
	for i := range in.schema.Fields {
		f := &in.schema.Fields[i]
		if !fieldIs(&m.meta, m.meta.Element(fields, uint32(i), 7), f.Type, f.Optional) {
			return nil, false
		}
	}
	in.right = append(in.right[:0], stream[:len(stream)-len(rest)]...)
	return rest, true
}

// align gives bytes that begin at a multiple of 8, copied if need be; hosts see to it that they do.
func (in *inputReader) align(b []byte) []byte {
	if len(b) == 0 || uintptr(unsafe.Pointer(unsafe.SliceData(b)))%8 == 0 {
		return b
	}
	in.aligned = make([]uint64, (len(b)+7)/8)
	copied := octets(in.aligned)[:len(b)]
	copy(copied, b)
	return copied
}

// read takes a stream of one schema and one batch apart. All of it is judged before a value can be read.
func (in *inputReader) read(stream []byte, b *Batch) bool {
	stream, ok := in.skipSchema(in.align(stream))
	if !ok {
		return false
	}
	m, rest, ok := nextMessage(stream, headerBatch)
	if !ok || (len(rest) > 0 && (len(rest) != 8 || flat.Get32(rest) != continuation || flat.Get32(rest[4:]) != 0)) {
		return false
	}
	rows := m.meta.U64(&m.header, 0)
	w := walk{meta: &m.meta, nodes: m.meta.Vector(&m.header, 1, 16), buffers: m.meta.Vector(&m.header, 2, 16), body: m.body}
	if m.meta.Bad || rows != uint64(b.rows) || m.meta.Member(&m.header, 3, 4) != 0 {
		return false
	}
	if in.columns == nil {
		in.columns = make([]Column, len(in.schema.Fields))
	}
	for i := range in.schema.Fields {
		f := &in.schema.Fields[i]
		if !w.column(f.Type, f.Optional, rows, true, &in.columns[i]) {
			return false
		}
	}
	b.columns = in.columns
	return w.nodes.Count == 0 && w.buffers.Count == 0
}

// walk goes through nodes and buffers of a batch in the order of its columns.
type walk struct {
	meta           *flat.Reader
	nodes, buffers flat.Span
	body           []byte
}

func (w *walk) pair(s *flat.Span) (a, b uint64, ok bool) {
	if s.Count == 0 {
		return 0, 0, false
	}
	a, b = w.meta.Get64(s.At), w.meta.Get64(s.At+8)
	s.At, s.Count = s.At+16, s.Count-1
	return a, b, true
}

func (w *walk) buffer() ([]byte, bool) {
	at, size, ok := w.pair(&w.buffers)
	if !ok || at%8 != 0 || at > uint64(len(w.body)) || size > uint64(len(w.body))-at {
		return nil, false
	}
	return w.body[at : at+size : at+size], true
}

var noOffsets = []int32{0}

// offsets rise, and stay inside what they name, which the caller looks at.
func (w *walk) offsets(c *Column) bool {
	raw, ok := w.buffer()
	if !ok {
		return false
	}
	c.offsets = noOffsets
	if c.rows == 0 && len(raw) == 0 {
		return true
	}
	if uint64(len(raw))/4 <= uint64(c.rows) {
		return false
	}
	c.offsets = view[int32](raw, uint32(c.rows)+1)
	before := c.offsets[0]
	bad := before
	for _, o := range c.offsets[1:] {
		bad |= o | (o - before)
		before = o
	}
	return bad >= 0
}

const maxRows = 0x7FFFFFFF

// column takes the next column. A column has exactly that many rows, or at least as many if it is the elements of a VEC.
func (w *walk) column(typ *Type, optional bool, rows uint64, exact bool, c *Column) bool {
	length, nulls, ok := w.pair(&w.nodes)
	if !ok || length < rows || (exact && length != rows) || length > maxRows || nulls > length || (nulls > 0 && !optional) {
		return false
	}
	bits, ok := w.buffer()
	if !ok || ((nulls > 0 || len(bits) > 0) && uint64(len(bits)) < (length+7)/8) {
		return false
	}
	element := c.element
	*c = Column{typ: typ, rows: int(length), nulls: int(nulls)}
	if nulls > 0 {
		c.validity = bits
	}
	switch typ.Kind {
	case String, Bytes:
		if !w.offsets(c) {
			return false
		}
		c.data, ok = w.buffer()
		return ok && uint64(c.offsets[c.rows]) <= uint64(len(c.data))
	case Vec, Array:
		if element == nil {
			element = new(Column)
		}
		c.element = element
		if typ.Kind == Vec {
			return w.offsets(c) && w.column(typ.Element, false, uint64(c.offsets[c.rows]), false, element)
		}
		n := length * uint64(typ.Length)
		return n <= maxRows && w.column(typ.Element, false, n, true, element)
	default:
		c.values, ok = w.buffer()
		need := length * uint64(typ.Kind.width())
		if typ.Kind == Bool {
			need = (length + 7) / 8
		}
		return ok && uint64(len(c.values)) >= need
	}
}

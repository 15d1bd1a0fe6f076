// SPDX-License-Identifier: Apache-2.0

// Package flat reads FlatBuffers that may be damaged, and writes them from front to back. It knows no schema: callers name slots and
// sizes. Positions are 32 bits wide everywhere, because a guest may be built where int is that wide.
package flat

// Reader takes one buffer apart. The first fault sets Bad; from then on everything reads as absent, so that callers look at Bad once, at the
// end. Alignment counts from the first byte of the buffer.
type Reader struct {
	B []byte
	// End is the position behind the last byte that belongs to something seen.
	End uint32
	Bad bool
	// Unknown says that a table has a member behind those its caller knows.
	Unknown bool
}

// Table is a table that was found; the zero Table is absent.
type Table struct {
	at, vtable, vtableSize, size uint32
}

// Span is the elements of a vector.
type Span struct{ At, Count uint32 }

// NewReader begins at a buffer of at most 1 GiB.
func NewReader(b []byte) Reader { return Reader{B: b, Bad: len(b) < 8 || len(b) > 1<<30} }

func (r *Reader) size() uint32 { return uint32(len(r.B)) }

// Fail marks the buffer as damaged.
func (r *Reader) Fail() uint32 {
	r.Bad = true
	return 0
}

func (r *Reader) saw(end uint32) { r.End = max(r.End, end) }

// Get16 reads where the caller knows that two bytes are; so do Get32 and Get64.
func (r *Reader) Get16(at uint32) uint16 { return Get16(r.B[at:]) }

// Get32 reads four bytes.
func (r *Reader) Get32(at uint32) uint32 { return Get32(r.B[at:]) }

// Get64 reads eight bytes.
func (r *Reader) Get64(at uint32) uint64 { return Get64(r.B[at:]) }

// Get16 reads a number from the beginning of b; so do Get32 and Get64.
func Get16(b []byte) uint16 { return uint16(b[0]) | uint16(b[1])<<8 }

// Get32 reads four bytes.
func Get32(b []byte) uint32 {
	_ = b[3]
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

// Get64 reads eight bytes.
func Get64(b []byte) uint64 { return uint64(Get32(b)) | uint64(Get32(b[4:]))<<32 }

// Follow gives the target of the offset at a place; 0 is nowhere.
func (r *Reader) Follow(at uint32) uint32 {
	if r.Bad || at == 0 {
		return 0
	}
	if at%4 != 0 || at > r.size()-4 {
		return r.Fail()
	}
	distance := r.Get32(at)
	if distance == 0 || distance%4 != 0 || distance > r.size()-4-at {
		return r.Fail()
	}
	return at + distance
}

// TableAt judges the table at a place that Follow gave. slots is how many members the caller knows.
func (r *Reader) TableAt(at, slots uint32) Table {
	if r.Bad || at == 0 {
		return Table{}
	}
	vtable := int64(at) - int64(int32(r.Get32(at)))
	if vtable < 0 || vtable > int64(r.size())-4 || vtable%2 != 0 {
		r.Bad = true
		return Table{}
	}
	t := Table{at: at, vtable: uint32(vtable)}
	t.vtableSize, t.size = uint32(r.Get16(t.vtable)), uint32(r.Get16(t.vtable+2))
	if t.vtableSize < 4 || t.vtableSize%2 != 0 || t.vtableSize > r.size()-t.vtable || t.size < 4 || t.size > r.size()-at {
		r.Bad = true
		return Table{}
	}
	for slot := slots; 4+2*slot < t.vtableSize; slot++ {
		r.Unknown = r.Unknown || r.Get16(t.vtable+4+2*slot) != 0
	}
	r.saw(t.vtable + t.vtableSize)
	r.saw(at + t.size)
	return t
}

// Member gives the place of a member of size bytes; 0 if it is absent.
func (r *Reader) Member(t *Table, slot, size uint32) uint32 {
	if r.Bad || t.at == 0 || 4+2*slot >= t.vtableSize {
		return 0
	}
	offset := uint32(r.Get16(t.vtable + 4 + 2*slot))
	if offset == 0 {
		return 0
	}
	if offset < 4 || offset+size > t.size || (t.at+offset)%size != 0 {
		return r.Fail()
	}
	return t.at + offset
}

// U8 reads a number, 0 if it is absent; so do U16, U32 and U64.
func (r *Reader) U8(t *Table, slot uint32) uint8 {
	if at := r.Member(t, slot, 1); at != 0 {
		return r.B[at]
	}
	return 0
}

// U16 reads a number of two bytes.
func (r *Reader) U16(t *Table, slot uint32) uint16 {
	if at := r.Member(t, slot, 2); at != 0 {
		return r.Get16(at)
	}
	return 0
}

// U32 reads a number of four bytes.
func (r *Reader) U32(t *Table, slot uint32) uint32 {
	if at := r.Member(t, slot, 4); at != 0 {
		return r.Get32(at)
	}
	return 0
}

// U64 reads a number of eight bytes.
func (r *Reader) U64(t *Table, slot uint32) uint64 {
	if at := r.Member(t, slot, 8); at != 0 {
		return r.Get64(at)
	}
	return 0
}

// required follows a member that must be there.
func (r *Reader) required(t *Table, slot uint32) uint32 {
	at := r.Member(t, slot, 4)
	if at == 0 {
		return r.Fail()
	}
	return r.Follow(at)
}

// Child is the table that a member refers to; it must be there.
func (r *Reader) Child(t *Table, slot, slots uint32) Table {
	return r.TableAt(r.required(t, slot), slots)
}

// Element is table i of a vector of tables.
func (r *Reader) Element(s Span, i, slots uint32) Table {
	return r.TableAt(r.Follow(s.At+4*i), slots)
}

// VectorAt judges a vector with elements of size bytes.
func (r *Reader) VectorAt(at, size uint32) Span {
	if r.Bad || at == 0 {
		return Span{}
	}
	n, align := r.Get32(at), min(size, 8)
	if n > (r.size()-at-4)/size || (n > 0 && (at+4)%align != 0) {
		r.Bad = true
		return Span{}
	}
	r.saw(at + 4 + n*size)
	return Span{at + 4, n}
}

// Vector is the vector that a member refers to; it must be there.
func (r *Reader) Vector(t *Table, slot, size uint32) Span {
	return r.VectorAt(r.required(t, slot), size)
}

// Bytes is a slice of the buffer.
func (r *Reader) Bytes(s Span) []byte {
	if r.Bad {
		return nil
	}
	return r.B[s.At : s.At+s.Count : s.At+s.Count]
}

// Text is the text that a member refers to, a slice of the buffer; it must be there and end with a zero.
func (r *Reader) Text(t *Table, slot uint32) []byte {
	s := r.Vector(t, slot, 1)
	if r.Bad || s.Count >= r.size()-s.At || r.B[s.At+s.Count] != 0 {
		r.Bad = true
		return nil
	}
	r.saw(s.At + s.Count + 1)
	return r.Bytes(s)
}

// Closed says whether nothing is wrong with what was read, and nothing stands behind it but zeros of padding; behind unknown members anything may
// stand.
func (r *Reader) Closed() bool {
	if r.Bad || r.Unknown {
		return !r.Bad
	}
	if r.size()-r.End >= 8 {
		return false
	}
	for _, b := range r.B[r.End:] {
		if b != 0 {
			return false
		}
	}
	return true
}

// At, VTable and Size say where a table lies, for callers that pass over equal ones.
func (t *Table) At() uint32 { return t.at }

// VTable is where its vtable lies.
func (t *Table) VTable() uint32 { return t.vtable }

// Size is its size inline.
func (t *Table) Size() uint32 { return t.size }

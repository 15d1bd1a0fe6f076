// SPDX-License-Identifier: Apache-2.0

package arrowipc

import "encoding/binary"

// flat reads a FlatBuffers buffer with bounds checks. A violation sets bad and yields zero values from then on, so that a caller reads
// what it needs and asks once.
type flat struct {
	b   []byte
	bad bool
}

// table is one checked table: its position, its vtable and the length of its inline part. The zero table is absent.
type table struct {
	pos, vtable, vtableLen, inline int
}

func (t table) absent() bool { return t.vtable == 0 && t.pos == 0 }

func (f *flat) fail() { f.bad = true }

func (f *flat) u16(pos int) int {
	if f.bad || pos < 0 || pos+2 > len(f.b) {
		f.fail()
		return 0
	}
	return int(binary.LittleEndian.Uint16(f.b[pos:]))
}

func (f *flat) u32(pos int) uint32 {
	if f.bad || pos < 0 || pos+4 > len(f.b) {
		f.fail()
		return 0
	}
	return binary.LittleEndian.Uint32(f.b[pos:])
}

func (f *flat) i64(pos int) int64 {
	if f.bad || pos < 0 || pos+8 > len(f.b) {
		f.fail()
		return 0
	}
	return int64(binary.LittleEndian.Uint64(f.b[pos:]))
}

// follow resolves an unsigned forward offset stored at pos.
func (f *flat) follow(pos int) int {
	off := int(f.u32(pos))
	if f.bad || off == 0 || off > len(f.b) || pos+off >= len(f.b) {
		f.fail()
		return 0
	}
	return pos + off
}

func (f *flat) root() table { return f.table(f.follow(0)) }

func (f *flat) table(pos int) table {
	back := int(int32(f.u32(pos)))
	vt := pos - back
	if f.bad || pos%4 != 0 || vt < 0 || vt == pos || vt%2 != 0 {
		f.fail()
		return table{}
	}
	size, inline := f.u16(vt), f.u16(vt+2)
	if f.bad || size < 4 || size%2 != 0 || vt+size > len(f.b) || inline < 4 || pos+inline > len(f.b) {
		f.fail()
		return table{}
	}
	return table{pos, vt, size, inline}
}

// slot gives the position of a field of size bytes, or -1 when the field is absent.
func (f *flat) slot(t table, id, size int) int {
	if f.bad || t.absent() {
		f.fail()
		return -1
	}
	at := 4 + 2*id
	if at+2 > t.vtableLen {
		return -1
	}
	off := f.u16(t.vtable + at)
	if off == 0 {
		return -1
	}
	if off < 4 || off+size > t.inline {
		f.fail()
		return -1
	}
	return t.pos + off
}

func (f *flat) uint8(t table, id int, absent uint8) uint8 {
	p := f.slot(t, id, 1)
	if p < 0 {
		return absent
	}
	return f.b[p]
}

func (f *flat) int16(t table, id int, absent int16) int16 {
	p := f.slot(t, id, 2)
	if p < 0 {
		return absent
	}
	return int16(f.u16(p))
}

func (f *flat) int32(t table, id int, absent int32) int32 {
	p := f.slot(t, id, 4)
	if p < 0 {
		return absent
	}
	return int32(f.u32(p))
}

func (f *flat) int64(t table, id int, absent int64) int64 {
	p := f.slot(t, id, 8)
	if p < 0 {
		return absent
	}
	return f.i64(p)
}

// child reads a table field; ok is false when it is absent.
func (f *flat) child(t table, id int) (table, bool) {
	p := f.slot(t, id, 4)
	if p < 0 {
		return table{}, false
	}
	c := f.table(f.follow(p))
	return c, !f.bad
}

// vector reads a vector field of elements of size bytes: the position of the first element and their number.
func (f *flat) vector(t table, id, size int) (first, n int) {
	p := f.slot(t, id, 4)
	if p < 0 {
		return 0, 0
	}
	at := f.follow(p)
	count := uint64(f.u32(at))
	if f.bad || count*uint64(size) > uint64(len(f.b)-at-4) {
		f.fail()
		return 0, 0
	}
	return at + 4, int(count)
}

func (f *flat) bytes(t table, id int) []byte {
	first, n := f.vector(t, id, 1)
	return f.b[first : first+n]
}

func (f *flat) has(t table, id int) bool { return f.slot(t, id, 1) >= 0 }

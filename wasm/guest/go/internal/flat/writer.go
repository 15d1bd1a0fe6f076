// SPDX-License-Identifier: Apache-2.0

package flat

// Writer builds a buffer from front to back: a member that refers to something is filled in, by Point, when that thing is written next. Vtables are
// written by the caller, with Add16, before the tables that use them.
type Writer struct{ B []byte }

// Len is where the next byte goes.
func (w *Writer) Len() uint32 { return uint32(len(w.B)) }

// Pad appends zeros up to a multiple.
func (w *Writer) Pad(to uint32) {
	for w.Len()%to != 0 {
		w.B = append(w.B, 0)
	}
}

// PadTo appends words of zero until the length leaves a rest.
func (w *Writer) PadTo(rest, of uint32) {
	w.Pad(4)
	for w.Len()%of != rest {
		w.Add32(0)
	}
}

// Add16 appends numbers; so do Add32 and Add64.
func (w *Writer) Add16(v ...uint16) {
	for _, one := range v {
		w.B = append(w.B, byte(one), byte(one>>8))
	}
}

// Add32 appends four bytes and says where.
func (w *Writer) Add32(v uint32) uint32 {
	at := w.Len()
	w.B = append(w.B, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
	return at
}

// Add64 appends eight bytes.
func (w *Writer) Add64(v uint64) {
	w.Add32(uint32(v))
	w.Add32(uint32(v >> 32))
}

// Put16 overwrites what is there; so do Put32 and Put64.
func (w *Writer) Put16(at uint32, v uint16) {
	b := w.B[at : at+2]
	b[0], b[1] = byte(v), byte(v>>8)
}

// Put32 overwrites four bytes.
func (w *Writer) Put32(at, v uint32) { Put32(w.B[at:], v) }

// Put64 overwrites eight bytes.
func (w *Writer) Put64(at uint32, v uint64) { Put64(w.B[at:], v) }

// Put32 writes a number to the beginning of b.
func Put32(b []byte, v uint32) {
	_ = b[3]
	b[0], b[1], b[2], b[3] = byte(v), byte(v>>8), byte(v>>16), byte(v>>24)
}

// Put64 writes a number to the beginning of b.
func Put64(b []byte, v uint64) {
	Put32(b, uint32(v))
	Put32(b[4:], uint32(v>>32))
}

// Zeros appends n zeros and says where they begin.
func (w *Writer) Zeros(n uint32) uint32 {
	at := w.Len()
	for ; n >= 8; n -= 8 {
		w.B = append(w.B, 0, 0, 0, 0, 0, 0, 0, 0)
	}
	for ; n > 0; n-- {
		w.B = append(w.B, 0)
	}
	return at
}

// Point lets the member at a place refer to what is written next, which the caller has aligned.
func (w *Writer) Point(at uint32) { w.Put32(at, w.Len()-at) }

// PointAt lets the member at a place refer to something behind it.
func (w *Writer) PointAt(at, to uint32) { w.Put32(at, to-at) }

// Table begins a table of size bytes, all zero but for the distance to its vtable, and says where.
func (w *Writer) Table(vtable, size uint32) uint32 {
	at := w.Zeros(size)
	w.Put32(at, at-vtable)
	return at
}

// Offsets begins a vector of n offsets and says where the first is.
func (w *Writer) Offsets(n int) uint32 {
	w.Add32(uint32(n))
	return w.Zeros(4 * uint32(n))
}

// Text appends a text with its length and its end, padded to 4.
func (w *Writer) Text(s string) {
	w.Add32(uint32(len(s)))
	w.B = append(w.B, s...)
	w.B = append(w.B, 0)
	w.Pad(4)
}

// AlignVector8 sees to it that the elements of the vector that comes next lie at a multiple of 8.
func (w *Writer) AlignVector8() { w.PadTo(4, 8) }

// Words appends a vector of numbers of 64 bits, after AlignVector8.
func (w *Writer) Words(v []uint64) {
	w.Add32(uint32(len(v)))
	for _, one := range v {
		w.Add64(one)
	}
}

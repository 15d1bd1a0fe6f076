// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/host/expr/loop"
	"github.com/nervix-go/nervix/host/kernel/types"
)

// column is a value of a running program: n values of one type, or one value that stands for every row (konst).
// Exactly one of fixed, bits and offs+text is set for a scalar; a list column has only src and valid.
type column struct {
	kind  types.Scalar
	konst bool
	n     int
	// valid is the validity bitmap; nil means no nulls. ownValid says that no other column shares it.
	valid    []byte
	ownValid bool
	fixed    []byte
	bits     []byte
	// offs has n+1 entries that index text; the first need not be zero.
	offs []int32
	text []byte
	// src is the input array the column is a faithful view of; the result is then that array itself.
	src arrow.Array
	// Buffers that came from Env.Alloc and may become part of the result: values (or offsets) and text.
	fixedMem, textMem *memory.Buffer
}

// null says whether a constant column is null.
func (c *column) null() bool { return c.konst && !validAt(c.valid, 0) }

// span is the text of value i.
func (c *column) span(i int) []byte { return c.text[c.offs[i]:c.offs[i+1]] }

// at is the index of row i: 0 for a constant.
func (c *column) at(i int) int {
	if c.konst {
		return 0
	}
	return i
}

// width is the bytes per value of a fixed-width type.
func width(k types.Scalar) int {
	if k == types.Datetime {
		return 8
	}
	return k.Bits() / 8
}

func textual(k types.Scalar) bool { return k == types.String || k == types.Bytes }

// input views an Arrow array as a column. Bitmaps that do not start on a byte are moved into the scratch.
func (r *run) input(a arrow.Array, t types.Type, konst bool) column {
	data := a.Data()
	n, off := data.Len(), data.Offset()
	c := column{kind: t.Scalar, n: n, konst: konst}
	if !konst {
		c.src = a
	}
	bufs := data.Buffers()
	if HasNulls(a) {
		c.valid = r.bitsAt(bufs[0].Bytes(), off, n)
	}
	switch {
	case t.Scalar == types.Bool:
		if n > 0 {
			c.bits = r.bitsAt(bufs[1].Bytes(), off, n)
		}
	case textual(t.Scalar):
		if n == 0 {
			c.offs = loop.View[int32](r.mem.bytes(4))
			c.offs[0] = 0
			break
		}
		c.offs = loop.View[int32](bufs[1].Bytes())[off : off+n+1]
		if bufs[2] != nil {
			c.text = bufs[2].Bytes()
		}
	case t.IsScalar():
		w := width(t.Scalar)
		if n > 0 {
			c.fixed = bufs[1].Bytes()[off*w : (off+n)*w]
		}
	}
	return c
}

// HasNulls says whether an array holds a null. In contrast to arrow.Array.NullN it never writes to the array: NullN caches the count of a
// slice without synchronization, which is a race where several consumers read one batch.
func HasNulls(a arrow.Array) bool {
	data := a.Data()
	bufs := data.Buffers()
	if data.NullN() == 0 || len(bufs) == 0 || bufs[0] == nil {
		return false
	}
	return bitutil.CountSetBits(bufs[0].Bytes(), data.Offset(), data.Len()) < data.Len()
}

func (r *run) bitsAt(b []byte, off, n int) []byte {
	if off&7 == 0 {
		return b[off>>3 : off>>3+bitmapBytes(n)]
	}
	out := r.mem.bitmap(n)
	copyBits(out, b, off, n)
	return out
}

// newFixed makes room for n values; a root node takes it from the result's allocator, others from the scratch.
func (r *run) newFixed(kind types.Scalar, n int, konst, root bool) column {
	c := column{kind: kind, n: n, konst: konst}
	c.fixed, c.fixedMem = r.room(n*width(kind), root && !konst)
	return c
}

func (r *run) newBits(n int, konst, root bool) column {
	c := column{kind: types.Bool, n: n, konst: konst}
	c.bits, c.fixedMem = r.room(bitmapBytes(n), root && !konst)
	return c
}

// newText makes room for n+1 offsets and up to size bytes of text.
func (r *run) newText(kind types.Scalar, n, size int, konst, root bool) column {
	c := column{kind: kind, n: n, konst: konst}
	var offs []byte
	offs, c.fixedMem = r.room((n+1)*4, root && !konst)
	c.offs = loop.View[int32](offs)
	c.offs[0] = 0
	c.text, c.textMem = r.room(size, root && !konst)
	return c
}

func (r *run) room(n int, root bool) ([]byte, *memory.Buffer) {
	if !root || r.transient {
		return r.mem.bytes(n), nil
	}
	b := memory.NewResizableBuffer(r.env.alloc())
	b.Resize(n)
	return b.Bytes(), b
}

// cut ends the text of a column whose room was an upper bound.
func (c *column) cut(size int) {
	c.text = c.text[:size]
	if c.textMem != nil {
		c.textMem.ResizeNoShrink(size)
	}
}

// growText makes the text room at least size bytes, keeping what was written.
func (r *run) growText(c *column, size int) {
	if size <= len(c.text) {
		return
	}
	size = max(size, 2*len(c.text))
	if c.textMem != nil {
		c.textMem.Resize(size)
		c.text = c.textMem.Bytes()
		return
	}
	grown := r.mem.bytes(size)
	copy(grown, c.text)
	c.text = grown
}

// nulls is a constant null of a type.
func (r *run) nulls(kind types.Scalar) column {
	c := column{kind: kind, n: 1, konst: true, ownValid: true}
	c.valid = r.mem.zeros(1)
	switch {
	case kind == types.Bool:
		c.bits = r.mem.zeros(1)
	case textual(kind):
		b := r.mem.bytes(8)
		clear(b)
		c.offs = loop.View[int32](b)
	default:
		c.fixed = r.mem.bytes(8)[:width(kind)]
		clear(c.fixed)
	}
	return c
}

// both is the validity of an operation that is null when an operand is: the AND of two bitmaps of n bits. Constant operands are valid
// here, because a null one decides the whole column before.
func (r *run) both(a, b *column, n int) []byte {
	va, vb := a.valid, b.valid
	if a.konst {
		va = nil
	}
	if b.konst {
		vb = nil
	}
	switch {
	case va == nil:
		return vb
	case vb == nil:
		return va
	}
	out := r.mem.bitmap(n)
	for w := range words(n) {
		putWord(out, w, word(va, w)&word(vb, w))
	}
	return out
}

// spread turns a fixed-width constant that is not null into n equal values in the scratch.
func (r *run) spread(c *column, n int) column {
	if !c.konst {
		return *c
	}
	out := column{kind: c.kind, n: n, fixed: r.mem.bytes(n * width(c.kind))}
	repeat(out.fixed, c.fixed)
	return out
}

// repeat fills dst with copies of one.
func repeat(dst, one []byte) {
	if len(dst) == 0 {
		return
	}
	for at := copy(dst, one); at < len(dst); {
		at += copy(dst[at:], dst[:at])
	}
}

// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/host/expr/loop"
	"github.com/nervix-go/nervix/host/kernel/types"
)

// maxText is the most bytes one text column holds, because its offsets are 32-bit (nspl 7.5).
const maxText = math.MaxInt32

const textTooLong = "the text column of this batch is full (2147483647 bytes)"

// finish turns the root column into an Arrow array of r.n rows in which every failed row is null.
func (r *run) finish(c column, t types.Type) arrow.Array {
	if c.src != nil && !c.konst {
		if r.failed == nil {
			c.src.Retain()
			return c.src
		}
		return r.withNulls(c.src, c.valid)
	}
	if c.konst {
		c = r.spreadRoot(&c)
	}
	r.nullFailed(&c)
	buffers := make([]*memory.Buffer, 2, 3)
	nulls := 0
	if c.valid != nil {
		if nulls = r.n - countOnes(c.valid, r.n); nulls > 0 {
			buffers[0] = r.settle(nil, c.valid)
		}
	}
	switch {
	case c.kind == types.Bool:
		buffers[1] = r.settle(c.fixedMem, c.bits)
	case textual(c.kind):
		buffers[1] = r.settle(c.fixedMem, loop.Raw(c.offs))
		buffers = append(buffers, r.settle(c.textMem, c.text))
	default:
		buffers[1] = r.settle(c.fixedMem, c.fixed)
	}
	return wrap(t.Arrow(), r.n, buffers, nulls)
}

// wrap builds the array and hands it the buffers.
func wrap(t arrow.DataType, n int, buffers []*memory.Buffer, nulls int) arrow.Array {
	data := array.NewData(t, n, buffers, nil, nulls, 0)
	for _, b := range buffers {
		if b != nil {
			b.Release()
		}
	}
	a := array.MakeFromData(data)
	data.Release()
	return a
}

// settle gives the buffer that holds b: the one it was written into, or a copy of scratch or borrowed bytes.
func (r *run) settle(owner *memory.Buffer, b []byte) *memory.Buffer {
	if owner != nil {
		return owner
	}
	out := memory.NewResizableBuffer(r.env.alloc())
	out.Resize(len(b))
	copy(out.Bytes(), b)
	return out
}

// nullFailed clears the validity of failed rows.
func (r *run) nullFailed(c *column) {
	if r.failed == nil {
		return
	}
	valid := r.mem.bitmap(r.n)
	for w := range words(r.n) {
		putWord(valid, w, validWord(c.valid, w)&^word(r.failed, w))
	}
	c.valid, c.ownValid = valid, true
}

// withNulls is src with the failed rows null; the values are shared. src may be a slice and of any type.
func (r *run) withNulls(src arrow.Array, valid []byte) arrow.Array {
	data := src.Data()
	off := data.Offset()
	bitmap := memory.NewResizableBuffer(r.env.alloc())
	bitmap.Resize(bitmapBytes(off + r.n))
	nulls := 0
	for i := range r.n {
		if validAt(valid, i) && !bitAt(r.failed, i) {
			setBit(bitmap.Bytes(), off+i)
		} else {
			clearBit(bitmap.Bytes(), off+i)
			nulls++
		}
	}
	buffers := append([]*memory.Buffer{bitmap}, data.Buffers()[1:]...)
	out := array.NewData(data.DataType(), r.n, buffers, data.Children(), nulls, off)
	bitmap.Release()
	defer out.Release()
	return array.MakeFromData(out)
}

// spreadRoot repeats a constant for every row, straight into the result's buffers. Text that no longer fits the column fails (nspl 7.5).
func (r *run) spreadRoot(c *column) column {
	n := r.n
	var out column
	switch {
	case c.kind == types.Bool:
		out = r.newBits(n, false, true)
		fillBits(out.bits, n, bitAt(c.bits, 0))
	case textual(c.kind):
		one := c.span(0)
		if c.null() {
			one = nil
		}
		fit := n
		if len(one) > 0 {
			fit = min(n, r.textLimit()/len(one))
		}
		out = r.newText(c.kind, n, fit*len(one), false, true)
		repeat(out.text, one)
		for i := range n {
			out.offs[i+1] = int32(min(i+1, fit) * len(one))
		}
		for i := fit; i < n; i++ {
			r.reject(&out, nil, i, Overflow, textTooLong)
		}
	default:
		out = r.newFixed(c.kind, n, false, true)
		repeat(out.fixed, c.fixed)
	}
	if c.null() {
		out.valid, out.ownValid = r.mem.zeros(n), true
	}
	return out
}

func (r *run) textLimit() int {
	if r.env.TextLimit > 0 {
		return min(r.env.TextLimit, maxText)
	}
	return maxText
}

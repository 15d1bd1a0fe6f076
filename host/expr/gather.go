// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/host/kernel/types"
)

// Pick names one value: a row of an array, or a null where the array is nil.
type Pick struct {
	Array arrow.Array
	Row   int
}

// Gather builds an array of picked values of one type. It serves the few rows of an error record, not the way of all rows. A nil allocator is Go's.
func Gather(alloc memory.Allocator, t types.Type, picks []Pick) (arrow.Array, error) {
	if !t.IsScalar() {
		return gatherLists(alloc, t, picks)
	}
	r := &run{env: &Env{Rows: len(picks), Alloc: alloc}, mem: NewScratch(), n: len(picks)}
	out := column{kind: t.Scalar, n: len(picks), ownValid: true, valid: r.mem.zeros(len(picks))}
	switch {
	case t.Scalar == types.Bool:
		out.bits = r.mem.zeros(len(picks))
	case textual(t.Scalar):
		out.offs = make([]int32, 1, len(picks)+1)
	default:
		out.fixed = r.mem.bytes(len(picks) * width(t.Scalar))
		clear(out.fixed)
	}
	var last arrow.Array
	var from column
	for i, p := range picks {
		if p.Array != nil && p.Array != last {
			last, from = p.Array, r.input(p.Array, t, false)
		}
		if p.Array != nil && validAt(from.valid, p.Row) {
			setBit(out.valid, i)
			out.take(i, &from, p.Row)
		}
		if out.offs != nil {
			out.offs = append(out.offs, int32(len(out.text)))
		}
	}
	return r.finish(out, t), nil
}

// take copies one value; text is appended.
func (c *column) take(i int, from *column, row int) {
	switch {
	case c.bits != nil:
		if bitAt(from.bits, row) {
			setBit(c.bits, i)
		}
	case c.offs != nil:
		c.text = append(c.text, from.span(row)...)
	default:
		w := width(c.kind)
		copy(c.fixed[i*w:(i+1)*w], from.fixed[row*w:])
	}
}

func gatherLists(alloc memory.Allocator, t types.Type, picks []Pick) (arrow.Array, error) {
	if alloc == nil {
		alloc = memory.DefaultAllocator
	}
	if len(picks) == 0 {
		return Nulls(alloc, t, 0), nil
	}
	parts := make([]arrow.Array, len(picks))
	for i, p := range picks {
		if p.Array == nil {
			parts[i] = Nulls(alloc, t, 1)
		} else {
			parts[i] = array.NewSlice(p.Array, int64(p.Row), int64(p.Row)+1)
		}
	}
	out, err := array.Concatenate(parts, alloc)
	for _, p := range parts {
		p.Release()
	}
	return out, err
}

// Nulls is an array of n nulls of a type.
func Nulls(alloc memory.Allocator, t types.Type, n int) arrow.Array {
	if alloc == nil {
		alloc = memory.DefaultAllocator
	}
	return array.MakeArrayOfNull(cleared{alloc}, t.Arrow(), n)
}

// cleared gives zeroed memory: arrow makes nulls of what a fresh buffer holds, and an allocator that reuses memory does not clear it.
type cleared struct{ memory.Allocator }

// Allocate implements memory.Allocator.
func (c cleared) Allocate(size int) []byte {
	b := c.Allocator.Allocate(size)
	clear(b)
	return b
}

// Reallocate implements memory.Allocator.
func (c cleared) Reallocate(size int, b []byte) []byte {
	before := len(b)
	b = c.Allocator.Reallocate(size, b)
	if size > before {
		clear(b[before:])
	}
	return b
}

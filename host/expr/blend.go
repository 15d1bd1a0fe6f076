// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"math/bits"

	"github.com/nervix-go/nervix/host/expr/loop"
	"github.com/nervix-go/nervix/host/kernel/types"
)

// arm is a column and the rows that take their value from it. The selections of the arms of one blend do not overlap.
type arm struct {
	col column
	sel []byte
}

// blend assembles a column of r.n rows from arms; rows of no arm are null. sel is the selection of the node, for failures.
func (r *run) blend(kind types.Scalar, arms []arm, sel []byte, root bool) column {
	valid := r.mem.zeros(r.n)
	holes := false
	for w := range words(r.n) {
		v := uint64(0)
		for i := range arms {
			v |= word(arms[i].sel, w) & constWord(&arms[i].col, w)
		}
		holes = holes || v&tail(r.n, w) != tail(r.n, w)
		putWord(valid, w, v)
	}
	var out column
	switch {
	case kind == types.Bool:
		out = r.newBits(r.n, false, root)
		for w := range words(r.n) {
			v := uint64(0)
			for i := range arms {
				v |= word(arms[i].sel, w) & boolWord(&arms[i].col, w)
			}
			putWord(out.bits, w, v)
		}
	case textual(kind):
		out = r.blendText(kind, arms, sel, valid, root)
		holes = holes || !allSet(valid, r.n)
	default:
		out = r.newFixed(kind, r.n, false, root)
		blendFixed(&out, arms)
	}
	if holes {
		out.valid, out.ownValid = valid, true
	}
	return out
}

func blendFixed(out *column, arms []arm) {
	switch width(out.kind) {
	case 1:
		blendValues[uint8](out, arms)
	case 2:
		blendValues[uint16](out, arms)
	case 4:
		blendValues[uint32](out, arms)
	default:
		blendValues[uint64](out, arms)
	}
}

// blendValues copies the first arm whole and puts the selected values of the others over it.
func blendValues[T loop.Integer](out *column, arms []arm) {
	dst := loop.View[T](out.fixed)
	for i := range arms {
		src := loop.View[T](arms[i].col.fixed)
		switch {
		case i == 0 && arms[i].col.konst:
			repeat(out.fixed, arms[i].col.fixed)
		case i == 0:
			copy(dst, src)
		default:
			overlay(dst, src, arms[i].sel, arms[i].col.konst)
		}
	}
}

func overlay[T loop.Integer](dst, src []T, sel []byte, konst bool) {
	for w := range words(len(dst)) {
		m := word(sel, w) & tail(len(dst), w)
		at := w * 64
		switch {
		case m == 0:
		case konst:
			for ; m != 0; m &= m - 1 {
				dst[at+bits.TrailingZeros64(m)] = src[0]
			}
		case m == ^uint64(0):
			copy(dst[at:at+64], src[at:at+64])
		default:
			for ; m != 0; m &= m - 1 {
				row := at + bits.TrailingZeros64(m)
				dst[row] = src[row]
			}
		}
	}
}

// blendText sizes the rows first and copies then. A row that no longer fits the column is null and fails (nspl 7.5).
func (r *run) blendText(kind types.Scalar, arms []arm, sel, valid []byte, root bool) column {
	which := loop.View[uint16](r.mem.bytes(2 * r.n))
	clear(which)
	for i := range arms {
		eachSet(arms[i].sel, r.n, func(row int) { which[row] = uint16(i) })
	}
	size := 0
	for row := range r.n {
		if bitAt(valid, row) {
			c := &arms[which[row]].col
			size += len(c.span(c.at(row)))
		}
	}
	fits := size <= r.textLimit()
	out := r.newText(kind, r.n, min(size, r.textLimit()), false, root)
	at := 0
	for row := range r.n {
		if bitAt(valid, row) {
			c := &arms[which[row]].col
			s := c.span(c.at(row))
			if fits || at+len(s) <= len(out.text) {
				at += copy(out.text[at:], s)
			} else {
				clearBit(valid, row)
				if sel == nil || bitAt(sel, row) {
					r.fail(row, Overflow, textTooLong)
				}
			}
		}
		out.offs[row+1] = int32(at)
	}
	out.cut(at)
	return out
}

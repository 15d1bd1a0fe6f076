// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"bytes"

	"github.com/nervix-go/nervix/host/expr/loop"
	"github.com/nervix-go/nervix/host/kernel/types"
)

// extrema is greatest and least: nulls are skipped, NaN is above all, both zeros are equal, the first of equals stays.
type extrema struct {
	kind  types.Scalar
	args  []node
	least bool
	place
}

func (x *extrema) eval(r *run, sel []byte) column {
	best := x.args[0].eval(r, sel)
	for i, a := range x.args[1:] {
		c := a.eval(r, sel)
		best = r.better(&best, &c, x, sel, x.root && i == len(x.args)-2)
	}
	return best
}

// better takes b where it beats a, or where a is null.
func (r *run) better(a, b *column, x *extrema, sel []byte, root bool) column {
	kind, least := x.kind, x.least
	if a.null() {
		return *b
	}
	if b.null() {
		return *a
	}
	konst := a.konst && b.konst
	n := r.n
	if konst {
		n = 1
	}
	wins := r.mem.zeros(n)
	switch {
	case kind == types.Bool:
		for i := range n {
			va, vb := bitAt(a.bits, a.at(i)), bitAt(b.bits, b.at(i))
			if va != vb && vb != least {
				setBit(wins, i)
			}
		}
	case textual(kind):
		for i := range n {
			d := bytes.Compare(b.span(b.at(i)), a.span(a.at(i)))
			if least && d < 0 || !least && d > 0 {
				setBit(wins, i)
			}
		}
	default:
		winFixed(wins, a, b, n, least)
	}
	if konst {
		if bitAt(wins, 0) {
			return *b
		}
		return *a
	}
	left, right := r.mem.bitmap(r.n), r.mem.bitmap(r.n)
	for w := range words(n) {
		va, vb := constWord(a, w), constWord(b, w)
		pick := vb & (word(wins, w) | ^va)
		putWord(right, w, pick)
		putWord(left, w, va&^pick)
	}
	return r.blend(kind, []arm{{*a, left}, {*b, right}}, sel, root)
}

func winFixed(wins []byte, a, b *column, n int, least bool) {
	switch a.kind {
	case types.U8:
		winValues[uint8](wins, a, b, n, least)
	case types.I8:
		winValues[int8](wins, a, b, n, least)
	case types.U16:
		winValues[uint16](wins, a, b, n, least)
	case types.I16:
		winValues[int16](wins, a, b, n, least)
	case types.U32:
		winValues[uint32](wins, a, b, n, least)
	case types.I32:
		winValues[int32](wins, a, b, n, least)
	case types.U64:
		winValues[uint64](wins, a, b, n, least)
	case types.I64, types.Datetime:
		winValues[int64](wins, a, b, n, least)
	case types.F32:
		winValues[float32](wins, a, b, n, least)
	default:
		winValues[float64](wins, a, b, n, least)
	}
}

func winValues[T loop.Number](wins []byte, a, b *column, n int, least bool) {
	va, vb := loop.View[T](a.fixed), loop.View[T](b.fixed)
	for i := range n {
		p, q := va[a.at(i)], vb[b.at(i)]
		above := q > p || (q != q && p == p)
		below := q < p || (p != p && q == q)
		if least && below || !least && above {
			setBit(wins, i)
		}
	}
}

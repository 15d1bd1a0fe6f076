// SPDX-License-Identifier: Apache-2.0

package expr

import "github.com/nervix-go/nervix/host/kernel/types"

// logic is AND or OR by three-valued logic. Both operands are evaluated for every row (nspl 6.2).
type logic struct {
	a, b node
	or   bool
	place
}

func (x *logic) eval(r *run, sel []byte) column {
	a, b := x.a.eval(r, sel), x.b.eval(r, sel)
	return r.logic(&a, &b, x.or, x.root)
}

func (r *run) logic(a, b *column, or, root bool) column {
	konst := a.konst && b.konst
	n := r.n
	if konst {
		n = 1
	}
	out := r.newBits(n, konst, root)
	if a.valid == nil && b.valid == nil {
		for w := range words(n) {
			if or {
				putWord(out.bits, w, boolWord(a, w)|boolWord(b, w))
			} else {
				putWord(out.bits, w, boolWord(a, w)&boolWord(b, w))
			}
		}
		return out
	}
	out.valid, out.ownValid = r.mem.bitmap(n), true
	for w := range words(n) {
		pa, pb, va, vb := boolWord(a, w), boolWord(b, w), constWord(a, w), constWord(b, w)
		yes, no := va&pa&vb&pb, va&^pa|vb&^pb
		if or {
			yes, no = va&pa|vb&pb, va&^pa&vb&^pb
		}
		putWord(out.bits, w, yes)
		putWord(out.valid, w, yes|no)
	}
	return out
}

// not is NOT; the not of null is null.
type not struct {
	a node
	place
}

func (x *not) eval(r *run, sel []byte) column {
	a := x.a.eval(r, sel)
	return r.not(&a, x.root)
}

func (r *run) not(a *column, root bool) column {
	out := r.newBits(a.n, a.konst, root)
	out.valid = a.valid
	for w := range words(a.n) {
		putWord(out.bits, w, ^word(a.bits, w))
	}
	return out
}

// between is x >= lo AND x <= hi with x computed once and every operand evaluated.
type between struct {
	x, lo, hi node
	not       bool
	place
}

func (b *between) eval(r *run, sel []byte) column {
	x, lo, hi := b.x.eval(r, sel), b.lo.eval(r, sel), b.hi.eval(r, sel)
	low, high := r.compare(opGE, &x, &lo, false), r.compare(opLE, &x, &hi, false)
	if !b.not {
		return r.logic(&low, &high, false, b.root)
	}
	in := r.logic(&low, &high, false, false)
	return r.not(&in, b.root)
}

// isNull is is_null(x) for any type; never null itself.
type isNull struct {
	a node
	place
}

func (x *isNull) eval(r *run, sel []byte) column {
	a := x.a.eval(r, sel)
	out := r.newBits(a.n, a.konst, x.root)
	for w := range words(a.n) {
		putWord(out.bits, w, ^validWord(a.valid, w))
	}
	return out
}

// truth is the rows of sel for which a BOOL column is TRUE.
func (r *run) truth(c *column, sel []byte) []byte {
	out := r.mem.bitmap(r.n)
	for w := range words(r.n) {
		putWord(out, w, boolWord(c, w)&constWord(c, w)&validWord(sel, w))
	}
	return out
}

// without is the rows of sel that are not in taken.
func (r *run) without(sel, taken []byte) []byte {
	out := r.mem.bitmap(r.n)
	for w := range words(r.n) {
		putWord(out, w, validWord(sel, w)&^word(taken, w))
	}
	return out
}

// boolColumn is a constant TRUE or FALSE.
func (r *run) boolColumn(v bool) column {
	c := column{kind: types.Bool, n: 1, konst: true}
	c.bits = r.mem.bitmap(1)
	fillBits(c.bits, 1, v)
	return c
}

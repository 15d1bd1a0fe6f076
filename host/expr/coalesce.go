// SPDX-License-Identifier: Apache-2.0

package expr

import "github.com/nervix-go/nervix/host/kernel/types"

// coalesce is the first non-null argument; all arguments are evaluated for every row.
type coalesce struct {
	kind types.Scalar
	args []node
	place
}

func (x *coalesce) eval(r *run, sel []byte) column {
	var room [8]column
	cols := room[:0]
	for _, a := range x.args {
		cols = append(cols, a.eval(r, sel))
	}
	var armRoom [8]arm
	arms := armRoom[:0]
	var open []byte
	for i := range cols {
		c := &cols[i]
		if c.null() {
			continue
		}
		if c.konst || c.valid == nil || allSet(c.valid, r.n) {
			if len(arms) == 0 {
				return *c
			}
			arms = append(arms, arm{*c, open})
			break
		}
		taken := r.mem.bitmap(r.n)
		for w := range words(r.n) {
			putWord(taken, w, validWord(open, w)&word(c.valid, w))
		}
		arms = append(arms, arm{*c, taken})
		open = r.without(open, taken)
	}
	switch {
	case len(arms) == 0:
		return r.nulls(x.kind)
	case len(arms) == 1:
		return arms[0].col
	default:
		return r.blend(x.kind, arms, sel, x.root)
	}
}

// nullif is null when a = b and a otherwise, also when b is null.
type nullif struct {
	kind types.Scalar
	a, b node
	place
}

func (x *nullif) eval(r *run, sel []byte) column {
	a, b := x.a.eval(r, sel), x.b.eval(r, sel)
	if a.null() || b.null() {
		return a
	}
	eq := r.compare(opEQ, &a, &b, false)
	if eq.konst {
		if validAt(eq.valid, 0) && bitAt(eq.bits, 0) {
			return r.nulls(x.kind)
		}
		return a
	}
	out := a
	if a.konst {
		keep := r.without(nil, r.truth(&eq, nil))
		return r.blend(x.kind, []arm{{a, keep}}, sel, x.root)
	}
	out.src = nil
	out.valid, out.ownValid = r.mem.bitmap(r.n), true
	for w := range words(r.n) {
		putWord(out.valid, w, constWord(&a, w)&^(constWord(&eq, w)&boolWord(&eq, w)))
	}
	return out
}

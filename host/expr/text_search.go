// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"bytes"

	"github.com/nervix-go/nervix/host/expr/loop"
	"github.com/nervix-go/nervix/host/kernel/types"
)

// searchKind is one of the three text predicates; all compare exact bytes.
type searchKind uint8

const (
	searchContains searchKind = iota
	searchStarts
	searchEnds
)

// search is contains, starts_with and ends_with.
type search struct {
	a, b node
	what searchKind
	place
}

func (x *search) eval(r *run, sel []byte) column {
	a, b := x.a.eval(r, sel), x.b.eval(r, sel)
	if a.null() || b.null() {
		return r.nulls(types.Bool)
	}
	konst := a.konst && b.konst
	n := r.n
	if konst {
		n = 1
	}
	out := r.newBits(n, konst, x.root)
	out.valid = r.both(&a, &b, n)
	clear(out.bits)
	if x.what == searchContains && b.konst && !a.konst && len(b.span(0)) > 0 {
		findAll(out.bits, &a, b.span(0))
		return out
	}
	for i := range n {
		s, t := a.span(a.at(i)), b.span(b.at(i))
		var v bool
		switch x.what {
		case searchContains:
			v = bytes.Contains(s, t)
		case searchStarts:
			v = bytes.HasPrefix(s, t)
		default:
			v = bytes.HasSuffix(s, t)
		}
		if v {
			setBit(out.bits, i)
		}
	}
	return out
}

// findAll searches the contiguous text of all rows at once. A hit that reaches into the next row is none; every later hit that begins in
// the same row would reach over as well, so the search goes on at the next row after any hit.
func findAll(dst []byte, a *column, needle []byte) {
	f := loop.NewFinder(needle)
	text := a.text[:a.offs[a.n]]
	row := 0
	for pos := int(a.offs[0]); pos < len(text); pos = int(a.offs[row+1]) {
		if pos = f.Next(text, pos); pos < 0 {
			return
		}
		for int(a.offs[row+1]) <= pos {
			row++
		}
		if pos+len(needle) <= int(a.offs[row+1]) {
			setBit(dst, row)
		}
	}
}

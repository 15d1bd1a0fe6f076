// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"errors"

	"golang.org/x/text/cases"
	"golang.org/x/text/transform"

	"github.com/nervix-go/nervix/host/expr/loop"
	"github.com/nervix-go/nervix/host/kernel/types"
)

// changeCase is lower and upper by the full Unicode mapping without a locale. ASCII text takes its bytes over in one pass over the
// whole column (Q56).
type changeCase struct {
	a  node
	up bool
	place
}

func (x *changeCase) eval(r *run, sel []byte) column {
	a := x.a.eval(r, sel)
	if a.null() {
		return r.nulls(types.String)
	}
	base, end := int(a.offs[0]), int(a.offs[a.n])
	out := r.newText(types.String, a.n, end-base, a.konst, x.root)
	out.valid = a.valid
	if !loop.MapASCII(out.text, a.text[base:end], x.up) {
		x.unicode(r, sel, &a, &out)
		return out
	}
	for i, o := range a.offs {
		out.offs[i] = o - int32(base)
	}
	return out
}

// unicode maps row by row; only rows with other characters go through the tables.
func (x *changeCase) unicode(r *run, sel []byte, a, out *column) {
	name, caser := "lower", r.mem.lowerCaser()
	if x.up {
		name, caser = "upper", r.mem.upperCaser()
	}
	at, limit := 0, r.textLimit()
	for i := range a.n {
		if validAt(a.valid, i) && (sel == nil || a.konst || bitAt(sel, i)) {
			s := a.span(i)
			r.growText(out, at+len(s))
			end := at + len(s)
			if !loop.MapASCII(out.text[at:end], s, x.up) {
				end = r.mapCase(out, at, s, caser)
			}
			if end > limit {
				r.reject(out, sel, i, Overflow, name+": "+textTooLong)
			} else {
				at = end
			}
		}
		out.offs[i+1] = int32(at)
	}
	out.cut(at)
}

// mapCase writes the mapping of s at position at and gives the end.
func (r *run) mapCase(out *column, at int, s []byte, caser *cases.Caser) int {
	for {
		caser.Reset()
		n, _, err := caser.Transform(out.text[at:], s, true)
		if !errors.Is(err, transform.ErrShortDst) {
			return at + n
		}
		r.growText(out, at+2*len(s)+64+(len(out.text)-at))
	}
}

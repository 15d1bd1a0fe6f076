// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"unicode"
	"unicode/utf8"

	"github.com/nervix-go/nervix/host/kernel/types"
)

// trim removes Unicode white space from both ends.
type trim struct {
	a node
	place
}

func (x *trim) eval(r *run, sel []byte) column {
	a := x.a.eval(r, sel)
	if a.null() {
		return r.nulls(types.String)
	}
	out := r.newText(types.String, a.n, int(a.offs[a.n]-a.offs[0]), a.konst, x.root)
	out.valid = a.valid
	at := 0
	for i := range a.n {
		at += copy(out.text[at:], trimSpace(a.span(i)))
		out.offs[i+1] = int32(at)
	}
	out.cut(at)
	return out
}

// trimSpace cuts white space off both ends without a copy.
func trimSpace(s []byte) []byte {
	for len(s) > 0 {
		r, n := rune(s[0]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRune(s)
		}
		if !unicode.IsSpace(r) {
			break
		}
		s = s[n:]
	}
	for len(s) > 0 {
		r, n := rune(s[len(s)-1]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeLastRune(s)
		}
		if !unicode.IsSpace(r) {
			break
		}
		s = s[:len(s)-n]
	}
	return s
}

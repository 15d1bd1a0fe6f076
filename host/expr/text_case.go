// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"encoding/binary"
	"errors"

	"golang.org/x/text/cases"
	"golang.org/x/text/transform"

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
	if isASCII(a.text[base:end]) {
		out := r.newText(types.String, a.n, end-base, a.konst, x.root)
		out.valid = a.valid
		for i, o := range a.offs {
			out.offs[i] = o - int32(base)
		}
		mapASCII(out.text, a.text[base:end], x.up)
		return out
	}
	return x.unicode(r, sel, &a, end-base)
}

// unicode maps row by row; only rows with other characters go through the tables.
func (x *changeCase) unicode(r *run, sel []byte, a *column, size int) column {
	out := r.newText(types.String, a.n, size, a.konst, x.root)
	out.valid = a.valid
	name, caser := "lower", r.mem.lowerCaser()
	if x.up {
		name, caser = "upper", r.mem.upperCaser()
	}
	at, limit := 0, r.textLimit()
	for i := range a.n {
		if validAt(a.valid, i) && (sel == nil || a.konst || bitAt(sel, i)) {
			s := a.span(i)
			r.growText(&out, at+len(s))
			end := at + len(s)
			if isASCII(s) {
				mapASCII(out.text[at:end], s, x.up)
			} else {
				end = r.mapCase(&out, at, s, caser)
			}
			if end > limit {
				r.reject(&out, sel, i, Overflow, name+": "+textTooLong)
			} else {
				at = end
			}
		}
		out.offs[i+1] = int32(at)
	}
	out.cut(at)
	return out
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

const highBits = 0x8080808080808080

func isASCII(s []byte) bool {
	for ; len(s) >= 32; s = s[32:] {
		v := binary.LittleEndian.Uint64(s) | binary.LittleEndian.Uint64(s[8:]) | binary.LittleEndian.Uint64(s[16:]) | binary.LittleEndian.Uint64(s[24:])
		if v&highBits != 0 {
			return false
		}
	}
	var v byte
	for _, c := range s {
		v |= c
	}
	return v < 0x80
}

// mapASCII changes the case of ASCII letters, eight bytes at a time: for bytes below 0x80 the additions carry into the top bit of a byte
// exactly when it is at least the first letter, and above the last one; 0x20 is the top bit of a letter shifted to the case bit.
func mapASCII(dst, src []byte, up bool) {
	first, last := uint64('A'), uint64('Z')
	if up {
		first, last = 'a', 'z'
	}
	const ones = 0x0101010101010101
	from, past := (0x80-first)*ones, (0x7f-last)*ones
	dst = dst[:len(src)]
	for len(src) >= 8 {
		v := binary.LittleEndian.Uint64(src)
		letter := (v + from) &^ (v + past) & highBits
		binary.LittleEndian.PutUint64(dst, v^letter>>2)
		src, dst = src[8:], dst[8:]
	}
	for i, c := range src {
		if uint64(c) >= first && uint64(c) <= last {
			c ^= 0x20
		}
		dst[i] = c
	}
}

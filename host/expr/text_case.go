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
	out := r.newText(types.String, a.n, end-base, a.konst, x.root)
	out.valid = a.valid
	if !mapASCII(out.text, a.text[base:end], x.up) {
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
			if !mapASCII(out.text[at:end], s, x.up) {
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

// mapASCII changes the case of ASCII letters, eight bytes at a time, and says whether all bytes were ASCII; dst is of no use if not. For
// bytes below 0x80 the additions carry into the top bit of a byte exactly when it is at least the first letter, and above the last one;
// 0x20, the difference of the cases, is that top bit shifted.
func mapASCII(dst, src []byte, up bool) bool {
	first, last := uint64('A'), uint64('Z')
	if up {
		first, last = 'a', 'z'
	}
	from, past := (0x80-first)*ones, (0x7f-last)*ones
	dst = dst[:len(src)]
	var seen uint64
	for len(src) >= 16 && len(dst) >= 16 {
		v, w := binary.LittleEndian.Uint64(src), binary.LittleEndian.Uint64(src[8:])
		seen |= v | w
		binary.LittleEndian.PutUint64(dst, v^((v+from)&^(v+past)&highBits)>>2)
		binary.LittleEndian.PutUint64(dst[8:], w^((w+from)&^(w+past)&highBits)>>2)
		src, dst = src[16:], dst[16:]
	}
	for i, c := range src {
		seen |= uint64(c)
		if uint64(c) >= first && uint64(c) <= last {
			c ^= 0x20
		}
		dst[i] = c
	}
	return seen&highBits == 0
}

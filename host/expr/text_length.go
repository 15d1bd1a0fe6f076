// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"unicode/utf8"

	"github.com/nervix-go/nervix/host/expr/loop"
	"github.com/nervix-go/nervix/host/kernel/types"
)

// length counts characters: Unicode scalar values.
type length struct {
	a node
	place
}

func (x *length) eval(r *run, sel []byte) column {
	a := x.a.eval(r, sel)
	if a.null() {
		return r.nulls(types.I64)
	}
	out := r.newFixed(types.I64, a.n, a.konst, x.root)
	out.valid = a.valid
	dst := loop.View[int64](out.fixed)
	if loop.IsASCII(a.text[a.offs[0]:a.offs[a.n]]) {
		for i := range dst {
			dst[i] = int64(a.offs[i+1] - a.offs[i])
		}
		return out
	}
	for i := range dst {
		dst[i] = int64(utf8.RuneCount(a.span(i)))
	}
	return out
}

// substr is substr(s, from[, len]) by character, positions from 1; from <= 1 means 1. from and len are of any integer type.
type substr struct {
	a, from, count node
	place
}

func (x *substr) eval(r *run, sel []byte) column {
	a, from := x.a.eval(r, sel), x.from.eval(r, sel)
	konst := a.konst && from.konst
	var count column
	if x.count != nil {
		count = x.count.eval(r, sel)
		konst = konst && count.konst
	}
	if a.null() || from.null() || (x.count != nil && count.null()) {
		return r.nulls(types.String)
	}
	n := r.n
	if konst {
		n = 1
	}
	size := int(a.offs[a.n] - a.offs[0])
	if a.konst && !konst {
		size *= n
	}
	limit := r.textLimit()
	out := r.newText(types.String, n, min(size, limit), konst, x.root)
	out.valid = r.both(&a, &from, n)
	if x.count != nil {
		joint := column{valid: out.valid, konst: konst}
		out.valid = r.both(&joint, &count, n)
	}
	ascii := loop.IsASCII(a.text[a.offs[0]:a.offs[a.n]])
	at := 0
	for i := range n {
		if validAt(out.valid, i) {
			s := skipCharacters(a.span(a.at(i)), wholeAt(&from, from.at(i))-1, ascii)
			if x.count != nil {
				s = s[:len(s)-len(skipCharacters(s, wholeAt(&count, count.at(i)), ascii))]
			}
			if at+len(s) > limit {
				r.reject(&out, sel, i, Overflow, "substr: "+textTooLong)
			} else {
				at += copy(out.text[at:], s)
			}
		}
		out.offs[i+1] = int32(at)
	}
	out.cut(at)
	return out
}

// skipCharacters is s without its first n characters; a negative n skips none.
func skipCharacters(s []byte, n int64, ascii bool) []byte {
	if n <= 0 {
		return s
	}
	if n >= int64(len(s)) {
		return s[len(s):]
	}
	if ascii {
		return s[n:]
	}
	at := 0
	for ; n > 0 && at < len(s); n-- {
		if s[at] < utf8.RuneSelf {
			at++
			continue
		}
		_, w := utf8.DecodeRune(s[at:])
		at += w
	}
	return s[at:]
}

// wholeAt reads an integer of any width as I64, cutting U64 at the largest I64. It keeps one below the smallest, so that
// callers may subtract one.
func wholeAt(c *column, i int) int64 {
	switch c.kind {
	case types.U8:
		return int64(loop.View[uint8](c.fixed)[i])
	case types.I8:
		return int64(loop.View[int8](c.fixed)[i])
	case types.U16:
		return int64(loop.View[uint16](c.fixed)[i])
	case types.I16:
		return int64(loop.View[int16](c.fixed)[i])
	case types.U32:
		return int64(loop.View[uint32](c.fixed)[i])
	case types.I32:
		return int64(loop.View[int32](c.fixed)[i])
	case types.U64:
		return int64(min(loop.View[uint64](c.fixed)[i], 1<<63-1))
	default:
		return max(loop.View[int64](c.fixed)[i], -1<<63+1)
	}
}

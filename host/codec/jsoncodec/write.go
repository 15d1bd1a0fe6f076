// SPDX-License-Identifier: Apache-2.0

package jsoncodec

import (
	"math"
	"math/bits"
	"strconv"
	"unicode/utf8"
)

// pairs holds the two digits of 0..99.
var pairs = func() (p [200]byte) {
	for i := range 100 {
		p[2*i], p[2*i+1] = byte('0'+i/10), byte('0'+i%10)
	}
	return p
}()

// decimalLen is the number of digits of v.
func decimalLen(v uint64) int {
	n := bits.Len64(v|1) * 1233 >> 12
	if v >= tens[n] {
		n++
	}
	return max(n, 1)
}

// putDigits writes v with exactly n digits, leading zeros included. There is room for maxScalar and slack.
func putDigits(out []byte, at, n int, v uint64) {
	i := at + n
	for n >= 2 {
		q := v / 100
		k := 2 * (v - 100*q)
		v = q
		i -= 2
		n -= 2
		out[i], out[i+1] = pairs[k], pairs[k+1]
	}
	if n == 1 {
		out[i-1] = byte('0' + v%10)
	}
}

// integer writes a whole number exactly; below says that v is the two's complement of a negative one, minus that a sign is wanted.
func (e *encoder) integer(v uint64, below, minus bool) {
	if below {
		v = -v
	}
	if below || minus {
		e.out[e.w] = '-'
		e.w++
	}
	n := decimalLen(v)
	putDigits(e.out, e.w, n, v)
	e.w += n
}

// float64 writes the shortest decimal that reads back as the same number. A decimal of at most 15 digits is read back unchanged by
// every float64, so if the number is one, that decimal without trailing zeros is the shortest; that covers most measured values with
// one or two divisions. The rest goes to strconv.
func (e *encoder) float64(x float64, index int) bool {
	if x-x != 0 {
		return e.fail(index, "is NaN or infinite, which JSON cannot express")
	}
	a := math.Abs(x)
	if a >= 1e-3 && a < 1e15 {
		if m := int64(a); float64(m) == a {
			e.integer(uint64(m), false, x < 0)
			return true
		}
		if m := int64(a*1e3 + 0.5); m < 1e15 && float64(m)/1e3 == a {
			e.fixed(uint64(m)/1e3, uint64(m)%1e3, 3, x < 0)
			return true
		}
		if s := a*1e6 + 0.5; s < 1e15 && float64(int64(s))/1e6 == a {
			e.fixed(uint64(s)/1e6, uint64(s)%1e6, 6, x < 0)
			return true
		}
	}
	e.general(x, 64)
	return true
}

// float32 does the same with the 6 digits that every float32 keeps.
func (e *encoder) float32(x float32, index int) bool {
	if x-x != 0 {
		return e.fail(index, "is NaN or infinite, which JSON cannot express")
	}
	a := x
	if x < 0 {
		a = -x
	}
	if a >= 1e-3 && a < 1e6 {
		if m := int32(a); float32(m) == a {
			e.integer(uint64(m), false, x < 0)
			return true
		}
		if m := int32(float64(a)*1e3 + 0.5); m < 1e6 && float32(m)/1e3 == a {
			e.fixed(uint64(m)/1e3, uint64(m)%1e3, 3, x < 0)
			return true
		}
	}
	e.general(float64(x), 32)
	return true
}

// fixed writes a number by its parts before and behind the point, without trailing zeros; the part behind is not 0.
func (e *encoder) fixed(whole, fraction uint64, points int, minus bool) {
	for fraction%10 == 0 {
		fraction /= 10
		points--
	}
	e.integer(whole, false, minus)
	e.out[e.w] = '.'
	putDigits(e.out, e.w+1, points, fraction)
	e.w += 1 + points
}

// general writes any finite number; very small and very great ones with an exponent.
func (e *encoder) general(x float64, width int) {
	format := byte('f')
	if a := math.Abs(x); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	e.w += len(strconv.AppendFloat(e.out[e.w:e.w:len(e.out)], x, format, -1, width))
}

// datetime writes RFC 3339 with `+00:00` and 0, 3, 6 or 9 digits of fraction as needed (nspl 3.1).
func (e *encoder) datetime(ns int64) {
	seconds := floorDiv(ns, 1e9)
	fraction := uint64(ns - seconds*1e9)
	day := floorDiv(seconds, 86400)
	rest := uint64(seconds - day*86400)
	year, month, dayOf := civil(day)
	out, w := e.out, e.w
	putDigits(out, w+1, 4, uint64(year))
	putDigits(out, w+6, 2, uint64(month))
	putDigits(out, w+9, 2, uint64(dayOf))
	putDigits(out, w+12, 2, rest/3600)
	putDigits(out, w+15, 2, rest/60%60)
	putDigits(out, w+18, 2, rest%60)
	out[w], out[w+5], out[w+8], out[w+11], out[w+14], out[w+17] = '"', '-', '-', 'T', ':', ':'
	w += 20
	if fraction != 0 {
		points := 9
		for points > 3 && fraction%1000 == 0 {
			fraction /= 1000
			points -= 3
		}
		out[w] = '.'
		putDigits(out, w+1, points, fraction)
		w += 1 + points
	}
	e.w = w + copy(out[w:], `+00:00"`)
}

// text writes a string: eight bytes are copied and looked at together.
func (e *encoder) text(src []byte, i, end, index int) bool {
	if need := end - i + 2 + e.rowMost; e.w+need > len(e.out) {
		e.grow(need)
	}
	out, w, from := e.out, e.w, i
	out[w] = '"'
	w++
	var all uint64
	for i < end {
		n, clean := end-i, 0
		if n >= 8 {
			word := load(src, i)
			store(out, w, word)
			all |= word
			m := escapes(word)
			if m == 0 {
				i, w = i+8, w+8
				continue
			}
			clean = first(m)
		} else {
			word := tail(src, i, n)
			store(out, w, word)
			all |= word
			if clean = first(escapes(word | spaces<<uint(8*n))); clean >= n {
				w += n
				break
			}
		}
		i, w = i+clean, w+clean
		e.w = w
		e.grow(end - i + 8 + e.rowMost) // an escape takes up to 6 bytes
		out = e.out
		w += len(appendEscaped(out[w:w], src[i]))
		i++
	}
	if all&highs != 0 && !utf8.Valid(src[from:end]) {
		return e.fail(index, "is no valid UTF-8")
	}
	out[w] = '"'
	e.w = w + 1
	return true
}

// tail reads the last n < 8 bytes of a text; what is beyond them is 0.
func tail(src []byte, i, n int) (word uint64) {
	if i+8 <= len(src) {
		return load(src, i) & (1<<uint(8*n) - 1)
	}
	for k := range n {
		word |= uint64(src[i+k]) << uint(8*k)
	}
	return word
}

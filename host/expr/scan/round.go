// SPDX-License-Identifier: Apache-2.0

package scan

import (
	"math"
	"strconv"
)

// exactPowers are the powers of ten a float64 holds exactly.
const exactPowers = 22

// Round rounds x to d decimal places, halves away from zero, and gives the float nearest to that decimal at the given width. NaN
// and infinities come back as they are.
func Round(x float64, d int64, width int) float64 {
	if x == 0 || x-x != 0 {
		return x
	}
	if d >= 0 && d <= exactPowers {
		if v, ok := roundScaled(x, math.Pow10(int(d)), width); ok {
			return v
		}
	}
	return roundDigitsText(x, d, width)
}

// roundScaled works where x*scale is below 2^52: the product and its rounding error together are exact, so a half is recognised exactly,
// and a whole number below 2^53 divided by an exact power of ten is rounded once.
func roundScaled(x, scale float64, width int) (float64, bool) {
	p := x * scale
	if math.Abs(p) >= 1<<52 {
		return 0, false
	}
	err := math.FMA(x, scale, -p)
	whole := math.Trunc(p)
	part := math.Abs(p - whole)
	away := err
	if x < 0 {
		away = -err
	}
	if part > 0.5 || part == 0.5 && away >= 0 {
		whole += math.Copysign(1, x)
	}
	v := math.Copysign(whole/scale, x)
	if width == 32 && math.Float64bits(v)<<35>>35 == 1<<28 {
		return 0, false // half between two F32: a second rounding could go the wrong way
	}
	return v, true
}

// roundDigitsText rounds the exact decimal digits.
func roundDigitsText(x float64, d int64, width int) float64 {
	if d > 1074 { // no float64 has more binary, hence decimal, places
		return x
	}
	if d < -310 {
		return math.Copysign(0, x)
	}
	room := [1536]byte{'0'} // the first digit is spare, for a carry
	size := math.Abs(x)
	if d < 0 {
		size = math.Trunc(size) // the halves are whole numbers
	}
	// All digits: a float64 has at most 309 before the point and 1074 after it.
	text := strconv.AppendFloat(room[:1], size, 'f', int(max(d, 0))+1, 64)
	if d >= 0 && !exactAt(x, d+1) {
		// More digits follow. They cannot make a half, so the nearest decimal is the one strconv finds.
		text = strconv.AppendFloat(room[:1], size, 'f', int(d), 64)
	} else {
		text = roundText(room[:len(text)], d)
	}
	v, _ := strconv.ParseFloat(textOf(text), width)
	return math.Copysign(v, x)
}

// exactAt says whether x has at most d decimal places: whether its lowest bit is worth 2^-d or more.
func exactAt(x float64, d int64) bool {
	m, e := math.Frexp(x)
	low := int64(e)
	for m != math.Trunc(m) {
		m *= 2
		low--
	}
	return low >= -d
}

// roundText rounds `0ddd.ddd` at d places, half up; the leading zero takes a carry.
func roundText(text []byte, d int64) []byte {
	point := len(text) - 1
	for text[point] != '.' {
		point--
	}
	cut := point + int(d) // index of the last kept digit for d >= 0, after skipping the point
	if d <= 0 {
		cut = point - 1 + int(d)
	}
	if cut < 0 {
		return text[:1]
	}
	next := cut + 1
	if text[next] == '.' {
		next++
	}
	carry := text[next] >= '5'
	for i := next; i < len(text); i++ {
		if text[i] != '.' {
			text[i] = '0'
		}
	}
	for i := cut; carry && i >= 0; i-- {
		if text[i] == '.' {
			continue
		}
		if text[i] != '9' {
			text[i]++
			carry = false
			break
		}
		text[i] = '0'
	}
	return text
}

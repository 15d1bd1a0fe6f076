// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"math"
	"math/bits"
)

// fraction is a positive finite float64 as the exact value it is: mantissa times 2^exponent.
type fraction struct {
	mantissa uint64 // 1 .. 2^53-1
	exponent int    // -1074 .. 971
}

// fractionOf takes a rate apart; ok is false for zero, negative numbers, infinities and NaN.
func fractionOf(rate float64) (f fraction, ok bool) {
	b := math.Float64bits(rate)
	exponent, mantissa := int(b>>52), b&(1<<52-1) // a negative number has an exponent field above 2047
	switch {
	case exponent == 0:
		return fraction{mantissa, -1074}, mantissa != 0
	case exponent >= 2047:
		return fraction{}, false
	}
	return fraction{mantissa | 1<<52, exponent - 1075}, true
}

// floorTimes is floor(n * f); ok is false if that exceeds 64 bits.
func (f fraction) floorTimes(n uint64) (product uint64, ok bool) {
	hi, lo := bits.Mul64(n, f.mantissa)
	if s := uint(-f.exponent); s-1 < 63 { // rates from 2^-10 to 2^52; the masks change nothing and spare instructions
		return lo>>(s&63) | hi<<((64-s)&63), hi>>(s&63) == 0
	}
	return shift(hi, lo, f.exponent)
}

// shift is hi and lo, of 117 bits together, shifted by any exponent, left if it is positive; ok is false if the result exceeds 64 bits.
func shift(hi, lo uint64, exponent int) (shifted uint64, ok bool) {
	switch e := exponent; {
	case e <= -128: // all bits are shifted out
		return 0, true
	case e <= -64:
		return hi >> uint(-e-64), true
	case e < 0:
		return lo>>uint(-e) | hi<<uint(64+e), hi>>uint(-e) == 0
	case hi|lo == 0:
		return 0, true
	default:
		return lo << (uint(e) & 63), hi == 0 && e <= bits.LeadingZeros64(lo)
	}
}

// ceilDivide is ceil(n / f); ok is false if that exceeds 64 bits.
func (f fraction) ceilDivide(n uint64) (quotient uint64, ok bool) {
	switch e := f.exponent; {
	case n == 0:
		return 0, true
	case e > bits.LeadingZeros64(f.mantissa): // the divisor exceeds 64 bits, and with it n
		return 1, true
	case e >= 0:
		d := f.mantissa << uint(e)
		q := n / d
		if n%d != 0 {
			q++ // no overflow: d = 1 leaves no remainder
		}
		return q, true
	case e <= -117: // 2^117 / 2^53 is 2^64 already
		return 0, false
	default:
		return ceilShiftDivide(n, uint(-e), f.mantissa)
	}
}

// ceilShiftDivide is ceil(n * 2^shift / d) for a shift of 1 to 116 and d below 2^53.
func ceilShiftDivide(n uint64, shift uint, d uint64) (quotient uint64, ok bool) {
	// The dividend in three words. A quotient fits one word exactly if the two high words together are below d.
	var high, middle, low uint64
	if k := shift & 63; shift < 64 {
		middle, low = n>>(64-k), n<<k
	} else {
		high, middle = n>>(64-k), n<<k // n>>64 is zero
	}
	if high != 0 || middle >= d {
		return 0, false
	}
	q, r := bits.Div64(middle, low, d)
	if r != 0 {
		q++
	}
	return q, q != 0 // a dividend above zero has a quotient above zero, unless it wrapped
}

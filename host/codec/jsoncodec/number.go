// SPDX-License-Identifier: Apache-2.0

package jsoncodec

import (
	"math"
	"math/bits"
	"strconv"
	"unsafe"

	"github.com/nervix-go/nervix/host/codec"
)

// numeral is a number that was checked against the grammar, cut into its parts.
type numeral struct {
	begin, end         int // end is -1 if it failed
	minus              bool
	whole, fraction    int // where the digits before and behind the point begin
	wholeN, fractionN  int
	exponent           int64 // saturated
	pointed, exponents bool
}

// maxExponent is where exponents saturate: beyond any number of digits a payload can have.
const maxExponent = 1 << 40

// number checks a number byte by byte. The fast paths below only take what they can prove to be right and come here otherwise.
func (d *decoder) number(i int) numeral {
	buf := d.buf[:d.end]
	n := numeral{begin: i}
	if buf[i] == '-' {
		n.minus = true
		i++
	}
	n.whole = i
	i, n.wholeN = digitRun(buf, i)
	if n.wholeN == 0 {
		return d.badNumber(i)
	}
	if n.wholeN > 1 && buf[n.whole] == '0' {
		d.fail(codec.Syntax, n.whole, "a number with a leading zero")
		return numeral{end: -1}
	}
	if i < len(buf) && buf[i] == '.' {
		n.pointed, n.fraction = true, i+1
		if i, n.fractionN = digitRun(buf, i+1); n.fractionN == 0 {
			return d.badNumber(i)
		}
	}
	if i < len(buf) && buf[i]|0x20 == 'e' {
		n.exponents = true
		minus := false
		if i++; i < len(buf) && (buf[i] == '+' || buf[i] == '-') {
			minus = buf[i] == '-'
			i++
		}
		from := i
		var count int
		if i, count = digitRun(buf, i); count == 0 {
			return d.badNumber(i)
		}
		for _, c := range buf[from:i] {
			n.exponent = min(n.exponent*10+int64(c-'0'), maxExponent)
		}
		if minus {
			n.exponent = -n.exponent
		}
	}
	n.end = i
	return n
}

func (d *decoder) badNumber(i int) numeral {
	if i >= d.end {
		return numeral{end: d.failEndAt(i)}
	}
	d.fail(codec.Syntax, i, "expected a digit")
	return numeral{end: -1}
}

func digitRun(buf []byte, i int) (next, n int) {
	from := i
	for i < len(buf) && buf[i]-'0' <= 9 {
		i++
	}
	return i, i - from
}

// run reads digits eight at a time onto value and returns their number; beyond 19 digits the value wraps. Near the end of the column
// it may stop early, which the slow path mends.
func run(buf []byte, i int, value uint64) (next, n int, v uint64) {
	for i+8 <= len(buf) {
		k, part := digits(load(buf, i))
		value = value*tens[k] + part
		i, n = i+k, n+k
		if k < 8 || n > 24 {
			return i, n, value
		}
	}
	for i < len(buf) && buf[i]-'0' <= 9 {
		value = value*10 + uint64(buf[i]-'0')
		i++
		n++
	}
	return i, n, value
}

// integer reads a whole number for a field and returns its bits. `1.0` and `1e3` are whole numbers (Q52); nothing passes through a
// float, so 64 bits are exact (pains N05).
func (d *decoder) integer(f *field, index, i int) (v uint64, next int) {
	buf, begin := d.buf, i
	minus := buf[i] == '-'
	if minus {
		if i++; i >= d.end {
			return 0, d.failEndAt(i)
		}
	}
	from := i
	var n int
	if i+16 <= len(buf) { // up to 15 digits are two words
		if n, v = digits(load(buf, i)); n == 8 {
			more, part := digits(load(buf, i+8))
			n, v = 8+more, v*tens[more]+part
		}
	}
	if n == 0 || n == 16 {
		i, n, v = run(buf, i, 0)
	} else {
		i += n
	}
	if n == 0 || n > 19 || i > d.end || buf[from] == '0' && n > 1 || i < len(buf) && (buf[i] == '.' || buf[i]|0x20 == 'e') {
		return d.integerSlow(f, index, begin)
	}
	if minus {
		if v > f.maxMinus {
			return 0, d.failRange(begin, index)
		}
		return -v, i
	}
	if v > f.maxPlus {
		return 0, d.failRange(begin, index)
	}
	return v, i
}

func (d *decoder) integerSlow(f *field, index, i int) (v uint64, next int) {
	if c := d.buf[i]; c != '-' && c-'0' > 9 {
		return 0, d.failType(i, index)
	}
	n := d.number(i)
	if n.end < 0 {
		return 0, -1
	}
	v, whole, fits := d.exact(n)
	limit := f.maxPlus
	if n.minus {
		limit = f.maxMinus
	}
	switch {
	case !whole:
		return 0, d.failNamed(codec.Type, i, index, "must be INTEGER, found a number with a fraction")
	case !fits || v > limit:
		return 0, d.failRange(i, index)
	case n.minus:
		return -v, n.end
	default:
		return v, n.end
	}
}

// exact computes the magnitude of a number that may have a point and an exponent.
func (d *decoder) exact(n numeral) (v uint64, whole, fits bool) {
	all := n.wholeN + n.fractionN
	digit := func(k int) byte {
		if k < n.wholeN {
			return d.buf[n.whole+k] - '0'
		}
		return d.buf[n.fraction+k-n.wholeN] - '0'
	}
	from, to := 0, all
	for from < to && digit(from) == 0 {
		from++
	}
	for to > from && digit(to-1) == 0 {
		to--
	}
	if from == to {
		return 0, true, true
	}
	exponent := n.exponent - int64(n.fractionN) + int64(all-to)
	if exponent < 0 {
		return 0, false, false
	}
	if int64(to-from)+exponent > 20 {
		return 0, true, false
	}
	for k := from; k < to+int(exponent); k++ {
		next := uint64(0)
		if k < to {
			next = uint64(digit(k))
		}
		high, low := bits.Mul64(v, 10)
		sum, carry := bits.Add64(low, next, 0)
		if high != 0 || carry != 0 {
			return 0, true, false
		}
		v = sum
	}
	return v, true, true
}

func (d *decoder) failRange(at, index int) int {
	return d.failNamed(codec.Range, at, index, "is a number outside the range of "+
		d.plan.schema.Field(d.plan.fields[index].column).Type.String())
}

// The powers of ten that are exact in a float64 and in a float32.
var (
	exact64 = [...]float64{
		1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
	}
	exact32 = [...]float32{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10}
)

// decimal reads `-12.345`. points is the number of digits behind the point; ok is false for everything that needs the slow path.
func (d *decoder) decimal(i int) (mantissa uint64, points, next int, ok bool) {
	buf := d.buf
	from := i
	i, n, v := run(buf, i, 0)
	if n == 0 || n > 1 && buf[from] == '0' {
		return 0, 0, i, false
	}
	if i < len(buf) && buf[i] == '.' {
		i, points, v = run(buf, i+1, v)
		if points == 0 {
			return 0, 0, i, false
		}
	}
	if n+points > 19 || i < len(buf) && buf[i]|0x20 == 'e' {
		return 0, 0, i, false
	}
	return v, points, i, true
}

// float64 reads a number as the nearest float64 and returns its bits. A short decimal is one exact division: both sides are exact, so
// the result is rounded once. Overflow is an error (Q52).
func (d *decoder) float64(index, i int) (v uint64, next int) {
	begin := i
	minus := d.buf[i] == '-'
	if minus {
		if i++; i >= d.end {
			return 0, d.failEndAt(i)
		}
	}
	// Most numbers have at most seven digits on either side of the point: a word each.
	if i+16 <= len(d.buf) {
		n, whole := digits(load(d.buf, i))
		if uint(n-1) < 7 && d.buf[i+n] == '.' && (n == 1 || d.buf[i] != '0') {
			k, part := digits(load(d.buf, i+n+1))
			if end := i + n + 1 + k; uint(k-1) < 7 && d.buf[end]|0x20 != 'e' {
				x := float64(int64(whole*tens[k]+part)) / exact64[k]
				if minus {
					x = -x
				}
				return math.Float64bits(x), end
			}
		}
	}
	mantissa, points, next, ok := d.decimal(i)
	if ok && mantissa < 1<<53 && points < len(exact64) {
		x := float64(int64(mantissa)) / exact64[points]
		if minus {
			x = -x
		}
		return math.Float64bits(x), next
	}
	n, ok := d.numeralOf(index, begin)
	if !ok {
		return 0, -1
	}
	x, err := strconv.ParseFloat(d.view(n), 64)
	if err != nil {
		return 0, d.failRange(begin, index)
	}
	return math.Float64bits(x), n.end
}

// float32 is rounded once, from the decimal; beyond the range it is an infinity (nspl 5.1).
func (d *decoder) float32(index, i int) (v uint32, next int) {
	begin := i
	minus := d.buf[i] == '-'
	if minus {
		if i++; i >= d.end {
			return 0, d.failEndAt(i)
		}
	}
	mantissa, points, next, ok := d.decimal(i)
	if ok && mantissa < 1<<24 && points < len(exact32) {
		x := float32(int32(mantissa)) / exact32[points]
		if minus {
			x = -x
		}
		return math.Float32bits(x), next
	}
	n, ok := d.numeralOf(index, begin)
	if !ok {
		return 0, -1
	}
	x, _ := strconv.ParseFloat(d.view(n), 32) // the grammar was checked: only a range error is left, and it comes with the infinity
	return math.Float32bits(float32(x)), n.end
}

func (d *decoder) numeralOf(index, i int) (numeral, bool) {
	if c := d.buf[i]; c != '-' && c-'0' > 9 {
		d.failType(i, index)
		return numeral{}, false
	}
	n := d.number(i)
	return n, n.end >= 0
}

// view is the number's text without a copy; ParseFloat keeps none of it but in an error, where it clones.
func (d *decoder) view(n numeral) string { return unsafe.String(&d.buf[n.begin], n.end-n.begin) }

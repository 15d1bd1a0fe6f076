// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"math"
	"strconv"

	"github.com/nervix-go/nervix/host/kernel/types"
)

// absolute is abs: the smallest signed integer overflows; floats lose their sign.
type absolute[T number] struct {
	a      node
	kind   types.Scalar
	lowest T
	signed bool
	place
}

func newAbs(kind types.Scalar, a node) node {
	switch kind {
	case types.I8:
		return &absolute[int8]{a: a, kind: kind, lowest: math.MinInt8, signed: true}
	case types.I16:
		return &absolute[int16]{a: a, kind: kind, lowest: math.MinInt16, signed: true}
	case types.I32:
		return &absolute[int32]{a: a, kind: kind, lowest: math.MinInt32, signed: true}
	case types.I64:
		return &absolute[int64]{a: a, kind: kind, lowest: math.MinInt64, signed: true}
	case types.F32:
		return &absolute[float32]{a: a, kind: kind}
	case types.F64:
		return &absolute[float64]{a: a, kind: kind}
	default:
		return a
	}
}

func (x *absolute[T]) eval(r *run, sel []byte) column {
	a := x.a.eval(r, sel)
	out := r.newFixed(x.kind, a.n, a.konst, x.root)
	out.valid = a.valid
	src, dst := view[T](a.fixed), view[T](out.fixed)
	bad := false
	for i, v := range src {
		if v <= 0 {
			bad = bad || v == x.lowest
			v = 0 - v // turns -0.0 into 0.0 too
		}
		dst[i] = v
	}
	if !x.signed {
		return out
	}
	for i := 0; bad && i < len(src); i++ {
		if src[i] == x.lowest && validAt(a.valid, i) {
			r.reject(&out, sel, i, Overflow, "abs: result is outside the range of the type")
		}
	}
	return out
}

// roundFloat is floor and round(x) on floats. NaN and infinity are refused; zero results keep their sign.
type roundFloat[T float] struct {
	a    node
	kind types.Scalar
	name string
	f    func(float64) float64
	place
}

func newRoundFloat(kind types.Scalar, a node, name string, f func(float64) float64) node {
	if kind == types.F32 {
		return &roundFloat[float32]{a: a, kind: kind, name: name, f: f}
	}
	return &roundFloat[float64]{a: a, kind: kind, name: name, f: f}
}

func (x *roundFloat[T]) eval(r *run, sel []byte) column {
	a := x.a.eval(r, sel)
	out := r.newFixed(x.kind, a.n, a.konst, x.root)
	out.valid = a.valid
	src, dst := view[T](a.fixed), view[T](out.fixed)
	for i, v := range src {
		dst[i] = T(x.f(float64(v)))
		if v-v != 0 && validAt(a.valid, i) {
			r.reject(&out, sel, i, InvalidArgument, x.name+": the argument is NaN or infinite")
		}
	}
	return out
}

// roundDigits is round(x, d): d places for d >= 0, multiples of 10^-d below, halves away from zero, exact on the stored binary value.
type roundDigits struct {
	a, d node
	kind types.Scalar
	place
}

func (x *roundDigits) eval(r *run, sel []byte) column {
	a, d := x.a.eval(r, sel), x.d.eval(r, sel)
	if a.null() || d.null() {
		return r.nulls(x.kind)
	}
	konst := a.konst && d.konst
	n := r.n
	if konst {
		n = 1
	}
	out := r.newFixed(x.kind, n, konst, x.root)
	out.valid = r.both(&a, &d, n)
	apply := roundRow(x.kind)
	for i := range n {
		if !validAt(out.valid, i) {
			continue
		}
		if k := apply(&out, i, &a, a.at(i), wholeAt(&d, d.at(i))); k != 0 {
			text := "round: result is outside the range of the type"
			if k == InvalidArgument {
				text = "round: the argument or the result is NaN or infinite"
			}
			r.reject(&out, sel, i, k, text)
		}
	}
	return out
}

func roundRow(kind types.Scalar) func(out *column, i int, a *column, j int, d int64) Kind {
	switch kind {
	case types.U8:
		return roundWhole[uint8]
	case types.I8:
		return roundWhole[int8]
	case types.U16:
		return roundWhole[uint16]
	case types.I16:
		return roundWhole[int16]
	case types.U32:
		return roundWhole[uint32]
	case types.I32:
		return roundWhole[int32]
	case types.U64:
		return roundWhole[uint64]
	case types.I64:
		return roundWhole[int64]
	case types.F32:
		return func(out *column, i int, a *column, j int, d int64) Kind {
			v := view[float32](a.fixed)[j]
			rounded := float32(roundDecimal(float64(v), d, 32))
			view[float32](out.fixed)[i] = rounded
			return finite(float64(rounded))
		}
	default:
		return func(out *column, i int, a *column, j int, d int64) Kind {
			rounded := roundDecimal(view[float64](a.fixed)[j], d, 64)
			view[float64](out.fixed)[i] = rounded
			return finite(rounded)
		}
	}
}

func finite(v float64) Kind {
	if v-v != 0 {
		return InvalidArgument
	}
	return 0
}

func roundWhole[T integer](out *column, i int, a *column, j int, d int64) Kind {
	v := view[T](a.fixed)[j]
	dst := view[T](out.fixed)
	dst[i] = v
	if d >= 0 {
		return 0
	}
	magnitude := uint64(v)
	if v < 0 {
		magnitude = -magnitude
	}
	if d < -20 || d == -20 && magnitude < 1 {
		dst[i] = 0
		return 0
	}
	step := uint64(1)
	for k := d; k < 0; k++ {
		if step > math.MaxUint64/10 { // 10^20: half of it is more than any 64-bit value
			dst[i] = 0
			return 0
		}
		step *= 10
	}
	rest := magnitude % step
	rounded := magnitude - rest
	if rest >= step-rest {
		if rounded > math.MaxUint64-step {
			return Overflow
		}
		rounded += step
	}
	result := T(rounded)
	if v < 0 {
		result = -result
	}
	if v < 0 && (result > 0 || -uint64(result) != rounded) || v >= 0 && (result < 0 || uint64(result) != rounded) {
		return Overflow
	}
	dst[i] = result
	return 0
}

// exactPowers are the powers of ten a float64 holds exactly.
const exactPowers = 22

// roundDecimal rounds x to d decimal places, halves away from zero, and gives the float nearest to that decimal at the given width. NaN
// and infinities come back as they are.
func roundDecimal(x float64, d int64, width int) float64 {
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

// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"math"

	"github.com/nervix-go/nervix/host/expr/loop"
	"github.com/nervix-go/nervix/host/expr/scan"
	"github.com/nervix-go/nervix/host/kernel/types"
)

// absolute is abs: the smallest signed integer overflows; floats lose their sign.
type absolute[T loop.Number] struct {
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
	src, dst := loop.View[T](a.fixed), loop.View[T](out.fixed)
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
type roundFloat[T loop.Float] struct {
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
	src, dst := loop.View[T](a.fixed), loop.View[T](out.fixed)
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
			v := loop.View[float32](a.fixed)[j]
			rounded := float32(scan.Round(float64(v), d, 32))
			loop.View[float32](out.fixed)[i] = rounded
			return finite(float64(rounded))
		}
	default:
		return func(out *column, i int, a *column, j int, d int64) Kind {
			rounded := scan.Round(loop.View[float64](a.fixed)[j], d, 64)
			loop.View[float64](out.fixed)[i] = rounded
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

func roundWhole[T loop.Integer](out *column, i int, a *column, j int, d int64) Kind {
	v := loop.View[T](a.fixed)[j]
	dst := loop.View[T](out.fixed)
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

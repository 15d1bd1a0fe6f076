// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"math"

	"github.com/nervix-go/nervix/host/expr/loop"
	"github.com/nervix-go/nervix/host/kernel/types"
)

type (
	fillFunc func(dst, src *column) bool
	fineFunc func(src *column, i int) bool
)

// convert gives the conversion between two scalar types neither of which is text. DATETIME is I64 nanoseconds.
func convert(from, to types.Scalar) (fillFunc, fineFunc) {
	switch from {
	case types.Bool:
		return convertBool(to)
	case types.U8:
		return convertFrom[uint8](from, to)
	case types.I8:
		return convertFrom[int8](from, to)
	case types.U16:
		return convertFrom[uint16](from, to)
	case types.I16:
		return convertFrom[int16](from, to)
	case types.U32:
		return convertFrom[uint32](from, to)
	case types.I32:
		return convertFrom[int32](from, to)
	case types.U64:
		return convertFrom[uint64](from, to)
	case types.F32:
		return convertFrom[float32](from, to)
	case types.F64:
		return convertFrom[float64](from, to)
	default:
		return convertFrom[int64](from, to)
	}
}

func never(*column, *column) bool                 { return true }
func neverFine(*column, int) bool                 { return false }
func alwaysFine(*column, int) bool                { return true }
func whole(k types.Scalar) bool                   { return k.Integer() || k == types.Datetime }
func toBool[F loop.Number](v F) bool              { return v != 0 }
func boolValue[T loop.Number](b *column, i int) T { return T(loop.Bit(bitAt(b.bits, i))) }

func convertFrom[F loop.Number](from, to types.Scalar) (fillFunc, fineFunc) {
	switch to {
	case types.Bool:
		if from == types.Datetime {
			return never, neverFine
		}
		return numbersToBool[F], alwaysFine
	case types.U8:
		return convertTo[F, uint8](from, to)
	case types.I8:
		return convertTo[F, int8](from, to)
	case types.U16:
		return convertTo[F, uint16](from, to)
	case types.I16:
		return convertTo[F, int16](from, to)
	case types.U32:
		return convertTo[F, uint32](from, to)
	case types.I32:
		return convertTo[F, int32](from, to)
	case types.U64:
		return convertTo[F, uint64](from, to)
	case types.F32:
		return convertTo[F, float32](from, to)
	case types.F64:
		return convertTo[F, float64](from, to)
	default:
		return convertTo[F, int64](from, to)
	}
}

func numbersToBool[F loop.Number](dst, src *column) bool {
	for i, v := range loop.View[F](src.fixed) {
		if toBool(v) {
			setBit(dst.bits, i)
		}
	}
	return false
}

func convertBool(to types.Scalar) (fillFunc, fineFunc) {
	switch to {
	case types.U8, types.I8:
		return boolTo[uint8], alwaysFine
	case types.U16, types.I16:
		return boolTo[uint16], alwaysFine
	case types.U32, types.I32:
		return boolTo[uint32], alwaysFine
	case types.U64, types.I64:
		return boolTo[uint64], alwaysFine
	case types.F32:
		return boolTo[float32], alwaysFine
	case types.F64:
		return boolTo[float64], alwaysFine
	default:
		return never, neverFine
	}
}

func boolTo[T loop.Number](dst, src *column) bool {
	out := loop.View[T](dst.fixed)
	for i := range out {
		out[i] = boolValue[T](src, i)
	}
	return false
}

func convertTo[F, T loop.Number](from, to types.Scalar) (fillFunc, fineFunc) {
	switch {
	case to.Float():
		return numbersToFloat[F, T], alwaysFine
	case whole(from):
		return wholesToWhole[F, T], wholeFits[F, T]
	default:
		low, high := bounds(to)
		fill := func(dst, src *column) bool { return floatsToWhole[F, T](dst, src, low, high) }
		fine := func(src *column, i int) bool {
			f := float64(loop.View[F](src.fixed)[i])
			return f > low && f < high
		}
		return fill, fine
	}
}

// numbersToFloat rounds to the nearest value; F64 beyond F32 becomes infinite.
func numbersToFloat[F, T loop.Number](dst, src *column) bool {
	out := loop.View[T](dst.fixed)
	for i, v := range loop.View[F](src.fixed) {
		out[i] = T(v)
	}
	return false
}

// wholesToWhole: a value fits when it comes back unchanged with its sign.
func wholesToWhole[F, T loop.Number](dst, src *column) bool {
	out := loop.View[T](dst.fixed)
	bad := uint64(0)
	for i, v := range loop.View[F](src.fixed) {
		t := T(v)
		out[i] = t
		bad |= loop.Bit(F(t) != v) | (loop.Bit(t < 0) ^ loop.Bit(v < 0))
	}
	return bad != 0
}

func wholeFits[F, T loop.Number](src *column, i int) bool {
	v := loop.View[F](src.fixed)[i]
	t := T(v)
	return F(t) == v && (t < 0) == (v < 0)
}

// floatsToWhole cuts toward zero; NaN fails both comparisons.
func floatsToWhole[F, T loop.Number](dst, src *column, low, high float64) bool {
	out := loop.View[T](dst.fixed)
	bad := false
	for i, v := range loop.View[F](src.fixed) {
		if f := float64(v); f > low && f < high {
			out[i] = T(f)
			continue
		}
		out[i] = 0
		bad = true
	}
	return bad
}

// bounds are the floats just outside the values that cut to a whole number of the type.
func bounds(to types.Scalar) (low, high float64) {
	bits := 64
	if to != types.Datetime {
		bits = to.Bits()
	}
	if !to.Signed() && to != types.Datetime {
		return -1, math.Ldexp(1, bits)
	}
	high = math.Ldexp(1, bits-1)
	if bits == 64 {
		return math.Nextafter(-high, math.Inf(-1)), high
	}
	return -high - 1, high
}

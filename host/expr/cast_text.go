// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"math"
	"strconv"

	"github.com/nervix-go/nervix/host/expr/loop"
	"github.com/nervix-go/nervix/host/expr/scan"
	"github.com/nervix-go/nervix/host/kernel/types"
)

// putFunc reads text into row i of a column and says whether it could.
type putFunc func(out *column, i int, s []byte) bool

// parser reads text as a type.
func parser(to types.Scalar) putFunc {
	switch to {
	case types.U8:
		return putWhole[uint8](0, math.MaxUint8)
	case types.I8:
		return putWhole[int8](1<<7, math.MaxInt8)
	case types.U16:
		return putWhole[uint16](0, math.MaxUint16)
	case types.I16:
		return putWhole[int16](1<<15, math.MaxInt16)
	case types.U32:
		return putWhole[uint32](0, math.MaxUint32)
	case types.I32:
		return putWhole[int32](1<<31, math.MaxInt32)
	case types.U64:
		return putWhole[uint64](0, math.MaxUint64)
	case types.I64:
		return putWhole[int64](1<<63, math.MaxInt64)
	case types.F32:
		return putFloat[float32](32)
	case types.F64:
		return putFloat[float64](64)
	case types.Bool:
		return putBool
	default:
		return putDatetime
	}
}

// putWhole reads an optional sign and digits; below and above are the largest magnitudes of either sign.
func putWhole[T loop.Integer](below, above uint64) putFunc {
	return func(out *column, i int, s []byte) bool {
		negative := false
		if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
			negative = s[0] == '-'
			s = s[1:]
		}
		v, ok := scan.Digits(s)
		limit := above
		if negative {
			limit = below
		}
		if !ok || v > limit {
			loop.View[T](out.fixed)[i] = 0
			return false
		}
		if negative {
			v = -v
		}
		loop.View[T](out.fixed)[i] = T(v)
		return true
	}
}

func putFloat[T loop.Float](bits int) putFunc {
	return func(out *column, i int, s []byte) bool {
		v, ok := scan.Float(s, bits)
		loop.View[T](out.fixed)[i] = T(v)
		return ok
	}
}

func putBool(out *column, i int, s []byte) bool {
	v, ok := scan.Bool(trimSpace(s))
	if v {
		setBit(out.bits, i)
	}
	return ok
}

func putDatetime(out *column, i int, s []byte) bool {
	ns, ok := scan.Datetime(s)
	loop.View[int64](out.fixed)[i] = ns
	return ok
}

// typicalText is the room per row a text column starts with where the bound of a row is much larger.
const typicalText = 32

// maxFloatText bounds the decimal form of an F64: 309 digits before the point, or 0., 323 zeros and 17 digits, and a sign.
const maxFloatText = 352

// writeFunc appends the text of row i.
type writeFunc func(dst []byte, c *column, i int) []byte

// printer writes a type as text; bound is the most bytes of one value.
func printer(from types.Scalar) (bound int, write writeFunc) {
	switch from {
	case types.U8:
		return 20, writeUnsigned[uint8]
	case types.I8:
		return 20, writeSigned[int8]
	case types.U16:
		return 20, writeUnsigned[uint16]
	case types.I16:
		return 20, writeSigned[int16]
	case types.U32:
		return 20, writeUnsigned[uint32]
	case types.I32:
		return 20, writeSigned[int32]
	case types.U64:
		return 20, writeUnsigned[uint64]
	case types.I64:
		return 20, writeSigned[int64]
	case types.F32:
		return maxFloatText, writeFloat[float32]
	case types.F64:
		return maxFloatText, writeFloat[float64]
	case types.Bool:
		return 5, func(dst []byte, c *column, i int) []byte { return strconv.AppendBool(dst, bitAt(c.bits, i)) }
	default:
		return 35, func(dst []byte, c *column, i int) []byte {
			return scan.AppendDatetime(dst, loop.View[int64](c.fixed)[i])
		}
	}
}

func writeSigned[T loop.Integer](dst []byte, c *column, i int) []byte {
	return strconv.AppendInt(dst, int64(loop.View[T](c.fixed)[i]), 10)
}

func writeUnsigned[T loop.Integer](dst []byte, c *column, i int) []byte {
	return strconv.AppendUint(dst, uint64(loop.View[T](c.fixed)[i]), 10)
}

// writeFloat is the shortest decimal that reads back, without an exponent.
func writeFloat[T loop.Float](dst []byte, c *column, i int) []byte {
	v := loop.View[T](c.fixed)[i]
	f := float64(v)
	switch {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "inf"...)
	case math.IsInf(f, -1):
		return append(dst, "-inf"...)
	}
	bits := 64
	if T(16777217) == 16777216 {
		bits = 32
	}
	return strconv.AppendFloat(dst, f, 'f', -1, bits)
}

// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"math"
	"strconv"

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
func putWhole[T integer](below, above uint64) putFunc {
	return func(out *column, i int, s []byte) bool {
		negative := false
		if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
			negative = s[0] == '-'
			s = s[1:]
		}
		v, ok := digits(s)
		limit := above
		if negative {
			limit = below
		}
		if !ok || v > limit {
			view[T](out.fixed)[i] = 0
			return false
		}
		if negative {
			v = -v
		}
		view[T](out.fixed)[i] = T(v)
		return true
	}
}

// digits reads one or more decimal digits as at most 64 bits.
func digits(s []byte) (uint64, bool) {
	if len(s) == 0 {
		return 0, false
	}
	var v uint64
	for _, c := range s {
		d := uint64(c - '0')
		if d > 9 || v > (math.MaxUint64-d)/10 {
			return 0, false
		}
		v = v*10 + d
	}
	return v, true
}

func putFloat[T float](bits int) putFunc {
	return func(out *column, i int, s []byte) bool {
		view[T](out.fixed)[i] = 0
		if !floatText(s) {
			return false
		}
		// The grammar was checked, so the only error left is the range, and its value is the infinity the rule asks for.
		v, _ := strconv.ParseFloat(textOf(s), bits)
		view[T](out.fixed)[i] = T(v)
		return true
	}
}

// floatText accepts sign, digits with an optional fraction and exponent, and the words NaN, inf and infinity in any case.
func floatText(s []byte) bool {
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		s = s[1:]
	}
	if isWord(s, "nan") || isWord(s, "inf") || isWord(s, "infinity") {
		return true
	}
	s, whole := skipDigits(s)
	fraction := 0
	if len(s) > 0 && s[0] == '.' {
		s, fraction = skipDigits(s[1:])
	}
	if whole+fraction == 0 {
		return false
	}
	if len(s) > 0 && s[0]|0x20 == 'e' {
		s = s[1:]
		if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
			s = s[1:]
		}
		rest, n := skipDigits(s)
		return n > 0 && len(rest) == 0
	}
	return len(s) == 0
}

func skipDigits(s []byte) ([]byte, int) {
	n := 0
	for n < len(s) && s[n]-'0' <= 9 {
		n++
	}
	return s[n:], n
}

// isWord compares with a lower-case ASCII word, ignoring case.
func isWord(s []byte, lower string) bool {
	if len(s) != len(lower) {
		return false
	}
	for i := range s {
		if s[i]|0x20 != lower[i] {
			return false
		}
	}
	return true
}

func putBool(out *column, i int, s []byte) bool {
	v, ok := boolText(trimSpace(s))
	if v {
		setBit(out.bits, i)
	}
	return ok
}

// boolText reads the accepted words and their prefixes.
func boolText(s []byte) (value, ok bool) {
	if len(s) == 1 && (s[0] == '0' || s[0] == '1') {
		return s[0] == '1', true
	}
	for n := 1; n <= 4; n++ {
		if isWord(s, "true"[:n]) || n <= 3 && isWord(s, "yes"[:n]) {
			return true, true
		}
	}
	for n := 1; n <= 5; n++ {
		if isWord(s, "false"[:n]) || n <= 2 && isWord(s, "no"[:n]) {
			return false, true
		}
	}
	if isWord(s, "on") {
		return true, true
	}
	return false, isWord(s, "of") || isWord(s, "off")
}

func putDatetime(out *column, i int, s []byte) bool {
	ns, ok := parseDatetime(s)
	view[int64](out.fixed)[i] = ns
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
		return 35, func(dst []byte, c *column, i int) []byte { return AppendDatetime(dst, view[int64](c.fixed)[i]) }
	}
}

func writeSigned[T integer](dst []byte, c *column, i int) []byte {
	return strconv.AppendInt(dst, int64(view[T](c.fixed)[i]), 10)
}

func writeUnsigned[T integer](dst []byte, c *column, i int) []byte {
	return strconv.AppendUint(dst, uint64(view[T](c.fixed)[i]), 10)
}

// writeFloat is the shortest decimal that reads back, without an exponent.
func writeFloat[T float](dst []byte, c *column, i int) []byte {
	v := view[T](c.fixed)[i]
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

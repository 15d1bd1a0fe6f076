// SPDX-License-Identifier: Apache-2.0

// Package types holds the NSPL types, nullability and sensitivity, and their Arrow form (nspl 3). Values are immutable.
package types

import "github.com/apache/arrow-go/v18/arrow"

// Scalar is one of the scalar types, or one of the two list shapes. The numbers are stored; they are never reused.
type Scalar uint8

// The types of nspl 3.1.
const (
	Invalid  Scalar = 0
	U8       Scalar = 1
	I8       Scalar = 2
	U16      Scalar = 3
	I16      Scalar = 4
	U32      Scalar = 5
	I32      Scalar = 6
	U64      Scalar = 7
	I64      Scalar = 8
	F32      Scalar = 9
	F64      Scalar = 10
	Bool     Scalar = 11
	String   Scalar = 12
	Bytes    Scalar = 13
	Datetime Scalar = 14
	Array    Scalar = 15
	Vec      Scalar = 16
)

var scalarWords = [...]string{
	Invalid: "INVALID", U8: "U8", I8: "I8", U16: "U16", I16: "I16", U32: "U32", I32: "I32", U64: "U64", I64: "I64", F32: "F32", F64: "F64",
	Bool: "BOOL", String: "STRING", Bytes: "BYTES", Datetime: "DATETIME", Array: "ARRAY", Vec: "VEC",
}

var longWords = map[string]Scalar{
	"UINT8": U8, "INT8": I8, "UINT16": U16, "INT16": I16, "UINT32": U32, "INT32": I32, "UINT64": U64, "INT64": I64,
	"FLOAT32": F32, "FLOAT64": F64, "BOOLEAN": Bool, "UTF8": String,
}

// String is the short NSPL spelling.
func (s Scalar) String() string {
	if int(s) < len(scalarWords) {
		return scalarWords[s]
	}
	return "INVALID"
}

// ParseScalar reads an upper-case type word, long spellings included. ARRAY and VEC are no scalars.
func ParseScalar(word string) (Scalar, bool) {
	if s, ok := longWords[word]; ok {
		return s, true
	}
	for s := U8; s <= Datetime; s++ {
		if scalarWords[s] == word {
			return s, true
		}
	}
	return Invalid, false
}

// Integer says whether s is one of the eight integer types.
func (s Scalar) Integer() bool { return s >= U8 && s <= I64 }

// Signed says whether s is a signed integer or a float.
func (s Scalar) Signed() bool { return s == I8 || s == I16 || s == I32 || s == I64 || s.Float() }

// Float says whether s is F32 or F64.
func (s Scalar) Float() bool { return s == F32 || s == F64 }

// Numeric says whether s is an integer or a float.
func (s Scalar) Numeric() bool { return s >= U8 && s <= F64 }

// Ordered says whether `<` and its kin are defined on s (nspl 6.2).
func (s Scalar) Ordered() bool { return s.Numeric() || s == String || s == Datetime }

// Bits is the width of a number; 0 for others.
func (s Scalar) Bits() int {
	switch s {
	case U8, I8:
		return 8
	case U16, I16:
		return 16
	case U32, I32, F32:
		return 32
	case U64, I64, F64:
		return 64
	default:
		return 0
	}
}

// TimestampNS is the Arrow type of a DATETIME.
var TimestampNS = &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "+00:00"}

// Arrow is the Arrow type of a scalar column; nil for ARRAY, VEC and Invalid.
func (s Scalar) Arrow() arrow.DataType {
	switch s {
	case U8:
		return arrow.PrimitiveTypes.Uint8
	case I8:
		return arrow.PrimitiveTypes.Int8
	case U16:
		return arrow.PrimitiveTypes.Uint16
	case I16:
		return arrow.PrimitiveTypes.Int16
	case U32:
		return arrow.PrimitiveTypes.Uint32
	case I32:
		return arrow.PrimitiveTypes.Int32
	case U64:
		return arrow.PrimitiveTypes.Uint64
	case I64:
		return arrow.PrimitiveTypes.Int64
	case F32:
		return arrow.PrimitiveTypes.Float32
	case F64:
		return arrow.PrimitiveTypes.Float64
	case Bool:
		return arrow.FixedWidthTypes.Boolean
	case String:
		return arrow.BinaryTypes.String
	case Bytes:
		return arrow.BinaryTypes.Binary
	case Datetime:
		return TimestampNS
	default:
		return nil
	}
}

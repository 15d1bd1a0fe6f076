// SPDX-License-Identifier: Apache-2.0

package types

import (
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

// Type is a complete NSPL type. For ARRAY, Elem is the element and Dims the axes from outside in; for VEC, Elem is the element.
// Types are compared with Equal.
type Type struct {
	Scalar Scalar
	Elem   *Type
	Dims   []uint32
}

// Of is the type of a scalar.
func Of(s Scalar) Type { return Type{Scalar: s} }

// IsScalar says whether the type is neither ARRAY nor VEC.
func (t Type) IsScalar() bool { return t.Scalar >= U8 && t.Scalar <= Datetime }

// Equal is exact equality; nothing converts implicitly (nspl 3.1).
func (t Type) Equal(o Type) bool {
	if t.Scalar != o.Scalar || len(t.Dims) != len(o.Dims) {
		return false
	}
	for i := range t.Dims {
		if t.Dims[i] != o.Dims[i] {
			return false
		}
	}
	if t.Elem == nil || o.Elem == nil {
		return t.Elem == o.Elem
	}
	return t.Elem.Equal(*o.Elem)
}

// String is the NSPL spelling, for example `ARRAY<F32, 2, 3>`.
func (t Type) String() string {
	switch t.Scalar {
	case Array:
		var b strings.Builder
		b.WriteString("ARRAY<" + t.Elem.String())
		for _, d := range t.Dims {
			b.WriteString(", " + strconv.FormatUint(uint64(d), 10))
		}
		return b.String() + ">"
	case Vec:
		return "VEC<" + t.Elem.String() + ">"
	default:
		return t.Scalar.String()
	}
}

// Arrow is the Arrow type of a column of this type. Elements of lists are never null.
func (t Type) Arrow() arrow.DataType {
	switch t.Scalar {
	case Array:
		inner := t.Elem.Arrow()
		for i := len(t.Dims) - 1; i >= 0; i-- {
			inner = arrow.FixedSizeListOfField(int32(t.Dims[i]), arrow.Field{Name: "item", Type: inner})
		}
		return inner
	case Vec:
		return arrow.ListOfField(arrow.Field{Name: "item", Type: t.Elem.Arrow()})
	default:
		return t.Scalar.Arrow()
	}
}

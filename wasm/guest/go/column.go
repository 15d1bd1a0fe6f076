// SPDX-License-Identifier: Apache-2.0

package guest

import (
	"strconv"
	"unsafe"
)

// Column is a column of a batch, or the elements of one. Each reader has to be that of the column's type, and the row below Rows: the guest panics
// otherwise. A null reads as anything.
type Column struct {
	typ      *Type
	rows     int
	nulls    int
	validity []byte  // one bit a row; nil if no row is null
	values   []byte  // numbers, instants or bits
	offsets  []int32 // rows + 1, of texts, bytes and VEC
	data     []byte  // of texts and bytes
	element  *Column // of ARRAY and VEC
}

// number is what a column of numbers holds.
type number interface {
	~uint8 | ~int8 | ~uint16 | ~int16 | ~uint32 | ~int32 | ~uint64 | ~int64 | ~float32 | ~float64
}

// view is n numbers that lie in b, which is long enough and aligned.
func view[T number](b []byte, n uint32) []T {
	if n == 0 {
		return nil
	}
	var one T
	_ = b[uintptr(n)*unsafe.Sizeof(one)-1]
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), int(n))
}

// octets is the memory of numbers.
func octets[T number](v []T) []byte {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), uintptr(len(v))*unsafe.Sizeof(v[0]))
}

// Type is the type of the values.
func (c *Column) Type() *Type { return c.typ }

// Rows is the number of rows.
func (c *Column) Rows() int { return c.rows }

// Nulls is how many of them are null.
func (c *Column) Nulls() int { return c.nulls }

func (c *Column) check(kind Kind, row int) {
	if c.typ.Kind != kind {
		Panic("a column of " + c.typ.String() + " is read as one of " + kind.String())
	}
	c.inside(row)
}

func (c *Column) inside(row int) {
	if row < 0 || row >= c.rows {
		Panic("row " + strconv.Itoa(row) + " of a column of " + strconv.Itoa(c.rows) + " rows")
	}
}

// IsNull says whether a row is null.
func (c *Column) IsNull(row int) bool {
	c.inside(row)
	return c.validity != nil && c.validity[row/8]>>(row%8)&1 == 0
}

func valueAt[T number](c *Column, kind Kind, row int) T {
	c.check(kind, row)
	var one T
	return *(*T)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(c.values)), uintptr(row)*unsafe.Sizeof(one)))
}

// Uint8 is the value of a row of a U8 column; the others are named alike.
func (c *Column) Uint8(row int) uint8 { return valueAt[uint8](c, U8, row) }

// Int8 is the value of a row.
func (c *Column) Int8(row int) int8 { return valueAt[int8](c, I8, row) }

// Uint16 is the value of a row.
func (c *Column) Uint16(row int) uint16 { return valueAt[uint16](c, U16, row) }

// Int16 is the value of a row.
func (c *Column) Int16(row int) int16 { return valueAt[int16](c, I16, row) }

// Uint32 is the value of a row.
func (c *Column) Uint32(row int) uint32 { return valueAt[uint32](c, U32, row) }

// Int32 is the value of a row.
func (c *Column) Int32(row int) int32 { return valueAt[int32](c, I32, row) }

// Uint64 is the value of a row.
func (c *Column) Uint64(row int) uint64 { return valueAt[uint64](c, U64, row) }

// Int64 is the value of a row.
func (c *Column) Int64(row int) int64 { return valueAt[int64](c, I64, row) }

// Float32 is the value of a row.
func (c *Column) Float32(row int) float32 { return valueAt[float32](c, F32, row) }

// Float64 is the value of a row.
func (c *Column) Float64(row int) float64 { return valueAt[float64](c, F64, row) }

// Time is the value of a row of a DATETIME column.
func (c *Column) Time(row int) Time { return Time{valueAt[int64](c, Datetime, row)} }

// Bool is the value of a row of a BOOL column.
func (c *Column) Bool(row int) bool {
	c.check(Bool, row)
	return c.values[row/8]>>(row%8)&1 == 1
}

// Bytes lends the value of a row of a STRING or BYTES column: a slice of the input buffer, gone when the callback returns (W-305). Comparing it,
// string(b) == "x", copies nothing.
func (c *Column) Bytes(row int) []byte {
	if c.typ.Kind != String {
		c.check(Bytes, row)
	}
	c.inside(row)
	from, to := c.offsets[row], c.offsets[row+1]
	return c.data[from:to:to]
}

// String copies the value of a row of a STRING column.
func (c *Column) String(row int) string {
	c.check(String, row)
	return string(c.data[c.offsets[row]:c.offsets[row+1]])
}

// Int64s lends all values of an I64 column; what stands at a null means nothing.
func (c *Column) Int64s() []int64 { return valuesOf[int64](c, I64) }

// Float64s lends all values of an F64 column.
func (c *Column) Float64s() []float64 { return valuesOf[float64](c, F64) }

func valuesOf[T number](c *Column, kind Kind) []T {
	if c.rows == 0 {
		return nil
	}
	c.check(kind, 0)
	return view[T](c.values, uint32(c.rows))
}

// List gives the elements of a row of an ARRAY or VEC column: the rows from first to before end of a column of elements.
func (c *Column) List(row int) (elements *Column, first, end int) {
	if c.typ.Kind == Array {
		c.inside(row)
		n := int(c.typ.Length)
		return c.element, row * n, (row + 1) * n
	}
	c.check(Vec, row)
	return c.element, int(c.offsets[row]), int(c.offsets[row+1])
}

// SPDX-License-Identifier: Apache-2.0

package guest

import "github.com/nervix-go/nervix/wasm/guest/go/internal/flat"

// Generated is a generated column of an output. Values are put into it one call a row, or one call an element into the column that List gives. A
// mistake is reported by Emit.
type Generated struct {
	owner    *Output
	typ      *Type
	optional bool
	used     bool
	index    uint32
	rows     uint32
	nulls    uint32
	validity []byte
	values   flat.Writer // numbers, bits, or offsets: ends of texts, begins of lists
	data     []byte      // of texts and bytes
	element  *Generated  // of ARRAY and VEC
}

func newGenerated(o *Output, typ *Type, optional bool) *Generated {
	g := &Generated{owner: o, typ: typ, optional: optional}
	if typ.Element != nil {
		g.element = newGenerated(o, typ.Element, false)
	}
	g.reset()
	return g
}

// reset empties a column and keeps its room.
func (g *Generated) reset() {
	g.used, g.rows, g.nulls = false, 0, 0
	g.validity, g.values.B, g.data = g.validity[:0], g.values.B[:0], g.data[:0]
	if g.typ.Kind == String || g.typ.Kind == Bytes {
		g.values.Add32(0)
	}
	if g.element != nil {
		g.element.reset()
	}
}

func (g *Generated) is(k Kind) bool {
	if g.typ.Kind != k {
		g.owner.mistake("a value of another type is put into a generated column")
	}
	return g.typ.Kind == k
}

// setBit appends bit n-1 to a bitmap that has n bits from then on.
func setBit(bits []byte, n uint32, bit bool) []byte {
	n--
	if n/8 >= uint32(len(bits)) {
		bits = append(bits, 0)
	}
	if bit {
		bits[n/8] |= 1 << (n % 8)
	}
	return bits
}

func (g *Generated) row(valid bool) {
	g.rows++
	if valid && g.nulls == 0 {
		return
	}
	if g.nulls == 0 {
		for i := uint32(1); i < g.rows; i++ {
			g.validity = setBit(g.validity, i, true)
		}
	}
	g.validity = setBit(g.validity, g.rows, valid)
	if !valid {
		g.nulls++
	}
}

func put[T number](g *Generated, k Kind, v T) {
	if g.is(k) {
		one := [1]T{v}
		g.values.B = append(g.values.B, octets(one[:])...)
		g.row(true)
	}
}

// Uint8 puts a value into a U8 column; the others are named alike.
func (g *Generated) Uint8(v uint8) { put(g, U8, v) }

// Int8 puts a value.
func (g *Generated) Int8(v int8) { put(g, I8, v) }

// Uint16 puts a value.
func (g *Generated) Uint16(v uint16) { put(g, U16, v) }

// Int16 puts a value.
func (g *Generated) Int16(v int16) { put(g, I16, v) }

// Uint32 puts a value.
func (g *Generated) Uint32(v uint32) { put(g, U32, v) }

// Int32 puts a value.
func (g *Generated) Int32(v int32) { put(g, I32, v) }

// Uint64 puts a value.
func (g *Generated) Uint64(v uint64) { put(g, U64, v) }

// Int64 puts a value.
func (g *Generated) Int64(v int64) { put(g, I64, v) }

// Float32 puts a value.
func (g *Generated) Float32(v float32) { put(g, F32, v) }

// Float64 puts a value.
func (g *Generated) Float64(v float64) { put(g, F64, v) }

// Time puts an instant into a DATETIME column.
func (g *Generated) Time(v Time) { put(g, Datetime, v.sinceEpoch) }

// Bool puts a value into a BOOL column.
func (g *Generated) Bool(v bool) {
	if g.is(Bool) {
		g.row(true)
		g.values.B = setBit(g.values.B, g.rows, v)
	}
}

// String puts a text, which has to be UTF-8, into a STRING column.
func (g *Generated) String(v string) {
	if g.is(String) {
		g.data = append(g.data, v...)
		g.ends()
	}
}

// Bytes puts bytes into a BYTES column, or a text into a STRING column, and copies them.
func (g *Generated) Bytes(v []byte) {
	if g.typ.Kind == String || g.is(Bytes) {
		g.data = append(g.data, v...)
		g.ends()
	}
}

func (g *Generated) ends() {
	g.values.Add32(uint32(len(g.data)))
	g.row(true)
}

// Int64s puts many values into an I64 column.
func (g *Generated) Int64s(v []int64) { putAll(g, I64, v) }

// Float64s puts many values into an F64 column.
func (g *Generated) Float64s(v []float64) { putAll(g, F64, v) }

func putAll[T number](g *Generated, k Kind, v []T) {
	if !g.is(k) {
		return
	}
	g.values.B = append(g.values.B, octets(v)...)
	for range v {
		g.row(true)
	}
}

// List begins a row of an ARRAY or VEC column; the elements of the row go into the column that it returns, until the next row begins.
func (g *Generated) List() *Generated {
	if g.element == nil {
		g.owner.mistake("a list is put into a generated column that has none")
		return g
	}
	g.full()
	g.values.Add32(g.element.rows)
	g.row(true)
	return g.element
}

// full notes a row of an ARRAY that has not its number of elements.
func (g *Generated) full() {
	if g.typ.Kind == Array && uint64(g.element.rows) != uint64(g.rows)*uint64(g.typ.Length) {
		g.owner.mistake("a row of an ARRAY has another number of elements than its type")
	}
}

// Null puts a null into a column of an optional field.
func (g *Generated) Null() {
	if !g.optional {
		g.owner.mistake("a null is put into a generated column that is not optional")
		return
	}
	g.zero()
	g.row(false)
}

// zero puts what stands behind a null, and in the elements of a null ARRAY.
func (g *Generated) zero() {
	switch {
	case g.typ.Kind == String || g.typ.Kind == Bytes:
		g.values.Add32(uint32(len(g.data)))
	case g.typ.Kind == Bool:
		g.values.B = setBit(g.values.B, g.rows+1, false)
	case g.element != nil:
		g.full()
		g.values.Add32(g.element.rows)
		for i := uint32(0); g.typ.Kind == Array && i < g.typ.Length; i++ {
			g.element.zero()
			g.element.row(true)
		}
	default:
		g.values.Zeros(g.typ.Kind.width())
	}
}

// finish completes a column for writing.
func (g *Generated) finish() {
	if g.element == nil {
		return
	}
	g.full()
	if g.typ.Kind == Vec {
		g.values.Add32(g.element.rows)
	}
	g.element.finish()
}

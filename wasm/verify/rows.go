// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/host/kernel/types"
)

// dice gives the same numbers on every machine (splitmix64).
type dice uint64

func (d *dice) next() uint64 {
	*d += 0x9E3779B97F4A7C15
	z := uint64(*d)
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

func (d *dice) below(n int) int { return int(d.next() % uint64(n)) }

// made is a batch of rows made up for a schema. The same seed makes the same rows. With edges, values are often the least and the greatest of
// their type, empty, or not a number.
func made(schema *types.Schema, rows int, seed uint64, edges bool) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema.Arrow())
	defer b.Release()
	m := maker{dice: dice(seed), edges: edges}
	for range rows {
		for i, f := range schema.Fields() {
			m.field(b.Field(i), f)
		}
	}
	return b.NewRecordBatch()
}

// field makes one value or null. A null ARRAY has elements that are not null, as the elements of all lists of Nervix.
func (m *maker) field(b array.Builder, f types.Field) {
	null := f.Optional && m.below(5) == 0
	list, ok := b.(*array.FixedSizeListBuilder)
	switch {
	case null && ok:
		m.axes(list, f.Type, f.Type.Dims, false)
	case null:
		b.AppendNull()
	default:
		m.value(b, f.Type)
	}
}

type maker struct {
	dice
	edges bool
}

func (m *maker) edge() bool { return m.edges && m.below(3) == 0 }

// whole is a small number, or one of the ends of n bits.
func (m *maker) whole(bits int, signed bool) uint64 {
	switch {
	case !m.edge():
		return m.next() % 100
	case m.below(2) == 0 && signed:
		return uint64(int64(-1) << (bits - 1))
	case signed:
		return uint64(1)<<(bits-1) - 1
	default:
		return math.MaxUint64 >> (64 - bits)
	}
}

func (m *maker) float() float64 {
	if m.edge() {
		return []float64{math.Inf(1), math.Inf(-1), math.NaN(), math.Copysign(0, -1), math.SmallestNonzeroFloat64, math.MaxFloat32}[m.below(6)]
	}
	return float64(m.below(800))/10 - 40
}

func (m *maker) text() string {
	if m.edge() {
		return []string{"", "\u00e4\u20ac\U0001F331", "a\x00b", "\n"}[m.below(4)]
	}
	return fmt.Sprintf("name-%d", m.below(40))
}

func (m *maker) bytes() []byte {
	if m.edge() {
		return [][]byte{{}, {0x00, 0xFF, 0xC3, 0x28}}[m.below(2)]
	}
	return []byte(m.text())
}

// begin is the instant around which instants are made up: 2023-11-14T22:13:20Z.
const begin = 1_700_000_000_000_000_000

func (m *maker) instant() int64 {
	if m.edge() {
		return []int64{math.MinInt64, math.MaxInt64, 0, -1}[m.below(4)]
	}
	return begin + int64(m.below(1_000_000_000))
}

func (m *maker) value(b array.Builder, t types.Type) {
	switch b := b.(type) {
	case *array.Uint8Builder:
		b.Append(uint8(m.whole(8, false)))
	case *array.Int8Builder:
		b.Append(int8(m.whole(8, true)))
	case *array.Uint16Builder:
		b.Append(uint16(m.whole(16, false)))
	case *array.Int16Builder:
		b.Append(int16(m.whole(16, true)))
	case *array.Uint32Builder:
		b.Append(uint32(m.whole(32, false)))
	case *array.Int32Builder:
		b.Append(int32(m.whole(32, true)))
	case *array.Uint64Builder:
		b.Append(m.whole(64, false))
	case *array.Int64Builder:
		b.Append(int64(m.whole(64, true)))
	case *array.Float32Builder:
		b.Append(float32(m.float()))
	case *array.Float64Builder:
		b.Append(m.float())
	case *array.BooleanBuilder:
		b.Append(m.below(2) == 0)
	case *array.StringBuilder:
		b.Append(m.text())
	case *array.BinaryBuilder:
		b.Append(m.bytes())
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(m.instant()))
	case *array.ListBuilder:
		b.Append(true)
		for range m.below(4) {
			m.value(b.ValueBuilder(), *t.Elem)
		}
	case *array.FixedSizeListBuilder:
		m.axes(b, t, t.Dims, true)
	default:
		panic(fmt.Sprintf("verify: no values for %T", b))
	}
}

// axes fills an ARRAY, whose axes are lists inside one another.
func (m *maker) axes(b *array.FixedSizeListBuilder, t types.Type, dims []uint32, valid bool) {
	b.Append(valid)
	for range dims[0] {
		if inner, ok := b.ValueBuilder().(*array.FixedSizeListBuilder); ok && len(dims) > 1 {
			m.axes(inner, t, dims[1:], true)
		} else {
			m.value(b.ValueBuilder(), *t.Elem)
		}
	}
}

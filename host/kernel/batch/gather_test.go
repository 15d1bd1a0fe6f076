// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"fmt"
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"pgregory.net/rapid"

	"github.com/nervix-go/nervix/host/kernel/types"
)

// every is a schema with a required and an optional column of each scalar type.
func every() *arrow.Schema {
	var fields []arrow.Field
	for s := types.U8; s <= types.Datetime; s++ {
		fields = append(fields, arrow.Field{Name: s.String(), Type: s.Arrow()}, arrow.Field{Name: s.String() + "?", Type: s.Arrow(), Nullable: true})
	}
	return arrow.NewSchema(fields, nil)
}

// fill appends one random value, or a null where the column may have one.
func fill(t *rapid.T, b array.Builder, nullable bool) {
	if nullable && rapid.IntRange(0, 2).Draw(t, "null") == 0 {
		b.AppendNull()
		return
	}
	n := rapid.Uint64().Draw(t, "value")
	switch b := b.(type) {
	case *array.Uint8Builder:
		b.Append(uint8(n))
	case *array.Int8Builder:
		b.Append(int8(n))
	case *array.Uint16Builder:
		b.Append(uint16(n))
	case *array.Int16Builder:
		b.Append(int16(n))
	case *array.Uint32Builder:
		b.Append(uint32(n))
	case *array.Int32Builder:
		b.Append(int32(n))
	case *array.Uint64Builder:
		b.Append(n)
	case *array.Int64Builder:
		b.Append(int64(n))
	case *array.Float32Builder:
		b.Append(math.Float32frombits(uint32(n)))
	case *array.Float64Builder:
		b.Append(math.Float64frombits(n))
	case *array.BooleanBuilder:
		b.Append(n&1 == 1)
	case *array.StringBuilder:
		b.Append(rapid.StringN(0, 5, 9).Draw(t, "text"))
	case *array.BinaryBuilder:
		b.Append(rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(t, "bytes"))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(n))
	default:
		t.Fatalf("no value for %T", b)
	}
}

// piece draws a record that is often a slice of a longer one (so that offsets, also of bits, are odd), and often a choice of its rows.
func piece(t *rapid.T, schema *arrow.Schema, alloc memory.Allocator) Piece {
	rows := rapid.IntRange(0, 12).Draw(t, "rows")
	b := array.NewRecordBuilder(alloc, schema)
	defer b.Release()
	for range rows {
		for c, f := range schema.Fields() {
			fill(t, b.Field(c), f.Nullable)
		}
	}
	record := b.NewRecordBatch()
	if rapid.Bool().Draw(t, "sliced") {
		from := rapid.IntRange(0, rows).Draw(t, "from")
		to := rapid.IntRange(from, rows).Draw(t, "to")
		whole := record
		record = whole.NewSlice(int64(from), int64(to))
		whole.Release()
		rows = to - from
	}
	p := Piece{Record: record, Low: make([]int64, rows)}
	for i := range p.Low {
		p.Low[i] = rapid.Int64().Draw(t, "low")
	}
	p.High = p.Low
	if rapid.Bool().Draw(t, "two marks") {
		p.High = make([]int64, rows)
		for i := range p.High {
			p.High[i] = rapid.Int64().Draw(t, "high")
		}
	}
	if rapid.Bool().Draw(t, "chosen") {
		p.Rows = []uint32{}
		for i := range rows {
			if rapid.Bool().Draw(t, "keep") {
				p.Rows = append(p.Rows, uint32(i))
			}
		}
	}
	return p
}

// reference joins the pieces row by row with arrow's own concatenation of one-row slices.
func reference(t *rapid.T, schema *arrow.Schema, pieces []Piece, alloc memory.Allocator) (arrow.RecordBatch, []int64, []int64) {
	var low, high []int64
	rows := 0
	parts := make([][]arrow.Array, schema.NumFields())
	for _, p := range pieces {
		chosen := p.Rows
		if chosen == nil {
			for r := range int(p.Record.NumRows()) {
				chosen = append(chosen, uint32(r))
			}
		}
		for _, r := range chosen {
			rows++
			low, high = append(low, p.Low[r]), append(high, p.High[r])
			for c := range parts {
				parts[c] = append(parts[c], array.NewSlice(p.Record.Column(c), int64(r), int64(r)+1))
			}
		}
	}
	columns := make([]arrow.Array, len(parts))
	for c := range columns {
		if rows == 0 {
			empty := array.NewBuilder(alloc, schema.Field(c).Type)
			columns[c] = empty.NewArray()
			empty.Release()
			continue
		}
		joined, err := array.Concatenate(parts[c], alloc)
		if err != nil {
			t.Fatal(err)
		}
		columns[c] = joined
		for _, a := range parts[c] {
			a.Release()
		}
	}
	record := array.NewRecordBatch(schema, columns, int64(rows))
	for _, c := range columns {
		c.Release()
	}
	return record, low, high
}

// leaks fails the check if the allocator has memory outstanding.
func leaks(t *rapid.T, alloc *memory.CheckedAllocator) {
	if n := alloc.CurrentAlloc(); n != 0 {
		t.Fatalf("%d bytes leaked", n)
	}
}

func TestGatherAgreesWithConcatenation(t *testing.T) {
	// req: R-025 half: columns and watermarks stay aligned with the rows; lineage is tested in its own package
	// req: R-027 half: batches of a branch merge column by column; collecting them is the junction's
	schema := every()
	rapid.Check(t, func(t *rapid.T) {
		alloc := memory.NewCheckedAllocator(memory.NewGoAllocator())
		pieces := make([]Piece, rapid.IntRange(0, 4).Draw(t, "pieces"))
		for i := range pieces {
			pieces[i] = piece(t, schema, alloc)
		}
		want, wantLow, wantHigh := reference(t, schema, pieces, alloc)
		got, low, high := Gather(schema, pieces, alloc)
		if got.NumRows() != want.NumRows() {
			t.Fatalf("%d rows, want %d", got.NumRows(), want.NumRows())
		}
		// The text of an array is exact for every scalar type, and calls NaN equal to NaN.
		for c := range int(want.NumCols()) {
			if w, g := fmt.Sprint(want.Column(c)), fmt.Sprint(got.Column(c)); w != g || want.Column(c).NullN() != got.Column(c).NullN() {
				t.Fatalf("column %s: got %s, want %s", schema.Field(c).Name, g, w)
			}
		}
		if fmt.Sprint(low) != fmt.Sprint(wantLow) || fmt.Sprint(high) != fmt.Sprint(wantHigh) {
			t.Fatalf("watermarks %v %v, want %v %v", low, high, wantLow, wantHigh)
		}
		want.Release()
		got.Release()
		leaks(t, alloc)
	})
}

// Records that an empty builder or a decoder made of zero rows have no value buffers at all.
func TestGatherOfRecordsWithoutRows(t *testing.T) {
	schema := every()
	for _, rows := range [][]uint32{nil, {}} {
		columns := make([]arrow.Array, schema.NumFields())
		for c, f := range schema.Fields() {
			buffers := []*memory.Buffer{nil, nil}
			if id := f.Type.ID(); id == arrow.STRING || id == arrow.BINARY {
				buffers = append(buffers, nil)
			}
			data := array.NewData(f.Type, 0, buffers, nil, 0, 0)
			columns[c] = array.MakeFromData(data)
			data.Release()
		}
		empty := array.NewRecordBatch(schema, columns, 0)
		empty.Retain()
		empty.Retain()
		got, low, high := Gather(schema, []Piece{{Record: empty, Rows: rows}, {Record: empty, Rows: rows}}, memory.DefaultAllocator)
		if got.NumRows() != 0 || len(low) != 0 || len(high) != 0 {
			t.Fatalf("%d rows, watermarks %v %v", got.NumRows(), low, high)
		}
		if n := (Piece{Record: empty, Rows: rows}).Bytes(); n != 4*4 {
			t.Fatalf("no rows take %d bytes, want the 4 offsets of 4 columns", n)
		}
	}
}

func TestGatherPassesASingleWholePieceOn(t *testing.T) {
	alloc := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer alloc.AssertSize(t, 0)
	schema := arrow.NewSchema([]arrow.Field{{Name: "v", Type: arrow.PrimitiveTypes.Int64}}, nil)
	b := array.NewRecordBuilder(alloc, schema)
	defer b.Release()
	b.Field(0).(*array.Int64Builder).Append(1)
	record := b.NewRecordBatch()
	marks := []int64{5}
	got, low, _ := Gather(schema, []Piece{{Record: record, Low: marks, High: marks}}, alloc)
	if got != record || &low[0] != &marks[0] {
		t.Fatal("a single whole piece was copied")
	}
	got.Release()
}

func TestBytesIsTheLiveSlice(t *testing.T) {
	schema := every()
	rapid.Check(t, func(t *rapid.T) {
		alloc := memory.NewCheckedAllocator(memory.NewGoAllocator())
		p := piece(t, schema, alloc)
		n := int64(p.Len())
		var want int64
		for c, f := range schema.Fields() {
			column := p.Record.Column(c)
			if column.NullN() > 0 {
				want += (n + 7) / 8
			}
			switch f.Type.ID() {
			case arrow.BOOL:
				want += (n + 7) / 8
			case arrow.STRING, arrow.BINARY:
				want += 4 * (n + 1)
				for i := range p.Len() {
					want += int64(len(valueBytes(column, p.row(i))))
				}
			default:
				want += n * int64(f.Type.(arrow.FixedWidthDataType).Bytes())
			}
		}
		if got := p.Bytes(); got != want {
			t.Fatalf("%d bytes, want %d", got, want)
		}
		p.Release()
		leaks(t, alloc)
	})
}

func (p Piece) row(i int) int {
	if p.Rows == nil {
		return i
	}
	return int(p.Rows[i])
}

func valueBytes(a arrow.Array, i int) []byte {
	switch a := a.(type) {
	case *array.String:
		return []byte(a.Value(i))
	case *array.Binary:
		return a.Value(i)
	}
	return nil
}

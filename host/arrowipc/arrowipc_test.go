// SPDX-License-Identifier: Apache-2.0

package arrowipc

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"pgregory.net/rapid"
)

// anyType draws a type that the package reads.
func anyType(t *rapid.T, depth int) arrow.DataType {
	top := 17
	if depth >= 2 {
		top = 14
	}
	switch rapid.IntRange(0, top).Draw(t, "type") {
	case 0:
		return arrow.FixedWidthTypes.Boolean
	case 1:
		return arrow.PrimitiveTypes.Int8
	case 2:
		return arrow.PrimitiveTypes.Uint16
	case 3:
		return arrow.PrimitiveTypes.Int32
	case 4:
		return arrow.PrimitiveTypes.Uint64
	case 5:
		return arrow.PrimitiveTypes.Float32
	case 6:
		return arrow.PrimitiveTypes.Float64
	case 7:
		return &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "+00:00"}
	case 8:
		return arrow.FixedWidthTypes.Date32
	case 9:
		return arrow.FixedWidthTypes.Time64ns
	case 10:
		return &arrow.FixedSizeBinaryType{ByteWidth: 5}
	case 11:
		return arrow.BinaryTypes.LargeString
	case 12:
		return arrow.FixedWidthTypes.Duration_us
	case 13:
		return arrow.BinaryTypes.Binary
	case 14:
		return arrow.BinaryTypes.String
	case 15:
		return arrow.ListOf(anyType(t, depth+1))
	case 16:
		return arrow.FixedSizeListOf(int32(rapid.IntRange(1, 3).Draw(t, "n")), anyType(t, depth+1))
	default:
		return arrow.StructOf(arrow.Field{Name: "a", Type: anyType(t, depth+1), Nullable: true}, arrow.Field{Name: "b", Type: anyType(t, depth+1), Nullable: true})
	}
}

func fill(t *rapid.T, b array.Builder, nullable bool) {
	if nullable && rapid.IntRange(0, 4).Draw(t, "null") == 0 {
		b.AppendNull()
		return
	}
	switch b := b.(type) {
	case *array.BooleanBuilder:
		b.Append(rapid.Bool().Draw(t, "v"))
	case *array.Int8Builder:
		b.Append(rapid.Int8().Draw(t, "v"))
	case *array.Uint16Builder:
		b.Append(rapid.Uint16().Draw(t, "v"))
	case *array.Int32Builder:
		b.Append(rapid.Int32().Draw(t, "v"))
	case *array.Uint64Builder:
		b.Append(rapid.Uint64().Draw(t, "v"))
	case *array.Float32Builder:
		b.Append(rapid.Float32().Draw(t, "v"))
	case *array.Float64Builder:
		b.Append(rapid.Float64().Draw(t, "v"))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(rapid.Int64().Draw(t, "v")))
	case *array.Date32Builder:
		b.Append(arrow.Date32(rapid.Int32().Draw(t, "v")))
	case *array.Time64Builder:
		b.Append(arrow.Time64(rapid.Int64().Draw(t, "v")))
	case *array.DurationBuilder:
		b.Append(arrow.Duration(rapid.Int64().Draw(t, "v")))
	case *array.FixedSizeBinaryBuilder:
		b.Append([]byte("abcde"))
	case *array.LargeStringBuilder:
		b.Append(rapid.String().Draw(t, "v"))
	case *array.StringBuilder:
		b.Append(rapid.String().Draw(t, "v"))
	case *array.BinaryBuilder:
		b.Append(rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "v"))
	case *array.ListBuilder:
		b.Append(true)
		for range rapid.IntRange(0, 3).Draw(t, "len") {
			fill(t, b.ValueBuilder(), true)
		}
	case *array.FixedSizeListBuilder:
		b.Append(true)
		for range b.Type().(*arrow.FixedSizeListType).Len() {
			fill(t, b.ValueBuilder(), true)
		}
	case *array.StructBuilder:
		b.Append(true)
		for i := range b.NumField() {
			fill(t, b.FieldBuilder(i), true)
		}
	default:
		panic(fmt.Sprintf("%T", b))
	}
}

func anyBatch(t *rapid.T, mem memory.Allocator) arrow.RecordBatch {
	var fields []arrow.Field
	for i := range rapid.IntRange(1, 4).Draw(t, "columns") {
		fields = append(fields, arrow.Field{Name: fmt.Sprint("c", i), Type: anyType(t, 0), Nullable: rapid.Bool().Draw(t, "nullable")})
	}
	b := array.NewRecordBuilder(mem, arrow.NewSchema(fields, nil))
	defer b.Release()
	rows := rapid.IntRange(0, 90).Draw(t, "rows")
	for range rows {
		for i := range fields {
			fill(t, b.Field(i), fields[i].Nullable)
		}
	}
	whole := b.NewRecordBatch()
	if rows == 0 || rapid.Bool().Draw(t, "whole") {
		return whole
	}
	defer whole.Release()
	from := rapid.IntRange(0, rows).Draw(t, "from")
	return whole.NewSlice(int64(from), int64(rapid.IntRange(from, rows).Draw(t, "to")))
}

func joined(parts [][]byte) []byte { return bytes.Join(parts, nil) }

// Both directions against arrow-go's own reader and writer.
func TestRoundTripWithArrowGo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		batch := anyBatch(t, mem)
		r, err := NewReader(batch.Schema(), Limits{})
		if err != nil {
			t.Fatal(err)
		}

		// ours reads theirs
		var theirs bytes.Buffer
		w := ipc.NewWriter(&theirs, ipc.WithSchema(batch.Schema()))
		if err := w.Write(batch); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		got, err := r.DecodeStream(memory.NewBufferBytes(theirs.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 1 || !array.RecordEqual(got[0], batch) {
			t.Fatalf("read back another batch:\n%v\n%v", got, batch)
		}
		got[0].Release()

		// theirs reads ours, and ours reads ours
		schema, err := SchemaMessage(batch.Schema())
		if err != nil {
			t.Fatal(err)
		}
		var enc Encoder
		parts, size, err := enc.Encode(batch)
		if err != nil {
			t.Fatal(err)
		}
		message := joined(parts)
		if len(message) != size {
			t.Fatalf("size %d, said %d", len(message), size)
		}
		ours := joined([][]byte{schema, message, EndOfStream})
		ar, err := ipc.NewReader(bytes.NewReader(ours))
		if err != nil {
			t.Fatal(err)
		}
		if !ar.Next() || !array.RecordEqual(ar.RecordBatch(), batch) {
			t.Fatalf("arrow-go read another batch: %v", ar.Err())
		}
		ar.Release()
		owner := memory.NewBufferWithAllocator(append(mem.Allocate(0), message...), freeNothing{})
		own, err := r.Decode(owner)
		owner.Release()
		if err != nil {
			t.Fatal(err)
		}
		if !array.RecordEqual(own, batch) {
			t.Fatal("read back another batch")
		}
		own.Release()
		if owner.Len() != 0 {
			t.Fatal("the batch kept its buffer after its release")
		}
		parsed, err := ParseSchema(schema)
		if err != nil {
			t.Fatal(err)
		}
		if err := Same(batch.Schema(), parsed); err != nil {
			t.Fatal(err)
		}
		batch.Release()
		mem.AssertSize(t, 0)
	})
}

type freeNothing struct{}

func (freeNothing) Allocate(n int) []byte             { return make([]byte, n) }
func (freeNothing) Reallocate(n int, b []byte) []byte { return append(b[:0:0], b...)[:n] }
func (freeNothing) Free([]byte)                       {}

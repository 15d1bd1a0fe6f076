// SPDX-License-Identifier: Apache-2.0

package jsoncodec

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nervix-go/nervix/host/codec"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/types"
)

// record builds a record of a plan's schema from values by row; nil is null.
func record(t tester, p *Plan, rows ...[]any) arrow.RecordBatch {
	t.Helper()
	b := array.NewRecordBuilder(memory.DefaultAllocator, p.schema.Arrow())
	defer b.Release()
	for _, row := range rows {
		for i, v := range row {
			if v == nil {
				b.Field(i).AppendNull()
				continue
			}
			switch f := b.Field(i).(type) {
			case *array.StringBuilder:
				f.Append(v.(string))
			case *array.Float64Builder:
				f.Append(v.(float64))
			case *array.Float32Builder:
				f.Append(float32(v.(float64)))
			case *array.BooleanBuilder:
				f.Append(v.(bool))
			case *array.TimestampBuilder:
				f.Append(arrow.Timestamp(v.(int)))
			default:
				if err := f.AppendValueFromString(strconv.Itoa(v.(int))); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	return b.NewRecordBatch()
}

func encodeAll(t tester, p *Plan, r arrow.RecordBatch, rows []int32) (texts []string, out codec.Encoded) {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	out, err := p.NewEncoder().Encode(mem, r, rows)
	if err != nil {
		t.Fatal(err)
	}
	for i := range out.Payloads.Len() {
		texts = append(texts, string(out.Payloads.Value(i)))
		if !json.Valid(out.Payloads.Value(i)) {
			t.Fatalf("invalid JSON: %s", out.Payloads.Value(i))
		}
	}
	out.Release()
	if n := mem.CurrentAlloc(); n != 0 {
		t.Fatalf("%d bytes not released", n)
	}
	return texts, out
}

func TestEncode(t *testing.T) {
	// req: N05
	wire, _, encodes := parseBinding("Z_last NUMBER OPTIONAL F64\nid INTEGER I64\nat STRING OPTIONAL DATETIME\nname STRING OPTIONAL STRING\na_name_beyond_sixteen_bytes BOOLEAN OPTIONAL BOOL")
	// The internal schema has another order: the wire order is what is written.
	schema := types.NewSchema("s", []types.Field{
		{Name: "id", Type: types.Of(types.I64)}, {Name: "name", Type: types.Of(types.String), Optional: true},
		{Name: "a_name_beyond_sixteen_bytes", Type: types.Of(types.Bool), Optional: true},
		{Name: "z_last", Type: types.Of(types.F64), Optional: true}, {Name: "at", Type: types.Of(types.Datetime), Optional: true},
	})
	p, bad := Bind(Strict, wire, schema, encodes)
	if bad != nil {
		t.Fatal(bad)
	}
	r := record(t, p,
		[]any{math.MaxInt64, "plain", true, 1.5, 0},
		[]any{math.MinInt64, nil, nil, nil, nil},
		[]any{1<<53 + 1, "quote\" back\\ nl\n nul\x00 é😀 del\x7f", false, -0.1, -1},
		[]any{0, "", nil, 1e21, 1_700_000_000_120_000_000},
		[]any{-9, strings.Repeat("\x01", 100), nil, 123456.789, 1_700_000_000_000_001_000},
		[]any{1, "lost", nil, math.NaN(), 0},
		[]any{2, "lost", nil, math.Inf(-1), 0},
		[]any{3, "bad \xff", nil, 0.0, 0},
		[]any{4, nil, nil, 5e-324, math.MinInt64},
	)
	texts, out := encodeAll(t, p, r, nil)
	want := []string{
		`{"Z_last":1.5,"id":9223372036854775807,"at":"1970-01-01T00:00:00+00:00","name":"plain","a_name_beyond_sixteen_bytes":true}`,
		`{"id":-9223372036854775808}`,
		`{"Z_last":-0.1,"id":9007199254740993,"at":"1969-12-31T23:59:59.999999999+00:00","name":"quote\" back\\ nl\n nul\u0000 é😀 del` + "\x7f" + `","a_name_beyond_sixteen_bytes":false}`,
		`{"Z_last":1e+21,"id":0,"at":"2023-11-14T22:13:20.120+00:00","name":""}`,
		`{"Z_last":123456.789,"id":-9,"at":"2023-11-14T22:13:20.000001+00:00","name":"` + strings.Repeat(`\u0001`, 100) + `"}`,
		`{"Z_last":5e-324,"id":4,"at":"1677-09-21T00:12:43.145224192+00:00"}`,
	}
	if d := cmp.Diff(want, texts); d != "" {
		t.Error(d)
	}
	rejects := []codec.Reject{
		{Row: 5, Reason: codec.Unwritable, Text: `field "Z_last" is NaN or infinite, which JSON cannot express`},
		{Row: 6, Reason: codec.Unwritable, Text: `field "Z_last" is NaN or infinite, which JSON cannot express`},
		{Row: 7, Reason: codec.Unwritable, Text: `field "name" is no valid UTF-8`},
	}
	if d := cmp.Diff(rejects, out.Rejects); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]int32{0, 1, 2, 3, 4, 8}, out.Rows); d != "" {
		t.Error(d)
	}
	// A selection of a slice: offsets of the arrays count.
	texts, out = encodeAll(t, p, r.NewSlice(1, 5), []int32{3, 0})
	if d := cmp.Diff([]string{want[4], want[1]}, texts); d != "" || out.Rows[0] != 3 {
		t.Error(d, out.Rows)
	}
}

func TestEncodeNothingAndMisuse(t *testing.T) {
	p := mustBind(t, Strict, "a NUMBER OPTIONAL F32\nb STRING OPTIONAL STRING")
	texts, _ := encodeAll(t, p, record(t, p, []any{nil, nil}), nil)
	if d := cmp.Diff([]string{"{}"}, texts); d != "" {
		t.Error(d)
	}
	if texts, _ = encodeAll(t, p, record(t, p), nil); len(texts) != 0 {
		t.Error(texts)
	}
	other := mustBind(t, Strict, "a NUMBER OPTIONAL F64\nb STRING OPTIONAL STRING")
	if _, err := p.NewEncoder().Encode(memory.DefaultAllocator, record(t, other), nil); !fault.Has(err, fault.CodecMisuse) {
		t.Error(err)
	}
}

// What is written reads back as the same values, bit by bit, with the shortest floats.
func TestRoundTrip(t *testing.T) {
	// req: N05
	p := mustBind(t, Strict, strings.ReplaceAll(everyType, "F32 NUMBER F32", "F32 NUMBER OPTIONAL F32\nO STRING OPTIONAL STRING\nP INTEGER OPTIONAL I16"))
	rapid.Check(t, func(t *rapid.T) {
		b := array.NewRecordBuilder(memory.DefaultAllocator, p.schema.Arrow())
		defer b.Release()
		var numbers []float64
		for range rapid.IntRange(0, 5).Draw(t, "rows") {
			for i, f := range p.schema.Fields() {
				if f.Optional && rapid.Bool().Draw(t, "null") {
					b.Field(i).AppendNull()
					continue
				}
				if x := appendAny(t, b.Field(i)); f.Type.Scalar == types.F64 {
					numbers = append(numbers, x)
				}
			}
		}
		r := b.NewRecordBatch()
		e, err := p.NewEncoder().Encode(memory.DefaultAllocator, r, nil)
		if err != nil || len(e.Rejects) > 0 {
			t.Fatal(err, e.Rejects)
		}
		d, err := p.NewDecoder().Decode(memory.DefaultAllocator, e.Payloads, nil)
		if err != nil || len(d.Rejects) > 0 {
			t.Fatal(err, d.Rejects)
		}
		for i, c := range d.Columns {
			if !array.Equal(c, r.Column(i)) {
				t.Fatalf("column %s: %v, want %v, from %v", p.schema.Field(i).Name, c, r.Column(i), e.Payloads)
			}
		}
		for i, x := range numbers {
			var fields map[string]json.RawMessage
			if err := json.Unmarshal(e.Payloads.Value(i), &fields); err != nil {
				t.Fatal(err)
			}
			if got, shortest := len(digitsOf(string(fields["F64"]))), len(digitsOf(strconv.FormatFloat(x, 'e', -1, 64))); got > shortest {
				t.Fatalf("%s has %d digits, %d are enough", fields["F64"], got, shortest)
			}
		}
	})
}

// digitsOf are the significant digits of a number.
func digitsOf(s string) string {
	s, _, _ = strings.Cut(s, "e")
	s = strings.TrimLeft(strings.NewReplacer("-", "", ".", "").Replace(s), "0")
	return strings.TrimRight(s, "0")
}

func appendAny(t *rapid.T, b array.Builder) float64 {
	switch b := b.(type) {
	case *array.StringBuilder:
		b.Append(rapid.OneOf(rapid.String(), rapid.StringMatching(`[ -~]{0,40}`), rapid.StringMatching("[\x00-\x1f\"\\\\a]{0,20}")).
			Filter(utf8.ValidString).Draw(t, "s"))
	case *array.Float64Builder:
		x := rapid.OneOf(rapid.Float64(), rapid.Map(rapid.IntRange(-1e9, 1e9), func(n int) float64 { return float64(n) / 1000 }),
			rapid.Map(rapid.IntRange(-1e6, 1e6), func(n int) float64 { return float64(n) })).Draw(t, "x")
		b.Append(x)
		return x
	case *array.Float32Builder:
		b.Append(rapid.OneOf(rapid.Float32(), rapid.Map(rapid.IntRange(-1e6, 1e6), func(n int) float32 { return float32(n) / 100 })).Draw(t, "y"))
	case *array.BooleanBuilder:
		b.Append(rapid.Bool().Draw(t, "b"))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(rapid.Int64().Draw(t, "ns")))
	case *array.Int64Builder:
		b.Append(rapid.Int64().Draw(t, "i64"))
	case *array.Int32Builder:
		b.Append(rapid.Int32().Draw(t, "i32"))
	case *array.Int16Builder:
		b.Append(rapid.Int16().Draw(t, "i16"))
	case *array.Int8Builder:
		b.Append(rapid.Int8().Draw(t, "i8"))
	case *array.Uint64Builder:
		b.Append(rapid.Uint64().Draw(t, "u64"))
	case *array.Uint32Builder:
		b.Append(rapid.Uint32().Draw(t, "u32"))
	case *array.Uint16Builder:
		b.Append(rapid.Uint16().Draw(t, "u16"))
	case *array.Uint8Builder:
		b.Append(rapid.Uint8().Draw(t, "u8"))
	}
	return 0
}

func TestEncodeAllocations(t *testing.T) {
	p := mustBind(t, Strict, "a NUMBER F64\nb STRING STRING\nc INTEGER I64\nt STRING DATETIME")
	count := func(n int) float64 {
		rows := make([][]any, n)
		for i := range rows {
			rows[i] = []any{float64(i) / 7, "text\n", i, i}
		}
		r, e := record(t, p, rows...), p.NewEncoder()
		run := func() {
			out, err := e.Encode(memory.DefaultAllocator, r, nil)
			if err != nil {
				t.Fatal(err)
			}
			out.Release()
		}
		run()
		return testing.AllocsPerRun(5, run)
	}
	if few, many := count(8), count(2048); many > few {
		t.Errorf("%v allocations for 8 rows, %v for 2048", few, many)
	}
}

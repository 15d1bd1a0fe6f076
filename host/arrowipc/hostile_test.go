// SPDX-License-Identifier: Apache-2.0

package arrowipc

import (
	"encoding/binary"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/host/kernel/fault"
)

var hostileSchema = arrow.NewSchema([]arrow.Field{
	{Name: "payload", Type: arrow.BinaryTypes.Binary},
	{Name: "text", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "line", Type: arrow.PrimitiveTypes.Int64},
	{Name: "list", Type: arrow.ListOf(arrow.PrimitiveTypes.Int32)},
	{Name: "fixed", Type: arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Uint8)},
	{Name: "flag", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
}, nil)

func hostileBatch() arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, hostileSchema)
	defer b.Release()
	for i := range 9 {
		b.Field(0).(*array.BinaryBuilder).Append([]byte("payload"))
		if i%3 == 0 {
			b.Field(1).AppendNull()
		} else {
			b.Field(1).(*array.StringBuilder).Append("tëxt")
		}
		b.Field(2).(*array.Int64Builder).Append(int64(i))
		b.Field(3).(*array.ListBuilder).Append(true)
		b.Field(3).(*array.ListBuilder).ValueBuilder().(*array.Int32Builder).Append(int32(i))
		b.Field(4).(*array.FixedSizeListBuilder).Append(true)
		b.Field(4).(*array.FixedSizeListBuilder).ValueBuilder().(*array.Uint8Builder).AppendValues([]byte{1, 2}, nil)
		b.Field(5).(*array.BooleanBuilder).Append(i%2 == 0)
	}
	return b.NewRecordBatch()
}

func hostileMessage() []byte {
	var e Encoder
	parts, _, err := e.Encode(hostileBatch())
	if err != nil {
		panic(err)
	}
	return joined(parts)
}

func hostileReader() *Reader {
	r, err := NewReader(hostileSchema, Limits{MaxRows: 1 << 16})
	if err != nil {
		panic(err)
	}
	return r
}

// touch reads everything a consumer could read; a batch that passed must not panic here.
func touch(b arrow.RecordBatch) int {
	n := 0
	for _, c := range b.Columns() {
		for i := range c.Len() {
			if !c.IsNull(i) {
				n += len(c.ValueStr(i))
			}
		}
	}
	return n
}

// raw describes one column of three buffers in a message made with EncodeRaw.
func rawText(rows, nulls int, validity []byte, offsets []int32, values string) []byte {
	var e Encoder
	parts, _, _ := e.EncodeRaw(rows, []Node{{rows, nulls}}, [][]byte{validity, AsBytes(offsets), []byte(values)})
	return joined(parts)
}

// rawBuffers is rawText with an offsets buffer of any length.
func rawBuffers(rows, nulls int, validity, offsets, values []byte) []byte {
	var e Encoder
	parts, _, _ := e.EncodeRaw(rows, []Node{{rows, nulls}}, [][]byte{validity, offsets, values})
	return joined(parts)
}

func TestRefusals(t *testing.T) {
	// req: F06
	text := arrow.NewSchema([]arrow.Field{{Name: "t", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
	r, err := NewReader(text, Limits{MaxRows: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		b    []byte
		want string
	}{
		{"good", rawText(2, 1, []byte{1}, []int32{0, 2, 3}, "abc"), ""},
		{"empty without offsets", rawText(0, 0, nil, nil, ""), ""},
		{"falling offsets", rawText(2, 0, nil, []int32{0, 3, 2}, "abc"), "falling"},
		{"negative first offset", rawText(1, 0, nil, []int32{-1, 2}, "abc"), "falling"},
		{"offset beyond the bytes", rawText(1, 0, nil, []int32{0, 9}, "abc"), "beyond"},
		{"too few offsets", rawText(3, 0, nil, []int32{0, 1}, "abc"), "too few offsets"},
		{"offsets are not whole", rawBuffers(1, 0, nil, make([]byte, 9), []byte("abc")), "an offset that is cut"},
		{"bitmap too short", rawText(9, 1, []byte{1}, make([]int32, 10), ""), "too short"},
		{"nulls without bitmap", rawText(2, 1, nil, []int32{0, 2, 3}, "abc"), "without a validity bitmap"},
		{"null count contradicts", rawText(2, 2, []byte{1}, []int32{0, 2, 3}, "abc"), "contradicts"},
		{"impossible null count", rawText(2, 3, []byte{1}, []int32{0, 2, 3}, "abc"), "impossible"},
		{"broken text", rawText(1, 0, nil, []int32{0, 2}, "\xff\xfe"), "UTF-8"},
		{"row begins in a character", rawText(2, 0, nil, []int32{0, 1, 2}, "\u00e9"), "UTF-8"},
		{"broken text under a null is not read", rawText(2, 1, []byte{1}, []int32{0, 1, 2}, "a\xff"), ""},
		{"rows above the limit", rawText(1001, 0, nil, make([]int32, 1002), ""), "out of range"},
		{"another column count", hostileMessage(), "other columns"},
		{"nothing", nil, "exactly one"},
		{"short", []byte{1, 2, 3}, "shorter"},
		{"two messages", append(rawText(0, 0, nil, nil, ""), rawText(0, 0, nil, nil, "")...), "exactly one"},
	} {
		got, err := r.Decode(memory.NewBufferBytes(c.b))
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || fault.CodeOf(err) != fault.ArrowInvalid):
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
		if got != nil {
			touch(got)
		}
	}
	nulls, err := NewReader(arrow.NewSchema([]arrow.Field{{Name: "t", Type: arrow.BinaryTypes.String}}, nil), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := nulls.Decode(memory.NewBufferBytes(rawText(2, 1, []byte{1}, []int32{0, 2, 3}, "abc"))); err == nil {
		t.Error("a null in a column that is not nullable passed")
	}
}

func TestEveryByteChanged(t *testing.T) {
	good := hostileMessage()
	r := hostileReader()
	if _, err := r.Decode(memory.NewBufferBytes(good)); err != nil {
		t.Fatal(err)
	}
	for i := range good {
		for _, v := range []byte{0, 1, 0x7f, 0x80, 0xff, good[i] + 1, good[i] ^ 8} {
			b := slices.Clone(good)
			b[i] = v
			var got arrow.RecordBatch
			var err error
			cost := allocated(func() { got, err = r.Decode(memory.NewBufferBytes(b)) })
			if err == nil {
				touch(got)
			} else if cost > 64<<10+16*uint64(len(b)) {
				t.Errorf("byte %d set to %d: %d bytes cost %d", i, v, len(b), cost)
			}
		}
		if _, err := r.Decode(memory.NewBufferBytes(good[:i])); err == nil {
			t.Fatalf("a message cut at %d passed", i)
		}
	}
}

func TestUnalignedBodyIsCopied(t *testing.T) {
	good := hostileMessage()
	moved := append(make([]byte, 1, len(good)+1), good...)[1:]
	got, err := hostileReader().Decode(memory.NewBufferBytes(moved))
	if err != nil {
		t.Fatal(err)
	}
	if want := hostileBatch(); !array.RecordEqual(got, want) {
		t.Fatal("another batch")
	}
}

func TestRefusedFeatures(t *testing.T) {
	dict := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	for _, dt := range []arrow.DataType{dict, arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int8), arrow.BinaryTypes.StringView, arrow.Null} {
		_, err := NewReader(arrow.NewSchema([]arrow.Field{{Name: "x", Type: dt}}, nil), Limits{})
		if fault.CodeOf(err) != fault.ArrowUnsupported {
			t.Errorf("%v: %v", dt, err)
		}
	}
}

// A schema whose tables are shared describes 16^12 fields in a few hundred bytes.
func TestSharedTablesCostLittle(t *testing.T) {
	nested := arrow.DataType(arrow.PrimitiveTypes.Int8)
	for range 10 {
		nested = arrow.StructOf(arrow.Field{Name: "a", Type: nested}, arrow.Field{Name: "b", Type: nested})
	}
	big, err := SchemaMessage(arrow.NewSchema([]arrow.Field{{Name: "r", Type: nested}}, nil))
	if err != nil {
		t.Fatal(err)
	}
	if cost := allocated(func() { _, _ = ParseSchema(big) }); cost > 64<<10+16*uint64(len(big)) {
		t.Errorf("an honest schema of %d bytes cost %d", len(big), cost)
	}
	shared := sharedSchema()
	if cost := allocated(func() { _, err = ParseSchema(shared) }); cost > 64<<10+16*uint64(len(shared)) {
		t.Errorf("%d bytes cost %d", len(shared), cost)
	}
	if err == nil {
		t.Error("the shared schema passed")
	}
}

func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// sharedSchema redirects every child of a chain of structs to the same table.
func sharedSchema() []byte {
	dt := arrow.DataType(arrow.PrimitiveTypes.Int8)
	for range 9 {
		fields := make([]arrow.Field, 16)
		for i := range fields {
			fields[i] = arrow.Field{Name: string(rune('a' + i)), Type: arrow.PrimitiveTypes.Int8}
		}
		fields[15] = arrow.Field{Name: "p", Type: dt}
		dt = arrow.StructOf(fields...)
	}
	b, err := SchemaMessage(arrow.NewSchema([]arrow.Field{{Name: "r", Type: dt}}, nil))
	if err != nil {
		panic(err)
	}
	// Let each of the sixteen elements of a children vector point to the last child.
	for at := prefixBytes; at+4 <= len(b); at += 4 {
		if binary.LittleEndian.Uint32(b[at:]) != 16 || at+4+64 > len(b) {
			continue
		}
		last := at + 4 + 60
		target := last + int(binary.LittleEndian.Uint32(b[last:]))
		if target >= len(b) {
			continue
		}
		for i := range 16 {
			e := at + 4 + 4*i
			binary.LittleEndian.PutUint32(b[e:], uint32(target-e))
		}
	}
	return b
}

func FuzzDecode(f *testing.F) {
	f.Add(hostileMessage())
	f.Add(rawText(2, 1, []byte{1}, []int32{0, 2, 3}, "abc"))
	schema, _ := SchemaMessage(hostileSchema)
	f.Add(schema)
	f.Add(joined([][]byte{schema, hostileMessage(), EndOfStream}))
	r := hostileReader()
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, err := r.Decode(memory.NewBufferBytes(b)); err == nil {
			touch(got)
		}
		if all, err := r.DecodeStream(memory.NewBufferBytes(b)); err == nil {
			for _, one := range all {
				touch(one)
			}
		}
		_, _ = ParseSchema(b)
	})
}

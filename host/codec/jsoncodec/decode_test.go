// SPDX-License-Identifier: Apache-2.0

package jsoncodec

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/cockroachdb/datadriven"
)

// The scripts hold the corner cases of Q52 and of pains N02, N05, N07, N08. A `quoted` payload is a Go string, so that any byte can be
// written.
func TestDecodeScripts(t *testing.T) {
	// req: P-020
	// req: N02
	// req: N05
	// req: N07
	// req: N08
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		var plan *Plan
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "bind":
				mode := Strict
				if d.HasArg("loose") {
					mode = Loose
				}
				wire, schema, encodes := parseBinding(d.Input)
				if d.HasArg("plain") {
					encodes = nil
				}
				p, bad := Bind(mode, wire, schema, encodes)
				var b strings.Builder
				for _, m := range bad {
					fmt.Fprintf(&b, "%s: %s\n", m.Field, m.Text)
				}
				plan = p
				return b.String()
			case "decode":
				return runDecode(t, d, plan)
			default:
				t.Fatalf("unknown command %s", d.Cmd)
				return ""
			}
		})
	})
}

func runDecode(t *testing.T, d *datadriven.TestData, plan *Plan) string {
	var payloads [][]byte
	for _, line := range strings.Split(d.Input, "\n") {
		if d.HasArg("quoted") {
			var err error
			if line, err = strconv.Unquote(line); err != nil {
				t.Fatalf("%s: %v", d.Pos, err)
			}
		}
		payloads = append(payloads, []byte(line))
	}
	rows, rejects := decodeAll(t, plan.NewDecoder(), payloads...)
	var b strings.Builder
	for i := range payloads {
		if r, ok := rows[int32(i)]; ok {
			fmt.Fprintf(&b, "%d: %s\n", i, r)
			continue
		}
		r := rejects[0]
		rejects = rejects[1:]
		fmt.Fprintf(&b, "%d: %s: %s\n", r.Row, r.Reason, r.Text)
		if !strings.HasSuffix(r.Text, "at byte "+strconv.Itoa(r.Offset)) || r.Offset > len(payloads[i]) {
			t.Errorf("row %d: offset %d does not fit its text", i, r.Offset)
		}
	}
	return b.String()
}

func TestDecodeDepth(t *testing.T) {
	plan := mustBind(t, Loose, "a INTEGER I64")
	nested := func(n int, open, shut string) []byte {
		return []byte(`{"x":` + strings.Repeat(open, n) + "1" + strings.Repeat(shut, n) + `,"a":7}`)
	}
	rows, rejects := decodeAll(t, plan.NewDecoder(), nested(127, "[", "]"), nested(128, "[", "]"), nested(127, `{"k":`, "}"), nested(128, `{"k":`, "}"),
		nested(100000, "[", "]"))
	if len(rows) != 2 || rows[0] != "7" || rows[2] != "7" || len(rejects) != 3 {
		t.Fatalf("rows %v, rejects %v", rows, rejects)
	}
	for _, r := range rejects {
		if r.Reason.String() != "depth" {
			t.Errorf("row %d: %s", r.Row, r.Text)
		}
	}
}

// A selection decodes in its order, and a payload that is null is an empty one.
func TestDecodeSelection(t *testing.T) {
	plan := mustBind(t, Strict, "a INTEGER I64\nb STRING OPTIONAL STRING")
	b := array.NewBinaryBuilder(memory.DefaultAllocator, arrow.BinaryTypes.Binary)
	for i := range 10 {
		b.Append([]byte(fmt.Sprintf(`{"a":%d,"b":"v%d"}`, i, i)))
	}
	b.AppendNull()
	column := b.NewBinaryArray()
	sliced := array.NewSlice(column, 2, 11).(*array.Binary)
	out, err := plan.NewDecoder().Decode(memory.DefaultAllocator, sliced, []int32{5, 0, 8, 3})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(out.Rows, out.Columns, out.Rejects); got != `[5 0 3] [[7 2 5] ["v7" "v2" "v5"]] [{8 0 empty the payload is empty, at byte 0}]` {
		t.Fatal(got)
	}
}

// Groups without a good row still have columns of every type.
func TestDecodeNothing(t *testing.T) {
	plan := mustBind(t, Strict, everyType)
	for _, column := range []*array.Binary{payloadColumn(), payloadColumn([]byte("x")), payloadColumn(nil)} {
		out, err := plan.NewDecoder().Decode(memory.DefaultAllocator, column, nil)
		if err != nil || out.Len() != 0 || len(out.Rejects) != column.Len() || len(out.Columns) != plan.schema.Len() {
			t.Fatal(out, err)
		}
		r := array.NewRecordBatch(plan.schema.Arrow(), out.Columns, 0)
		r.Release()
		out.Release()
	}
}

// No allocation a row: the number of allocations is the same for few and for many rows, rows with every kind of value included.
func TestDecodeAllocations(t *testing.T) {
	plan := mustBind(t, Loose, everyType)
	count := func(rows int) float64 {
		payloads := make([][]byte, rows)
		for i := range payloads {
			payloads[i] = []byte(fmt.Sprintf(`{"I64":%d,"x":[1,{"y":"\u00e9"}],"F64":%d.1234567890123456789,"\u0053":"a\n%d","t":"2024-05-06T07:08:09.%03dZ","U8":1.0e1,"I8":-3,`+
				`"U16":5,"I16":6,"U32":7,"I32":8,"U64":9,"F32":0.1234567891,"B":true}`, i, i, i, i%1000))
		}
		column := payloadColumn(payloads...)
		d := plan.NewDecoder()
		run := func() {
			out, err := d.Decode(memory.DefaultAllocator, column, nil)
			if err != nil || len(out.Rejects) > 0 {
				t.Fatal(err, out.Rejects)
			}
			out.Release()
		}
		run()
		return testing.AllocsPerRun(5, run)
	}
	few, many := count(8), count(2048)
	if many > few {
		t.Errorf("%v allocations for 8 rows, %v for 2048", few, many)
	}
}

const everyType = `I64 INTEGER I64
F64 NUMBER F64
S STRING STRING
t STRING DATETIME
U8 INTEGER U8
I8 INTEGER I8
U16 INTEGER U16
I16 INTEGER I16
U32 INTEGER U32
I32 INTEGER I32
U64 INTEGER U64
F32 NUMBER F32
B BOOLEAN BOOL`

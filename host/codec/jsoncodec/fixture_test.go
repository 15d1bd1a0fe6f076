// SPDX-License-Identifier: Apache-2.0

package jsoncodec

import (
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/host/codec"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/types"
)

// parseBinding reads lines `wireName WIRE_TYPE [OPTIONAL] TYPE`; DATETIME fields are named in ENCODE.
func parseBinding(text string) (wire []WireField, schema *types.Schema, encodes []ident.Name) {
	var fields []types.Field
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		words := strings.Fields(line)
		w := WireField{Name: words[0]}
		w.Type, _ = ParseWireType(words[1])
		w.Optional = words[2] == "OPTIONAL"
		s, _ := types.ParseScalar(words[len(words)-1])
		name := ident.Name(strings.ToLower(w.Name))
		fields = append(fields, types.Field{Name: name, Type: types.Of(s), Optional: w.Optional})
		if s == types.Datetime {
			encodes = append(encodes, name)
		}
		wire = append(wire, w)
	}
	return wire, types.NewSchema("s", fields), encodes
}

// tester is what testing.T, testing.F and rapid.T share.
type tester interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func mustBind(t tester, mode Mode, text string) *Plan {
	t.Helper()
	wire, schema, encodes := parseBinding(text)
	p, bad := Bind(mode, wire, schema, encodes)
	if bad != nil {
		t.Fatalf("bind: %v", bad)
	}
	return p
}

// payloadColumn makes an Arrow column of payloads; it needs no release, its memory is the collector's.
func payloadColumn(payloads ...[]byte) *array.Binary {
	b := array.NewBinaryBuilder(memory.DefaultAllocator, arrow.BinaryTypes.Binary)
	defer b.Release()
	for _, p := range payloads {
		b.Append(p)
	}
	return b.NewBinaryArray()
}

// decodeAll decodes under a checked allocator and renders each row of the result.
func decodeAll(t tester, d codec.Decoder, payloads ...[]byte) (rows map[int32]string, rejects []codec.Reject) {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	out, err := d.Decode(mem, payloadColumn(payloads...), nil)
	if err != nil {
		t.Fatal(err)
	}
	rows = make(map[int32]string)
	for i, r := range out.Rows {
		rows[r] = renderRow(out.Columns, i)
	}
	out.Release()
	if n := mem.CurrentAlloc(); n != 0 {
		t.Fatalf("%d bytes not released", n)
	}
	return rows, out.Rejects
}

// renderRow shows a row with bits enough to tell any two values apart.
func renderRow(columns []arrow.Array, i int) string {
	var parts []string
	for _, c := range columns {
		if c.IsNull(i) {
			parts = append(parts, "null")
			continue
		}
		switch c := c.(type) {
		case *array.String:
			parts = append(parts, fmt.Sprintf("%+q", c.Value(i)))
		case *array.Float64:
			parts = append(parts, fmt.Sprintf("%v", c.Value(i)))
		case *array.Float32:
			parts = append(parts, fmt.Sprintf("%v", c.Value(i)))
		case *array.Timestamp:
			parts = append(parts, fmt.Sprintf("%dns", int64(c.Value(i))))
		default:
			parts = append(parts, c.ValueStr(i))
		}
	}
	return strings.Join(parts, " ")
}

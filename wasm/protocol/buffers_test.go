// SPDX-License-Identifier: Apache-2.0

package protocol_test

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/nervix-go/nervix/host/arrowipc"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/types"
	"github.com/nervix-go/nervix/wasm/protocol"
	"github.com/nervix-go/nervix/wasm/protocol/gen/nervix_wasm"
)

// rawStream is a stream of one text column, one list column and whatever nodes and buffers the case asks for.
func rawStream(t *testing.T, rows int, nodes []arrowipc.Node, buffers [][]byte) []byte {
	t.Helper()
	schema := must[[]byte](t)(arrowipc.SchemaMessage(arrow.NewSchema([]arrow.Field{
		{Type: arrow.BinaryTypes.String, Nullable: true}, {Type: arrow.ListOfNonNullable(arrow.PrimitiveTypes.Int32)},
	}, nil)))
	var e arrowipc.Encoder
	parts, _, err := e.EncodeRaw(rows, nodes, buffers)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Join(append([][]byte{schema}, parts...), nil)
}

// region finds offset and length of the i-th buffer in the metadata of the record batch.
func region(b []byte, i int) []byte {
	schema, rest := parts(b)
	meta := b[len(schema)+8 : len(schema)+8+int(binary.LittleEndian.Uint32(rest[4:]))]
	follow := func(at int) int { return at + int(binary.LittleEndian.Uint32(meta[at:])) }
	batch := follow(follow(0) + int(binary.LittleEndian.Uint16(meta[vtableEntry(meta, follow(0), 2):])))
	vector := follow(batch + int(binary.LittleEndian.Uint16(meta[vtableEntry(meta, batch, 2):])))
	return meta[vector+4+16*i : vector+4+16*i+16]
}

// TestGeneratedBuffers has one stream for each demand on nodes and buffers.
func TestGeneratedBuffers(t *testing.T) {
	// req: W-070
	c := protocol.NewContract(inputSchema, []protocol.Route{{Relay: "out", Schema: types.NewSchema("s", []types.Field{
		{Name: "text", Type: types.Of(types.String), Optional: true},
		{Name: "list", Type: types.Type{Scalar: types.Vec, Elem: &types.Type{Scalar: types.I32}}},
	})}})
	nodes := func() []arrowipc.Node { return []arrowipc.Node{{Rows: 2, Nulls: 1}, {Rows: 2}, {Rows: 3}} }
	buffers := func() [][]byte {
		return [][]byte{{1}, arrowipc.AsBytes([]int32{0, 3, 3}), []byte("abc"), nil, arrowipc.AsBytes([]int32{0, 1, 3}), nil, arrowipc.AsBytes([]int32{7, 8, 9})}
	}
	for _, one := range []struct {
		name   string
		change func(n *[]arrowipc.Node, b *[][]byte)
		patch  func(stream []byte)
		want   string
	}{
		{"good", nil, nil, ""},
		{"a node more", func(n *[]arrowipc.Node, _ *[][]byte) { *n = append(*n, arrowipc.Node{Rows: 2}) }, nil, "other columns"},
		{"a node less", func(n *[]arrowipc.Node, _ *[][]byte) { *n = (*n)[:2] }, nil, "other columns"},
		{"a buffer more", func(_ *[]arrowipc.Node, b *[][]byte) { *b = append(*b, []byte("x")) }, nil, "other columns"},
		{"a buffer less", func(_ *[]arrowipc.Node, b *[][]byte) { *b = (*b)[:6] }, nil, "other columns"},
		{"rows of a column", func(n *[]arrowipc.Node, _ *[][]byte) { (*n)[1].Rows = 3 }, nil, "another length"},
		{"values of the list", func(n *[]arrowipc.Node, _ *[][]byte) { (*n)[2].Rows = 2 }, nil, "another length"},
		{"bitmap shorter than the nulls", func(_ *[]arrowipc.Node, b *[][]byte) { (*b)[0] = nil }, nil, "without a validity bitmap"},
		{"more nulls than rows", func(n *[]arrowipc.Node, _ *[][]byte) { (*n)[0].Nulls = 3 }, nil, "impossible null count"},
		{"another null count", func(n *[]arrowipc.Node, _ *[][]byte) { (*n)[0].Nulls = 2 }, nil, "contradicts"},
		{"nulls in a column that has none", func(n *[]arrowipc.Node, b *[][]byte) { (*n)[1].Nulls, (*b)[3] = 1, []byte{1} }, nil, "not nullable"},
		{"offsets too few", func(_ *[]arrowipc.Node, b *[][]byte) { (*b)[1] = (*b)[1][:8] }, nil, "too few offsets"},
		{"text offset cut", func(_ *[]arrowipc.Node, b *[][]byte) { (*b)[1] = append((*b)[1], 0) }, nil, "offset that is cut"},
		{"list offset cut", func(_ *[]arrowipc.Node, b *[][]byte) { (*b)[4] = append((*b)[4], 0, 0) }, nil, "offset that is cut"},
		{"offsets fall", func(_ *[]arrowipc.Node, b *[][]byte) { (*b)[1] = arrowipc.AsBytes([]int32{0, 3, 2}) }, nil, "falling"},
		{"offset behind the text", func(_ *[]arrowipc.Node, b *[][]byte) { (*b)[1] = arrowipc.AsBytes([]int32{0, 3, 9}) }, nil, "beyond"},
		{"text is not UTF-8", func(_ *[]arrowipc.Node, b *[][]byte) { (*b)[2] = []byte("a\xffc") }, nil, "UTF-8"},
		{"buffer begins behind the body", nil, func(b []byte) { binary.LittleEndian.PutUint64(region(b, 2), 1<<20) }, "outside the body"},
		{"buffer ends behind the body", nil, func(b []byte) { binary.LittleEndian.PutUint64(region(b, 6)[8:], 1<<40) }, "too few bytes"},
		{"buffer begins before the body", nil, func(b []byte) { binary.LittleEndian.PutUint64(region(b, 4), 1<<63) }, "outside the body"},
	} {
		n, b := nodes(), buffers()
		if one.change != nil {
			one.change(&n, &b)
		}
		stream := rawStream(t, 2, n, b)
		if one.patch != nil {
			one.patch(stream)
		}
		o := &nervix_wasm.OutputEnvelopeT{GeneratedArrowIpcBatch: stream, Outputs: []*nervix_wasm.RoutedOutputT{
			{OutputRelay: "out", Columns: []*nervix_wasm.OutputColumnRefT{column(protocol.Generated, 0), column(protocol.Generated, 1)}, Acks: sidecar(rows(1, 2))}}}
		g, err := bind(c, packOutput(o))
		switch {
		case one.want == "" && err != nil:
			t.Errorf("%s: %v", one.name, err)
		case one.want == "":
			touch(g)
		case !fault.Has(err, fault.WasmArrow) || !strings.Contains(err.Error(), one.want):
			t.Errorf("%s: %v; want %q", one.name, err, one.want)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package protocol_test

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/types"
	"github.com/nervix-go/nervix/wasm/protocol"
	"github.com/nervix-go/nervix/wasm/protocol/gen/nervix_wasm"
)

// The processor of the tests: readings in, alarms and totals out.
var (
	inputSchema = types.NewSchema("readings", []types.Field{
		{Name: "bed", Type: types.Of(types.String)},
		{Name: "moisture", Type: types.Of(types.F64), Optional: true},
		{Name: "raw", Type: types.Of(types.Bytes)},
		{Name: "at", Type: types.Of(types.Datetime)},
	})
	alarmSchema = types.NewSchema("alarm", []types.Field{
		{Name: "place", Type: types.Of(types.String)},
		{Name: "score", Type: types.Of(types.I64)},
		{Name: "note", Type: types.Of(types.String), Optional: true},
	})
	totalSchema = types.NewSchema("total", []types.Field{
		{Name: "sum", Type: types.Of(types.I64)},
		{Name: "marks", Type: types.Type{Scalar: types.Vec, Elem: &types.Type{Scalar: types.F32}}, Optional: true},
	})
)

func contract() *protocol.Contract {
	return protocol.NewContract(inputSchema, []protocol.Route{{Relay: "alarms", Schema: alarmSchema}, {Relay: "totals", Schema: totalSchema}})
}

func inputBatch(rows int) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, inputSchema.Arrow())
	defer b.Release()
	for i := range rows {
		b.Field(0).(*array.StringBuilder).Append("north")
		if i%3 == 0 {
			b.Field(1).AppendNull()
		} else {
			b.Field(1).(*array.Float64Builder).Append(float64(i) / 4)
		}
		b.Field(2).(*array.BinaryBuilder).Append([]byte{0x00, 0xFF, 0xC3, 0x28})
		b.Field(3).(*array.TimestampBuilder).Append(arrow.Timestamp(i))
	}
	return b.NewRecordBatch()
}

// stream is what a guest writes: a schema with the given fields and one batch.
func stream(t testing.TB, fields []arrow.Field, rows int, options ...ipc.Option) []byte {
	t.Helper()
	schema := arrow.NewSchema(fields, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for range rows {
		for i := range fields {
			b.Field(i).AppendEmptyValue()
		}
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	var out bytes.Buffer
	w := ipc.NewWriter(&out, append(options, ipc.WithSchema(schema))...)
	if err := w.Write(batch); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

var scoreField = arrow.Field{Type: arrow.PrimitiveTypes.Int64}

// marksField is totals.marks as a guest may call it: the name inside the list is its own.
var marksField = arrow.Field{Type: arrow.ListOfField(arrow.Field{Name: "element", Type: arrow.PrimitiveTypes.Float32}), Nullable: true}

func column(source protocol.Source, index uint32) *nervix_wasm.OutputColumnRefT {
	return &nervix_wasm.OutputColumnRefT{Source: nervix_wasm.ColumnSource(source), ColumnIndex: index}
}

// row stands for one input.
func row(token uint64) *nervix_wasm.OutputRowT {
	return &nervix_wasm.OutputRowT{Tokens: []uint64{token}, SourceToken: &token}
}

func rows(first uint64, n int) []*nervix_wasm.OutputRowT {
	out := []*nervix_wasm.OutputRowT{}
	for i := range n {
		out = append(out, row(first+uint64(i)))
	}
	return out
}

func sidecar(r []*nervix_wasm.OutputRowT) *nervix_wasm.AckSidecarT {
	return &nervix_wasm.AckSidecarT{Rows: r, Acked: []*nervix_wasm.AckTokenSetT{}, Nacked: []*nervix_wasm.NackSetT{}, MessageErrors: []*nervix_wasm.MessageErrorSetT{}}
}

// sample is an output that uses every member: three of the six inputs go to alarms, the fourth is done, the others fail.
func sample(t testing.TB) *nervix_wasm.OutputEnvelopeT {
	alarms := sidecar(rows(101, 3))
	alarms.Acked = append(alarms.Acked, &nervix_wasm.AckTokenSetT{Tokens: []uint64{104}})
	alarms.Nacked = append(alarms.Nacked, &nervix_wasm.NackSetT{Tokens: []uint64{105}, Reason: "sensor is offline"})
	alarms.MessageErrors = append(alarms.MessageErrors, &nervix_wasm.MessageErrorSetT{Tokens: []uint64{106}, Reason: "moisture is too high"})
	totals := sidecar([]*nervix_wasm.OutputRowT{{Tokens: []uint64{101, 102, 103}, SourceToken: ptr(102)}, row(103), row(101)})
	return &nervix_wasm.OutputEnvelopeT{
		GeneratedArrowIpcBatch: stream(t, []arrow.Field{scoreField, marksField}, 3),
		Outputs: []*nervix_wasm.RoutedOutputT{
			{OutputRelay: "alarms", Columns: []*nervix_wasm.OutputColumnRefT{column(protocol.Input, 0), column(protocol.Generated, 0), column(protocol.Uninitialized, 0)}, Acks: alarms},
			{OutputRelay: "totals", Columns: []*nervix_wasm.OutputColumnRefT{column(protocol.Generated, 0), column(protocol.Generated, 1)}, Acks: totals},
		},
	}
}

func ptr(v uint64) *uint64 { return &v }

func pack(kind nervix_wasm.MessagePayload, value any) []byte {
	b := flatbuffers.NewBuilder(256)
	root := (&nervix_wasm.MessageT{Payload: &nervix_wasm.MessagePayloadT{Type: kind, Value: value}}).Pack(b)
	b.FinishSizePrefixedWithFileIdentifier(root, []byte(protocol.Identifier))
	return b.FinishedBytes()
}

func packOutput(o *nervix_wasm.OutputEnvelopeT) []byte {
	return pack(nervix_wasm.MessagePayloadOutputEnvelope, o)
}

func sampleInput(t testing.TB, rows int) []byte {
	t.Helper()
	e, err := protocol.NewInputEncoder(inputSchema)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Prepare(inputBatch(rows), 101); err != nil {
		t.Fatal(err)
	}
	message := make([]byte, e.Size())
	if err := e.WriteTo(message); err != nil {
		t.Fatal(err)
	}
	return message
}

func sampleInit() *protocol.Init {
	element := types.Of(types.F32)
	array := types.Type{Scalar: types.Array, Elem: &element, Dims: []uint32{6}}
	kinds := protocol.Shape{Name: "kinds"}
	for s := types.U8; s <= types.Datetime; s++ {
		kinds.Fields = append(kinds.Fields, protocol.Field{Name: "f" + s.String(), Type: types.Of(s), Optional: s%2 == 0})
	}
	kinds.Fields = append(kinds.Fields, protocol.Field{Name: "vec", Type: types.Type{Scalar: types.Vec, Elem: &array}},
		protocol.Field{Name: "cube", Type: types.Type{Scalar: types.Array, Elem: &element, Dims: []uint32{2, 3, 4}}, Optional: true})
	return &protocol.Init{DomainName: "garden", DomainType: "unpaced", BranchKey: []byte(`{"bed":"north"}`), Input: protocol.ShapeOf("readings", inputSchema),
		Outputs: []protocol.Shape{protocol.ShapeOf(ident.Name("alarms"), alarmSchema), kinds}}
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// samples are messages of all four kinds, by the name of their golden file.
func samples(t testing.TB) map[string][]byte {
	message := must[[]byte](t)
	init := message(protocol.EncodeInit(sampleInit()))
	plain := sampleInit()
	plain.BranchKey, plain.Outputs = nil, plain.Outputs[:1]
	return map[string][]byte{
		"init": init, "init_unbranched": message(protocol.EncodeInit(plain)),
		"input": sampleInput(t, 2), "input_empty": sampleInput(t, 0),
		"output": packOutput(sample(t)), "output_generated_rows": packOutput(generatedOnly(t)),
		"snapshot":       message(protocol.EncodeSnapshot(protocol.Snapshot{Init: init, State: []byte("rows=42")})),
		"snapshot_empty": message(protocol.EncodeSnapshot(protocol.Snapshot{Init: init})),
	}
}

// generatedOnly has rows that come from no input.
func generatedOnly(t testing.TB) *nervix_wasm.OutputEnvelopeT {
	acks := sidecar([]*nervix_wasm.OutputRowT{{Tokens: []uint64{101, 102}}, {Tokens: []uint64{}}})
	return &nervix_wasm.OutputEnvelopeT{GeneratedArrowIpcBatch: stream(t, []arrow.Field{scoreField}, 2), Outputs: []*nervix_wasm.RoutedOutputT{
		{OutputRelay: "totals", Columns: []*nervix_wasm.OutputColumnRefT{column(protocol.Generated, 0), column(protocol.Uninitialized, 0)}, Acks: acks}}}
}

// allocated measures what f allocates.
func allocated(f func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

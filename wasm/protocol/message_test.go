// SPDX-License-Identifier: Apache-2.0

package protocol_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nervix-go/nervix/host/arrowipc"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/wasm/protocol"
	"github.com/nervix-go/nervix/wasm/protocol/gen/nervix_wasm"
)

// TestOutputReadsAsWritten compares the views with what a generated builder wrote.
func TestOutputReadsAsWritten(t *testing.T) {
	// req: W-062, W-085
	want := sample(t)
	got, err := protocol.DecodeOutput(packOutput(want))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, objectOf(got)); d != "" {
		t.Fatal(d)
	}
}

// objectOf turns views back into the objects of the generated code.
func objectOf(o *protocol.Output) *nervix_wasm.OutputEnvelopeT {
	out := &nervix_wasm.OutputEnvelopeT{GeneratedArrowIpcBatch: o.Generated, Outputs: []*nervix_wasm.RoutedOutputT{}}
	for i := range o.Routed {
		r := &o.Routed[i]
		x := &nervix_wasm.RoutedOutputT{OutputRelay: string(r.Relay), Acks: acksOf(&r.Acks), Columns: []*nervix_wasm.OutputColumnRefT{}}
		for k := range r.Columns() {
			x.Columns = append(x.Columns, column(r.Column(k).Source, r.Column(k).Index))
		}
		out.Outputs = append(out.Outputs, x)
	}
	return out
}

func acksOf(s *protocol.Sidecar) *nervix_wasm.AckSidecarT {
	x := sidecar([]*nervix_wasm.OutputRowT{})
	for i := range s.Rows() {
		one := s.Row(i)
		r := &nervix_wasm.OutputRowT{Tokens: list(one.Tokens)}
		if one.HasSource {
			r.SourceToken = ptr(one.Source)
		}
		x.Rows = append(x.Rows, r)
	}
	for i := range s.Acked() {
		x.Acked = append(x.Acked, &nervix_wasm.AckTokenSetT{Tokens: list(s.AckedSet(i))})
	}
	for i := range s.Nacked() {
		set, reason := s.NackedSet(i)
		x.Nacked = append(x.Nacked, &nervix_wasm.NackSetT{Tokens: list(set), Reason: string(reason)})
	}
	for i := range s.Failed() {
		set, reason := s.FailedSet(i)
		x.MessageErrors = append(x.MessageErrors, &nervix_wasm.MessageErrorSetT{Tokens: list(set), Reason: string(reason)})
	}
	return x
}

func list(t protocol.Tokens) []uint64 {
	out := []uint64{}
	for i := range t.Len() {
		out = append(out, t.At(i))
	}
	return out
}

// TestInputMessage reads what the encoder wrote with the generated accessors and with arrow-go, as a guest would.
func TestInputMessage(t *testing.T) {
	// req: W-061, W-086 half: the message; not yet as a guest receives it
	encoder := must[*protocol.InputEncoder](t)(protocol.NewInputEncoder(inputSchema))
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 70).Draw(t, "rows")
		first := rapid.Uint64Range(1, 1<<62).Draw(t, "first")
		batch := inputBatch(n)
		if err := encoder.Prepare(batch, first); err != nil {
			t.Fatal(err)
		}
		// A guest's memory is not clean, and what lies beside the message is not ours.
		dirty := bytes.Repeat([]byte{0xA5}, encoder.Size()+9)
		if err := encoder.WriteTo(dirty); err != nil {
			t.Fatal(err)
		}
		message, rest := dirty[:encoder.Size()], dirty[encoder.Size():]
		if !bytes.Equal(rest, bytes.Repeat([]byte{0xA5}, 9)) {
			t.Fatal("the encoder wrote behind the message")
		}
		if int(binary.LittleEndian.Uint32(message)) != len(message)-4 || string(message[8:12]) != "NVWY" {
			t.Fatal("header")
		}
		if err := oracle(message); err != nil {
			t.Fatal(err)
		}
		in := nervix_wasm.GetSizePrefixedRootAsMessage(message, 0).UnPack().Payload.Value.(*nervix_wasm.InputEnvelopeT)
		if d := cmp.Diff(sidecar(rows(first, n)), in.Acks); d != "" {
			t.Fatal(d)
		}
		view, err := protocol.DecodeInput(message)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(in.Acks, acksOf(&view.Acks)); d != "" || !bytes.Equal(view.Arrow, in.ArrowIpcBatch) {
			t.Fatal(d)
		}
		if at := len(message) - len(view.Arrow); at%16 != 0 {
			t.Fatalf("the Arrow stream begins at %d", at)
		}
		ar, err := ipc.NewReader(bytes.NewReader(in.ArrowIpcBatch))
		if err != nil || !ar.Next() || !array.RecordEqual(ar.RecordBatch(), batch) || ar.Next() {
			t.Fatalf("arrow-go read another batch: %v", err)
		}
		r, err := arrowipc.NewReader(inputSchema.Arrow(), arrowipc.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if all, err := r.DecodeStream(memory.NewBufferBytes(in.ArrowIpcBatch)); err != nil || len(all) != 1 {
			t.Fatal(err)
		}
		if encoder.Size() > encoder.Bound(n, len(in.ArrowIpcBatch)) {
			t.Fatal("the bound is below the size")
		}
		if short := make([]byte, encoder.Size()-1); !fault.Has(encoder.WriteTo(short), fault.WasmShortBuffer) || !bytes.Equal(short, make([]byte, len(short))) {
			t.Fatal("a short buffer was used")
		}
	})
}

func TestInputAboveTheBufferLimit(t *testing.T) {
	// req: W-044 half: the limit for what is written, and for lengths a guest answers; the engine has to ask
	encoder := must[*protocol.InputEncoder](t)(protocol.NewInputEncoder(inputSchema))
	err := encoder.Prepare(inputBatch(1<<20), 1)
	if !fault.Has(err, fault.WasmBuffer) {
		t.Fatal(err)
	}
	if got, err := protocol.JudgeLength(protocol.ExportReadEmit, protocol.MaxBuffer); err != nil || got != 64<<20 {
		t.Fatal(got, err)
	}
	_, err = protocol.JudgeLength(protocol.ExportReadEmit, protocol.MaxBuffer+1)
	if want := "guest buffer size 67108865 exceeds configured limit 67108864"; !fault.Has(err, fault.WasmBuffer) || protocol.Plain(err) != want {
		t.Fatal(protocol.Plain(err))
	}
}

func TestInitReadsAsWritten(t *testing.T) {
	// req: W-046 half: the message only, not the call
	// req: W-047, W-056
	want := sampleInit()
	message := must[[]byte](t)(protocol.EncodeInit(want))
	got, err := protocol.DecodeInit(message)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Fatal(d)
	}
	in := nervix_wasm.GetSizePrefixedRootAsMessage(message, 0).UnPack().Payload.Value.(*nervix_wasm.BranchInitT)
	kinds := in.OutputSchemas[1].Fields
	vec := kinds[len(kinds)-2].Type
	if vec.Kind != nervix_wasm.ProcessorTypeKindVec || vec.Element.Kind != nervix_wasm.ProcessorTypeKindArray || vec.Element.ArrayLen != 6 || vec.Element.Element.Kind != nervix_wasm.ProcessorTypeKindF32 {
		t.Fatalf("VEC<ARRAY<F32,6>> travels as %v", vec)
	}
	// req: W-055 half: the payload; that an unbranched processor is encoded so is the node's part
	want.BranchKey = nil
	message = must[[]byte](t)(protocol.EncodeInit(want))
	if got := must[*protocol.Init](t)(protocol.DecodeInit(message)); got.BranchKey != nil {
		t.Fatal("an absent key came back")
	}
	want.BranchKey = []byte{}
	if _, err := protocol.EncodeInit(want); !fault.Has(err, fault.WasmUnencodable) {
		t.Fatal("an empty key was encoded")
	}
}

func TestSnapshot(t *testing.T) {
	// req: W-125 half: the rule and the message, not yet a guest
	init := must[[]byte](t)(protocol.EncodeInit(sampleInit()))
	message := must[[]byte](t)(protocol.EncodeSnapshot(protocol.Snapshot{Init: init, State: []byte{}}))
	got := must[protocol.Snapshot](t)(protocol.DecodeSnapshot(message))
	if !bytes.Equal(got.Init, init) || got.State == nil || len(got.State) != 0 {
		t.Fatal("another snapshot")
	}
	saved := must[*protocol.Init](t)(protocol.DecodeInit(got.Init))
	for name, c := range map[string]struct {
		change func(*protocol.Init)
		same   bool
	}{
		"nothing":       {func(*protocol.Init) {}, true},
		"domain name":   {func(i *protocol.Init) { i.DomainName = "orchard" }, true},
		"domain type":   {func(i *protocol.Init) { i.DomainType = "paced" }, false},
		"branch key":    {func(i *protocol.Init) { i.BranchKey = []byte(`{"bed":"south"}`) }, false},
		"no branch":     {func(i *protocol.Init) { i.BranchKey = nil }, false},
		"input field":   {func(i *protocol.Init) { i.Input.Fields[0].Optional = true }, false},
		"output type":   {func(i *protocol.Init) { i.Outputs[1].Fields[0].Type = i.Outputs[1].Fields[1].Type }, false},
		"output name":   {func(i *protocol.Init) { i.Outputs[0].Name = "warnings" }, false},
		"fewer outputs": {func(i *protocol.Init) { i.Outputs = i.Outputs[:1] }, false},
	} {
		now := sampleInit()
		c.change(now)
		if saved.SameBranch(now) != c.same {
			t.Errorf("%s: same branch is %v", name, !c.same)
		}
	}
}

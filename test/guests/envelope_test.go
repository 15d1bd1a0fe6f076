// SPDX-License-Identifier: Apache-2.0

package guests

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/nervix-go/nervix/wasm/protocol"
	"github.com/nervix-go/nervix/wasm/protocol/gen/nervix_wasm"
)

// Marks are numbers in an answer that stand for what only the guest knows: the token of the row, a token that it noted before, its counter. What is
// added to the first two is added to the real ones.
const (
	rowToken  uint64 = 0x6e76_726f_7774_0000
	heldToken uint64 = 0x6e76_6865_6c64_0000
	counter   uint64 = 0x6e76_636f_756e_7400
)

// answer is an output envelope with marks.
type answer struct{ bytes []byte }

// patch is a mark in an answer: at which byte, the letter that writes it in a script, and what is added.
type patch struct {
	at    int
	what  rune
	delta uint64
}

func (a answer) patches() []patch {
	var out []patch
	for at := range len(a.bytes) - 7 {
		v := binary.LittleEndian.Uint64(a.bytes[at:])
		switch {
		case v>>16 == rowToken>>16:
			out = append(out, patch{at, 'p', v - rowToken})
		case v>>16 == heldToken>>16:
			out = append(out, patch{at, 'q', v - heldToken})
		case v == counter:
			out = append(out, patch{at, 'n', 0})
		}
	}
	return out
}

// script stages the answer.
func (a answer) script() string {
	var s strings.Builder
	fmt.Fprintf(&s, "o%06x%s", len(a.bytes), hex.EncodeToString(a.bytes))
	for _, p := range a.patches() {
		fmt.Fprintf(&s, "%c%06x", p.what, p.at)
		if p.what != 'n' {
			fmt.Fprintf(&s, "%016x", p.delta)
		}
	}
	return s.String()
}

// envelope is an output envelope before it is packed.
type envelope struct {
	pool    []byte
	outputs []*nervix_wasm.RoutedOutputT
}

// pack makes the message.
func (e envelope) pack() answer {
	if e.pool == nil {
		e.pool = []byte{}
	}
	if e.outputs == nil {
		e.outputs = []*nervix_wasm.RoutedOutputT{}
	}
	return message(nervix_wasm.MessagePayloadOutputEnvelope, &nervix_wasm.OutputEnvelopeT{GeneratedArrowIpcBatch: e.pool, Outputs: e.outputs})
}

func message(kind nervix_wasm.MessagePayload, value any) answer {
	b := flatbuffers.NewBuilder(512)
	root := (&nervix_wasm.MessageT{Payload: &nervix_wasm.MessagePayloadT{Type: kind, Value: value}}).Pack(b)
	b.FinishSizePrefixedWithFileIdentifier(root, []byte(protocol.Identifier))
	return answer{b.FinishedBytes()}
}

// Columns.
func in(index uint32) *nervix_wasm.OutputColumnRefT {
	return &nervix_wasm.OutputColumnRefT{Source: nervix_wasm.ColumnSourceInput, ColumnIndex: index}
}

func made(index uint32) *nervix_wasm.OutputColumnRefT {
	return &nervix_wasm.OutputColumnRefT{Source: nervix_wasm.ColumnSourceGenerated, ColumnIndex: index}
}

func nothing() *nervix_wasm.OutputColumnRefT {
	return &nervix_wasm.OutputColumnRefT{Source: nervix_wasm.ColumnSourceUninitialized}
}

type columns = []*nervix_wasm.OutputColumnRefT

// row stands for one input.
func row(token uint64) *nervix_wasm.OutputRowT {
	return &nervix_wasm.OutputRowT{Tokens: []uint64{token}, SourceToken: &token}
}

// sidecar holds rows and no decision.
func sidecar(rows ...*nervix_wasm.OutputRowT) *nervix_wasm.AckSidecarT {
	if rows == nil {
		rows = []*nervix_wasm.OutputRowT{}
	}
	return &nervix_wasm.AckSidecarT{Rows: rows, Acked: []*nervix_wasm.AckTokenSetT{}, Nacked: []*nervix_wasm.NackSetT{}, MessageErrors: []*nervix_wasm.MessageErrorSetT{}}
}

// Decisions.
func acked(s *nervix_wasm.AckSidecarT, tokens ...uint64) *nervix_wasm.AckSidecarT {
	s.Acked = append(s.Acked, &nervix_wasm.AckTokenSetT{Tokens: tokens})
	return s
}

func nacked(s *nervix_wasm.AckSidecarT, reason string, tokens ...uint64) *nervix_wasm.AckSidecarT {
	s.Nacked = append(s.Nacked, &nervix_wasm.NackSetT{Tokens: tokens, Reason: reason})
	return s
}

func refused(s *nervix_wasm.AckSidecarT, reason string, tokens ...uint64) *nervix_wasm.AckSidecarT {
	s.MessageErrors = append(s.MessageErrors, &nervix_wasm.MessageErrorSetT{Tokens: tokens, Reason: reason})
	return s
}

// to is an output for a relay.
func to(relay string, c columns, s *nervix_wasm.AckSidecarT) *nervix_wasm.RoutedOutputT {
	return &nervix_wasm.RoutedOutputT{OutputRelay: relay, Columns: c, Acks: s}
}

func outputs(all ...*nervix_wasm.RoutedOutputT) []*nervix_wasm.RoutedOutputT { return all }

// numbers is a generated batch of one I64 column, which ends with the marker of the end of the stream.
func numbers(values ...uint64) []byte {
	return stream([]arrow.Field{{Type: arrow.PrimitiveTypes.Int64}}, func(b *array.RecordBuilder) {
		for _, v := range values {
			b.Field(0).(*array.Int64Builder).Append(int64(v))
		}
	})
}

// stream is an Arrow stream of one batch.
func stream(fields []arrow.Field, fill func(*array.RecordBuilder), options ...ipc.Option) []byte {
	return streams(fields, []func(*array.RecordBuilder){fill}, options...)
}

// streams is an Arrow stream of a batch for each fill.
func streams(fields []arrow.Field, fills []func(*array.RecordBuilder), options ...ipc.Option) []byte {
	schema := arrow.NewSchema(fields, nil)
	var out bytes.Buffer
	w := ipc.NewWriter(&out, append(options, ipc.WithSchema(schema))...)
	for _, fill := range fills {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		fill(b)
		batch := b.NewRecordBatch()
		if err := w.Write(batch); err != nil {
			panic(err)
		}
		batch.Release()
		b.Release()
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// plainColumns are id and bed of the input, and the counter.
var plainColumns = columns{in(0), in(1), made(0)}

// plainAnswer carries the row to a relay.
func plainAnswer(relay string) answer {
	return envelope{numbers(counter), outputs(to(relay, plainColumns, sidecar(row(rowToken))))}.pack()
}

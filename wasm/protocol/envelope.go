// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"encoding/binary"
	"slices"

	"github.com/nervix-go/nervix/wasm/protocol/gen/nervix_wasm"
)

// Source says where a column of an output comes from (W-062).
type Source uint8

// The sources. The index of an Input column counts in the processor's input schema, that of a Generated column in the generated batch of
// the same envelope; an Uninitialized column has index 0 (W-063 to W-065).
const (
	Input         Source = Source(nervix_wasm.ColumnSourceInput)
	Generated     Source = Source(nervix_wasm.ColumnSourceGenerated)
	Uninitialized Source = Source(nervix_wasm.ColumnSourceUninitialized)
)

func (s Source) String() string { return [...]string{"input", "generated", "uninitialized"}[s%3] }

// Column is one column of an output.
type Column struct {
	Source Source
	Index  uint32
}

// Output is a verified output envelope (W-062). It shares the memory of its message.
type Output struct {
	// Generated is the Arrow IPC stream of the generated batch, not yet judged; empty if there is none.
	Generated []byte
	// Routed are the outputs in the order of the guest.
	Routed []Routed

	at int // where Generated begins in the message
}

// Routed is one output of an envelope.
type Routed struct {
	// Relay is the name of the destination, a view of the message.
	Relay   []byte
	Acks    Sidecar
	columns span
}

// Columns is the number of columns.
func (o *Routed) Columns() int { return o.columns.n }

// Column reads the i-th column.
func (o *Routed) Column(i int) Column {
	b := o.Acks.b
	pos := deref(b, o.columns.at+4*i)
	var c Column
	if at := entry(b, pos, 0); at != 0 {
		c.Source = Source(b[pos+at])
	}
	if at := entry(b, pos, 1); at != 0 {
		c.Index = binary.LittleEndian.Uint32(b[pos+at:])
	}
	return c
}

// DecodeOutput verifies an output envelope. The views in the result live on message, which must not change while they are used. Whether
// the output fits the processor is judged by Contract.Bind and Ledger.Check. Fault: wasm.message.
func DecodeOutput(message []byte) (*Output, error) {
	o := &Output{}
	if err := o.decode(message); err != nil {
		return nil, err
	}
	return o, nil
}

func (o *Output) decode(message []byte) error {
	const op = "DecodeOutput"
	var r reader
	payload, bad := r.open(message, nervix_wasm.MessagePayloadOutputEnvelope)
	if bad != nil {
		return badMessage(op, bad)
	}
	r.where = "OutputEnvelope"
	t := r.table(payload, 2)
	generated, outputs := r.vector(t, 0, 1), r.vector(t, 1, 4)
	o.at, o.Generated, o.Routed = generated.at, bytesOf(message, generated), slices.Grow(o.Routed[:0], min(outputs.n, 4))
	for i := 0; i < outputs.n && r.bad == nil; i++ {
		// A view is larger than the few bytes that name a shared table, so each costs more of the budget than its bytes.
		r.spend(routedCost, outputs.at)
		o.Routed = append(o.Routed, r.routed(outputs.at+4*i))
	}
	if bad := r.finish(); bad != nil {
		return badMessage(op, bad)
	}
	return nil
}

// routedCost is charged for each output of an envelope; see TestForeignMessagesAllocateInProportion.
const routedCost = 200

func bytesOf(b []byte, s span) []byte { return b[s.at : s.at+s.n : s.at+s.n] }

// routed judges one output.
func (r *reader) routed(at int) Routed {
	r.where = "RoutedOutput"
	t := r.table(r.follow(at), 3)
	name := r.text(t, 0)
	o := Routed{columns: r.vector(t, 1, 4)}
	r.columns(o.columns)
	o.Acks = r.sidecar(t, 2)
	if r.bad == nil {
		o.Relay = bytesOf(r.b, name)
	}
	return o
}

func (r *reader) columns(s span) {
	r.where = "OutputColumnRef"
	for i := 0; i < s.n && r.bad == nil; i++ {
		t := r.table(r.follow(s.at+4*i), 2)
		source := Source(r.byte(t, 0))
		var index int
		if at := r.place(t, 1, 4); at != 0 {
			index = r.u32(at)
		}
		switch {
		case r.bad != nil:
		case source > Uninitialized:
			r.bad = &MessageError{Class: ClassEnum, Name: "ColumnSource", Actual: uint64(source)}
		case source == Uninitialized && index != 0:
			r.bad = &MessageError{Class: ClassUninitialized, Actual: uint64(index)}
		}
	}
}

// InputBatch is a verified input envelope (W-061), as a guest sees it. It shares the memory of its message.
type InputBatch struct {
	// Arrow is the IPC stream of the batch, not yet judged.
	Arrow []byte
	Acks  Sidecar
}

// DecodeInput verifies an input envelope: the reading of a guest, for the conformance kit and tests. Fault: wasm.message.
func DecodeInput(message []byte) (*InputBatch, error) {
	const op = "DecodeInput"
	var r reader
	payload, bad := r.open(message, nervix_wasm.MessagePayloadInputEnvelope)
	if bad != nil {
		return nil, badMessage(op, bad)
	}
	r.where = "InputEnvelope"
	t := r.table(payload, 2)
	arrow := r.vector(t, 0, 1)
	acks := r.sidecar(t, 1)
	if bad := r.finish(); bad != nil {
		return nil, badMessage(op, bad)
	}
	return &InputBatch{Arrow: bytesOf(message, arrow), Acks: acks}, nil
}

// SPDX-License-Identifier: Apache-2.0

package guests

import (
	"bytes"
	"context"
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/node/wasmproc"
	"github.com/nervix-go/nervix/wasm/protocol"
)

// Recorded gives the answers of a guest that were recorded, with the tokens of the batch at hand: a node over it does all the work of the host and
// none of a guest. The input message is written, and each answer is a copy of its own, as with an engine; what is missing are the crossings.
type Recorded struct {
	output, state []byte
	firstAt       int      // where an input message with as many rows has the first token
	tokens        []uint32 // where output has tokens
}

// Record works one batch of n rows with the guest of a processor and keeps what it answers.
func Record(w *World, modules wasmproc.Modules, name string, n int) (*Recorded, error) {
	d, err := NewDirect(w, modules, name, n)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	d.Work(1)
	input := make([]byte, d.input.Size())
	if err := d.input.WriteTo(input); err != nil {
		return nil, err
	}
	r := &Recorded{output: d.Output, firstAt: bytes.Index(input, binary.LittleEndian.AppendUint64(nil, FirstToken))}
	d.guest.Begin(wasmproc.OpSave, snapshot)
	saved, err := d.guest.Dump()
	if err != nil {
		return nil, err
	}
	r.state = saved.Output
	for at := 0; at+8 <= len(r.output); at += 4 {
		if v := binary.LittleEndian.Uint64(r.output[at:]); v-FirstToken < uint64(n) {
			binary.LittleEndian.PutUint64(r.output[at:], v-FirstToken)
			r.tokens = append(r.tokens, uint32(at))
		}
	}
	return r, nil
}

// Acquire implements wasmproc.Modules.
func (r *Recorded) Acquire(context.Context, wasmproc.Pin) (wasmproc.Module, error) { return r, nil }

// Instantiate implements wasmproc.Module.
func (r *Recorded) Instantiate(l wasmproc.Limits, _ vtime.Logical) (wasmproc.Guest, error) {
	return &player{r: r, alloc: l.Alloc}, nil
}

// Release implements wasmproc.Module.
func (r *Recorded) Release() {}

type player struct {
	r     *Recorded
	op    wasmproc.Op
	input []byte
	alloc memory.Allocator
}

// Begin implements wasmproc.Guest.
func (p *player) Begin(op wasmproc.Op, _ vtime.Logical) { p.op = op }

// Send implements wasmproc.Guest.
func (p *player) Send(m protocol.Message) (wasmproc.Answer, error) {
	if n := m.Size(); n > cap(p.input) {
		p.input = make([]byte, n)
	}
	input := p.input[:m.Size()]
	if err := m.WriteTo(input); err != nil {
		return wasmproc.Answer{}, err
	}
	if p.op != wasmproc.OpBatch {
		return wasmproc.Answer{}, nil
	}
	first := binary.LittleEndian.Uint64(input[p.r.firstAt:])
	out := p.alloc.Allocate(len(p.r.output))
	copy(out, p.r.output)
	for _, at := range p.r.tokens {
		binary.LittleEndian.PutUint64(out[at:], first+binary.LittleEndian.Uint64(p.r.output[at:]))
	}
	return wasmproc.Answer{Output: out, Alloc: p.alloc, FuelUsed: 1, Memory: 1 << 16, NextHandle: 1}, nil
}

// OnTimeout implements wasmproc.Guest.
func (p *player) OnTimeout(int64) (wasmproc.Answer, error) { return wasmproc.Answer{}, nil }

// Flush implements wasmproc.Guest.
func (p *player) Flush() (wasmproc.Answer, error) { return wasmproc.Answer{}, nil }

// ReadEmit implements wasmproc.Guest.
func (p *player) ReadEmit() (wasmproc.Answer, error) {
	return wasmproc.Answer{FuelUsed: 1, Memory: 1 << 16, NextHandle: 1}, nil
}

// Dump implements wasmproc.Guest.
func (p *player) Dump() (wasmproc.Answer, error) {
	return wasmproc.Answer{Output: bytes.Clone(p.r.state), FuelUsed: 1, Memory: 1 << 16, NextHandle: 1}, nil
}

// Close implements wasmproc.Guest.
func (p *player) Close() {}

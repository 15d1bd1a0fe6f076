// SPDX-License-Identifier: Apache-2.0

package instances

import (
	"bytes"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/node/wasmproc"
	"github.com/nervix-go/nervix/wasm/engine"
	"github.com/nervix-go/nervix/wasm/protocol"
)

// guest is one instance. Its caller uses it from one goroutine at a time.
type guest struct {
	inst     *engine.Instance
	op       wasmproc.Op
	timeouts []wasmproc.Timeout // lent with an answer
	alloc    memory.Allocator   // of outputs; nil: Go's heap
}

// ops are the engine's names of the operations.
var ops = [...]engine.Op{
	wasmproc.OpInit: engine.OpInit, wasmproc.OpRestore: engine.OpRestore, wasmproc.OpBatch: engine.OpBatch,
	wasmproc.OpTimeout: engine.OpTimeout, wasmproc.OpFlush: engine.OpFlush, wasmproc.OpSave: engine.OpSave,
}

// Begin implements wasmproc.Guest.
func (g *guest) Begin(op wasmproc.Op, now vtime.Logical) {
	g.op = op
	g.inst.Begin(ops[op], now)
}

// Send implements wasmproc.Guest. The message is written where it stays: its size is exact, so there is no second copy (W-040).
func (g *guest) Send(m protocol.Message) (wasmproc.Answer, error) {
	size := m.Size()
	grant, err := g.inst.Alloc(uint32(size))
	if err != nil {
		return g.answer(engine.Answer{}, err)
	}
	if size > 0 {
		if err := m.WriteTo(grant.Bytes()); err != nil {
			return g.answer(engine.Answer{}, &engine.Failure{Stage: ops[g.op].Stage(), Export: engine.Alloc, Cause: err})
		}
	}
	return g.answer(g.inst.Send(g.entry(), grant.At(), uint32(size)))
}

// entry is the export that takes the message of the operation.
func (g *guest) entry() engine.Export {
	switch g.op {
	case wasmproc.OpInit:
		return engine.Init
	case wasmproc.OpRestore:
		return engine.LoadState
	default:
		return engine.ProcessBatch
	}
}

// OnTimeout implements wasmproc.Guest.
func (g *guest) OnTimeout(handle int64) (wasmproc.Answer, error) {
	return g.answer(g.inst.OnTimeout(handle))
}

// Flush implements wasmproc.Guest.
func (g *guest) Flush() (wasmproc.Answer, error) { return g.answer(g.inst.Flush()) }

// ReadEmit implements wasmproc.Guest.
func (g *guest) ReadEmit() (wasmproc.Answer, error) { return g.answer(g.inst.ReadEmit()) }

// Dump implements wasmproc.Guest.
func (g *guest) Dump() (wasmproc.Answer, error) { return g.answer(g.inst.Dump()) }

// Close implements wasmproc.Guest.
func (g *guest) Close() { _ = g.inst.Close() }

// answer copies what the guest announced, once (W-304), and translates a failure.
func (g *guest) answer(a engine.Answer, err error) (wasmproc.Answer, error) {
	g.timeouts = g.timeouts[:0]
	for _, t := range a.Timeouts {
		g.timeouts = append(g.timeouts, wasmproc.Timeout(t))
	}
	out := wasmproc.Answer{
		Reset: a.Reset, Timeouts: g.timeouts, FuelUsed: a.FuelUsed, Memory: g.inst.MemoryBytes(), NextHandle: g.inst.NextHandle(),
	}
	if a.Output.Len() > 0 {
		if g.alloc == nil || g.op == wasmproc.OpSave { // a state is kept
			out.Output = bytes.Clone(a.Output.Bytes())
		} else {
			out.Alloc, out.Output = g.alloc, g.alloc.Allocate(a.Output.Len())
			copy(out.Output, a.Output.Bytes())
		}
	}
	if err != nil {
		return out, failure(err, ops[g.op].Stage())
	}
	return out, nil
}

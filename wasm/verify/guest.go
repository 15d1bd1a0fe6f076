// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/wasm/engine"
	"github.com/nervix-go/nervix/wasm/protocol"
	"github.com/nervix-go/nervix/wasm/protocol/gen/nervix_wasm"
)

// firstToken begins the tokens of every guest of the kit: eight bytes that occur nowhere by chance.
const firstToken = 0x2B7E151628AED2A1

// maxEmits is how many envelopes of one callback the kit reads before it takes the guest for endless.
const maxEmits = 10_000

// guest is one instance with what a processor has beside it: tokens, contract, inputs, timeouts.
type guest struct {
	*engine.Instance
	store    engine.Store
	scenario scenario
	contract *protocol.Contract
	encoder  *protocol.InputEncoder
	ledger   *protocol.Ledger
	now      int64
	inputs   map[uint64]arrow.RecordBatch
	timers   map[int64]int64 // handle to instant
	fuel     []uint64        // of each operation
	mute     bool            // nobody reads what the guest says: it is judged and not rendered
}

// bare makes an instance without init.
func (k *kit) bare(m *engine.Module, c scenario) (*guest, error) { return k.instance(m, c, k.spec) }

func (k *kit) instance(m *engine.Module, c scenario, spec engine.Spec) (*guest, error) {
	now := int64(begin)
	i, err := m.Instantiate(spec, vtime.LogicalFromNS(now))
	if err != nil {
		return nil, err
	}
	g := &guest{Instance: i, store: k.tap.last, scenario: c, now: now, inputs: map[uint64]arrow.RecordBatch{}, timers: map[int64]int64{},
		contract: protocol.NewContract(c.schemas.Input, c.schemas.Routes), ledger: protocol.NewLedger(firstToken)}
	k.open = append(k.open, g)
	g.encoder, err = protocol.NewInputEncoder(c.schemas.Input)
	return g, err
}

// started is a guest after nervix_init.
func (k *kit) started(c scenario) (*guest, error) {
	g, err := k.bare(k.module, c)
	if err == nil {
		err = g.init()
	}
	if err != nil {
		return nil, fmt.Errorf("a new instance: %w", err)
	}
	return g, nil
}

// restored is a guest that took over the state of another one; its tokens and timeouts begin behind those.
func (k *kit) restored(from *guest, c scenario, state []byte) (*guest, error) {
	spec := k.spec
	spec.FirstHandle = from.NextHandle()
	g, err := k.instance(k.module, c, spec)
	if err == nil {
		err = g.init()
	}
	if err != nil {
		return nil, err
	}
	g.now, g.ledger = from.now, protocol.NewLedger(from.ledger.Next())
	return g, g.load(state)
}

func (g *guest) begin(op engine.Op) { g.Begin(op, vtime.LogicalFromNS(g.now)) }

// ended notes what an operation cost and which timeouts it asked for.
func (g *guest) ended(a engine.Answer) {
	g.fuel = append(g.fuel, a.FuelUsed)
	for _, t := range a.Timeouts {
		due := g.now + max(t.Delay, 0)
		if due < g.now {
			due = 1<<63 - 1
		}
		g.timers[t.Handle] = due
	}
}

func (g *guest) init() error {
	message, err := g.scenario.message()
	if err != nil {
		return err
	}
	g.begin(engine.OpInit)
	a, err := g.Deliver(engine.Init, message)
	g.ended(a)
	return err
}

// batch delivers rows and tells what came of them. The host decides the rows of a failed callback.
func (g *guest) batch(rows arrow.RecordBatch) (string, error) {
	g.now += 1000
	first := g.ledger.Issue(int(rows.NumRows()))
	message, err := g.encoded(rows, first)
	if err != nil {
		return "", err
	}
	g.inputs[first] = rows
	g.begin(engine.OpBatch)
	a, err := g.Deliver(engine.ProcessBatch, message)
	said, err := g.finish(a, err)
	if err != nil {
		g.abandon(first, int(rows.NumRows()))
	}
	return said, err
}

func (g *guest) encoded(rows arrow.RecordBatch, first uint64) ([]byte, error) {
	if err := g.encoder.Prepare(rows, first); err != nil {
		return nil, err
	}
	message := make([]byte, g.encoder.Size())
	return message, g.encoder.WriteTo(message)
}

func (g *guest) flush() (string, error) {
	g.now += 1000
	g.begin(engine.OpFlush)
	return g.finish(g.Flush())
}

// timeout delivers a handle at an instant.
func (g *guest) timeout(handle, at int64) (string, error) {
	g.now = max(g.now, at)
	delete(g.timers, handle)
	g.begin(engine.OpTimeout)
	return g.finish(g.OnTimeout(handle))
}

// due is the timeout that comes next.
func (g *guest) due() (handle, at int64, ok bool) {
	for _, h := range slices.Sorted(maps.Keys(g.timers)) {
		if t := g.timers[h]; !ok || t < at {
			handle, at, ok = h, t, true
		}
	}
	return handle, at, ok
}

// dump gives the saved state, a copy.
func (g *guest) dump() ([]byte, error) {
	g.begin(engine.OpSave)
	a, err := g.Dump()
	state := bytes.Clone(a.Output.Bytes())
	g.ended(a)
	return state, err
}

func (g *guest) load(state []byte) error {
	g.begin(engine.OpRestore)
	a, err := g.Deliver(engine.LoadState, state)
	g.ended(a)
	return err
}

// finish reads all envelopes of a callback, judges them together as the host does, and applies them.
func (g *guest) finish(a engine.Answer, err error) (string, error) {
	var envelopes [][]byte
	for err == nil && a.Output.Len() > 0 {
		if envelopes = append(envelopes, bytes.Clone(a.Output.Bytes())); len(envelopes) > maxEmits {
			return "", fmt.Errorf("nervix_read_emit never answers 0")
		}
		a, err = g.ReadEmit()
	}
	g.ended(a)
	if err != nil {
		return "", err
	}
	groups := make([]*protocol.Group, len(envelopes))
	for i, e := range envelopes {
		output, err := protocol.DecodeOutput(e)
		if err == nil {
			groups[i], err = g.contract.Bind(output)
		}
		if err != nil {
			return "", fmt.Errorf("envelope %d of the callback: %w", i+1, err)
		}
	}
	if _, err := g.ledger.Check(groups); err != nil {
		return "", err
	}
	said := ""
	if !g.mute {
		said = g.render(groups)
	}
	g.ledger.Settle(func(first uint64) { delete(g.inputs, first) })
	for _, group := range groups {
		group.Release()
	}
	return said, nil
}

// abandon decides inputs as the host does after a failed callback.
func (g *guest) abandon(first uint64, rows int) {
	if rows == 0 {
		return
	}
	set := &nervix_wasm.AckTokenSetT{}
	for i := range rows {
		set.Tokens = append(set.Tokens, first+uint64(i))
	}
	acks := &nervix_wasm.AckSidecarT{Rows: []*nervix_wasm.OutputRowT{}, Acked: []*nervix_wasm.AckTokenSetT{set}, Nacked: []*nervix_wasm.NackSetT{},
		MessageErrors: []*nervix_wasm.MessageErrorSetT{}}
	output, err := protocol.DecodeOutput(pack(nervix_wasm.MessagePayloadOutputEnvelope, &nervix_wasm.OutputEnvelopeT{GeneratedArrowIpcBatch: []byte{},
		Outputs: []*nervix_wasm.RoutedOutputT{{OutputRelay: "host", Columns: []*nervix_wasm.OutputColumnRefT{}, Acks: acks}}}))
	if err == nil {
		_, err = g.ledger.Check([]*protocol.Group{{Outputs: []protocol.Bound{{Acks: output.Routed[0].Acks}}}})
	}
	if err != nil {
		panic("verify: " + err.Error())
	}
	g.ledger.Settle(func(first uint64) { delete(g.inputs, first) })
}

// pack encodes a message with the generated code.
func pack(kind nervix_wasm.MessagePayload, value any) []byte {
	b := flatbuffers.NewBuilder(1024)
	root := (&nervix_wasm.MessageT{Payload: &nervix_wasm.MessagePayloadT{Type: kind, Value: value}}).Pack(b)
	b.FinishSizePrefixedWithFileIdentifier(root, []byte(protocol.Identifier))
	return b.FinishedBytes()
}

// refused is the engine's failure if a guest refused something by an answer below 0. A trap and an exhausted limit are no refusal.
func refused(err error) (*engine.Failure, bool) {
	var f *engine.Failure
	return f, errors.As(err, &f) && !f.Gone
}

// direct makes one raw call, as an operation of its own, with arguments that no host passes.
func (g *guest) direct(entry engine.Export, a, b int64) engine.Result {
	req := engine.Request{Begin: true, Fuel: 1 << 34, Ticks: 1000, Now: g.now, NextHandle: g.NextHandle(), Allow: engine.AllowTimeout,
		Entry: entry, A: a, B: b, MaxBuffer: protocol.MaxBuffer}
	var res engine.Result
	g.store.Run(&req, &res)
	return res
}

// grant calls nervix_alloc with any size.
func (g *guest) grant(size uint32) engine.Result {
	req := engine.Request{Begin: true, Fuel: 1 << 34, Ticks: 1000, Now: g.now, NextHandle: g.NextHandle(), Ask: true, Size: size, Entry: engine.NoExport,
		MaxBuffer: protocol.MaxBuffer}
	var res engine.Result
	g.store.Run(&req, &res)
	return res
}

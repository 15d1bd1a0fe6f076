// SPDX-License-Identifier: Apache-2.0

package guests

import (
	"context"
	"fmt"

	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/model"
	"github.com/nervix-go/nervix/host/node/wasmproc"
	"github.com/nervix-go/nervix/wasm/protocol"
)

// FirstToken is the first token of prepared messages. Nothing else in a message has a value near it.
const FirstToken = 0x1d2c_3b4a_5968_0000

var snapshot = vtime.LogicalFromNS(1_700_000_000_000_000_000)

// Messages are what a guest of a processor gets: its init payload, and one batch of n rows.
func Messages(w *World, name string, n int) (init, input []byte, err error) {
	plan, err := processor(w.Graph, name)
	if err != nil {
		return nil, nil, err
	}
	init, err = initOf(plan)
	if err != nil {
		return nil, nil, err
	}
	encoder, err := protocol.NewInputEncoder(plan.InputSchema)
	if err != nil {
		return nil, nil, err
	}
	if err := encoder.Prepare(rows(plan.InputSchema.Arrow(), n), FirstToken); err != nil {
		return nil, nil, err
	}
	input = make([]byte, encoder.Size())
	return init, input, encoder.WriteTo(input)
}

// File is the module of a processor of the graph.
func (w *World) File(name string) string {
	plan, err := processor(w.Graph, name)
	if err != nil {
		panic(err)
	}
	return plan.Module.File
}

func initOf(plan *model.WASM) ([]byte, error) {
	i := &protocol.Init{
		DomainName: string(domain), DomainType: "unpaced", BranchKey: []byte(`{"station":"station-000000"}`),
		Input: protocol.ShapeOf(plan.InputSchema.Name(), plan.InputSchema),
	}
	for _, r := range plan.Routes {
		i.Outputs = append(i.Outputs, protocol.ShapeOf(r.Relay.Ref.Name, r.Relay.Schema))
	}
	return protocol.EncodeInit(i)
}

// Direct is a guest without a node: the calls of a batch with a message that is ready, and nothing is judged.
type Direct struct {
	module wasmproc.Module
	guest  wasmproc.Guest
	input  protocol.Message // an interface already, so that no call makes one
	// Output is the newest output of the guest, Fuel what the newest batch used.
	Output []byte
	Fuel   uint64
}

// NewDirect makes an instance of the guest of a processor and a batch of n rows.
func NewDirect(w *World, modules wasmproc.Modules, name string, n int) (*Direct, error) {
	init, input, err := Messages(w, name, n)
	if err != nil {
		return nil, err
	}
	plan, err := processor(w.Graph, name)
	if err != nil {
		return nil, err
	}
	d := &Direct{input: protocol.Bytes(input)}
	if d.module, err = modules.Acquire(context.Background(), wasmproc.Pin{File: plan.Module.File}); err != nil {
		return nil, err
	}
	d.guest, err = Instance(d.module, init)
	return d, err
}

// Instance makes an instance and initialises it.
func Instance(m wasmproc.Module, init []byte) (wasmproc.Guest, error) {
	g, err := m.Instantiate(wasmproc.Limits{Fuel: 1 << 60, Memory: 1 << 30, FirstHandle: 1}, snapshot)
	if err != nil {
		return nil, err
	}
	g.Begin(wasmproc.OpInit, snapshot)
	if _, err := g.Send(protocol.Bytes(init)); err != nil {
		return nil, err
	}
	return g, nil
}

// Work works the batch n times: the message is copied into the guest, and each output out of it.
func (d *Direct) Work(n int) {
	for range n {
		d.guest.Begin(wasmproc.OpBatch, snapshot)
		a, err := d.guest.Send(d.input)
		for err == nil && len(a.Output) > 0 {
			d.Output = a.Output
			a, err = d.guest.ReadEmit()
		}
		if err != nil {
			panic(fmt.Sprintf("a guest failed: %v", err))
		}
		d.Fuel = a.FuelUsed
	}
}

// Close ends the instance.
func (d *Direct) Close() {
	d.guest.Close()
	d.module.Release()
}

// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"crypto/rand"
	"fmt"
	"hash/fnv"

	"github.com/nervix-go/nervix/host/describe"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/model"
	"github.com/nervix-go/nervix/host/node/wasmproc"
	"github.com/nervix-go/nervix/host/registry"
)

// lifetimeBits is how much of a lifetime is the mark of the module.
const lifetimeBits = 24

// lifetime names the saved state of a processor: its creation, and the module it is bound to. A processor that is dropped and created again, and one
// that is bound to another resource, version or file, finds nothing of its predecessor (W-139).
func lifetime(created ident.Revision, m model.Module) uint64 {
	h := fnv.New32a()
	fmt.Fprintf(h, "%s/%d/%s", m.Resource, m.Version, m.File)
	return uint64(created)<<lifetimeBits | uint64(h.Sum32()>>(32-lifetimeBits))
}

// newProcessor builds a WASM processor.
func (x *execution) newProcessor(plan *model.WASM, d *registry.Domain) (*wasmproc.Processor, error) {
	e := x.engine
	targets := make([]wasmproc.Target, len(plan.Routes))
	for i := range plan.Routes {
		targets[i] = wasmproc.Target{Relay: x.target(plan.Routes[i].Relay), Error: x.target(plan.Routes[i].Policy.Relay)}
	}
	return wasmproc.New(wasmproc.Config{
		Plan: plan, Targets: targets, Modules: e.config.Modules, Checkpoints: e.config.Checkpoints,
		Created:    lifetime(d.Definitions[registry.Key{Kind: ident.KindWASM, Name: plan.Ref.Name}].Created, plan.Module),
		DomainType: d.Pace.String(), Clock: x.clock, Now: x.clock.Now, Lanes: e.exec, Benches: e.benches, Alloc: e.alloc,
		Random: func(b []byte) { _, _ = rand.Read(b) }, Log: e.config.Log,
	})
}

// forgetGuests drops the saved state of processors that a revision dropped, where the store keeps it in this process.
func (e *Engine) forgetGuests(before, now *registry.Domain) {
	store, ok := e.config.Checkpoints.(interface {
		Forget(func(wasmproc.Place) bool)
	})
	if !ok || before == nil {
		return
	}
	store.Forget(func(p wasmproc.Place) bool {
		if p.Domain != before.Name {
			return false
		}
		if now == nil || now.Created != before.Created {
			return true
		}
		d := now.Definitions[registry.Key{Kind: ident.KindWASM, Name: p.Processor}]
		return d == nil || uint64(d.Created) != p.Created>>lifetimeBits
	})
}

func (x *execution) guest(name ident.Name) *wasmproc.Processor {
	if x == nil {
		return nil
	}
	for n, plan := range x.graph.WASMs {
		if plan.Ref.Name == name {
			return x.guests[n]
		}
	}
	return nil
}

func (in inspection) guest(plan *model.WASM) describe.WASMObservation {
	var seen describe.WASMObservation
	p := in.x.guest(plan.Ref.Name)
	if p == nil {
		return seen
	}
	o := p.Observe()
	seen.Rejected, seen.Restarts, seen.Recycled, seen.Omitted = o.Rejected, o.Lost, o.Recycled, uint64(o.Omitted)
	seen.Rows = describe.WASMRows{Given: o.Rows.Given, Acked: o.Rows.Acked, Nacked: o.Rows.Nacked, Failed: o.Rows.Failed}
	for i, input := range plan.Inputs {
		seen.Received = append(seen.Received, in.edge(edgeKey{plan.Ref, false, i}, input.Relay, o.Received[i].Rows))
	}
	for i, sent := range o.Sent {
		seen.Sent = append(seen.Sent, in.edge(edgeKey{plan.Ref, true, i}, plan.Routes[i].Relay, sent.Rows))
	}
	for _, b := range o.Details {
		seen.Branches = append(seen.Branches, describe.WASMBranch{
			Fingerprint: b.Fingerprint, Generation: ident.Generation(b.Generation), Instance: b.Instance, Callbacks: b.Callbacks,
			Fuel: b.FuelUsed, Memory: b.MemoryBytes, Held: b.HeldRows, Committed: b.Committed, Latest: b.Latest, Stage: b.Stage.String(), Known: true,
		})
	}
	for _, err := range o.Errors {
		seen.Errors = append(seen.Errors, describe.WASMError{At: err.At, Code: err.Code, Text: err.Message, Module: err.Module, FirstRow: err.FirstRow})
	}
	return seen
}

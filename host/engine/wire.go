// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"github.com/nervix-go/nervix/host/model"
	"github.com/nervix-go/nervix/host/node/emitter"
	"github.com/nervix-go/nervix/host/node/ingestor"
	"github.com/nervix-go/nervix/host/node/junction"
	"github.com/nervix-go/nervix/host/node/runtime"
	"github.com/nervix-go/nervix/host/registry"
	"github.com/nervix-go/nervix/host/relay/owner"
	"github.com/nervix-go/nervix/host/timekeeper"
)

// wire builds the graph of the generation in which a domain runs, in the order in which a record passes it. docs/record-path.md has a row for each hop.
//
//	source process -> ingestor -> relay -> junction or WASM processor -> relay -> ... -> emitter -> sink process
//
// Nothing flows yet: start opens the sinks first and the sources last.
func (e *Engine) wire(graph *model.Graph, d *registry.Domain) (*execution, error) {
	x := newExecution(e, graph, d.Generation)

	// 1. The clock handle that every unit of work of this generation reads.
	x.clock = e.config.Clocks.Retain(graph.Domain, d.Generation)

	// 2. Relays: each has one owner with one buffer. They come first because every hop ends in one.
	for _, plan := range graph.Relays {
		x.relays[plan.Ref.Name] = newOwner(plan, x.clock)
	}

	// 3. Ingestors: payloads of a source process become rows of relays.
	for _, plan := range graph.Ingestors {
		x.ingestors = append(x.ingestors, ingestor.New(ingestor.Config{
			Plan: plan, Targets: x.ingestTargets(plan), Sources: e.config.Sources,
			Positions: newPositions(e.config.Store, plan.Ref, positionEpoch(d, plan.Ref.Name)),
			Clock:     x.clock, Lanes: e.exec, Benches: e.benches, Alloc: e.alloc, Log: e.config.Log,
		}))
	}

	// 4. Junctions: rows of relays become rows of other relays.
	for _, plan := range graph.Junctions {
		j := junction.New(junction.Config{
			Plan: plan, Targets: x.junctionTargets(plan),
			Clock: x.clock, Now: x.clock.Now, Lanes: e.exec, Benches: e.benches, Alloc: e.alloc, Log: e.config.Log,
		})
		x.attach(j.Node(), plan.Inputs, plan.Attached)
		x.junctions = append(x.junctions, j)
	}

	// 5. WASM processors: guests make rows of other relays, and keep state for each branch.
	for _, plan := range graph.WASMs {
		p, err := x.newProcessor(plan, d)
		if err != nil {
			return nil, err
		}
		x.attach(p.Node(), plan.Inputs, plan.Attached)
		x.clock.Notify(p.Recheck)
		x.guests = append(x.guests, p)
	}

	// 6. Emitters: rows of relays become payloads of a sink process, whose answers settle them.
	for _, plan := range graph.Emitters {
		m := emitter.New(emitter.Config{
			Plan: plan, Error: x.target(plan.Policy.Relay), Sinks: e.config.Sinks,
			Clock: x.clock, Lanes: e.exec, Benches: e.benches, Alloc: e.alloc, Log: e.config.Log,
		})
		x.attach(m.Node(), plan.Inputs, plan.Attached)
		x.emitters = append(x.emitters, m)
	}
	return x, nil
}

// newOwner builds a relay from its plan.
func newOwner(plan *model.Relay, clock *timekeeper.Handle) *owner.Owner {
	c := owner.Config{Ref: plan.Ref, Capacity: plan.Capacity, Now: clock.Now}
	if plan.Branch != nil {
		c.TTL, c.MaxInstances = plan.Branch.TTL, plan.Branch.MaxInstances
	}
	return owner.New(c)
}

// attach gives a node its place at each relay it reads.
func (x *execution) attach(n *runtime.Node, inputs []model.Input, attached bool) {
	for i, in := range inputs {
		input := n.Input(i)
		input.Connect(x.relays[in.Relay.Ref.Name].Attach(input, attached))
	}
}

// target gives the relay as somewhere to publish; nil for no relay.
func (x *execution) target(relay *model.Relay) runtime.Target {
	if relay == nil {
		return nil
	}
	return x.relays[relay.Ref.Name]
}

func (x *execution) ingestTargets(plan *model.Ingestor) []ingestor.Target {
	targets := make([]ingestor.Target, len(plan.Routes))
	for i := range plan.Routes {
		targets[i] = ingestor.Target{Relay: x.target(plan.Routes[i].Relay), Error: x.target(plan.Routes[i].Policy.Relay)}
	}
	return targets
}

func (x *execution) junctionTargets(plan *model.Junction) []junction.Target {
	targets := make([]junction.Target, len(plan.Routes))
	for i := range plan.Routes {
		targets[i] = junction.Target{Relay: x.target(plan.Routes[i].Relay), Error: x.target(plan.Routes[i].Policy.Relay)}
	}
	return targets
}

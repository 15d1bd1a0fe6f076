// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/node/emitter"
	"github.com/nervix-go/nervix/host/node/ingestor"
	"github.com/nervix-go/nervix/host/node/junction"
	"github.com/nervix-go/nervix/host/node/runtime"
	"github.com/nervix-go/nervix/host/observe"
)

// ingestor finds a running ingestor; ok is false on an execution that does not exist.
func (x *execution) ingestor(name ident.Name) (o ingestor.Observation, i *ingestor.Ingestor, ok bool) {
	if x == nil {
		return o, nil, false
	}
	for n, plan := range x.graph.Ingestors {
		if plan.Ref.Name == name {
			return x.ingestors[n].Observe(), x.ingestors[n], true
		}
	}
	return o, nil, false
}

func (x *execution) junction(name ident.Name) *junction.Junction {
	if x == nil {
		return nil
	}
	for n, plan := range x.graph.Junctions {
		if plan.Ref.Name == name {
			return x.junctions[n]
		}
	}
	return nil
}

func (x *execution) emitter(name ident.Name) *emitter.Emitter {
	if x == nil {
		return nil
	}
	for n, plan := range x.graph.Emitters {
		if plan.Ref.Name == name {
			return x.emitters[n]
		}
	}
	return nil
}

// Readings are the values of the metrics now.
func (e *Engine) Readings() []observe.Reading {
	var out []observe.Reading
	for _, x := range e.all() {
		out = x.readings(out)
	}
	return out
}

func (x *execution) readings(out []observe.Reading) []observe.Reading {
	me := x.engine.NodeName()
	add := func(m observe.Metric, ref ident.Ref, value uint64, more ...string) {
		labels := append([]string{string(ref.Domain), ref.Kind.String(), string(ref.Name), me}, more...)
		out = append(out, observe.Reading{Metric: m, Value: float64(value), Labels: labels})
	}
	traffic := func(ref ident.Ref, direction string, rows, batches uint64) {
		add(observe.MessagesTotal, ref, rows, direction)
		add(observe.BatchesTotal, ref, batches, direction)
	}
	rejected := func(ref ident.Ref, by map[string]uint64) {
		for reason, n := range by {
			add(observe.RejectedTotal, ref, n, reason)
		}
	}
	for _, r := range x.relays {
		o := r.Observe()
		traffic(r.Ref(), "in", o.Rows, o.Batches)
		add(observe.RelayBufferLen, r.Ref(), o.Depth)
		add(observe.BranchInstances, r.Ref(), uint64(o.Branches))
		for reason, n := range o.Evictions {
			add(observe.BranchEvictionsTotal, r.Ref(), n, string(reason))
		}
	}
	for n, i := range x.ingestors {
		ref, o := x.graph.Ingestors[n].Ref, i.Observe()
		traffic(ref, "in", o.Read, o.Batches)
		rows, batches := sum(o.Sent)
		traffic(ref, "out", rows, batches)
		rejected(ref, o.Rejected)
	}
	for n, j := range x.junctions {
		ref, o := x.graph.Junctions[n].Ref, j.Observe()
		rows, batches := sum(o.Received)
		traffic(ref, "in", rows, batches)
		rows, batches = sum(o.Sent)
		traffic(ref, "out", rows, batches)
		add(observe.BranchInstances, ref, uint64(o.Branches))
		rejected(ref, o.Rejected)
	}
	for n, p := range x.guests {
		ref, o := x.graph.WASMs[n].Ref, p.Observe()
		rows, batches := sum(o.Received)
		traffic(ref, "in", rows, batches)
		rows, batches = sum(o.Sent)
		traffic(ref, "out", rows, batches)
		add(observe.BranchInstances, ref, uint64(o.Branches))
		add(observe.GuestRestartsTotal, ref, o.Lost)
		add(observe.GuestErrorsTotal, ref, o.ErrorsTotal)
		rejected(ref, o.Rejected)
	}
	for n, m := range x.emitters {
		ref, o := x.graph.Emitters[n].Ref, m.Observe()
		rows, batches := sum(o.Inputs)
		traffic(ref, "in", rows, batches)
		traffic(ref, "out", o.Emitted, o.Flushes)
		rejected(ref, o.Rejected)
	}
	return out
}

func sum(edges []runtime.Passed) (rows, batches uint64) {
	for _, e := range edges {
		rows += e.Rows
		batches += e.Batches
	}
	return rows, batches
}

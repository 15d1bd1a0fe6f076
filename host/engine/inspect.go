// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"

	"github.com/nervix-go/nervix/host/control"
	"github.com/nervix-go/nervix/host/describe"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/model"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/registry"
)

// Inspect answers SHOW INGESTORS, SHOW CLUSTER STATUS and DESCRIBE from the committed state and what runs here. It implements
// control.Inspector. What does not run is described by its definition alone.
func (e *Engine) Inspect(_ context.Context, s *registry.State, domain ident.Domain, stmt ast.Statement) (control.Inspection, error) {
	if show, ok := stmt.(*ast.ShowClusterStatus); ok {
		return render(describe.Cluster(e.clusterStatus(s)), show.Format), nil
	}
	d := domainOf(s, domain)
	if d == nil {
		return control.Inspection{}, fault.New(fault.DomainUnknown, "engine.Inspect", ident.Ref{Kind: ident.KindDomain, Name: domain}, "there is no such domain", nil)
	}
	graph, err := e.Graph(d)
	if err != nil {
		return control.Inspection{}, err
	}
	in := inspection{e: e, d: d, graph: graph}
	if x := e.execution(domain); x != nil && d.Status == registry.Running && x.generation == d.Generation {
		in.x = x // not one that still drains while the domain changes
	}
	switch stmt := stmt.(type) {
	case *ast.ShowIngestors:
		return render(describe.Ingestors(in.ingestors()), stmt.Format), nil
	case *ast.Describe:
		return in.describe(stmt)
	default:
		return control.Inspection{}, fault.New(fault.NodeFailed, "engine.Inspect", ident.Ref{}, "this statement inspects nothing", nil)
	}
}

func render(i describe.Inspection, format ast.Format) control.Inspection {
	out := control.Inspection{Text: i.Text()}
	if format == ast.FormatJSON {
		out.JSON = i.JSON()
	}
	return out
}

// inspection reads one domain.
type inspection struct {
	e     *Engine
	d     *registry.Domain
	graph *model.Graph
	x     *execution // nil when the domain does not run here
}

func (in inspection) placement(ref ident.Ref) describe.Placement {
	owner, ok := in.d.Schedule[registry.Key{Kind: ref.Kind, Name: ref.Name}]
	if !ok {
		return describe.Placement{}
	}
	return describe.Placement{Owner: owner.String()}
}

func (in inspection) describe(stmt *ast.Describe) (control.Inspection, error) {
	name := stmt.Name.Name
	switch stmt.Kind {
	case ident.KindRelay:
		if plan := in.graph.Relay(name); plan != nil {
			return in.relay(plan, stmt)
		}
	case ident.KindIngestor:
		if plan := in.graph.Ingestor(name); plan != nil {
			return render(describe.Ingestor(plan, in.placement(plan.Ref), in.ingestor(plan)), stmt.Format), nil
		}
	case ident.KindJunction:
		if plan := in.graph.Junction(name); plan != nil {
			return render(describe.Junction(plan, in.placement(plan.Ref), in.junction(plan)), stmt.Format), nil
		}
	case ident.KindWASM:
		if plan := in.graph.WASM(name); plan != nil {
			return render(describe.WASM(plan, in.placement(plan.Ref), in.guest(plan)), stmt.Format), nil
		}
	case ident.KindEmitter:
		if plan := in.graph.Emitter(name); plan != nil {
			return render(describe.Emitter(plan, in.placement(plan.Ref), in.emitter(plan)), stmt.Format), nil
		}
	}
	message := stmt.Kind.String() + " " + string(name) + " does not exist in domain " + string(in.d.Name)
	return control.Inspection{}, fault.Diagnostics{fault.At(fault.StageResolve, fault.ResolveUnknown, stmt.Name.Span, message, "")}
}

func (in inspection) relay(plan *model.Relay, stmt *ast.Describe) (control.Inspection, error) {
	at := in.placement(plan.Ref)
	seen := in.relayObservation(plan)
	if stmt.Bindings == nil {
		return render(describe.Relay(plan, at, seen), stmt.Format), nil
	}
	key, diagnostics := plan.Key(stmt.Bindings, stmt.Name.Span)
	if len(diagnostics) > 0 {
		return control.Inspection{}, diagnostics
	}
	branch := describe.BranchObservation{Key: key.Fingerprint()}
	if in.x != nil && in.x.relays[plan.Ref.Name].Exists(key.Text) {
		branch.Exists = true
		branch.Buffer = seen
	}
	return render(describe.RelayBranch(plan, at, branch), stmt.Format), nil
}

func (in inspection) relayObservation(plan *model.Relay) *describe.RelayObservation {
	if in.x == nil {
		return nil
	}
	o := in.x.relays[plan.Ref.Name].Observe()
	return &describe.RelayObservation{Node: in.e.NodeName(), Buffered: o.Depth, Branches: uint64(o.Branches),
		Wall: in.x.history.percentiles(plan.Ref.Name, o.Depths), Domain: in.x.history.percentiles(plan.Ref.Name, o.Depths),
	}
}

func (in inspection) ingestor(plan *model.Ingestor) describe.IngestorObservation {
	o, _, ok := in.x.ingestor(plan.Ref.Name)
	if !ok {
		return describe.IngestorObservation{Quiesce: describe.QuiesceNone}
	}
	fields := in.e.positionFields(plan.Source.Kind)
	seen := describe.IngestorObservation{
		Status: describe.IngestorStatus(o.Status), Ready: o.Ready, Position: in.e.position(o.Position, plan.Source.Kind),
		Unresolved: uint64(o.Unresolved), Rejected: o.Rejected, Skipped: o.Skipped, Quiesce: describe.QuiesceNone, TransientError: o.Transient,
	}
	if o.BlockedWhy != "" {
		seen.Blocked = &describe.Blocked{Attempt: uint64(o.BlockedAttempts), Reason: o.BlockedWhy}
		for i, n := range positionNumbers(o.BlockedAt, fields) {
			seen.Blocked.At = append(seen.Blocked.At, describe.PositionField{Name: fields[i], Value: n})
		}
	}
	for i, sent := range o.Sent {
		seen.Sent = append(seen.Sent, in.edge(edgeKey{plan.Ref, true, i}, plan.Routes[i].Relay, sent.Rows))
	}
	return seen
}

func (in inspection) edge(key edgeKey, relay *model.Relay, total uint64) describe.EdgeObservation {
	return describe.EdgeObservation{Relay: string(relay.Ref.Name), Node: in.e.NodeName(), Total: total, Rates: in.x.history.edgeRates(key)}
}

func (in inspection) junction(plan *model.Junction) describe.JunctionObservation {
	var seen describe.JunctionObservation
	j := in.x.junction(plan.Ref.Name)
	if j == nil {
		return seen
	}
	o := j.Observe()
	for i, input := range plan.Inputs {
		seen.Received = append(seen.Received, in.edge(edgeKey{plan.Ref, false, i}, input.Relay, o.Received[i].Rows))
	}
	for i, sent := range o.Sent {
		seen.Sent = append(seen.Sent, in.edge(edgeKey{plan.Ref, true, i}, plan.Routes[i].Relay, sent.Rows))
	}
	return seen
}

func (in inspection) emitter(plan *model.Emitter) describe.EmitterObservation {
	var seen describe.EmitterObservation
	m := in.x.emitter(plan.Ref.Name)
	if m == nil {
		return seen
	}
	o := m.Observe()
	seen = describe.EmitterObservation{
		Status: describe.EmitterStatus(o.Status), Detail: o.Detail, TransientError: o.Transient, ReconnectBackoff: o.Backoff, Published: o.Emitted,
	}
	for i, input := range plan.Inputs {
		seen.Received = append(seen.Received, in.edge(edgeKey{plan.Ref, false, i}, input.Relay, o.Inputs[i].Rows))
	}
	return seen
}

func (in inspection) ingestors() []describe.IngestorEntry {
	out := make([]describe.IngestorEntry, 0, len(in.graph.Ingestors))
	for _, plan := range in.graph.Ingestors {
		entry := describe.IngestorEntry{Name: plan.Ref.Name, Owner: in.placement(plan.Ref).Owner}
		if o, _, ok := in.x.ingestor(plan.Ref.Name); ok {
			entry.Status, entry.Unresolved = describe.IngestorStatus(o.Status), uint64(o.Unresolved)
		}
		out = append(out, entry)
	}
	return out
}

// positionFields names the numbers of a connector's positions.
func (e *Engine) positionFields(kind string) []string {
	if e.config.PositionFields == nil {
		return nil
	}
	return e.config.PositionFields(kind)
}

// position renders a durable position; the fields that tell where a delivery begins are the connector's own business.
func (e *Engine) position(position []byte, kind string) []describe.PositionField {
	fields := e.positionFields(kind)
	numbers := positionNumbers(position, fields)
	var out []describe.PositionField
	for i, n := range numbers {
		if fields[i] != "start" {
			out = append(out, describe.PositionField{Name: fields[i], Value: n})
		}
	}
	return out
}

// ListDomains renders LIST DOMAINS.
func ListDomains(s *registry.State) control.Inspection {
	var list describe.DomainList
	for _, name := range s.DomainNames() {
		list = append(list, domainStatus(s.Domains[name]))
	}
	return control.Inspection{Text: list.Text(), JSON: list.JSON()}
}

func domainStatus(d *registry.Domain) describe.DomainStatus {
	out := describe.DomainStatus{Name: d.Name, Pace: d.Pace.String(), Status: d.Status.String(), Generation: d.Generation}
	if d.Pace == registry.Paced {
		out.Cadence = &d.Pacing
	}
	return out
}

func (e *Engine) clusterStatus(s *registry.State) describe.ClusterStatus {
	me := e.NodeName()
	out := describe.ClusterStatus{Leader: me, Raft: describe.RaftStatus{Role: "leader", Index: uint64(s.Revision), Applied: uint64(s.Revision)}}
	if e.config.Term != nil {
		out.Raft.Term = e.config.Term()
	}
	for _, id := range s.NodeIDs() {
		out.Voters = append(out.Voters, id.String())
	}
	for _, name := range s.DomainNames() {
		d := s.Domains[name]
		out.Domains = append(out.Domains, domainStatus(d))
		for _, key := range d.Keys() {
			if owner, ok := d.Schedule[key]; ok {
				out.Scheduled = append(out.Scheduled, describe.Scheduled{Ref: key.In(name), At: describe.Placement{Owner: owner.String()}})
			}
		}
	}
	return out
}

// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/model"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/nspl/parse"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/registry"
)

// graphAt is the graph of one committed model of a domain.
type graphAt struct {
	created, revision ident.Revision
	graph             *model.Graph
}

// Install brings the node to a committed revision. It implements control.Installer: domains that run and are placed here are executed,
// others are not, and a capacity that changed is applied to the running relay. What of a domain is gone, is forgotten on disk too.
//
// Executions that end drain first, because admitted work still reads the clock of its generation; then all clocks are those of the revision;
// then what it starts finds them in place (C-024, C-050).
func (e *Engine) Install(ctx context.Context, prev, next *registry.State) error {
	for _, name := range known(prev, next) {
		before, now := domainOf(prev, name), domainOf(next, name)
		if x := e.execution(name); x != nil && !e.continues(x, before, now) {
			e.stop(ctx, x)
		}
	}
	e.config.Clocks.Install(Clocks(next), next.Revision)
	for _, name := range known(prev, next) {
		before, now := domainOf(prev, name), domainOf(next, name)
		if err := e.installDomain(before, now, name, prev == nil); err != nil {
			return err
		}
	}
	return nil
}

func known(prev, next *registry.State) []ident.Domain {
	names := next.DomainNames()
	if prev == nil {
		return names
	}
	for _, n := range prev.DomainNames() {
		if next.Domains[n] == nil {
			names = append(names, n)
		}
	}
	return names
}

// Clocks lists the clock of every domain of a state, by name.
func Clocks(s *registry.State) []clock.Lifecycle {
	all := make([]clock.Lifecycle, 0, len(s.Domains))
	for _, name := range s.DomainNames() {
		all = append(all, s.Domains[name].Clock())
	}
	return all
}

// runs says whether a domain is executed on this node.
func (e *Engine) runs(d *registry.Domain) bool {
	return d != nil && d.Status == registry.Running && e.placed(d)
}

// continues says whether an execution goes on unchanged under the next state of its domain.
func (e *Engine) continues(x *execution, before, now *registry.Domain) bool {
	return e.runs(now) && x.generation == now.Generation && (before == nil || before.Created == now.Created)
}

func (e *Engine) installDomain(before, now *registry.Domain, name ident.Domain, resume bool) error {
	e.forget(before, now)
	if now == nil {
		e.mu.Lock()
		delete(e.mu.graphs, name)
		e.mu.Unlock()
		return nil
	}
	if !e.runs(now) {
		return nil
	}
	graph, err := e.Graph(now)
	if err != nil {
		return err
	}
	if x := e.execution(name); x != nil {
		x.setCapacities(graph)
		return nil
	}
	x, err := e.wire(graph, now)
	if err != nil {
		return err
	}
	e.mu.Lock()
	e.mu.executions[name] = x
	e.mu.Unlock()
	x.start(resume)
	return nil
}

// placed says whether the committed schedule names this node for every runtime node of a domain (G-001). A domain is executed as a whole or not
// at all: relays do not reach over nodes yet, so parts of it would only lose rows.
func (e *Engine) placed(d *registry.Domain) bool {
	for key := range d.Definitions {
		if key.Kind.Runtime() && d.Schedule[key] != e.config.Node {
			return false
		}
	}
	return true
}

// stop ends an execution: intake first, then a bounded drain, then what is left fails and stays unacknowledged.
func (e *Engine) stop(ctx context.Context, x *execution) {
	bounded, cancel := osclock.WithTimeout(ctx, stopDrain)
	defer cancel()
	if !x.drain(bounded) {
		e.config.Log.Warn("the domain stopped before everything had settled; those rows are read again after START", "domain", x.domain)
	}
	// Also when the node stops meanwhile: connectors are told in order that their sinks and sources end.
	ending, release := osclock.WithTimeout(context.WithoutCancel(ctx), stopDrain)
	defer release()
	x.end(ending)
	e.mu.Lock()
	delete(e.mu.executions, x.domain)
	e.mu.Unlock()
}

// forget removes durable state of what a revision dropped.
func (e *Engine) forget(before, now *registry.Domain) {
	e.forgetGuests(before, now)
	if before == nil {
		return
	}
	if now == nil || now.Created != before.Created {
		e.config.Store.DeleteDomain(before.Name)
		return
	}
	for key, old := range before.Definitions {
		if key.Kind != ident.KindIngestor {
			continue
		}
		if d := now.Definitions[key]; d == nil || d.Created != old.Created {
			e.config.Store.DeletePositions(before.Name, key.Name)
		}
	}
}

// Ready waits for the outcome of a start. It implements control.Installer.
func (e *Engine) Ready(ctx context.Context, domain ident.Domain, generation ident.Generation) error {
	x := e.execution(domain)
	if x == nil || x.generation != generation {
		return fault.New(fault.DomainStopped, "engine.Ready", ident.Ref{Kind: ident.KindDomain, Name: domain}, "this generation does not run here", nil)
	}
	select {
	case <-x.ready:
		return x.startErr
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Graph gives the checked graph of a committed domain; it is built once for each revision of its model.
func (e *Engine) Graph(d *registry.Domain) (*model.Graph, error) {
	e.mu.Lock()
	kept, ok := e.mu.graphs[d.Name]
	e.mu.Unlock()
	if ok && kept.revision == d.Model && kept.created == d.Created {
		return kept.graph, nil
	}
	definitions := make([]ast.Definition, 0, len(d.Definitions))
	for _, key := range d.Keys() {
		stmt, diagnostics := parse.Statement(d.Definitions[key].Text)
		if len(diagnostics) > 0 {
			return nil, fault.New(fault.DaemonDamaged, "engine.Graph", key.In(d.Name), "a stored definition cannot be read", diagnostics)
		}
		definitions = append(definitions, stmt.(ast.Definition))
	}
	graph, diagnostics := model.Build(d.Name, definitions)
	if len(diagnostics) > 0 {
		return nil, fault.New(fault.DaemonDamaged, "engine.Graph", ident.Ref{Kind: ident.KindDomain, Name: d.Name}, "the stored definitions do not fit together", diagnostics)
	}
	e.mu.Lock()
	e.mu.graphs[d.Name] = graphAt{created: d.Created, revision: d.Model, graph: graph}
	e.mu.Unlock()
	return graph, nil
}

// SPDX-License-Identifier: Apache-2.0

package control

import (
	"strings"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/model"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/nspl/print"
	"github.com/nervix-go/nervix/host/registry"
)

// quiesced ends the text of every change. As long as a running domain takes nothing but capacities (Q54), and a stopped one has nothing to
// quiesce, no change has another level (nspl 2.6).
const quiesced = "; quiesce level: DYNAMIC"

// plans is how often a statement is planned anew because its domain changed before its effect (nspl 2.4).
const plans = 8

// change executes CREATE, ALTER or DROP of a model outside a transaction.
func (c *Control) change(h head) answer {
	if a, ok := c.enter(h); !ok {
		return a
	}
	defer c.unlock(h.domain)
	for range plans {
		d, a, ok := c.selected(h)
		if !ok {
			return a
		}
		plan, a, ok := c.check(h, d)
		if !ok {
			return a
		}
		checked := plan.checked
		text := changed(h.stmt) + resolved(plan.resolved) + quiesced
		if checked.Existed[0] {
			text = named(h.stmt) + " already exists; nothing changed"
			if checked.Notices[0] != "" {
				text = checked.Notices[0]
			}
			return answer{text: text, alreadyExisted: true}
		}
		if len(checked.Puts)+len(checked.Drops) == 0 {
			return answer{text: named(h.stmt) + " is so already; nothing changed" + quiesced}
		}
		if bad := c.prepareAll(d, checked); len(bad) > 0 {
			return answer{diagnostics: bad}
		}
		a, stale := c.effect(h, c.mutation(d, checked, plan.binds), text)
		if !stale {
			return a
		}
	}
	return refuse(fault.StagePlan, fault.ControlPlanning, h.span, "domain "+string(h.domain)+" kept changing while the statement was planned")
}

// enter judges the selected domain and takes its alteration lock.
func (c *Control) enter(h head) (answer, bool) {
	if _, a, ok := c.selected(h); !ok {
		return a, false
	}
	if !c.lock(h.domain) {
		return refuse(fault.StageAdmit, fault.DomainBusy, h.span, "another change of domain "+string(h.domain)+" is under way"), false
	}
	return answer{}, true
}

// selected is the domain the statement acts on, in the newest committed state.
func (c *Control) selected(h head) (*registry.Domain, answer, bool) {
	if h.domain == "" {
		return nil, refuse(fault.StageResolve, fault.DomainUnselected, h.span, "no domain is selected"), false
	}
	d := c.State().Domains[h.domain]
	if d == nil {
		return nil, refuse(fault.StageResolve, fault.DomainUnknown, h.span, "there is no domain "+string(h.domain)), false
	}
	return d, answer{}, true
}

// planned is one statement outside a transaction, bound and checked.
type planned struct {
	checked  Checked
	binds    []registry.Binding
	resolved []resolution
}

// check plans one statement against the definitions of d.
func (c *Control) check(h head, d *registry.Domain) (planned, answer, bool) {
	base, err := c.parsed.base(d)
	if err != nil {
		return planned{}, answer{diagnostics: fromError(fault.StagePlan, fault.ControlCorrupt, err)}, false
	}
	binder := binder{domain: d}
	stmts, unbound := binder.bind(base, []ast.Statement{h.stmt}, 1)
	if len(unbound) > 0 {
		return planned{}, answer{diagnostics: unbound.in(1)}, false
	}
	checked, diagnostics := c.candidate(d, base, stmts)
	if len(diagnostics) > 0 {
		return planned{}, answer{diagnostics: diagnostics}, false
	}
	if d.Status == registry.Running && !live(checked) {
		return planned{}, refuse(fault.StagePlan, fault.DomainRunning, h.span, "domain "+string(h.domain)+" runs, and this change needs it stopped"), false
	}
	return planned{checked, binder.binds, binder.resolved}, answer{}, true
}

// candidate asks the Checker, and in a paced domain also for the rules that only paced domains have.
func (c *Control) candidate(d *registry.Domain, base []ast.Definition, stmts []ast.Statement) (Checked, fault.Diagnostics) {
	checked, diagnostics := c.cfg.Checker.Check(d.Name, base, stmts)
	if len(diagnostics) > 0 || d.Pace != registry.Paced {
		return checked, diagnostics
	}
	paced, diagnostics := model.Check(d.Name, base, stmts, model.Paced(true))
	if len(diagnostics) > 0 {
		checked.At = paced.At
	}
	return checked, diagnostics
}

// live says whether a running domain takes the change: capacities (Q54), and new resources, with which nothing runs yet (nspl 2.6).
func live(k Checked) bool {
	for _, p := range k.Puts {
		if !p.CapacityOnly && p.Definition.DefKind() != ident.KindResource {
			return false
		}
	}
	return len(k.Drops) == 0
}

// mutation is the command body of a checked difference: texts, and places for new runtime nodes.
func (c *Control) mutation(d *registry.Domain, k Checked, binds []registry.Binding) *registry.MutateModels {
	m := &registry.MutateModels{Domain: d.Name, Base: d.Model, Drops: k.Drops, Binds: binds}
	var place []registry.Key
	for _, p := range k.Puts {
		key := registry.Key{Kind: p.Definition.DefKind(), Name: p.Definition.DefName()}
		m.Puts = append(m.Puts, registry.Put{
			Key: key, Text: print.Statement(p.Definition), Grammar: GrammarVersion, Dependencies: p.Dependencies, CapacityOnly: p.CapacityOnly,
		})
		if _, placed := d.Schedule[key]; !placed && key.Kind.Runtime() {
			place = append(place, key)
		}
	}
	m.Assign = c.cfg.Scheduler.Schedule(c.State(), d.Name, place)
	return m
}

// named is the object of a statement, `RELAY temps`.
func named(s ast.Statement) string {
	switch one := s.(type) {
	case ast.Definition:
		return object(one.DefKind(), one.DefName())
	case *ast.AlterRelay:
		return object(ident.KindRelay, one.Name.Name)
	case *ast.Drop:
		return object(one.Kind, one.Name.Name)
	default:
		return strings.TrimSuffix(print.Redacted(s), ";")
	}
}

func object(k ident.Kind, n ident.Name) string { return ident.Ref{Kind: k, Name: n}.String() }

// changed says what a model statement did.
func changed(s ast.Statement) string {
	switch s.(type) {
	case *ast.Drop:
		return named(s) + " dropped"
	case *ast.AlterRelay:
		return named(s) + " altered"
	default:
		return named(s) + " created"
	}
}

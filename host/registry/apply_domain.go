// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"fmt"
	"maps"
	"slices"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
)

func (s *State) createDomain(b *CreateDomain) (*State, Result) {
	if _, exists := s.Domains[b.Name]; exists {
		if b.IfNotExists {
			return s, alreadyExisted("DOMAIN " + string(b.Name))
		}
		return s, refused(fault.DomainExists, "domain "+string(b.Name)+" exists")
	}
	if (b.Pace == Paced) != (b.Pacing.Period > 0) {
		return s, refused(fault.ClockPace, "domain "+string(b.Name)+" needs a period exactly when it is paced")
	}
	d := &Domain{
		Name: b.Name, Text: b.Text, Grammar: b.Grammar, Pace: b.Pace, Placement: b.Placement, Pacing: b.Pacing, Status: Stopped,
		PositionEpoch: uint64(s.Revision), Model: s.Revision, Created: s.Revision,
		Definitions: map[Key]*Definition{}, Schedule: map[Key]ident.Node{}, Resources: map[ident.Name]*Resource{},
	}
	if d.Pace == Paced {
		d.Fence.Revision = uint64(s.Revision)
	}
	return s.withDomain(d), applied()
}

// mutable finds a domain that the command may change: existing, and not fenced by somebody else's COMMIT.
func (s *State) mutable(c *Command, name ident.Domain) (*Domain, Result, bool) {
	d, exists := s.Domains[name]
	if !exists {
		return nil, refused(fault.DomainUnknown, "there is no domain "+string(name)), false
	}
	if c.Step != nil {
		if t, _ := s.transactions.get(c.Step.Transaction); t.Domain != name || t.DomainCreated != d.Created {
			return nil, refused(fault.DomainUnknown, "the transaction is bound to another domain"), false
		}
	}
	if !d.Committing.IsZero() && (c.Step == nil || c.Step.Transaction != d.Committing) {
		return nil, refused(fault.DomainBusy, "transaction "+d.Committing.String()+" is committing in domain "+string(name)), false
	}
	return d, Result{}, true
}

func (s *State) dropDomain(b *DropDomain) (*State, Result) {
	d, res, ok := s.mutable(&Command{}, b.Name)
	if !ok {
		return s, res
	}
	if d.Status == Running {
		return s, refused(fault.DomainRunning, "domain "+string(b.Name)+" runs")
	}
	next := *s
	next.Domains = maps.Clone(s.Domains)
	delete(next.Domains, b.Name)
	return &next, applied()
}

func (s *State) mutateModels(c *Command, b *MutateModels) (*State, Result) {
	d, res, ok := s.mutable(c, b.Domain)
	if !ok {
		return s, res
	}
	if d.Model != b.Base {
		return s, Result{Verdict: Stale}
	}
	if d.Status == Running {
		if why := b.needsStop(d); why != "" {
			return s, refused(fault.DomainRunning, "domain "+string(b.Domain)+" runs; "+why)
		}
	}
	if len(b.Drops)+len(b.Puts)+len(b.Assign) == 0 {
		return s, applied()
	}
	next := *d
	next.Model = s.Revision
	next.Definitions, next.Schedule, next.Resources = maps.Clone(d.Definitions), maps.Clone(d.Schedule), cloneOrMake(d.Resources)
	if res, ok := next.change(b, s.Revision); !ok {
		return s, res
	}
	if res, ok := s.bindable(&next, b.Binds); !ok {
		return s, res
	}
	if res, ok := s.assign(&next, b.Assign); !ok {
		return s, res
	}
	after := s.withDomain(&next)
	if len(b.Puts) > 0 && after.definitionBytes() > s.Limits.DefinitionBytes {
		return s, refused(fault.ControlStateFull, fmt.Sprintf("all definitions together would have more than %d bytes of text", s.Limits.DefinitionBytes))
	}
	return after, applied()
}

// change applies drops and puts to d, which is the candidate and still private to the caller. A resource is created and dropped with its
// definition, and is not dropped while a definition depends on it.
func (d *Domain) change(b *MutateModels, at ident.Revision) (Result, bool) {
	for _, k := range b.Drops {
		if _, known := d.Definitions[k]; !known {
			return refused(fault.ObjectUnknown, "there is no "+k.In(b.Domain).String()), false
		}
		delete(d.Definitions, k)
		delete(d.Schedule, k)
		if k.Kind == ident.KindResource {
			delete(d.Resources, k.Name)
		}
	}
	for _, p := range b.Puts {
		created := at
		if old, known := d.Definitions[p.Key]; known {
			created = old.Created
		} else if p.Key.Kind == ident.KindResource {
			d.Resources[p.Key.Name] = &Resource{Name: p.Key.Name, Created: at}
		}
		d.Definitions[p.Key] = &Definition{
			Key: p.Key, Text: p.Text, Grammar: p.Grammar, Dependencies: slices.SortedFunc(slices.Values(p.Dependencies), CompareKeys),
			Created: created, Changed: at,
		}
	}
	for _, k := range b.Drops {
		if k.Kind != ident.KindResource || d.Resources[k.Name] != nil {
			continue
		}
		if by := d.Referrers(k); len(by) > 0 {
			return refused(fault.ObjectReferenced, k.In("").String()+" is referenced by "+by[0].In(b.Domain).String()), false
		}
	}
	return Result{}, true
}

// needsStop says what part of the mutation a running domain does not take; empty when it takes all of it (Q54).
func (b *MutateModels) needsStop(d *Domain) string {
	for _, k := range b.Drops {
		return "dropping " + k.In("").String() + " needs it stopped"
	}
	for _, p := range b.Puts {
		_, known := d.Definitions[p.Key]
		if !known && p.Key.Kind == ident.KindResource {
			continue // nothing runs with it yet
		}
		if !known || !p.CapacityOnly {
			return "changing " + p.Key.In("").String() + " needs it stopped"
		}
	}
	if len(b.Assign) > 0 {
		return "moving nodes needs it stopped"
	}
	return ""
}

// assign places runtime nodes of d, which is the candidate and still private to the caller.
func (s *State) assign(d *Domain, list []Assignment) (Result, bool) {
	for _, a := range list {
		if _, defined := d.Definitions[a.Key]; !defined {
			return refused(fault.ObjectUnknown, "the schedule places "+a.Key.In(d.Name).String()+", which is not defined"), false
		}
		if _, member := s.Nodes[a.Node]; !member {
			return refused(fault.ControlIncarnation, fmt.Sprintf("the schedule names node %s, which is no member", a.Node)), false
		}
		d.Schedule[a.Key] = a.Node
	}
	return Result{}, true
}

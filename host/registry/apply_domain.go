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
	return s.withDomain(&Domain{
		Name: b.Name, Text: b.Text, Grammar: b.Grammar, Pace: b.Pace, Placement: b.Placement, Status: Stopped,
		PositionEpoch: uint64(s.Revision), Model: s.Revision, Created: s.Revision,
		Definitions: map[Key]*Definition{}, Schedule: map[Key]ident.Node{},
	}), applied()
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
	next.Definitions, next.Schedule = maps.Clone(d.Definitions), maps.Clone(d.Schedule)
	for _, k := range b.Drops {
		if _, known := next.Definitions[k]; !known {
			return s, refused(fault.ObjectUnknown, "there is no "+k.In(b.Domain).String())
		}
		delete(next.Definitions, k)
		delete(next.Schedule, k)
	}
	for _, p := range b.Puts {
		created := s.Revision
		if old, known := next.Definitions[p.Key]; known {
			created = old.Created
		}
		next.Definitions[p.Key] = &Definition{
			Key: p.Key, Text: p.Text, Grammar: p.Grammar, Dependencies: slices.SortedFunc(slices.Values(p.Dependencies), CompareKeys),
			Created: created, Changed: s.Revision,
		}
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

// needsStop says what part of the mutation a running domain does not take; empty when it takes all of it (Q54).
func (b *MutateModels) needsStop(d *Domain) string {
	for _, k := range b.Drops {
		return "dropping " + k.In("").String() + " needs it stopped"
	}
	for _, p := range b.Puts {
		if _, known := d.Definitions[p.Key]; !known || !p.CapacityOnly {
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

func (s *State) start(c *Command, b *Start) (*State, Result) {
	d, res, ok := s.mutable(c, b.Domain)
	if !ok {
		return s, res
	}
	if d.Model != b.Base {
		return s, Result{Verdict: Stale}
	}
	if d.Status == Running {
		return s, refused(fault.DomainRunning, "domain "+string(b.Domain)+" runs already")
	}
	next := *d
	next.Status = Running
	next.Generation++
	if b.RestartPositions {
		next.PositionEpoch = uint64(s.Revision)
	}
	next.Schedule = maps.Clone(d.Schedule)
	if res, ok := s.assign(&next, b.Assign); !ok {
		return s, res
	}
	return s.withDomain(&next), applied()
}

func (s *State) stop(c *Command, b *Stop) (*State, Result) {
	if b.Generation != 0 {
		// The end of a failed start is no client's command: it passes the fence of the transaction the start belongs to.
		d, exists := s.Domains[b.Domain]
		if !exists || d.Status != Running || d.Generation != b.Generation {
			return s, unchanged()
		}
		return s.stopped(d), applied()
	}
	d, res, ok := s.mutable(c, b.Domain)
	if !ok {
		return s, res
	}
	if d.Status != Running {
		return s, refused(fault.DomainStopped, "domain "+string(b.Domain)+" is stopped already")
	}
	return s.stopped(d), applied()
}

func (s *State) stopped(d *Domain) *State {
	next := *d
	next.Status = Stopped
	return s.withDomain(&next)
}

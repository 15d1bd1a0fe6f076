// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/model"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/nspl/parse"
)

// checkModels replays the statements in the domains that the text creates, and tells how many it could judge.
func checkModels(list []parse.Parsed) (checked int, defects []defect) {
	r := replay{domains: map[ident.Name]*domain{}}
	for i, p := range list {
		r.statement(i+1, p.Stmt)
	}
	return r.checked, r.defects
}

// domain is a domain of the text as it is after the statements so far.
type domain struct {
	name    ident.Name
	base    []ast.Definition
	running bool
	paced   bool
	// broken says that a statement was refused: what follows would only tell its consequences.
	broken bool
}

type replay struct {
	domains map[ident.Name]*domain
	// current is nil when the selected domain is not one of the text.
	current *domain
	// inside says that a transaction is open; run holds its model statements that are not planned yet.
	inside  bool
	run     []ast.Statement
	numbers []int
	checked int
	defects []defect
}

func (r *replay) statement(number int, stmt ast.Statement) {
	switch s := stmt.(type) {
	case *ast.CreateDomain:
		if !s.IfNotExists { // else it may exist on the node with objects that the text does not show
			r.domains[s.Name.Name] = &domain{name: s.Name.Name, paced: s.Pace == ast.Paced}
		}
	case *ast.Use:
		r.current = r.domains[s.Name.Name]
	case *ast.Begin:
		r.inside = true
	case *ast.Revert:
		r.inside, r.run, r.numbers = false, nil, nil
	case *ast.Commit:
		r.plan()
		r.inside = false
	case *ast.Start:
		r.lifecycle(true)
	case *ast.Stop:
		r.lifecycle(false)
	case *ast.Drop:
		if s.Kind == ident.KindDomain {
			delete(r.domains, s.Name.Name)
			return
		}
		r.change(number, s, s.Kind != ident.KindUser)
	case *ast.CreateUser:
	case ast.Definition:
		r.change(number, s, true)
	case *ast.AlterRelay:
		r.change(number, s, true)
	}
}

func (r *replay) lifecycle(running bool) {
	r.plan()
	if r.current != nil {
		r.current.running = running
	}
}

// change adds a model statement to the run; outside a transaction each is a run of its own.
func (r *replay) change(number int, s ast.Statement, ofModel bool) {
	if !ofModel || r.current == nil {
		return
	}
	r.run, r.numbers = append(r.run, s), append(r.numbers, number)
	if !r.inside {
		r.plan()
	}
}

// plan checks the run against the current domain and applies it.
func (r *replay) plan() {
	run, numbers, d := r.run, r.numbers, r.current
	r.run, r.numbers = nil, nil
	if len(run) == 0 || d == nil || d.broken {
		return
	}
	r.checked += len(run)
	candidate, diagnostics := model.Check(ident.Domain(d.name), d.base, run, model.Paced(d.paced))
	for i, found := range diagnostics {
		at := numbers[len(numbers)-1]
		if i < len(candidate.At) && candidate.At[i] >= 0 {
			at = numbers[candidate.At[i]]
		}
		r.defects = append(r.defects, defect{at, found})
	}
	last := len(run) - 1
	if len(diagnostics) == 0 && d.running && !candidate.CapacityOnly {
		r.defects = append(r.defects, defect{numbers[last], fault.At(fault.StagePlan, fault.DomainRunning, run[last].Where(),
			"domain "+string(d.name)+" runs at this point, and this change needs it stopped", fault.Lookup(fault.DomainRunning).Hint)})
		d.broken = true
	}
	if len(diagnostics) > 0 {
		d.broken = true
		return
	}
	d.apply(candidate)
}

// apply makes the candidate the base of the statements that follow.
func (d *domain) apply(c *model.Candidate) {
	gone := map[ident.Ref]bool{}
	for _, ref := range c.Drops {
		gone[ref] = true
	}
	for _, p := range c.Puts {
		gone[p.Ref] = true
	}
	d.base = slices.DeleteFunc(slices.Clone(d.base), func(def ast.Definition) bool {
		return gone[ident.Ref{Domain: ident.Domain(d.name), Kind: def.DefKind(), Name: def.DefName()}]
	})
	for _, p := range c.Puts {
		d.base = append(d.base, p.Definition)
	}
}

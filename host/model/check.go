// SPDX-License-Identifier: Apache-2.0

package model

import (
	"slices"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

// Build makes the graph of a domain from its stored definitions, in any order. Diagnostics are told without a place, because no statement
// was submitted; then there is no graph.
func Build(domain ident.Domain, definitions []ast.Definition, options ...Option) (*Graph, fault.Diagnostics) {
	c := newCandidate(domain, definitions, options)
	graph := build(c)
	diagnostics, _ := c.found.sorted()
	if len(diagnostics) > 0 {
		return nil, diagnostics
	}
	return graph, nil
}

// Candidate is the outcome of a check. Graph and everything about the difference are set only when nothing was wrong.
type Candidate struct {
	// Graph is the candidate as a whole.
	Graph *Graph
	// Puts are the definitions that are new or differ from the base, sorted by kind and name; Drops those that are gone. An object that
	// was dropped and created in one run is one modification and only in Puts; if it did not change it is in neither.
	Puts  []Put
	Drops []ident.Ref
	// CapacityOnly says that the whole difference is capacities of relays and resources, which nothing runs: the only one a running domain
	// takes (Q54, nspl 2.6). It is also true when there is no difference at all.
	CapacityOnly bool
	// Existed tells for each change whether it was a CREATE IF NOT EXISTS whose object exists; Notices what to tell about it, mostly empty.
	Existed []bool
	Notices []string
	// At tells for each diagnostic the index of the change its span points into.
	At []int

	level Level
}

// Put is a definition to store.
type Put struct {
	Ref        ident.Ref
	Definition ast.Definition
	// Dependencies are the objects the definition names, each once, sorted by kind and name.
	Dependencies []ident.Ref
	// CapacityOnly says that the definition differs from the stored one in nothing but the capacity of a relay.
	CapacityOnly bool
}

// Level is the quiesce level of the change (nspl 2.6). A stopped domain has nothing to quiesce.
func (c *Candidate) Level(running bool) Level {
	if !running {
		return LevelDynamic
	}
	return c.level
}

// Check applies CREATE, ALTER and DROP statements of one model run to the base in written order and validates the result as one graph. The
// spans of every diagnostic count bytes of the text that the change at Candidate.At was parsed from; a defect of a stored definition is
// told at the change that caused it, with the stored object in Related. The result is never nil. Statements are only read.
func Check(domain ident.Domain, base []ast.Definition, changes []ast.Statement, options ...Option) (*Candidate, fault.Diagnostics) {
	c := newCandidate(domain, base, options)
	result := &Candidate{}
	result.Existed, result.Notices = c.apply(changes)
	graph := build(c)
	diagnostics, at := c.found.sorted()
	if len(diagnostics) > 0 {
		result.At = at
		return result, diagnostics
	}
	result.Graph = graph
	c.difference(result)
	return result, nil
}

// difference compares the candidate with its base.
func (c *candidate) difference(result *Candidate) {
	result.CapacityOnly = true
	for _, e := range c.sorted() {
		old, existed := c.base[e.ref]
		if existed && shape(old) == shape(e.def) {
			continue
		}
		capacity := existed && fixedShape(old) == fixedShape(e.def)
		result.CapacityOnly = result.CapacityOnly && (capacity || e.ref.Kind == ident.KindResource)
		result.level = max(result.level, levelOf(old, e.def))
		result.Puts = append(result.Puts, Put{Ref: e.ref, Definition: e.def, Dependencies: c.dependencies(e.def), CapacityOnly: capacity})
	}
	for ref := range c.base {
		if c.entries[ref] == nil {
			result.Drops = append(result.Drops, ref)
			result.CapacityOnly = result.CapacityOnly && ref.Kind == ident.KindResource
		}
	}
	slices.SortFunc(result.Drops, compareRefs)
}

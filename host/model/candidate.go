// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"slices"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

// stored is the origin of a definition that the changes did not bring.
const stored = -1

// entry is one definition of the candidate.
type entry struct {
	ref ident.Ref
	def ast.Definition
	// origin is the index of the change whose text the spans of def belong to, or stored.
	origin int
}

// drop is where a definition was dropped.
type drop struct {
	change int
	span   fault.Span
}

// candidate is the set of definitions that is validated as one.
type candidate struct {
	domain  ident.Domain
	base    map[ident.Ref]ast.Definition
	entries map[ident.Ref]*entry
	drops   map[ident.Ref]drop
	changes []ast.Statement
	// touched maps what the changes created, altered or dropped to the last change that did.
	touched map[ident.Ref]int
	found   findings
	// paced says that the domain is paced: its ingestors declare a timestamp.
	paced bool
}

// Option tells a check what it needs to know of the domain beside its definitions.
type Option func(*candidate)

// Paced tells whether the domain is paced. In a paced domain every ingestor declares TIMESTAMP (nspl 11.4, C-134); without this option
// a domain counts as unpaced.
func Paced(paced bool) Option { return func(c *candidate) { c.paced = paced } }

func newCandidate(domain ident.Domain, base []ast.Definition, options []Option) *candidate {
	c := &candidate{
		domain:  domain,
		base:    make(map[ident.Ref]ast.Definition, len(base)),
		entries: make(map[ident.Ref]*entry, len(base)),
		drops:   make(map[ident.Ref]drop),
		touched: make(map[ident.Ref]int),
	}
	for _, def := range base {
		ref := c.ref(def.DefKind(), def.DefName())
		c.base[ref] = def
		c.entries[ref] = &entry{ref: ref, def: def, origin: stored}
	}
	for _, option := range options {
		option(c)
	}
	return c
}

func (c *candidate) ref(kind ident.Kind, name ident.Name) ident.Ref {
	return ident.Ref{Domain: c.domain, Kind: kind, Name: name}
}

// sorted lists the entries by kind and name.
func (c *candidate) sorted() []*entry {
	list := make([]*entry, 0, len(c.entries))
	for _, e := range c.entries {
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b *entry) int { return compareRefs(a.ref, b.ref) })
	return list
}

// ofKind lists the entries of a kind by name.
func (c *candidate) ofKind(kind ident.Kind) []*entry {
	return slices.DeleteFunc(c.sorted(), func(e *entry) bool { return e.ref.Kind != kind })
}

// cause finds the change that made a stored definition worth looking at: the first one that touched it or something it depends on.
func (c *candidate) cause(of ident.Ref) (change int, ok bool) {
	seen := map[ident.Ref]bool{of: true}
	for queue := []ident.Ref{of}; len(queue) > 0; queue = queue[1:] {
		if i, hit := c.touched[queue[0]]; hit && (!ok || i < change) {
			change, ok = i, true
		}
		e := c.entries[queue[0]]
		if e == nil {
			continue
		}
		for _, r := range e.def.References() {
			if ref := c.ref(r.Kind, r.Name); !seen[ref] {
				seen[ref] = true
				queue = append(queue, ref)
			}
		}
	}
	return change, ok
}

// dependencies lists what a definition names, each once, sorted.
func (c *candidate) dependencies(def ast.Definition) []ident.Ref {
	var refs []ident.Ref
	for _, r := range def.References() {
		refs = append(refs, c.ref(r.Kind, r.Name))
	}
	slices.SortFunc(refs, compareRefs)
	return slices.Compact(refs)
}

func compareRefs(a, b ident.Ref) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
}

// object is an object as messages name it, without the domain: `RELAY readings`.
func object(ref ident.Ref) string { return ref.Kind.String() + " " + string(ref.Name) }

// nameSpan is the place of a change that stands for the whole of it.
func nameSpan(s ast.Statement) fault.Span {
	switch one := s.(type) {
	case ast.Definition:
		return one.Head().Name.Span
	case *ast.AlterRelay:
		return one.Name.Span
	case *ast.Drop:
		return one.Name.Span
	default:
		return s.Where()
	}
}

// SPDX-License-Identifier: Apache-2.0

package model

import (
	"slices"
	"strings"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

// builder makes plans kind by kind, so that a plan finds what it depends on. A plan that could not be made is missing from the graph; what
// depends on it is left out without a further diagnostic.
type builder struct {
	c      *candidate
	g      *Graph
	prints fingerprints
	// broken holds definitions that name something that does not exist.
	broken map[ident.Ref]bool
}

// build checks the candidate and makes its graph. Defects are in c.found; then the graph is incomplete.
func build(c *candidate) *Graph {
	b := &builder{
		c: c, g: &Graph{Domain: c.domain, readers: make(map[ident.Name][]Reader)},
		prints: fingerprints{c: c, made: make(map[*entry]Fingerprint)}, broken: make(map[ident.Ref]bool),
	}
	b.resolve()
	for _, e := range c.sorted() {
		if !knownKind(e.ref.Kind) {
			(&report{c: c, e: e}).check(fault.ModelUnsupported, e.def.Head().Name.Span, e.ref.Kind.String()+" is not supported by this version")
		}
	}
	b.each(ident.KindSchema, b.schema)
	b.each(ident.KindWireJSON, b.wire)
	b.each(ident.KindCodec, b.codec)
	b.each(ident.KindBranch, b.branch)
	b.each(ident.KindRelay, b.relay)
	b.each(ident.KindResource, b.resource)
	b.each(ident.KindClient, b.client)
	b.each(ident.KindIngestor, b.ingestor)
	b.each(ident.KindJunction, b.junction)
	b.each(ident.KindWASM, b.wasm)
	b.each(ident.KindEmitter, b.emitter)
	b.g.sortReaders()
	b.checkCycles()
	b.checkWriters()
	return b.g
}

func knownKind(kind ident.Kind) bool {
	switch kind {
	case ident.KindSchema, ident.KindWireJSON, ident.KindCodec, ident.KindBranch, ident.KindRelay, ident.KindResource, ident.KindClient,
		ident.KindIngestor, ident.KindJunction, ident.KindWASM, ident.KindEmitter:
		return true
	default:
		return false
	}
}

// each runs one check over the definitions of a kind by name.
func (b *builder) each(kind ident.Kind, check func(*report, *entry)) {
	for _, e := range b.c.ofKind(kind) {
		if !b.broken[e.ref] {
			check(&report{c: b.c, e: e}, e)
		}
	}
}

// resolve finds references that name nothing. A stored definition that lost something to a DROP is told at the DROP, all referrers
// together; everything else where the name stands.
func (b *builder) resolve() {
	referrers := make(map[ident.Ref][]ident.Ref)
	for _, e := range b.c.sorted() {
		r := &report{c: b.c, e: e}
		for _, reference := range e.def.References() {
			target := b.c.ref(reference.Kind, reference.Name)
			if b.c.entries[target] != nil {
				continue
			}
			b.broken[e.ref] = true
			if _, dropped := b.c.drops[target]; dropped && e.origin == stored {
				referrers[target] = append(referrers[target], e.ref)
				continue
			}
			b.unknown(r, reference)
		}
	}
	for target, by := range referrers {
		at := b.c.drops[target]
		by = slices.Compact(by)
		var names []string
		for _, ref := range by {
			names = append(names, object(ref))
		}
		d := fault.At(fault.StageResolve, fault.ObjectReferenced, at.span,
			object(target)+" is referenced by "+strings.Join(names, ", "), fault.Lookup(fault.ObjectReferenced).Hint)
		d.Related = by
		b.c.atChange(at.change, d)
	}
}

// unknown tells a reference to nothing: to a dropped object, to a name that another kind has, or to no name at all.
func (b *builder) unknown(r *report, reference ast.Reference) {
	target := b.c.ref(reference.Kind, reference.Name)
	if _, dropped := b.c.drops[target]; dropped {
		r.at(fault.StageResolve, fault.ResolveUnknown, reference.Span, object(target)+" is dropped by the same request", "", target)
		return
	}
	near := suggestion(string(reference.Name), b.c.names(reference.Kind))
	if other, ok := b.otherKind(reference); ok {
		r.at(fault.StageResolve, fault.ResolveKind, reference.Span,
			"there is no "+object(target)+": a "+reference.Kind.String()+" is needed here, and "+string(reference.Name)+" is a "+other.Kind.String(), near, other)
		return
	}
	r.at(fault.StageResolve, fault.ResolveUnknown, reference.Span, "there is no "+object(target)+" in domain "+string(b.c.domain), near)
}

func (b *builder) otherKind(reference ast.Reference) (ident.Ref, bool) {
	for _, e := range b.c.sorted() {
		if e.ref.Name == reference.Name {
			return e.ref, true
		}
	}
	return ident.Ref{}, false
}

// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"slices"

	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/types"
)

// Graph is the checked graph of one domain. The slices are sorted by name; neither they nor what they point to may be changed.
type Graph struct {
	Domain    ident.Domain
	Schemas   []*types.Schema
	Wires     []*Wire
	Codecs    []*Codec
	Branches  []*Branch
	Clients   []*Client
	Resources []*Resource
	Relays    []*Relay
	Ingestors []*Ingestor
	Junctions []*Junction
	WASMs     []*WASM
	Emitters  []*Emitter

	readers map[ident.Name][]Reader
}

// Reader is a node that consumes a relay.
type Reader struct {
	Ref      ident.Ref
	Attached bool
}

// Schema finds a schema by name; nil if there is none. The same holds for the other finders.
func (g *Graph) Schema(name ident.Name) *types.Schema {
	return find(g.Schemas, name, func(s *types.Schema) ident.Name { return s.Name() })
}

// Wire finds a wire schema.
func (g *Graph) Wire(kind ident.Kind, name ident.Name) *Wire {
	i, ok := slices.BinarySearchFunc(g.Wires, ident.Ref{Kind: kind, Name: name}, func(w *Wire, want ident.Ref) int {
		return cmp.Or(cmp.Compare(w.Ref.Name, want.Name), cmp.Compare(w.Ref.Kind, want.Kind))
	})
	if !ok {
		return nil
	}
	return g.Wires[i]
}

// Codec finds a codec.
func (g *Graph) Codec(name ident.Name) *Codec {
	return find(g.Codecs, name, func(c *Codec) ident.Name { return c.Ref.Name })
}

// Branch finds a branch declaration.
func (g *Graph) Branch(name ident.Name) *Branch {
	return find(g.Branches, name, func(b *Branch) ident.Name { return b.Ref.Name })
}

// Client finds a client.
func (g *Graph) Client(name ident.Name) *Client {
	return find(g.Clients, name, func(c *Client) ident.Name { return c.Ref.Name })
}

// Relay finds a relay.
func (g *Graph) Relay(name ident.Name) *Relay {
	return find(g.Relays, name, func(r *Relay) ident.Name { return r.Ref.Name })
}

// Ingestor finds an ingestor.
func (g *Graph) Ingestor(name ident.Name) *Ingestor {
	return find(g.Ingestors, name, func(i *Ingestor) ident.Name { return i.Ref.Name })
}

// Junction finds a junction.
func (g *Graph) Junction(name ident.Name) *Junction {
	return find(g.Junctions, name, func(j *Junction) ident.Name { return j.Ref.Name })
}

// Resource finds a resource.
func (g *Graph) Resource(name ident.Name) *Resource {
	return find(g.Resources, name, func(r *Resource) ident.Name { return r.Ref.Name })
}

// WASM finds a WASM processor.
func (g *Graph) WASM(name ident.Name) *WASM {
	return find(g.WASMs, name, func(w *WASM) ident.Name { return w.Ref.Name })
}

// Emitter finds an emitter.
func (g *Graph) Emitter(name ident.Name) *Emitter {
	return find(g.Emitters, name, func(e *Emitter) ident.Name { return e.Ref.Name })
}

// Readers lists the nodes that consume a relay, sorted by kind and name. A relay without attached readers fails the acknowledgements of
// what is routed to it (Q24).
func (g *Graph) Readers(relay ident.Name) []Reader { return g.readers[relay] }

// Runtime lists every runtime node in the order in which it can be started: a node stands before everything that writes to a relay it
// reads, and a relay before its readers and writers. Stopping goes the other way.
func (g *Graph) Runtime() []ident.Ref {
	var refs []ident.Ref
	for _, r := range g.Relays {
		refs = append(refs, r.Ref)
	}
	for _, e := range g.Emitters {
		refs = append(refs, e.Ref)
	}
	refs = append(refs, g.downstreamFirst()...)
	for _, i := range g.Ingestors {
		refs = append(refs, i.Ref)
	}
	return refs
}

// downstreamFirst orders the nodes between relays so that one stands before the nodes that feed it. The graph has no cycle (Q53).
func (g *Graph) downstreamFirst() []ident.Ref {
	outputs := make(map[ident.Ref][]ident.Name, len(g.Junctions)+len(g.WASMs))
	var all, order []ident.Ref
	for _, j := range g.Junctions {
		outputs[j.Ref], all = j.outputs(), append(all, j.Ref)
	}
	for _, p := range g.WASMs {
		outputs[p.Ref], all = p.outputs(), append(all, p.Ref)
	}
	done := make(map[ident.Ref]bool, len(all))
	var visit func(ref ident.Ref)
	visit = func(ref ident.Ref) {
		out, between := outputs[ref]
		if done[ref] || !between {
			return
		}
		done[ref] = true
		for _, relay := range out {
			for _, reader := range g.readers[relay] {
				visit(reader.Ref)
			}
		}
		order = append(order, ref)
	}
	for _, ref := range all {
		visit(ref)
	}
	return order
}

func find[T any](sorted []*T, name ident.Name, nameOf func(*T) ident.Name) *T {
	i, ok := slices.BinarySearchFunc(sorted, name, func(one *T, want ident.Name) int { return cmp.Compare(nameOf(one), want) })
	if !ok {
		return nil
	}
	return sorted[i]
}

// sortReaders puts the readers of each relay in order.
func (g *Graph) sortReaders() {
	for _, list := range g.readers {
		slices.SortFunc(list, func(a, b Reader) int { return compareRefs(a.Ref, b.Ref) })
	}
}

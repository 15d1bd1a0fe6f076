// SPDX-License-Identifier: Apache-2.0

package model

import (
	"slices"
	"strings"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

// checkCycles refuses graphs in which a record could come back to a relay (Q53), error relays included. It looks at the definitions, so a
// cycle is told even when its nodes have other defects. Each cycle is told once.
func (b *builder) checkCycles() {
	next := b.flows()
	const (
		unseen = iota
		open
		closed
	)
	state := make(map[ident.Ref]int)
	var path []ident.Ref
	var visit func(ref ident.Ref)
	visit = func(ref ident.Ref) {
		state[ref] = open
		path = append(path, ref)
		for _, to := range next[ref] {
			switch state[to] {
			case unseen:
				visit(to)
			case open:
				b.tellCycle(path[indexOf(path, to):])
			}
		}
		path = path[:len(path)-1]
		state[ref] = closed
	}
	for _, e := range b.c.ofKind(ident.KindRelay) {
		if state[e.ref] == unseen {
			visit(e.ref)
		}
	}
}

// flows lists where records go from each relay and node, in written order.
func (b *builder) flows() map[ident.Ref][]ident.Ref {
	next := make(map[ident.Ref][]ident.Ref)
	for _, e := range b.c.sorted() {
		var in, out []ident.Name
		switch def := e.def.(type) {
		case *ast.CreateJunction:
			in = inputNames(def.Inputs)
			for _, r := range def.Routes {
				out = append(append(out, r.To.Name), errorRelay(r.OnError)...)
			}
		case *ast.CreateWASM:
			in = inputNames(def.Inputs)
			for _, r := range def.Routes {
				out = append(append(out, r.To.Name), errorRelay(r.OnError)...)
			}
		case *ast.CreateEmitter:
			in, out = inputNames(def.Inputs), errorRelay(def.OnError)
		}
		for _, name := range in {
			from := b.c.ref(ident.KindRelay, name)
			next[from] = append(next[from], e.ref)
		}
		for _, name := range out {
			next[e.ref] = append(next[e.ref], b.c.ref(ident.KindRelay, name))
		}
	}
	return next
}

func inputNames(in ast.Inputs) []ident.Name {
	names := make([]ident.Name, len(in.From))
	for i, one := range in.From {
		names[i] = one.Relay.Name
	}
	return names
}

func errorRelay(p ast.MessagePolicy) []ident.Name {
	if p.Policy != ast.PolicySendTo {
		return nil
	}
	return []ident.Name{p.To.Name}
}

// tellCycle tells a cycle at the last change that took part in it.
func (b *builder) tellCycle(cycle []ident.Ref) {
	var culprit *entry
	words := make([]string, 0, len(cycle)+1)
	for _, ref := range cycle {
		words = append(words, object(ref))
		e := b.c.entries[ref]
		if e != nil && ref.Kind != ident.KindRelay && (culprit == nil || e.origin > culprit.origin) {
			culprit = e
		}
	}
	words = append(words, words[0])
	r := &report{c: b.c, e: culprit}
	r.at(fault.StagePlan, fault.ModelCycle, r.name(), "records would go in a cycle: "+strings.Join(words, " -> "), "", slices.Clone(cycle)...)
}

func indexOf(path []ident.Ref, ref ident.Ref) int {
	for i, one := range path {
		if one == ref {
			return i
		}
	}
	return 0
}

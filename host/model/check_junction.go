// SPDX-License-Identifier: Apache-2.0

package model

import (
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

// junction checks a junction (nspl 15.1): inputs, outputs and error relays have exactly its branch.
func (b *builder) junction(r *report, e *entry) {
	def := e.def.(*ast.CreateJunction)
	branch, ok := b.declared(def.Branch)
	if !ok {
		return
	}
	n := &node{b: b, r: r, e: e, branch: branch}
	plan := &Junction{Ref: e.ref, Definition: def, Fingerprint: b.prints.of(e), Attached: def.Attachment == ast.Attached, Branch: branch}
	plan.Inputs = n.inputs(def.Inputs, branch, false)
	n.wheres(def.Inputs, plan.Inputs)
	plan.InputSchema = n.input
	if def.Filter != nil && n.input != nil {
		plan.Filter = n.predicate(def.Filter)
	}
	if len(def.Routes) == 0 {
		r.check(fault.ModelEmpty, r.name(), n.word()+" needs at least one route")
	}
	complete := n.input != nil
	for i, route := range def.Routes {
		made, ok := n.route(i, route)
		complete = complete && ok
		plan.Routes = append(plan.Routes, made)
	}
	if !complete || r.failed {
		return
	}
	b.g.Junctions = append(b.g.Junctions, plan)
	b.reads(plan.Ref, plan.Attached, plan.Inputs)
}

// reads notes a node as a reader of its inputs.
func (b *builder) reads(ref ident.Ref, attached bool, inputs []Input) {
	for _, in := range inputs {
		name := in.Relay.Ref.Name
		b.g.readers[name] = append(b.g.readers[name], Reader{Ref: ref, Attached: attached})
	}
}

// SPDX-License-Identifier: Apache-2.0

package model

import (
	"math"
	"time"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/types"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

// branch checks a branch declaration (nspl 12.1).
func (b *builder) branch(r *report, e *entry) {
	def := e.def.(*ast.CreateBranch)
	schema := b.g.Schema(def.Schema.Name)
	if schema == nil {
		return
	}
	for _, f := range schema.Fields() {
		switch {
		case holds(f.Type, types.Bytes):
			r.check(fault.ModelPlacement, def.Schema.Span, "SCHEMA "+string(schema.Name())+" cannot be a branch key: field "+string(f.Name)+" holds BYTES",
				b.c.ref(ident.KindSchema, schema.Name()))
		case !f.Type.IsScalar():
			r.check(fault.ModelUnsupported, def.Schema.Span,
				"SCHEMA "+string(schema.Name())+" cannot be a branch key: field "+string(f.Name)+" is a "+f.Type.String()+"; lists in keys are not supported by this version",
				b.c.ref(ident.KindSchema, schema.Name()))
		}
	}
	plan := &Branch{Ref: e.ref, Fingerprint: b.prints.of(e), Schema: schema, TTL: duration(def.TTL)}
	if def.TTL.NS == 0 {
		r.check(fault.ModelRange, def.TTL.Span, "the TTL of a branch must be longer than zero")
	}
	if def.MaxInstances != nil {
		if plan.MaxInstances = def.MaxInstances.Value; plan.MaxInstances == 0 {
			r.check(fault.ModelRange, def.MaxInstances.Span, "MAX INSTANCES of a branch is at least 1")
		}
	}
	if !r.failed {
		b.g.Branches = append(b.g.Branches, plan)
	}
}

// holds says whether a type is the scalar or has it as an element.
func holds(t types.Type, s types.Scalar) bool {
	return t.Scalar == s || (t.Elem != nil && holds(*t.Elem, s))
}

// duration is a written duration as a Go one; a longer one than Go's 292 years never ends and becomes the longest.
func duration(d ast.Duration) time.Duration {
	return time.Duration(min(d.NS, math.MaxInt64))
}

// relay checks a relay (nspl 12.2).
func (b *builder) relay(r *report, e *entry) {
	def := e.def.(*ast.CreateRelay)
	if e.ref.Name == "branch" {
		r.at(fault.StageCheck, fault.ModelName, r.name(), "branch cannot name a relay: branch.f reads the key of a branch", "")
	}
	if def.Capacity.Value == 0 {
		r.check(fault.ModelRange, def.Capacity.Span, capacityRange)
	}
	schema := b.g.Schema(def.Schema.Name)
	branch, ok := b.declared(def.Branch)
	if schema == nil || !ok || r.failed {
		return
	}
	b.g.Relays = append(b.g.Relays, &Relay{Ref: e.ref, Fingerprint: b.prints.of(e), Schema: schema, Branch: branch, Capacity: def.Capacity.Value})
}

// declared finds the branch of a branch clause, nil for UNBRANCHED; ok is false when the branch itself is defective.
func (b *builder) declared(d ast.BranchDecl) (branch *Branch, ok bool) {
	if d.Branch == nil {
		return nil, true
	}
	branch = b.g.Branch(d.Branch.Name)
	return branch, branch != nil
}

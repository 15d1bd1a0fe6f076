// SPDX-License-Identifier: Apache-2.0

package model

import (
	"path"
	"strings"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

// resource makes the plan of a resource; there is nothing to check.
func (b *builder) resource(_ *report, e *entry) {
	b.g.Resources = append(b.g.Resources, &Resource{Ref: e.ref, Fingerprint: b.prints.of(e)})
}

// wasm checks a WASM processor (nspl 15.7): inputs, outputs and error relays have exactly its branch, and routes are set-only.
func (b *builder) wasm(r *report, e *entry) {
	def := e.def.(*ast.CreateWASM)
	branch, ok := b.declared(def.Branch)
	if !ok {
		return
	}
	n := &node{b: b, r: r, e: e, branch: branch}
	plan := &WASM{
		Ref: e.ref, Definition: def, Fingerprint: b.prints.of(e), Attached: def.Attachment == ast.Attached, Branch: branch,
		MaxFuel: def.MaxFuel.Value, MaxMemory: def.MaxMemory.Bytes, ResetRejected: def.OnRejected == ast.RejectedReset, GlobalLog: def.OnGlobal.Policy == ast.PolicyLog,
	}
	plan.Inputs = n.inputs(def.Inputs, branch, false)
	n.wheres(def.Inputs, plan.Inputs)
	plan.InputSchema = n.input
	if def.Filter != nil && n.input != nil {
		plan.Filter = n.predicate(def.Filter)
	}
	n.module(def, plan)
	complete := n.guestRoutes(def, plan)
	if !complete || n.input == nil || r.failed {
		return
	}
	b.g.WASMs = append(b.g.WASMs, plan)
	b.reads(plan.Ref, plan.Attached, plan.Inputs)
}

// module checks the binding and the limits. VERSION LATEST passes as version 0: whoever stores the definition has resolved it before, and a
// check without a node cannot.
func (n *node) module(def *ast.CreateWASM, plan *WASM) {
	plan.Module = Module{Resource: def.Resource.Name, File: def.File.Value}
	if !def.Version.Latest {
		if plan.Module.Version = def.Version.Number; plan.Module.Version == 0 {
			n.r.check(fault.ModelRange, def.Version.Span, "versions of a resource are numbered from 1")
		}
	}
	if problem := modulePath(def.File.Value); problem != "" {
		n.r.at(fault.StageCheck, fault.ModelPath, def.File.Span, "FILE "+problem, "FILE is the path of the module inside the uploaded directory, for example 'guests/leak.wasm'")
	}
	if plan.MaxFuel == 0 {
		n.r.check(fault.ModelRange, def.MaxFuel.Span, "MAX FUEL is at least 1")
	}
	if plan.MaxMemory == 0 {
		n.r.check(fault.ModelRange, def.MaxMemory.Span, "MAX MEMORY is at least 1 byte")
	}
}

// modulePath says what is wrong with the path of a file inside a version; empty when it is clean, relative and slash-separated.
func modulePath(text string) string {
	switch {
	case text == "":
		return "must not be empty"
	case strings.ContainsRune(text, '\\'):
		return "is written with slashes, not backslashes"
	case strings.HasPrefix(text, "/"):
		return "must be relative to the uploaded directory"
	case strings.HasSuffix(text, "/") || text == ".":
		return "must name a file"
	}
	if problem := pathProblem(text); problem != "" {
		return problem
	}
	if clean := path.Clean(text); clean != text {
		return "is not in its shortest form, which is '" + clean + "'"
	}
	return ""
}

// guestRoutes checks the routes. A guest names the relay of each of its outputs, so that a relay has one route. It is false when something
// a route needs is defective itself.
func (n *node) guestRoutes(def *ast.CreateWASM, plan *WASM) (complete bool) {
	if len(def.Routes) == 0 {
		n.r.check(fault.ModelEmpty, n.r.name(), n.word()+" needs at least one route")
	}
	seen := make(map[ident.Name]bool, len(def.Routes))
	complete = true
	for i, route := range def.Routes {
		if seen[route.To.Name] {
			n.r.at(fault.StageCheck, fault.ModelDuplicate, route.To.Span, "RELAY "+string(route.To.Name)+" has two routes, but a guest names a relay to say where rows go",
				"write one route for each relay, or let a junction split what the guest sends")
		}
		seen[route.To.Name] = true
		made, ok := n.guestRoute(i, route)
		complete = complete && ok
		plan.Routes = append(plan.Routes, made)
	}
	return complete
}

func (n *node) guestRoute(index int, route ast.GuestRoute) (GuestRoute, bool) {
	plan := GuestRoute{Index: index, Relay: n.b.g.Relay(route.To.Name)}
	if plan.Relay == nil {
		return plan, false
	}
	n.sameBranch(plan.Relay, n.branch, route.To.Span, "")
	plan.Construct = n.generated(route, plan.Relay.Schema)
	plan.Policy = n.policy(route.OnError, plan.Relay.Schema, []*Branch{n.branch})
	return plan, route.OnError.Policy != ast.PolicySendTo || plan.Policy.Relay != nil
}

// SPDX-License-Identifier: Apache-2.0

package model

import (
	"strings"

	"github.com/nervix-go/nervix/host/expr"
	"github.com/nervix-go/nervix/host/expr/construct"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/types"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

// records is what the expressions of the node can read (nspl 6.3). It is called after the input schema was found.
func (n *node) records() construct.Records {
	rec := construct.Records{Place: n.place(), Input: n.input, Metadata: n.metadata}
	if n.branch != nil {
		rec.Branch = n.branch.Schema
	}
	return rec
}

// place is the node kind as messages about scopes name it.
func (n *node) place() string {
	if n.e.ref.Kind == ident.KindWASM {
		return "WASM processor"
	}
	return strings.ToLower(n.e.ref.Kind.String())
}

func (n *node) emits() bool { return n.e.ref.Kind == ident.KindEmitter }

// predicate compiles a source WHERE or a FILTER WHERE; nil when it is defective.
func (n *node) predicate(x ast.Expr) *expr.Program {
	scope := construct.FilterScope(n.records())
	if n.emits() {
		scope = construct.EmitterFilterScope(n.records())
	}
	program, faults := construct.CheckFilter(x, scope)
	n.r.all(faults)
	return program
}

// construct compiles the construction of a route. An unset required field is told at span, the name of the target.
func (n *node) construct(c ast.Construct, output *types.Schema, span fault.Span) *construct.Plan {
	plan, faults := construct.Check(construct.Route{Construct: c, Records: n.records(), Output: output, Span: span, Leaving: n.emits()})
	n.r.all(faults)
	return plan
}

// generated compiles SET and WHERE of a route whose rows a guest builds: set-only, over columns of the output schema (nspl 15.7).
func (n *node) generated(route ast.GuestRoute, output *types.Schema) *construct.Plan {
	rec := n.records()
	rec.Input = nil
	plan, faults := construct.CheckGenerated(construct.Route{
		Construct: ast.Construct{Set: route.Set, Where: route.Where}, Records: rec, Output: output, Span: route.To.Span,
	})
	n.r.all(faults)
	return plan
}

// branchKey compiles BRANCHED BY .. SET: every key field, with its exact type (nspl 14.2).
func (n *node) branchKey(clause ast.RouteBranch, branch *Branch, output *types.Schema) *construct.Plan {
	plan, faults := construct.CheckKey(clause.Set, n.records(), output, branch.Schema, clause.Branch.Span)
	n.r.all(faults)
	return plan
}

// errorRecord compiles ON MESSAGE ERROR SEND TO .. SET. The rows of an ingestor may have failed in decoding (nspl 9.4), and a guest
// may make rows without a source (Q39); their input is null then.
func (n *node) errorRecord(p ast.MessagePolicy, relay *Relay, output *types.Schema) *construct.Plan {
	rec := construct.ErrorRecords{Records: n.records(), Output: output, OptionalInput: n.e.ref.Kind == ident.KindIngestor || n.e.ref.Kind == ident.KindWASM}
	plan, faults := construct.CheckErrorRecord(p.Set, rec, relay.Schema, p.To.Span)
	n.r.all(faults)
	return plan
}

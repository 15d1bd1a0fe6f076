// SPDX-License-Identifier: Apache-2.0

package model

import (
	"github.com/nervix-go/nervix/host/expr"
	"github.com/nervix-go/nervix/host/expr/construct"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/types"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

// Resource is a named sequence of uploaded versions (nspl 13.1). The versions are committed apart from the definition.
type Resource struct {
	Ref         ident.Ref
	Fingerprint Fingerprint
}

// WASM is the plan of a WASM processor (nspl 15.7).
type WASM struct {
	Ref         ident.Ref
	Fingerprint Fingerprint
	// Definition is what the plan was made from; only renderings read it.
	Definition *ast.CreateWASM
	Attached   bool
	Inputs     []Input
	// InputSchema is the one schema of all inputs.
	InputSchema *types.Schema
	// Filter is nil when every row is taken.
	Filter *expr.Program
	// Branch is nil when unbranched; all inputs, outputs and error relays have exactly this branch.
	Branch *Branch
	Module Module
	// MaxFuel is the budget of each logical guest operation, MaxMemory the ceiling of an instance's linear memory in bytes.
	MaxFuel, MaxMemory uint64
	Routes             []GuestRoute
	// ResetRejected is ON REJECTED STATE RESET.
	ResetRejected bool
	// GlobalLog says whether global errors are reported as runtime errors (ON GLOBAL ERROR LOG).
	GlobalLog bool
}

// Module is the pinned file of a processor.
type Module struct {
	Resource ident.Name
	Version  uint64
	// File is the path inside the version, with slashes.
	File string
}

// GuestRoute is one way out of a WASM processor. Guests build its rows; several routes never name one relay, because an output names its relay.
//
// For each output of a callback the node calls
//
//	w.Env = rows of the output, execution snapshot, RecordBranch of the key
//	Construct.RunOver(&w.Env, base, &w.Out)
//
// where base has one column a field of the relay's schema, in its order: the generated column, the selected input column, or nil where the guest left it
// uninitialised. It is borrowed. w.Out then is used as in a junction: Columns (by reference where no SET assigns), All, Keep, Kept, Failures, and
// Construct.Partial for partial_output. An untouched uninitialised required column fails every row there (finalize, validation).
//
// Policy.Record reads input.f of the record that the row's source token selected, all null for a row without one; partial_output.f, error.f
// and branch.f as in a junction (Q39, W-089).
type GuestRoute struct {
	Index int
	Relay *Relay
	// Construct is what SET and WHERE make of the guest's columns (construct.CheckGenerated). It is never nil: without SET and WHERE it passes columns on
	// and still finishes them at the node's boundary (W-081, W-082).
	Construct *construct.Plan
	Policy    Policy
}

// outputs lists the relays the processor writes to, error relays included.
func (p *WASM) outputs() []ident.Name {
	var names []ident.Name
	for _, r := range p.Routes {
		names = append(names, r.Relay.Ref.Name)
		if r.Policy.Relay != nil {
			names = append(names, r.Policy.Relay.Ref.Name)
		}
	}
	return names
}

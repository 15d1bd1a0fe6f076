// SPDX-License-Identifier: Apache-2.0

package model

import (
	"github.com/nervix-go/nervix/host/expr"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/types"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

// Junction is the plan of a junction (nspl 15.1).
type Junction struct {
	Ref         ident.Ref
	Fingerprint Fingerprint
	// Definition is what the plan was made from; only renderings read it.
	Definition *ast.CreateJunction
	Attached   bool
	Inputs     []Input
	// InputSchema is the one schema of all inputs.
	InputSchema *types.Schema
	// Filter is nil when every row is taken.
	Filter *expr.Program
	// Branch is nil when unbranched; all inputs, outputs and error relays have exactly this branch.
	Branch *Branch
	Routes []Route
}

// outputs lists the relays the junction writes to, error relays included.
func (j *Junction) outputs() []ident.Name {
	var names []ident.Name
	for _, r := range j.Routes {
		names = append(names, r.Relay.Ref.Name)
		if r.Policy.Relay != nil {
			names = append(names, r.Policy.Relay.Ref.Name)
		}
	}
	return names
}

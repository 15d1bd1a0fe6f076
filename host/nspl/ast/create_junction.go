// SPDX-License-Identifier: Apache-2.0

package ast

import "github.com/nervix-go/nervix/host/kernel/ident"

// CreateJunction is `CREATE [ATTACHED|DETACHED] JUNCTION name inputs [FILTER WHERE ..] branch_decl routes` (nspl 15.1).
type CreateJunction struct {
	Create
	Attachment Attachment
	Inputs     Inputs
	Filter     Expr
	Branch     BranchDecl
	Routes     []Route
}

// DefKind is KindJunction.
func (*CreateJunction) DefKind() ident.Kind { return ident.KindJunction }

// References names the input relays, the branch, and the relays of the routes.
func (c *CreateJunction) References() []Reference {
	refs := append(c.Inputs.references(), c.Branch.references()...)
	for _, r := range c.Routes {
		refs = append(refs, r.references()...)
	}
	return refs
}

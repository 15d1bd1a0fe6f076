// SPDX-License-Identifier: Apache-2.0

package ast

import "github.com/nervix-go/nervix/host/kernel/ident"

// CreateWASM is `CREATE [ATTACHED|DETACHED] WASM PROCESSOR name inputs [FILTER WHERE ..] USING RESOURCE r VERSION v FILE 'f' MAX FUEL n
// MAX MEMORY size branch_decl routes [ON REJECTED STATE ..] ON GLOBAL ERROR ..` (nspl 15.7).
type CreateWASM struct {
	Create
	Attachment Attachment
	Inputs     Inputs
	Filter     Expr
	Resource   Ident
	Version    Version
	// File is the path of the module inside the version.
	File Text
	// MaxFuel is the budget of one logical guest operation, never zero.
	MaxFuel Uint
	// MaxMemory is the ceiling of one instance's linear memory, in bytes.
	MaxMemory Size
	Branch    BranchDecl
	Routes    []GuestRoute
	// OnRejected is PRESERVE when it was left out, and always printed.
	OnRejected RejectedPolicy
	OnGlobal   GlobalPolicy
}

// GuestRoute is a route whose rows a guest builds: `TO relay [SET ..] [WHERE ..] ON MESSAGE ERROR ..`. It has no flush, because the guest
// decides when rows leave (W-009), and inherits nothing.
type GuestRoute struct {
	Node
	To      Ident
	Set     []Assignment
	Where   Expr
	OnError MessagePolicy
}

func (r GuestRoute) references() []Reference {
	return append([]Reference{refer(ident.KindRelay, r.To)}, r.OnError.references()...)
}

// RejectedPolicy is the answer to a guest that refuses its saved state (W13).
type RejectedPolicy uint8

// The policies for rejected state.
const (
	RejectedPreserve RejectedPolicy = iota
	RejectedReset
)

// String is the policy as NSPL writes it.
func (p RejectedPolicy) String() string { return [...]string{"PRESERVE", "RESET"}[p&1] }

// GlobalPolicy is `ON GLOBAL ERROR (IGNORE | LOG)`.
type GlobalPolicy struct {
	Node
	Policy Policy
}

// DefKind is KindWASM.
func (*CreateWASM) DefKind() ident.Kind { return ident.KindWASM }

// References names the input relays, the resource, the branch, and the relays of the routes.
func (c *CreateWASM) References() []Reference {
	refs := append(c.Inputs.references(), refer(ident.KindResource, c.Resource))
	refs = append(refs, c.Branch.references()...)
	for _, r := range c.Routes {
		refs = append(refs, r.references()...)
	}
	return refs
}

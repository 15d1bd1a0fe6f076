// SPDX-License-Identifier: Apache-2.0

package ast

import "github.com/nervix-go/nervix/host/kernel/ident"

// DefaultCapacity is the capacity of a relay that does not state one, in batches (R-045, Q22).
const DefaultCapacity = 1

// CreateRelay is `CREATE RELAY name SCHEMA schema branch_decl [CAPACITY n]` (nspl 12.2).
type CreateRelay struct {
	Create
	Schema Ident
	Branch BranchDecl
	// Capacity counts batches in the owner's buffer, 1..18446744073709551615; a default has an empty span.
	Capacity Uint
}

// DefKind is KindRelay.
func (*CreateRelay) DefKind() ident.Kind { return ident.KindRelay }

// References names the schema and the branch.
func (c *CreateRelay) References() []Reference {
	return append([]Reference{refer(ident.KindSchema, c.Schema)}, c.Branch.references()...)
}

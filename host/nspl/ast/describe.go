// SPDX-License-Identifier: Apache-2.0

package ast

import "github.com/nervix-go/nervix/host/kernel/ident"

// Describe is `DESCRIBE kind name [WHERE (bindings)] [FORMAT ..]` (nspl 23.1).
type Describe struct {
	Node
	Kind ident.Kind
	Name Ident
	// Bindings is nil when WHERE was left out; only a relay takes it.
	Bindings []Binding
	// Version is the version of a resource; nil when it was left out.
	Version *Uint
	Format  Format
}

// Binding fixes one key field of a branch: `field = [-] literal` (Q35). An integer may be as large as a U64.
type Binding struct {
	Node
	Field    Ident
	Negative bool
	Value    *Literal
}

func (*Describe) statement() {}

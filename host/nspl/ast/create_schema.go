// SPDX-License-Identifier: Apache-2.0

package ast

import (
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/types"
)

// CreateSchema is `CREATE SCHEMA name (fields)` (nspl 4). It holds at least one field.
type CreateSchema struct {
	Create
	Fields []FieldDecl
}

// FieldDecl declares one field.
type FieldDecl struct {
	Node
	Name      Ident
	Type      types.Type
	TypeSpan  fault.Span
	Optional  bool
	Sensitive bool
}

// DefKind is KindSchema.
func (*CreateSchema) DefKind() ident.Kind { return ident.KindSchema }

// References is empty: a schema depends on nothing.
func (*CreateSchema) References() []Reference { return nil }

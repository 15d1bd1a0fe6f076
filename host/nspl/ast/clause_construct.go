// SPDX-License-Identifier: Apache-2.0

package ast

// Construct builds the output of a route (nspl 9.2): `[INHERIT ..] [SET ..] [WHERE ..]`.
type Construct struct {
	Inherit *Inherit
	Set     []Assignment
	Where   Expr
}

// Inherit copies equal fields. All with Except, or a list of Fields.
type Inherit struct {
	Node
	All    bool
	Except []Ident
	Fields []InheritField
}

// InheritField is one listed field; Leak is LEAK SENSITIVE.
type InheritField struct {
	Field Ident
	Leak  bool
}

// Assignment is `field = value`. A NULL is a Literal of kind LiteralNull.
type Assignment struct {
	Node
	Field Ident
	Value Expr
}

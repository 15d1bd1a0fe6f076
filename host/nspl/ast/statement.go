// SPDX-License-Identifier: Apache-2.0

package ast

import (
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
)

// Statement is one NSPL statement. All statements are pointers.
type Statement interface {
	// Where is the span of the statement without its `;`.
	Where() fault.Span
	statement()
}

// Definition is a CREATE statement whose canonical text is stored and shown by SHOW CREATE. CREATE USER is none, because its text holds
// a password.
type Definition interface {
	Statement
	DefKind() ident.Kind
	DefName() ident.Name
	// References lists the objects of the same domain that the definition names, in written order, duplicates included.
	References() []Reference
	// Head gives the parts every CREATE has.
	Head() *Create
}

// Reference is a place where a definition names another object.
type Reference struct {
	Kind ident.Kind
	Name ident.Name
	Span fault.Span
}

func refer(kind ident.Kind, name Ident) Reference {
	return Reference{Kind: kind, Name: name.Name, Span: name.Span}
}

// Create is the head of every CREATE statement.
type Create struct {
	Node
	Name Ident
	// IfNotExists belongs to the request, not to the definition: it is never stored or printed (nspl 1.11, 2.3).
	IfNotExists bool
}

func (c *Create) statement() {}

// DefName is the name of the new object.
func (c *Create) DefName() ident.Name { return c.Name.Name }

// Head is the head itself.
func (c *Create) Head() *Create { return c }

// SPDX-License-Identifier: Apache-2.0

package parse

import (
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

// creation parses what follows the name of a new object.
type creation struct {
	kind ident.Kind
	body func(p *parser, name ast.Ident) created
}

// created is a CREATE statement whose head is still to be filled in.
type created interface {
	ast.Statement
	Head() *ast.Create
}

func parseCreate(p *parser, start int) ast.Statement {
	head := ast.Create{IfNotExists: p.accept("IF NOT EXISTS")}
	p.note("OR", "definitions are not replaced: DROP the object and CREATE it again in one transaction")
	c := choose(p, creations)
	head.Name = p.named(c.kind)
	stmt := c.body(p, head.Name)
	head.Node = p.from(start)
	*stmt.Head() = head
	return stmt
}

// attached makes the body of a node kind that has an attachment.
func attached(body func(*parser, ast.Attachment) created, a ast.Attachment) func(*parser, ast.Ident) created {
	return func(p *parser, _ ast.Ident) created { return body(p, a) }
}

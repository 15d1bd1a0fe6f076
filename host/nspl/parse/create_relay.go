// SPDX-License-Identifier: Apache-2.0

package parse

import (
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

func parseCreateRelay(p *parser, name ast.Ident) created {
	if name.Name == "branch" || name.Name == "message" {
		p.refuse(fault.SyntaxName, name.Span, "a relay may not be called `"+string(name.Name)+"`",
			"`"+string(name.Name)+"` is a scope of expressions; choose another name")
	}
	s := &ast.CreateRelay{Capacity: ast.Uint{Value: ast.DefaultCapacity}}
	p.note("TTL", "a TTL belongs to CREATE BRANCH; an unbranched relay has none")
	p.note("WITH", notMaterialized)
	p.expect("SCHEMA")
	s.Schema = p.named(ident.KindSchema)
	s.Branch = p.branchDecl("a relay says BRANCHED BY branch or UNBRANCHED directly after its schema")
	if p.accept("CAPACITY") {
		s.Capacity = p.capacity()
	}
	return s
}

func (p *parser) capacity() ast.Uint { return p.count("the capacity") }

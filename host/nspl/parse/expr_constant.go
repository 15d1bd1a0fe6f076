// SPDX-License-Identifier: Apache-2.0

package parse

import "github.com/nervix-go/nervix/host/nspl/ast"

// constants reads the parenthesised set of an IN; it may be empty and end with a comma.
func (p *parser) constants() []ast.Expr {
	var list []ast.Expr
	p.nested(false, func() {
		p.expectSign("(")
		for !p.acceptSign(")") {
			list = append(list, p.constant())
			if !p.acceptSign(",") {
				p.expectSign(")")
				return
			}
		}
	})
	return list
}

// constant reads ["-" | NOT] literal {AS scalar}, or TRY_CAST(constant AS scalar).
func (p *parser) constant() ast.Expr {
	start := p.tok.Span.Offset
	p.expected.add("constant", groupClass)
	if op := p.prefix(groupNone); op != ast.OpNone {
		x := p.castLiteral()
		return &ast.Unary{Node: p.counted(start), Op: op, X: x}
	}
	p.expected.add("TRY_CAST", groupNone)
	if !p.is("TRY_CAST") {
		return p.castLiteral()
	}
	p.enter()
	x := &ast.TryCast{}
	p.expect("TRY_CAST")
	p.expectSign("(")
	p.nested(true, func() { x.X = p.constant() })
	p.expect("AS")
	x.To, x.ToSpan = p.scalar()
	p.expectSign(")")
	x.Node = p.counted(start)
	p.depth--
	return x
}

func (p *parser) castLiteral() ast.Expr {
	start := p.tok.Span.Offset
	p.expected.add("constant", groupClass)
	lit := p.literal()
	if lit == nil {
		p.fail()
	}
	p.checkInteger(lit)
	lit.Node = p.counted(start)
	return p.casts(start, lit)
}

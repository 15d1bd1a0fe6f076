// SPDX-License-Identifier: Apache-2.0

package parse

import "github.com/nervix-go/nervix/host/nspl/ast"

// construct reads [INHERIT ..] [SET ..] [WHERE ..].
func (p *parser) construct() ast.Construct {
	c := ast.Construct{}
	start := p.tok.Span.Offset
	if p.accept("INHERIT") {
		c.Inherit = p.inherit(start)
	}
	if p.accept("SET") {
		c.Set = p.assignments()
	}
	if p.accept("WHERE") {
		c.Where = p.expr()
	}
	return c
}

func (p *parser) inherit(start int) *ast.Inherit {
	in := &ast.Inherit{}
	if p.accept("ALL") {
		in.All = true
		if p.accept("EXCEPT") {
			p.list(func() { in.Except = append(in.Except, p.field()) })
		}
	} else {
		p.list(func() {
			f := ast.InheritField{Field: p.field()}
			f.Leak = p.accept("LEAK SENSITIVE")
			in.Fields = append(in.Fields, f)
		})
	}
	in.Node = p.from(start)
	return in
}

// assignments reads list(field "=" expr).
func (p *parser) assignments() []ast.Assignment {
	var list []ast.Assignment
	p.list(func() {
		start := p.tok.Span.Offset
		a := ast.Assignment{Field: p.field()}
		p.note("TO", "an assignment is written field = expression")
		p.expectSign("=")
		a.Value = p.expr()
		a.Node = p.from(start)
		list = append(list, a)
	})
	p.note("SET", "further assignments follow after a comma, without another SET")
	return list
}

// SPDX-License-Identifier: Apache-2.0

package parse

import (
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

var describable = kindTable(describedKinds...)

func parseDescribe(p *parser, start int) ast.Statement {
	for word, hint := range notDescribed {
		p.note(word, hint)
	}
	s := &ast.Describe{Kind: choose(p, describable)}
	s.Name = p.named(s.Kind)
	if s.Kind == ident.KindRelay && p.accept("WHERE") {
		p.expectSign("(")
		p.list(func() { s.Bindings = append(s.Bindings, p.binding()) })
		p.expectSign(")")
	}
	if s.Kind == ident.KindResource && p.accept("VERSION") {
		p.note("LATEST", "without VERSION all versions are shown, the latest first")
		n := p.count("VERSION")
		s.Version = &n
	}
	s.Format = p.format()
	s.Node = p.from(start)
	return s
}

// binding reads field "=" constant; numbers may have a sign.
func (p *parser) binding() ast.Binding {
	start := p.tok.Span.Offset
	b := ast.Binding{Field: p.anyField()}
	p.expectSign("=")
	p.expected.add("constant", groupClass)
	valueStart := p.tok.Span.Offset
	b.Negative = p.acceptSign("-")
	b.Value = p.literal()
	if b.Value == nil {
		p.fail()
	}
	if number := b.Value.Kind == ast.LiteralInt || b.Value.Kind == ast.LiteralFloat; b.Negative && !number {
		p.refuse(fault.SyntaxUnexpected, p.spanFrom(valueStart), "only a number has a sign", "")
	}
	b.Node = p.from(start)
	return b
}

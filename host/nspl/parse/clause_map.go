// SPDX-License-Identifier: Apache-2.0

package parse

import (
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/nspl/lex"
)

// configMap reads `{'key' = value, ..}`; the map may be empty.
func (p *parser) configMap() ast.Map {
	start := p.tok.Span.Offset
	m := ast.Map{}
	p.expectSign("{")
	if !p.acceptSign("}") {
		p.list(func() {
			entry := ast.MapEntry{Key: p.text()}
			p.expectSign("=")
			entry.Value = p.mapValue()
			m.Entries = append(m.Entries, entry)
		})
		p.expectSign("}")
	}
	m.Node = p.from(start)
	return m
}

func (p *parser) mapValue() *ast.Literal {
	p.expected.add("string", groupClass)
	p.expected.add("number", groupClass)
	p.expected.add("TRUE", groupNone)
	p.expected.add("FALSE", groupNone)
	if p.tok.Kind == lex.Word && !p.is("TRUE") && !p.is("FALSE") {
		p.fail()
	}
	if lit := p.literal(); lit != nil {
		return lit
	}
	p.fail()
	return nil
}

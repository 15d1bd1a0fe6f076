// SPDX-License-Identifier: Apache-2.0

package parse

import (
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

// sourceForm parses a source after its first word.
type sourceForm struct {
	parse func(p *parser, start int) ast.Source
	// codec says whether DECODE USING is mandatory.
	codec bool
}

var sources = []choice[sourceForm]{{"FILE", sourceForm{parseFileSource, true}}}

func parseCreateIngestor(p *parser, _ ast.Ident) created {
	s := &ast.CreateIngestor{}
	p.expect("FROM")
	start := p.tok.Span.Offset
	form := choose(p, sources)
	s.Source = form.parse(p, start)
	if form.codec {
		p.expect("DECODE USING")
		codec := p.named(ident.KindCodec)
		s.Decode = &codec
	}
	s.Timestamp = p.timestamp()
	if p.accept("FILTER WHERE") {
		s.Filter = p.expr()
	}
	s.Routes = p.boundRoutes()
	s.OnGeneral = p.generalPolicy()
	return s
}

func (p *parser) timestamp() *ast.Timestamp {
	start := p.tok.Span.Offset
	if !p.accept("TIMESTAMP") {
		return nil
	}
	t := &ast.Timestamp{}
	if !p.accept("NOW") {
		p.expect("AT")
		field := p.field()
		t.At = &field
	}
	t.Node = p.from(start)
	return t
}

// SPDX-License-Identifier: Apache-2.0

package parse

import (
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

// codecForms are the codec bodies by their first words.
var codecForms = []choice[func(*parser, int) ast.CodecBody]{
	{"WIRE JSON SCHEMA", wireCodec(ident.KindWireJSON)},
}

func parseCreateCodec(p *parser, _ ast.Ident) created {
	start := p.tok.Span.Offset
	p.expect("FROM")
	return &ast.CreateCodec{Body: choose(p, codecForms)(p, start)}
}

func wireCodec(kind ident.Kind) func(*parser, int) ast.CodecBody {
	return func(p *parser, start int) ast.CodecBody {
		c := &ast.WireCodec{WireKind: kind, Wire: p.named(kind)}
		p.expect("TO SCHEMA")
		c.Schema = p.named(ident.KindSchema)
		if p.accept("ENCODE") {
			p.list(func() { c.Encode = append(c.Encode, p.fieldEncoding()) })
		}
		c.Node = p.from(start)
		return c
	}
}

func (p *parser) fieldEncoding() ast.FieldEncoding {
	start := p.tok.Span.Offset
	e := ast.FieldEncoding{Field: p.field()}
	p.expect("AS RFC3339")
	e.Node = p.from(start)
	return e
}

// SPDX-License-Identifier: Apache-2.0

package parse

import (
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

var wireModes = []choice[ast.WireMode]{{"STRICT", ast.WireStrict}, {"LOOSE", ast.WireLoose}}

// jsonWireTypes are the wire types of JSON in this version of the language.
var jsonWireTypes = []choice[ast.WireType]{
	{"INTEGER", ast.WireInteger}, {"NUMBER", ast.WireNumber}, {"BOOLEAN", ast.WireBoolean}, {"STRING", ast.WireString},
}

func parseCreateWireJSON(p *parser, _ ast.Ident) created {
	return p.wire(ident.KindWireJSON, jsonWireTypes)
}

func (p *parser) wire(kind ident.Kind, types []choice[ast.WireType]) *ast.CreateWire {
	s := &ast.CreateWire{Kind: kind}
	p.note("SENSITIVE", "sensitivity belongs to the SCHEMA, not to the wire schema")
	p.note("DATETIME", "JSON has no points in time: the wire type is STRING, and the codec says ENCODE field AS RFC3339")
	p.note("BOOL", "the wire type is BOOLEAN")
	p.note("NOT", "fields are required unless they are marked OPTIONAL")
	for _, s := range scalarWords {
		if s.Integer() {
			p.note(s.String(), "the wire type is INTEGER")
		} else if s.Float() {
			p.note(s.String(), "the wire type is NUMBER")
		}
	}
	p.expect("MODE")
	s.Mode = choose(p, wireModes)
	p.expectSign("(")
	p.listHint = "is a comma missing before this field?"
	p.list(func() { s.Fields = append(s.Fields, p.wireField(types)) })
	p.expectSign(")")
	p.listHint = ""
	return s
}

func (p *parser) wireField(types []choice[ast.WireType]) ast.WireField {
	start := p.tok.Span.Offset
	f := ast.WireField{}
	f.Name, f.NameSpan = p.spelling("field")
	f.TypeSpan = p.tok.Span
	f.Type = choose(p, types)
	f.Optional = p.accept("OPTIONAL")
	f.Node = p.from(start)
	return f
}

// SPDX-License-Identifier: Apache-2.0

package parse

import (
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/types"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/nspl/lex"
)

func parseCreateSchema(p *parser, _ ast.Ident) created {
	s := &ast.CreateSchema{}
	p.note("NULL", "fields are required; one that may be null is marked OPTIONAL")
	p.note("NOT", "fields are required unless they are marked OPTIONAL")
	p.expectSign("(")
	p.listHint = "is a comma missing before this field?"
	p.list(func() { s.Fields = append(s.Fields, p.fieldDecl()) })
	p.expectSign(")")
	p.listHint = ""
	return s
}

func (p *parser) fieldDecl() ast.FieldDecl {
	start := p.tok.Span.Offset
	f := ast.FieldDecl{Name: p.ident("field")}
	scalar, span := p.scalar()
	f.Type, f.TypeSpan = types.Of(scalar), span
	p.note("OPTIONAL", "the order is OPTIONAL SENSITIVE")
	f.Optional = p.accept("OPTIONAL")
	f.Sensitive = p.accept("SENSITIVE")
	f.Node = p.from(start)
	return f
}

// scalarWords are the types of this version of the language, in the order messages list them.
var scalarWords = []types.Scalar{
	types.U8, types.I8, types.U16, types.I16, types.U32, types.I32, types.U64, types.I64, types.F32, types.F64, types.Bool, types.String, types.Datetime,
}

// scalar reads the name of a scalar type, long spellings included.
func (p *parser) scalar() (types.Scalar, fault.Span) {
	for _, s := range scalarWords {
		p.expected.add(s.String(), groupType)
	}
	scalar, ok := types.ParseScalar(p.keyword())
	if p.tok.Kind != lex.Word || !ok || scalar == types.Bytes {
		p.fail()
	}
	span := p.tok.Span
	p.advance()
	return scalar, span
}

// SPDX-License-Identifier: Apache-2.0

package parse

import (
	"strconv"
	"strings"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/nspl/lex"
)

// ident reads an object's name: the longer word shape, lower-cased. class names it for people, for example "relay name".
func (p *parser) ident(class string) ast.Ident {
	text, span := p.spelling(class)
	p.name = text
	return ast.Ident{Name: ident.Name(strings.ToLower(text)), Span: span}
}

// spelling reads a name and keeps its case.
func (p *parser) spelling(class string) (string, fault.Span) {
	p.expected.add(class, groupClass)
	tok := lex.Name(p.src, p.tok.Trivia.Offset)
	if tok.Kind != lex.Word && tok.Kind != lex.Backquoted {
		p.fail()
	}
	p.checkLength(tok)
	tok.Trivia = p.tok.Trivia
	p.tok = tok
	p.advance()
	return tok.Text, tok.Span
}

func (p *parser) checkLength(tok lex.Token) {
	if len(tok.Text) > ident.MaxNameBytes {
		p.refuse(fault.SyntaxName, tok.Span, "the name has "+strconv.Itoa(len(tok.Text))+" bytes",
			"a name has at most "+strconv.Itoa(ident.MaxNameBytes)+" bytes")
	}
}

// field reads a field where an expression could stand: a word that is not reserved, or a backquoted name.
func (p *parser) field() ast.Ident {
	p.expected.add("field", groupClass)
	if p.tok.Kind != lex.Backquoted && (p.tok.Kind != lex.Word || reserved[p.keyword()]) {
		p.fail()
	}
	return p.takeField()
}

// anyField reads a field where no keyword can stand, as after `scope.`.
func (p *parser) anyField() ast.Ident {
	p.expected.add("field", groupClass)
	if p.tok.Kind != lex.Backquoted && p.tok.Kind != lex.Word {
		p.fail()
	}
	return p.takeField()
}

func (p *parser) takeField() ast.Ident {
	p.checkLength(p.tok)
	name := ast.Ident{Name: ident.Name(strings.ToLower(p.tok.Text)), Span: p.tok.Span}
	p.advance()
	return name
}

// text reads a string.
func (p *parser) text() ast.Text {
	p.expected.add("string", groupClass)
	if p.tok.Kind != lex.String {
		p.fail()
	}
	t := ast.Text{Value: p.tok.Text, Span: p.tok.Span}
	p.advance()
	return t
}

// count reads an unsigned number of at least 1.
func (p *parser) count(what string) ast.Uint {
	p.expected.add("whole number", groupClass)
	if p.tok.Kind != lex.Int {
		p.fail()
	}
	if p.tok.Value == 0 {
		p.refuse(fault.SyntaxNumber, p.tok.Span, what+" must not be 0", what+" is a number from 1 to 18446744073709551615")
	}
	n := ast.Uint{Value: p.tok.Value, Span: p.tok.Span}
	p.advance()
	return n
}

// duration reads a positive duration.
func (p *parser) duration(what string) ast.Duration {
	if p.tok.Kind == lex.Duration && p.tok.Value == 0 {
		p.refuse(fault.SyntaxNumber, p.tok.Span, what+" must not be zero", "write a positive duration, such as 250ms")
	}
	return p.durationOrZero()
}

// durationOrZero reads a duration that may be zero.
func (p *parser) durationOrZero() ast.Duration {
	p.expected.add("duration", groupClass)
	if p.tok.Kind != lex.Duration {
		p.fail()
	}
	d := ast.Duration{NS: p.tok.Value, Text: p.tok.Text, Span: p.tok.Span}
	p.advance()
	return d
}

// size reads a byte size.
func (p *parser) size() ast.Size {
	p.expected.add("size", groupClass)
	if p.tok.Kind != lex.Size {
		p.fail()
	}
	s := ast.Size{Bytes: p.tok.Value, Text: p.tok.Text, Span: p.tok.Span}
	p.advance()
	return s
}

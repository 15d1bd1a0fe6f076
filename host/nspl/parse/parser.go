// SPDX-License-Identifier: Apache-2.0

package parse

import (
	"strings"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/nspl/lex"
)

// parser is the cursor over one text. tok is the current token; expected is what was asked for at tok so far.
type parser struct {
	src      string
	tok      lex.Token
	end      int // end of the last consumed token
	expected expectedSet
	// touched is the expected set of the last consumed token if that token ends with the text: the word completion is to replace.
	touched expectedSet

	// The rest belongs to the current statement.
	offered  map[string]bool   // keywords that could have stood at some earlier place
	notes    map[string]string // hints for keywords that do not belong here
	advice   string            // hint for whatever fails next in the current clause
	listHint string            // hint for a word where a list of declarations could go on
	name     string            // the last name read, to notice a missing name
	depth    int               // nesting of expressions
	nodes    int               // expression nodes
	secret   bool              // the statement holds a password
	masked   bool              // a statement with a password was defective: what follows may be a part of it

	tryCast bool // inside TRY_CAST( .. ): the AS before `)` is not ours
}

// bailout carries the first defect of a statement up to attempt.
type bailout struct{ defect fault.Diagnostic }

func newParser(src string) *parser {
	p := &parser{src: src}
	p.tok = lex.Next(src, 0)
	p.begin()
	return p
}

// begin forgets what belongs to the last statement.
func (p *parser) begin() {
	p.offered, p.notes = map[string]bool{}, nil
	p.advice, p.listHint, p.name = "", "", ""
	p.depth, p.nodes = 0, 0
	p.secret, p.tryCast = false, false
}

// attempt runs f and gives the defect it failed with.
func (p *parser) attempt(f func()) (defect *fault.Diagnostic) {
	defer func() {
		if r := recover(); r != nil {
			b, ok := r.(bailout)
			if !ok {
				panic(r)
			}
			defect = &b.defect
		}
	}()
	f()
	return nil
}

// skipEmpty skips `;` and answers false at the end of the text.
func (p *parser) skipEmpty() bool {
	for p.tok.Kind == lex.Sign && p.tok.Text == ";" {
		p.advance()
	}
	return p.tok.Kind != lex.EOF
}

// statement parses one statement up to its `;`. After a defect the cursor stands at the next `;`, or, when only a `;` was missing, at the
// statement that follows.
func (p *parser) statement() (ast.Statement, *fault.Diagnostic) {
	p.begin()
	var stmt ast.Statement
	complete := false
	defect := p.attempt(func() {
		start := p.tok.Span.Offset
		stmt = choose(p, statements).parse(p, start)
		complete = true
		if !p.atEnd() {
			if p.beginsLine() && firstWords()[p.keyword()] {
				p.advice = "a `;` is missing before this statement"
			}
			p.fail()
		}
	})
	if defect == nil {
		return stmt, nil
	}
	p.masked = p.masked || p.secret
	if complete && p.beginsLine() && firstWords()[p.keyword()] {
		return stmt, defect
	}
	p.recover()
	return nil, defect
}

// beginsLine says whether the current token is the first of its line.
func (p *parser) beginsLine() bool {
	t := p.tok.Trivia
	return strings.ContainsAny(p.src[t.Offset:t.End()], "\r\n")
}

// recover skips to the next `;`.
func (p *parser) recover() {
	for p.tok.Kind != lex.EOF && !(p.tok.Kind == lex.Sign && p.tok.Text == ";") {
		p.advance()
	}
}

// atEnd says whether the statement may end here.
func (p *parser) atEnd() bool {
	p.expected.add(";", groupNone)
	p.expected.add("end of input", groupNone)
	return p.tok.Kind == lex.EOF || p.tok.Kind == lex.Sign && p.tok.Text == ";"
}

func (p *parser) advance() {
	p.touched = nil
	if p.tok.Span.End() == len(p.src) && p.tok.Kind != lex.Sign {
		p.touched = p.expected
	}
	p.end = p.tok.Span.End()
	p.tok = lex.Next(p.src, p.end)
	p.expected = nil
}

// keyword is the current token as a keyword, or empty.
func (p *parser) keyword() string {
	if p.tok.Kind != lex.Word {
		return ""
	}
	return strings.ToUpper(p.tok.Text)
}

// is says whether the current token is the keyword; nothing is noted.
func (p *parser) is(word string) bool {
	return p.tok.Kind == lex.Word && strings.EqualFold(p.tok.Text, word)
}

// accept reads a keyword, or a phrase of keywords of which the first decides.
func (p *parser) accept(phrase string) bool {
	first, rest, _ := strings.Cut(phrase, " ")
	p.expected.add(phrase, groupNone)
	p.offered[first] = true
	if !p.is(first) {
		return false
	}
	p.advance()
	if rest != "" {
		p.expect(rest)
	}
	return true
}

// expect reads a phrase of keywords that must stand here.
func (p *parser) expect(phrase string) {
	if !p.accept(phrase) {
		p.fail()
	}
}

// acceptSign reads a sign.
func (p *parser) acceptSign(sign string) bool {
	p.expected.add(sign, groupNone)
	if p.tok.Kind != lex.Sign || p.tok.Text != sign {
		return false
	}
	p.advance()
	return true
}

func (p *parser) expectSign(sign string) {
	if !p.acceptSign(sign) {
		p.fail()
	}
}

// from is the node that began at offset start and ends with the last consumed token.
func (p *parser) from(start int) ast.Node {
	return ast.Node{Span: p.spanFrom(start)}
}

func (p *parser) spanFrom(start int) fault.Span {
	return fault.Span{Offset: start, Length: max(0, p.end-start)}
}

// list reads items separated by commas.
func (p *parser) list(item func()) {
	item()
	for p.acceptSign(",") {
		item()
	}
}

// note gives a hint for a keyword that does not belong into this statement.
func (p *parser) note(word, hint string) {
	if p.notes == nil {
		p.notes = map[string]string{}
	}
	p.notes[word] = hint
}

// advising reads something with a hint for the case that it does not stand here.
func (p *parser) advising(hint string, f func()) {
	p.advice = hint
	f()
	p.advice = ""
}

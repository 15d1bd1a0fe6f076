// SPDX-License-Identifier: Apache-2.0

package parse

import "github.com/nervix-go/nervix/host/nspl/lex"

// Expected lists what may stand at a byte offset of a text: keywords and signs as they are written, `;`, and classes in lower case such as
// `relay name`, `field`, `duration`. When a word touches the offset from the left, the list is that of the place where this word begins, so
// that it can be completed; of alternatives that the grammar tries after a word that already fits, some may be missing then. The list is
// empty inside strings and comments and after a defect of the same statement.
func Expected(src string, offset int) []string {
	src = src[:max(0, min(offset, len(src)))]
	if lex.FirstInvalidByte(src) >= 0 {
		return nil
	}
	p := newParser(src)
	for {
		if !p.skipEmpty() {
			return p.nothingYet()
		}
		var at expectedSet
		p.statementUpTo(&at)
		if p.tok.Kind == lex.EOF {
			if p.tok.InComment {
				return nil
			}
			return at.texts()
		}
	}
}

// nothingYet is the set at the beginning of a statement of which not a letter is written.
func (p *parser) nothingYet() []string {
	if p.tok.InComment {
		return nil
	}
	p.begin()
	p.expected = nil
	_ = p.attempt(func() { choose(p, statements) })
	return p.expected.texts()
}

// statementUpTo parses one statement and leaves in at what may stand at the end of the text, if the statement reaches it.
func (p *parser) statementUpTo(at *expectedSet) {
	p.begin()
	defect := p.attempt(func() {
		start := p.tok.Span.Offset
		choose(p, statements).parse(p, start)
		if !p.atEnd() {
			p.fail()
		}
	})
	word := p.tok.Kind != lex.Invalid && p.tok.Kind != lex.String && p.tok.Kind != lex.Sign
	switch {
	case p.tok.Kind == lex.EOF && p.touched != nil && p.tok.Trivia.Length == 0:
		*at = p.touched
	case p.tok.Kind == lex.EOF, defect != nil && word && p.tok.Span.End() == len(p.src):
		*at = p.expected
	}
	p.recover()
}

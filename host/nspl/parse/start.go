// SPDX-License-Identifier: Apache-2.0

package parse

import (
	"math"
	"strconv"
	"strings"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/nspl/lex"
)

// parseStart reads START [AT (NOW | 'instant') [TIME RATE rate]].
func parseStart(p *parser, start int) ast.Statement {
	p.note("DOMAIN", "START and STOP take no name: USE the domain first")
	p.note("TIME", "TIME RATE stands directly after START AT NOW or START AT 'instant'")
	p.note("RATE", "a rate is written TIME RATE 2.5, after START AT NOW or START AT 'instant'")
	s := &ast.Start{}
	if !p.accept("AT") {
		p.advice = "START stands alone, or says AT NOW or AT 'instant'; the domain is the selected one"
		s.Node = p.from(start)
		return s
	}
	p.origin(s)
	if p.accept("TIME RATE") {
		s.Rate = p.rate()
	} else {
		p.advice = "only TIME RATE follows, for example TIME RATE 2.5"
	}
	s.Node = p.from(start)
	return s
}

// origin reads NOW or an instant in quotes.
func (p *parser) origin(s *ast.Start) {
	if p.accept("NOW") {
		s.AtNow = true
		return
	}
	p.advising("AT is followed by NOW, or by an RFC 3339 instant in quotes: '2031-05-01T06:00:00Z'", func() {
		p.expected.add("string", groupClass)
		if p.tok.Kind != lex.String {
			p.fail()
		}
	})
	at := p.text()
	ns, problem := instant(at.Value)
	if problem.message != "" {
		p.refuse(fault.SyntaxInstant, at.Span, problem.message, problem.hint)
	}
	s.At, s.AtNS = &at, ns
}

// rate reads a positive finite number: digits with an optional fraction and exponent (nspl 1.5).
func (p *parser) rate() *ast.Float {
	const hint = "TIME RATE is a positive number such as 2, 0.25 or 1e-3: the logical seconds of one second"
	f := &ast.Float{Text: p.src[p.tok.Span.Offset:p.tok.Span.End()], Span: p.tok.Span}
	long := p.tok.Kind == lex.Invalid && strings.Trim(f.Text, "0123456789") == "" // digits beyond 64 bits, which a float holds
	p.advising(hint, func() {
		p.expected.add("number", groupClass)
		if !long && p.tok.Kind != lex.Int && p.tok.Kind != lex.Float && p.tok.Kind != lex.Exponent {
			p.fail()
		}
	})
	value, err := strconv.ParseFloat(f.Text, 64)
	switch {
	case math.IsInf(value, 0):
		p.refuse(fault.SyntaxNumber, f.Span, "the rate is too large for a 64-bit float", "the largest rate is 1.7976931348623157e308")
	case err != nil || value == 0 && nonzero(f.Text):
		p.refuse(fault.SyntaxNumber, f.Span, "the rate is so small that it becomes 0", "the smallest rate is 5e-324")
	case value == 0:
		p.refuse(fault.SyntaxNumber, f.Span, "the rate must not be 0", "time that stands still is a stopped domain; "+hint)
	}
	f.Value = value
	p.advance()
	return f
}

// nonzero says whether the mantissa of a number has a digit other than 0.
func nonzero(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case c|0x20 == 'e':
			return false
		case c >= '1' && c <= '9':
			return true
		}
	}
	return false
}

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

// primaries are the words and signs an expression may begin with, beside `-` and NOT.
var primaries = []string{"expression", "TRUE", "FALSE", "NULL", "IF", "CASE", "TRY_CAST", "(", "["}

func (p *parser) primary() ast.Expr {
	for _, text := range primaries {
		p.expected.add(text, groupExpression)
	}
	start := p.tok.Span.Offset
	if lit := p.literal(); lit != nil {
		p.checkInteger(lit)
		lit.Node = p.counted(start)
		return lit
	}
	switch {
	case p.tok.Kind == lex.Backquoted:
		return p.pathOrCall(start)
	case p.tok.Kind == lex.Sign && p.tok.Text == "(":
		return p.parenthesised()
	case p.tok.Kind == lex.Sign && p.tok.Text == "[":
		return p.listLiteral(start)
	case p.is("IF"):
		return p.conditional(start)
	case p.is("CASE"):
		return p.caseExpr(start)
	case p.is("TRY_CAST"):
		return p.tryCastExpr(start)
	case p.tok.Kind == lex.Word && !reserved[p.keyword()]:
		return p.pathOrCall(start)
	}
	p.fail()
	return nil
}

// literal reads a number, a string, TRUE, FALSE or NULL; nil when none stands here. Nothing is noted as expected.
func (p *parser) literal() *ast.Literal {
	lit := &ast.Literal{Text: p.tok.Text}
	switch {
	case p.tok.Kind == lex.Int:
		lit.Kind, lit.Int, lit.Text = ast.LiteralInt, p.tok.Value, strconv.FormatUint(p.tok.Value, 10)
	case p.tok.Kind == lex.Float:
		f, err := strconv.ParseFloat(p.tok.Text, 64)
		if err != nil {
			p.refuse(fault.SyntaxNumber, p.tok.Span, "the number is too large for F64", "")
		}
		lit.Kind, lit.Float = ast.LiteralFloat, f
	case p.tok.Kind == lex.String:
		lit.Kind = ast.LiteralString
	case p.is("TRUE"), p.is("FALSE"):
		lit.Kind, lit.Bool, lit.Text = ast.LiteralBool, p.is("TRUE"), ""
	case p.is("NULL"):
		lit.Kind, lit.Text = ast.LiteralNull, ""
	default:
		return nil
	}
	lit.Span = p.tok.Span
	p.advance()
	return lit
}

// checkInteger refuses what does not fit I64, the type of an integer literal (nspl 1.5).
func (p *parser) checkInteger(lit *ast.Literal) {
	if lit.Kind == ast.LiteralInt && lit.Int > math.MaxInt64 {
		p.refuse(fault.SyntaxNumber, lit.Span, "the number is too large for I64, the type of an integer literal",
			"the largest is 9223372036854775807; a greater U64 is written as a text: '"+lit.Text+"' AS U64")
	}
}

func (p *parser) parenthesised() ast.Expr {
	var x ast.Expr
	p.nested(false, func() {
		p.expectSign("(")
		x = p.expr()
		p.expectSign(")")
	})
	return x
}

func (p *parser) listLiteral(start int) ast.Expr {
	l := &ast.List{}
	p.nested(false, func() {
		p.expectSign("[")
		l.Items = append(l.Items, p.expr())
		for p.acceptSign(",") && !p.acceptedEarly("]") {
			l.Items = append(l.Items, p.expr())
		}
		p.expectSign("]")
	})
	l.Node = p.counted(start)
	return l
}

// acceptedEarly says whether a list with a comma at its end closes here; the sign stays.
func (p *parser) acceptedEarly(sign string) bool {
	p.expected.add(sign, groupNone)
	return p.tok.Kind == lex.Sign && p.tok.Text == sign
}

func (p *parser) conditional(start int) ast.Expr {
	x := &ast.If{}
	p.expect("IF")
	x.Cond = p.expr()
	p.expect("THEN")
	x.Then = p.expr()
	p.advising("an IF always has an ELSE", func() { p.expect("ELSE") })
	x.Else = p.expr()
	p.expect("END")
	x.Node = p.counted(start)
	return x
}

func (p *parser) caseExpr(start int) ast.Expr {
	x := &ast.Case{}
	p.expect("CASE")
	p.expected.add("WHEN", groupNone)
	if !p.is("WHEN") {
		x.Operand = p.expr()
	}
	for len(x.Whens) == 0 || p.is("WHEN") {
		from := p.tok.Span.Offset
		p.expect("WHEN")
		w := ast.When{Match: p.expr()}
		p.expect("THEN")
		w.Then = p.expr()
		w.Node = p.from(from)
		x.Whens = append(x.Whens, w)
		p.expected.add("WHEN", groupNone)
	}
	if p.accept("ELSE") {
		x.Else = p.expr()
	}
	p.expect("END")
	x.Node = p.counted(start)
	return x
}

func (p *parser) tryCastExpr(start int) ast.Expr {
	x := &ast.TryCast{}
	p.expect("TRY_CAST")
	p.expectSign("(")
	p.nested(true, func() { x.X = p.expr() })
	p.expect("AS")
	x.To, x.ToSpan = p.scalar()
	p.expectSign(")")
	x.Node = p.counted(start)
	return x
}

// pathOrCall reads what begins with a word that is no keyword, or with a backquoted name.
func (p *parser) pathOrCall(start int) ast.Expr {
	word := p.tok
	name := p.takeField()
	if lex.IsWord(word.Text) && p.tok.Kind == lex.Sign && p.tok.Text == "(" {
		return p.call(start, name)
	}
	if p.tok.Kind == lex.Sign && p.tok.Text == "." {
		if word.Kind != lex.Word || !isScope(ast.Scope(name.Name)) {
			p.noScope(word)
		}
		p.advance()
		return p.scoped(start, ast.Scope(name.Name))
	}
	if word.Kind == lex.Word && isScope(ast.Scope(name.Name)) {
		p.expected.add(".", groupOperator)
	}
	return &ast.Path{Node: p.counted(start), Field: name}
}

func (p *parser) scoped(start int, scope ast.Scope) ast.Expr {
	path := &ast.Path{Scope: scope}
	if scope == ast.ScopeRelayState {
		p.expected.add("relay name", groupClass)
		if p.tok.Kind != lex.Word && p.tok.Kind != lex.Backquoted {
			p.fail()
		}
		path.Relay = p.takeField()
		p.expectSign(".")
	}
	path.Field = p.anyField()
	path.Node = p.counted(start)
	return path
}

func (p *parser) call(start int, name ast.Ident) ast.Expr {
	c := &ast.Call{Name: name}
	p.nested(false, func() {
		p.expectSign("(")
		if p.acceptSign(")") {
			return
		}
		p.list(func() { c.Args = append(c.Args, p.expr()) })
		p.expectSign(")")
	})
	c.Node = p.counted(start)
	return c
}

func isScope(s ast.Scope) bool {
	for _, known := range ast.Scopes() {
		if s == known {
			return true
		}
	}
	return false
}

// noScope refuses a qualifier that is none.
func (p *parser) noScope(word lex.Token) {
	var upper, lower []string
	for _, s := range ast.Scopes() {
		lower = append(lower, string(s))
		upper = append(upper, strings.ToUpper(string(s)))
	}
	hint := "scopes are " + strings.Join(lower, ", ") + "; relay names are no qualifiers"
	if near := nearest(strings.ToUpper(word.Text), upper); near != "" {
		hint = "did you mean `" + strings.ToLower(near) + "`?"
	}
	d := fault.At(fault.StageParse, fault.SyntaxUnexpected, word.Span, "`"+shorten(word.Text)+"` is no scope", hint)
	d.Expected = lower
	panic(bailout{d})
}

// SPDX-License-Identifier: Apache-2.0

package parse

import (
	"strconv"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/nspl/lex"
)

// Limits of one statement's expressions.
const (
	MaxDepth = 200
	MaxNodes = 65536
)

// The levels of binding, loosest first (nspl 6.1). Unary signs, AS and primaries bind tighter than all of them.
const (
	levelOr = iota + 1
	levelAnd
	levelCompare
	levelAdd
	levelMul
)

type operator struct {
	text  string
	level int
	op    ast.Op
}

// operators are the binary operators with two plain operands; all associate to the left.
var operators = []operator{
	{"OR", levelOr, ast.OpOr},
	{"AND", levelAnd, ast.OpAnd},
	{"=", levelCompare, ast.OpEq}, {"!=", levelCompare, ast.OpNe}, {"<", levelCompare, ast.OpLt}, {"<=", levelCompare, ast.OpLe},
	{">", levelCompare, ast.OpGt}, {">=", levelCompare, ast.OpGe},
	{"+", levelAdd, ast.OpAdd}, {"-", levelAdd, ast.OpSub},
	{"*", levelMul, ast.OpMul}, {"/", levelMul, ast.OpDiv}, {"%", levelMul, ast.OpMod},
}

// predicates are the comparisons with a form of their own.
var predicates = []string{"IS", "IN", "BETWEEN", "NOT"}

// expr reads an expression as far as one can go on (nspl 1.10).
func (p *parser) expr() ast.Expr {
	p.enter()
	x := p.binary(levelOr)
	p.depth--
	return x
}

// enter counts a level of nesting.
func (p *parser) enter() {
	p.depth++
	if p.depth > MaxDepth {
		p.refuse(fault.SyntaxLimit, p.tok.Span, "the expression is nested more than "+strconv.Itoa(MaxDepth)+" levels deep",
			"compute parts of it in SET assignments of their own")
	}
}

// counted makes the node of an expression that began at offset start.
func (p *parser) counted(start int) ast.Node {
	p.nodes++
	if p.nodes > MaxNodes {
		p.refuse(fault.SyntaxLimit, p.spanFrom(start), "the statement has more than "+strconv.Itoa(MaxNodes)+" terms",
			"split it into several statements")
	}
	return p.from(start)
}

// binary reads operators of the given level and tighter ones.
func (p *parser) binary(level int) ast.Expr {
	start := p.tok.Span.Offset
	x := p.unary()
	for {
		if op, ok := p.operator(level); ok {
			span := p.tok.Span
			p.advance()
			y := p.binary(op.level + 1)
			x = &ast.Binary{Node: p.counted(start), Op: op.op, OpSpan: span, X: x, Y: y}
			continue
		}
		if level > levelCompare || !p.atPredicate() {
			return x
		}
		x = p.predicate(start, x)
	}
}

// operator finds the operator at the current token if it binds at least as tight as level.
func (p *parser) operator(level int) (operator, bool) {
	found := operator{}
	for _, o := range operators {
		if o.level < level {
			continue
		}
		p.expected.add(o.text, groupOperator)
		if p.tok.Kind == lex.Sign && p.tok.Text == o.text || p.is(o.text) {
			found = o
		}
	}
	return found, found.op != ast.OpNone
}

func (p *parser) atPredicate() bool {
	found := false
	for _, word := range predicates {
		p.expected.add(word, groupOperator)
		found = found || p.is(word)
	}
	return found
}

// predicate reads IS [NOT] DISTINCT FROM, [NOT] IN and [NOT] BETWEEN after their operand.
func (p *parser) predicate(start int, x ast.Expr) ast.Expr {
	if p.accept("IS") {
		p.note("NULL", "null is tested with is_null(x)")
		not := p.accept("NOT")
		p.expect("DISTINCT FROM")
		y := p.binary(levelAdd)
		return &ast.Distinct{Node: p.counted(start), X: x, Y: y, Not: not}
	}
	not := p.accept("NOT")
	if p.accept("IN") {
		list := p.constants()
		return &ast.In{Node: p.counted(start), X: x, Not: not, List: list}
	}
	p.expect("BETWEEN")
	low := p.binary(levelAdd)
	p.expect("AND")
	high := p.binary(levelAdd)
	return &ast.Between{Node: p.counted(start), X: x, Not: not, Low: low, High: high}
}

// unary reads signs and NOT, which bind looser than AS and tighter than every binary operator.
func (p *parser) unary() ast.Expr {
	start := p.tok.Span.Offset
	op := p.prefix(groupExpression)
	if op == ast.OpNone {
		return p.cast()
	}
	p.enter()
	x := p.unary()
	p.depth--
	return &ast.Unary{Node: p.counted(start), Op: op, X: x}
}

func (p *parser) prefix(g group) ast.Op {
	p.expected.add("-", g)
	p.expected.add("NOT", g)
	switch {
	case p.tok.Kind == lex.Sign && p.tok.Text == "-":
		p.advance()
		return ast.OpNeg
	case p.is("NOT"):
		p.advance()
		return ast.OpNot
	}
	return ast.OpNone
}

// cast reads a primary and the conversions after it.
func (p *parser) cast() ast.Expr {
	start := p.tok.Span.Offset
	return p.casts(start, p.primary())
}

func (p *parser) casts(start int, x ast.Expr) ast.Expr {
	for {
		p.expected.add("AS", groupOperator)
		if !p.is("AS") || p.tryCast && p.lastAs() {
			return x
		}
		p.advance()
		to, span := p.scalar()
		x = &ast.Cast{Node: p.counted(start), X: x, To: to, ToSpan: span}
	}
}

// lastAs says whether the AS at the current token is the one of the TRY_CAST around it: only a type and the `)` follow.
func (p *parser) lastAs() bool {
	word := lex.Next(p.src, p.tok.Span.End())
	after := lex.Next(p.src, word.Span.End())
	return word.Kind == lex.Word && after.Kind == lex.Sign && after.Text == ")"
}

// nested reads something in brackets, where an AS is never the one of a TRY_CAST outside of them.
func (p *parser) nested(tryCast bool, f func()) {
	before := p.tryCast
	p.tryCast = tryCast
	f()
	p.tryCast = before
}

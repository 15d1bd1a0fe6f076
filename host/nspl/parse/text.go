// SPDX-License-Identifier: Apache-2.0

package parse

import (
	"strconv"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/nspl/lex"
)

// MaxDiagnostics is the number of defects reported for one text; one more diagnostic says that the rest was left out.
const MaxDiagnostics = 50

// Parsed is one statement of a text. The span does not hold the `;`.
type Parsed struct {
	Stmt ast.Statement
	Span fault.Span
}

// Text parses all statements of a text. Empty statements are ignored. When diagnostics come back, the statements are those that parsed.
func Text(src string) ([]Parsed, fault.Diagnostics) {
	if d := invalidEncoding(src); d != nil {
		return nil, d
	}
	p := newParser(src)
	var list []Parsed
	var defects numbered
	for p.skipEmpty() {
		defects.statement++
		stmt, defect := p.statement()
		if defect != nil && defects.add(*defect) {
			return list, defects.finish()
		}
		if stmt != nil {
			list = append(list, Parsed{Stmt: stmt, Span: stmt.Where()})
		}
	}
	return list, defects.finish()
}

// Statement parses a text that holds exactly one statement; a `;` after it is allowed.
func Statement(src string) (ast.Statement, fault.Diagnostics) {
	list, defects := Text(src)
	switch {
	case len(defects) > 0:
		return nil, defects
	case len(list) == 0:
		at := fault.Span{Offset: len(src)}
		return nil, fault.Diagnostics{fault.At(fault.StageParse, fault.SyntaxUnexpected, at, "expected a statement, found end of input", "")}
	case len(list) > 1:
		return nil, fault.Diagnostics{fault.At(fault.StageParse, fault.SyntaxUnexpected, list[1].Span,
			"expected one statement, found "+strconv.Itoa(len(list)), "")}
	}
	return list[0].Stmt, nil
}

// Expr parses a text that is one expression; for tests and tools.
func Expr(src string) (ast.Expr, fault.Diagnostics) {
	if d := invalidEncoding(src); d != nil {
		return nil, d
	}
	p := newParser(src)
	var x ast.Expr
	defect := p.attempt(func() {
		x = p.expr()
		if !p.atEnd() {
			p.fail()
		}
	})
	if defect != nil {
		return nil, fault.Diagnostics{*defect}
	}
	return x, nil
}

func invalidEncoding(src string) fault.Diagnostics {
	i := lex.FirstInvalidByte(src)
	if i < 0 {
		return nil
	}
	return fault.Diagnostics{fault.At(fault.StageLex, fault.LexInvalid, fault.Span{Offset: i, Length: 1},
		"the text is not UTF-8", "save the file in UTF-8")}
}

// numbered collects defects and, when the text has several statements, says in which one each stands.
type numbered struct {
	statement int
	list      fault.Diagnostics
	numbers   []int
}

// add answers true when the limit is reached.
func (n *numbered) add(d fault.Diagnostic) bool {
	n.list = append(n.list, d)
	n.numbers = append(n.numbers, n.statement)
	if len(n.list) < MaxDiagnostics {
		return false
	}
	n.list = append(n.list, fault.At(fault.StageParse, fault.SyntaxLimit, d.Span, "too many errors; the rest of the text was not read", ""))
	n.numbers = append(n.numbers, n.statement)
	return true
}

func (n *numbered) finish() fault.Diagnostics {
	if n.statement > 1 {
		for i := range n.list {
			n.list[i].Message = "statement " + strconv.Itoa(n.numbers[i]) + ": " + n.list[i].Message
		}
	}
	return n.list
}

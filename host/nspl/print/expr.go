// SPDX-License-Identifier: Apache-2.0

package print

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/nervix-go/nervix/host/nspl/ast"
)

// The levels of binding, loosest first (nspl 6.1).
const (
	levelOr = iota + 1
	levelAnd
	levelCompare
	levelAdd
	levelMul
	levelUnary
	levelCast
	levelPrimary
)

// Expr is the canonical text of an expression: one line unless a string in it has several, with only the parentheses that change grouping.
func Expr(x ast.Expr) string {
	w := &exprWriter{}
	w.expr(x, levelOr)
	return w.b.String()
}

type exprWriter struct {
	b strings.Builder
}

// expr prints x as an operand that must bind at least as tight as level.
func (w *exprWriter) expr(x ast.Expr, level int) {
	if levelOf(x) < level {
		w.b.WriteByte('(')
		w.bare(x)
		w.b.WriteByte(')')
		return
	}
	w.bare(x)
}

func levelOf(x ast.Expr) int {
	switch e := x.(type) {
	case *ast.Binary:
		return binaryLevel(e.Op)
	case *ast.In, *ast.Between, *ast.Distinct:
		return levelCompare
	case *ast.Unary:
		return levelUnary
	case *ast.Cast:
		return levelCast
	default:
		return levelPrimary
	}
}

func binaryLevel(op ast.Op) int {
	switch {
	case op == ast.OpOr:
		return levelOr
	case op == ast.OpAnd:
		return levelAnd
	case op.Comparison():
		return levelCompare
	case op == ast.OpAdd || op == ast.OpSub:
		return levelAdd
	default:
		return levelMul
	}
}

func (w *exprWriter) bare(x ast.Expr) {
	switch e := x.(type) {
	case *ast.Literal:
		w.b.WriteString(literal(e))
	case *ast.Path:
		w.b.WriteString(path(e))
	case *ast.Call:
		w.b.WriteString(field(e.Name.Name))
		w.list("(", e.Args, ")")
	case *ast.Unary:
		w.unary(e)
	case *ast.Binary:
		level := binaryLevel(e.Op)
		w.expr(e.X, level)
		w.b.WriteString(" " + e.Op.String() + " ")
		w.expr(e.Y, level+1)
	case *ast.Cast:
		w.expr(e.X, levelCast)
		w.b.WriteString(" AS " + e.To.String())
	case *ast.TryCast:
		w.b.WriteString("TRY_CAST(")
		w.expr(e.X, levelOr)
		w.b.WriteString(" AS " + e.To.String() + ")")
	case *ast.List:
		w.list("[", e.Items, "]")
	default:
		w.worded(x)
	}
}

// worded prints the forms that are made of keywords.
func (w *exprWriter) worded(x ast.Expr) {
	switch e := x.(type) {
	case *ast.If:
		w.word("IF ", e.Cond)
		w.word(" THEN ", e.Then)
		w.word(" ELSE ", e.Else)
		w.b.WriteString(" END")
	case *ast.Case:
		w.caseExpr(e)
	case *ast.In:
		w.expr(e.X, levelCompare)
		w.b.WriteString(not(e.Not) + " IN ")
		w.list("(", e.List, ")")
	case *ast.Between:
		w.expr(e.X, levelCompare)
		w.b.WriteString(not(e.Not) + " BETWEEN ")
		w.expr(e.Low, levelAdd)
		w.b.WriteString(" AND ")
		w.expr(e.High, levelAdd)
	case *ast.Distinct:
		w.expr(e.X, levelCompare)
		w.b.WriteString(" IS" + not(e.Not) + " DISTINCT FROM ")
		w.expr(e.Y, levelAdd)
	default:
		panic(fmt.Sprintf("print: no form for %T", x))
	}
}

func (w *exprWriter) caseExpr(e *ast.Case) {
	w.b.WriteString("CASE")
	if e.Operand != nil {
		w.word(" ", e.Operand)
	}
	for _, arm := range e.Whens {
		w.word(" WHEN ", arm.Match)
		w.word(" THEN ", arm.Then)
	}
	if e.Else != nil {
		w.word(" ELSE ", e.Else)
	}
	w.b.WriteString(" END")
}

func (w *exprWriter) word(keyword string, x ast.Expr) {
	w.b.WriteString(keyword)
	w.expr(x, levelOr)
}

// unary keeps two minus signs apart, because they would begin a comment.
func (w *exprWriter) unary(e *ast.Unary) {
	w.b.WriteString(e.Op.String())
	inner, nested := e.X.(*ast.Unary)
	if e.Op == ast.OpNot || nested && inner.Op == ast.OpNeg {
		w.b.WriteByte(' ')
	}
	w.expr(e.X, levelUnary)
}

func (w *exprWriter) list(left string, items []ast.Expr, right string) {
	w.b.WriteString(left)
	for i, item := range items {
		if i > 0 {
			w.b.WriteString(", ")
		}
		w.expr(item, levelOr)
	}
	w.b.WriteString(right)
}

func not(is bool) string {
	if is {
		return " NOT"
	}
	return ""
}

func path(e *ast.Path) string {
	switch e.Scope {
	case ast.ScopeBare:
		return field(e.Field.Name)
	case ast.ScopeRelayState:
		return string(e.Scope) + "." + anyField(e.Relay.Name) + "." + anyField(e.Field.Name)
	default:
		return string(e.Scope) + "." + anyField(e.Field.Name)
	}
}

func literal(l *ast.Literal) string {
	switch l.Kind {
	case ast.LiteralBool:
		return strings.ToUpper(strconv.FormatBool(l.Bool))
	case ast.LiteralInt:
		return strconv.FormatUint(l.Int, 10)
	case ast.LiteralFloat:
		return l.Text
	case ast.LiteralString:
		return text(l.Text)
	default:
		return "NULL"
	}
}

// digits is empty for 0, so that tags run q, q1, q2.
func digits(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

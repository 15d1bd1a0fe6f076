// SPDX-License-Identifier: Apache-2.0

package nspltest

import (
	"strings"

	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/nspl/print"
)

// grouped shows how an expression was read: every operation in parentheses of its own.
func grouped(x ast.Expr) string {
	switch e := x.(type) {
	case *ast.Unary:
		return "(" + e.Op.String() + " " + grouped(e.X) + ")"
	case *ast.Binary:
		return "(" + grouped(e.X) + " " + e.Op.String() + " " + grouped(e.Y) + ")"
	case *ast.Cast:
		return "(" + grouped(e.X) + " AS " + e.To.String() + ")"
	case *ast.TryCast:
		return "(TRY " + grouped(e.X) + " AS " + e.To.String() + ")"
	case *ast.In:
		return "(" + grouped(e.X) + negated(e.Not) + " IN {" + groupedList(e.List) + "})"
	case *ast.Between:
		return "(" + grouped(e.X) + negated(e.Not) + " BETWEEN " + grouped(e.Low) + " .. " + grouped(e.High) + ")"
	case *ast.Distinct:
		return "(" + grouped(e.X) + negated(e.Not) + " DISTINCT " + grouped(e.Y) + ")"
	case *ast.Call:
		return string(e.Name.Name) + "(" + groupedList(e.Args) + ")"
	case *ast.List:
		return "[" + groupedList(e.Items) + "]"
	case *ast.If:
		return "(IF " + grouped(e.Cond) + " THEN " + grouped(e.Then) + " ELSE " + grouped(e.Else) + ")"
	case *ast.Case:
		return groupedCase(e)
	default:
		return print.Expr(x)
	}
}

func groupedCase(e *ast.Case) string {
	out := "(CASE"
	if e.Operand != nil {
		out += " " + grouped(e.Operand)
	}
	for _, w := range e.Whens {
		out += " WHEN " + grouped(w.Match) + " THEN " + grouped(w.Then)
	}
	if e.Else != nil {
		out += " ELSE " + grouped(e.Else)
	}
	return out + ")"
}

func groupedList(list []ast.Expr) string {
	parts := make([]string, len(list))
	for i, x := range list {
		parts[i] = grouped(x)
	}
	return strings.Join(parts, ", ")
}

func negated(not bool) string {
	if not {
		return " NOT"
	}
	return ""
}

// SPDX-License-Identifier: Apache-2.0

package ast

// Walk calls visit for x and, where visit answers true, for the expressions below it in written order. A nil expression is skipped.
func Walk(x Expr, visit func(Expr) bool) {
	if x == nil || !visit(x) {
		return
	}
	for _, child := range children(x) {
		Walk(child, visit)
	}
}

func children(x Expr) []Expr {
	switch e := x.(type) {
	case *Call:
		return e.Args
	case *Unary:
		return []Expr{e.X}
	case *Binary:
		return []Expr{e.X, e.Y}
	case *Cast:
		return []Expr{e.X}
	case *TryCast:
		return []Expr{e.X}
	case *If:
		return []Expr{e.Cond, e.Then, e.Else}
	case *Case:
		return e.parts()
	case *In:
		return append([]Expr{e.X}, e.List...)
	case *Between:
		return []Expr{e.X, e.Low, e.High}
	case *Distinct:
		return []Expr{e.X, e.Y}
	case *List:
		return e.Items
	default:
		return nil
	}
}

func (c *Case) parts() []Expr {
	parts := []Expr{c.Operand}
	for _, w := range c.Whens {
		parts = append(parts, w.Match, w.Then)
	}
	return append(parts, c.Else)
}

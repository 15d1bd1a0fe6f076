// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/types"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

var boolType = types.Of(types.Bool)

func (c *checker) unary(e *ast.Unary) operand {
	x := c.expr(e.X)
	if !c.typed(x) {
		return bad(e.Where())
	}
	if e.Op == ast.OpNot {
		if x.typ.Scalar != types.Bool {
			return c.report(x.span, fault.ExprType, "NOT needs BOOL, not "+x.typ.String(), "NOT binds tighter than comparisons: write NOT (a > 5)")
		}
		return c.derived(boolType, &not{a: x.node}, x)
	}
	if !x.typ.Scalar.Signed() {
		return c.report(x.span, fault.ExprType, "unary `-` needs a signed number, not "+x.typ.String(), "")
	}
	return c.derived(x.typ, newNegate(x.typ.Scalar, x.node), x)
}

var cmpOps = map[ast.Op]cmpOp{ast.OpEq: opEQ, ast.OpNe: opNE, ast.OpLt: opLT, ast.OpLe: opLE, ast.OpGt: opGT, ast.OpGe: opGE}

var arithOps = map[ast.Op]arithOp{ast.OpAdd: opAdd, ast.OpSub: opSub, ast.OpMul: opMul, ast.OpDiv: opDiv, ast.OpMod: opRem}

func (c *checker) binary(e *ast.Binary) operand {
	x, y := c.expr(e.X), c.expr(e.Y)
	if !c.all(x, y) {
		return bad(e.Where())
	}
	switch {
	case e.Op == ast.OpAnd || e.Op == ast.OpOr:
		return c.logic(e, x, y)
	case e.Op.Comparison():
		return c.comparison(e, x, y)
	default:
		return c.arithmetic(e, x, y)
	}
}

func (c *checker) logic(e *ast.Binary, x, y operand) operand {
	ok := true
	for _, o := range []operand{x, y} {
		if o.typ.Scalar != types.Bool {
			c.report(o.span, fault.ExprType, e.Op.String()+" needs BOOL, not "+o.typ.String(), "")
			ok = false
		}
	}
	if !ok {
		return bad(e.Where())
	}
	return c.derived(boolType, &logic{a: x.node, b: y.node, or: e.Op == ast.OpOr}, x, y)
}

func (c *checker) comparison(e *ast.Binary, x, y operand) operand {
	sign := "`" + e.Op.String() + "`"
	if !x.typ.IsScalar() || !y.typ.IsScalar() {
		return c.report(e.OpSpan, fault.ExprType, sign+" does not compare "+x.typ.String()+" and "+y.typ.String(), "lists have no comparison")
	}
	if !c.same(sign, e.OpSpan, x, y) {
		return bad(e.Where())
	}
	op := cmpOps[e.Op]
	if op != opEQ && op != opNE && !x.typ.Scalar.Ordered() {
		return c.report(e.OpSpan, fault.ExprType, sign+" has no meaning for "+x.typ.String(), "numbers, STRING and DATETIME have an order")
	}
	return c.derived(boolType, &compare{a: x.node, b: y.node, op: op}, x, y)
}

func (c *checker) arithmetic(e *ast.Binary, x, y operand) operand {
	sign := "`" + e.Op.String() + "`"
	for _, o := range []operand{x, y} {
		if o.typ.Scalar.Numeric() {
			continue
		}
		hint := ""
		switch {
		case o.typ.Scalar == types.String && e.Op == ast.OpAdd:
			hint = "use concat(a, b) to join text"
		case o.typ.Scalar == types.Datetime:
			hint = "DATETIME has no operators: convert with `x AS I64` (nanoseconds)"
		}
		return c.report(o.span, fault.ExprType, sign+" needs numbers, not "+o.typ.String(), hint)
	}
	if !c.same(sign, e.OpSpan, x, y) {
		return bad(e.Where())
	}
	return c.derived(x.typ, newArith(arithOps[e.Op], x.typ.Scalar, x.node, y.node), x, y)
}

func (c *checker) cast(e ast.Expr, to types.Scalar, toSpan fault.Span, try bool) operand {
	x := c.expr(e)
	if !c.typed(x) {
		return bad(e.Where())
	}
	from := x.typ.Scalar
	switch {
	case !x.typ.IsScalar():
		return c.report(toSpan, fault.ExprType, "lists have no conversions: "+x.typ.String()+" to "+to.String(), "")
	case (from == types.Bytes) != (to == types.Bytes):
		return c.report(toSpan, fault.ExprType, from.String()+" does not convert to "+to.String(), "BYTES becomes text through functions only")
	}
	v := c.derived(types.Of(to), newCast(x.node, from, to, try), x)
	v.optional = v.optional || try
	return v
}

func (c *checker) between(e *ast.Between) operand {
	x, lo, hi := c.expr(e.X), c.expr(e.Low), c.expr(e.High)
	if !c.all(x, lo, hi) {
		return bad(e.Where())
	}
	if !x.typ.IsScalar() || !x.typ.Scalar.Ordered() {
		return c.report(x.span, fault.ExprType, "BETWEEN needs a number, STRING or DATETIME, not "+x.typ.String(), "")
	}
	low := c.same("BETWEEN", lo.span, x, lo)
	if !c.same("BETWEEN", hi.span, x, hi) || !low {
		return bad(e.Where())
	}
	return c.derived(boolType, &between{x: x.node, lo: lo.node, hi: hi.node, not: e.Not}, x, lo, hi)
}

func (c *checker) distinct(e *ast.Distinct) operand {
	x, y := c.expr(e.X), c.expr(e.Y)
	if !c.all(x, y) {
		return bad(e.Where())
	}
	if !x.typ.IsScalar() || !y.typ.IsScalar() {
		return c.report(e.Where(), fault.ExprType, "IS DISTINCT FROM does not compare "+x.typ.String()+" and "+y.typ.String(), "lists have no comparison")
	}
	if !c.same("IS DISTINCT FROM", e.Where(), x, y) {
		return bad(e.Where())
	}
	v := c.derived(boolType, &distinct{a: x.node, b: y.node, not: e.Not}, x, y)
	v.optional = false
	return v
}

// in checks [NOT] IN: the elements are constants of exactly the operand's type, evaluated now (nspl 6.2).
func (c *checker) in(e *ast.In) operand {
	x := c.expr(e.X)
	ok := c.typed(x)
	if ok && (!x.typ.IsScalar() || x.typ.Scalar == types.Bytes) {
		c.report(x.span, fault.ExprType, "IN needs a number, BOOL, STRING or DATETIME, not "+x.typ.String(), "")
		ok = false
	}
	set := make([]column, 0, len(e.List))
	for _, element := range e.List {
		col, good := c.element(x, element, ok)
		if good {
			set = append(set, col)
		} else {
			ok = false
		}
	}
	if !ok {
		return bad(e.Where())
	}
	v := c.derived(boolType, buildMember(x.typ.Scalar, x.node, set, e.Not), x)
	v.optional = x.optional && len(e.List) > 0
	return v
}

func (c *checker) element(x operand, e ast.Expr, comparable bool) (column, bool) {
	v := c.expr(e)
	if v.bad {
		return column{}, false
	}
	if v.null {
		c.report(v.span, fault.ExprConstant, "an element of IN cannot be NULL", "test for null with is_null(x)")
		return column{}, false
	}
	if !v.constant {
		c.report(v.span, fault.ExprConstant, "an element of IN must be a constant", "write x = a OR x = b")
		return column{}, false
	}
	if comparable && !c.same("IN", v.span, x, v) {
		return column{}, false
	}
	col, failures := evalConstant(v.node)
	if failures.Len() > 0 {
		c.report(v.span, fault.ExprConstant, "an element of IN fails: "+failures.Rows[0].Text, "")
		return column{}, false
	}
	if col.null() {
		c.report(v.span, fault.ExprConstant, "an element of IN is null", "")
		return column{}, false
	}
	return col, true
}

// choice checks IF and CASE: all results that are not NULL have one exact scalar type (nspl 6.2, conditionals).
func (c *checker) choice(operandExpr ast.Expr, whens []ast.When, other ast.Expr, what string) operand {
	x := &choice{}
	var parts []operand
	var value operand
	ok := true
	if operandExpr != nil {
		value = c.expr(operandExpr)
		if ok = c.typed(value); ok && !value.typ.IsScalar() {
			c.report(value.span, fault.ExprType, "CASE does not compare "+value.typ.String(), "lists have no comparison")
			ok = false
		}
		x.operand = value.node
		parts = append(parts, value)
	}
	var results []operand
	for _, w := range whens {
		match, result := c.expr(w.Match), c.expr(w.Then)
		ok = c.match(operandExpr != nil, value, match, what) && ok
		x.matches = append(x.matches, match.node)
		parts = append(parts, match)
		results = append(results, result)
	}
	if other != nil {
		results = append(results, c.expr(other))
	}
	typ, agreed := c.results(results, what)
	if !ok || !agreed {
		return operand{bad: true}
	}
	x.kind = typ.Scalar
	v := c.derived(typ, x, append(parts, results...)...)
	v.optional = other == nil
	for i, result := range results {
		v.optional = v.optional || result.optional || result.null
		n := result.node
		if result.null {
			n = &nullOf{typ.Scalar}
		}
		if i < len(whens) {
			x.results = append(x.results, n)
		} else {
			x.other = n
		}
	}
	v.constant = c.constantParts(parts, results)
	return v
}

func (c *checker) constantParts(parts, results []operand) bool {
	for _, o := range append(append([]operand(nil), parts...), results...) {
		if !o.constant && !o.null {
			return false
		}
	}
	return true
}

func (c *checker) match(simple bool, value, match operand, what string) bool {
	switch {
	case !c.typed(match):
		return false
	case simple:
		return value.bad || value.null || c.same("CASE", match.span, value, match)
	case match.typ.Scalar != types.Bool:
		c.report(match.span, fault.ExprType, "a condition of "+what+" is BOOL, not "+match.typ.String(), "")
		return false
	default:
		return true
	}
}

// results finds the one type of all results.
func (c *checker) results(results []operand, what string) (types.Type, bool) {
	var typ types.Type
	ok, nulls := true, 0
	for _, result := range results {
		switch {
		case result.bad:
			ok = false
		case result.null:
			nulls++
		case !result.typ.IsScalar():
			c.report(result.span, fault.ExprType, "a result of "+what+" has a scalar type, not "+result.typ.String(), "")
			ok = false
		case typ.Scalar == types.Invalid:
			typ = result.typ
		case !typ.Equal(result.typ):
			c.report(result.span, fault.ExprType, "all results of "+what+" have one type, not "+typ.String()+" and "+result.typ.String(), "")
			ok = false
		}
	}
	if ok && nulls == len(results) {
		c.report(results[0].span, fault.ExprNull, "no result of "+what+" gives NULL a type", "give a result a type, for example coalesce or a conversion")
		return typ, false
	}
	return typ, ok
}

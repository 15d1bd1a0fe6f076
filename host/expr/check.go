// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"math"
	"slices"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/types"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

// Options restrict what an expression may hold at its place.
type Options struct {
	// Constant refuses fields, now and uuid_v7 (dependency DEFAULT, nspl 6.4). The message names Place.
	Constant bool
	// Place names the clause in messages, for example `DEFAULT`.
	Place string
	// KeepConstants leaves constant subexpressions to the run time. Results are the same; tests prove it.
	KeepConstants bool
}

// Checked is an expression that passed all checks.
type Checked struct {
	Type      types.Type
	Optional  bool
	Sensitive bool
	// Volatile says that the value is not decided by the row alone: it reads now or a random source.
	Volatile bool
	// Span is where the expression stands.
	Span fault.Span

	root  node
	reads []Ref
}

// Reads lists the fields the expression reads, each once.
func (c *Checked) Reads() []Ref { return c.reads }

// Check types an expression against a scope. It reports every defect it finds, each with its exact span; the *Checked is nil if there is
// one. Nothing converts implicitly (nspl 3.1, 6.2).
func Check(e ast.Expr, scope Scope, opts Options) (*Checked, fault.Diagnostics) {
	c := &checker{scope: scope, opts: opts}
	v := c.expr(e)
	if v.null {
		c.report(v.span, fault.ExprNull, "NULL has no type here", "")
	}
	if len(c.faults) > 0 {
		return nil, c.faults
	}
	return &Checked{
		Type: v.typ, Optional: v.optional, Sensitive: v.sensitive, Volatile: c.volatile, Span: v.span, root: v.node, reads: c.reads,
	}, nil
}

// CheckPredicate is Check for a WHERE: the type must be BOOL. It may be optional and sensitive: null keeps no row, and testing is free (nspl 3.3).
func CheckPredicate(e ast.Expr, scope Scope, opts Options) (*Checked, fault.Diagnostics) {
	checked, faults := Check(e, scope, opts)
	if len(faults) == 0 && checked.Type.Scalar != types.Bool {
		return nil, fault.Diagnostics{fault.At(fault.StageCheck, fault.ExprType, e.Where(),
			"the condition is "+checked.Type.String()+", not BOOL", "compare it with something")}
	}
	return checked, faults
}

// Compile makes the program of a checked expression. A Checked is compiled once: the program owns its nodes.
func Compile(c *Checked) *Program {
	if p, ok := c.root.(interface{ markRoot() }); ok {
		p.markRoot()
	}
	reads := make([]string, len(c.reads))
	for i, r := range c.reads {
		reads[i] = r.Path()
	}
	slices.Sort(reads)
	return &Program{root: c.root, typ: c.Type, optional: c.Optional, sensitive: c.Sensitive, reads: slices.Compact(reads)}
}

// operand is a checked subexpression.
type operand struct {
	node      node
	typ       types.Type
	optional  bool
	sensitive bool
	// constant says that the value depends on nothing.
	constant bool
	// null is the literal NULL, which has no type. bad was reported already and silences what depends on it.
	null, bad bool
	span      fault.Span
}

type checker struct {
	scope    Scope
	opts     Options
	faults   fault.Diagnostics
	reads    []Ref
	volatile bool
}

func (c *checker) report(span fault.Span, code fault.Code, message, hint string) operand {
	stage := fault.StageCheck
	if code == fault.ExprFunction {
		stage = fault.StageResolve
	}
	if hint == "" {
		hint = fault.Lookup(code).Hint
	}
	c.faults = append(c.faults, fault.At(stage, code, span, message, hint))
	return operand{bad: true, span: span}
}

func (c *checker) expr(e ast.Expr) operand {
	var v operand
	switch e := e.(type) {
	case *ast.Literal:
		v = c.literal(e)
	case *ast.Path:
		v = c.path(e)
	case *ast.Call:
		v = c.call(e)
	case *ast.Unary:
		v = c.unary(e)
	case *ast.Binary:
		v = c.binary(e)
	case *ast.Cast:
		v = c.cast(e.X, e.To, e.ToSpan, false)
	case *ast.TryCast:
		v = c.cast(e.X, e.To, e.ToSpan, true)
	case *ast.If:
		v = c.choice(nil, []ast.When{{Match: e.Cond, Then: e.Then}}, e.Else, "IF")
	case *ast.Case:
		v = c.choice(e.Operand, e.Whens, e.Else, "CASE")
	case *ast.In:
		v = c.in(e)
	case *ast.Between:
		v = c.between(e)
	case *ast.Distinct:
		v = c.distinct(e)
	case *ast.List:
		for _, item := range e.Items {
			c.expr(item)
		}
		v = c.report(e.Where(), fault.ExprType, "list literals are not available yet", "")
	default:
		v = c.report(e.Where(), fault.ExprPlace, "this expression is not available yet", "")
	}
	v.span = e.Where()
	return c.fold(v)
}

func (c *checker) literal(e *ast.Literal) operand {
	v := operand{constant: true}
	switch e.Kind {
	case ast.LiteralNull:
		return operand{null: true}
	case ast.LiteralBool:
		v.typ, v.node = types.Of(types.Bool), &constant{boolConstant(e.Bool)}
	case ast.LiteralInt:
		if e.Int > math.MaxInt64 {
			return c.report(e.Where(), fault.ExprConstant, "the integer is above 9223372036854775807, the largest I64",
				"write it as text with a conversion: '...' AS U64")
		}
		v.typ, v.node = types.Of(types.I64), &constant{fixedConstant(types.I64, int64(e.Int))}
	case ast.LiteralFloat:
		if math.IsInf(e.Float, 0) {
			return c.report(e.Where(), fault.ExprConstant, "the number is beyond the range of F64", "")
		}
		v.typ, v.node = types.Of(types.F64), &constant{fixedConstant(types.F64, e.Float)}
	default:
		v.typ, v.node = types.Of(types.String), &constant{textConstant(e.Text)}
	}
	return v
}

func (c *checker) path(e *ast.Path) operand {
	if c.opts.Constant {
		return c.report(e.Where(), fault.ExprPlace, "a field cannot be read in "+c.place(), "only constants are allowed here")
	}
	ref, refusal := c.scope.Resolve(e)
	if refusal != nil {
		c.faults = append(c.faults, *refusal)
		return operand{bad: true}
	}
	if !slices.ContainsFunc(c.reads, func(o Ref) bool { return o.Record == ref.Record && o.Column == ref.Column }) {
		c.reads = append(c.reads, ref)
	}
	return operand{node: &reference{ref: ref, konst: ref.Record == RecordBranch}, typ: ref.Type, optional: ref.Optional, sensitive: ref.Sensitive}
}

func (c *checker) place() string {
	if c.opts.Place != "" {
		return c.opts.Place
	}
	return "a constant expression"
}

// derived starts the result of an operation on operands: bad if one is, optional and sensitive if one is (nspl 3.3, 7).
func (c *checker) derived(typ types.Type, n node, from ...operand) operand {
	v := operand{node: n, typ: typ, constant: true}
	for _, o := range from {
		v.optional = v.optional || o.optional
		v.sensitive = v.sensitive || o.sensitive
		v.constant = v.constant && o.constant
		v.bad = v.bad || o.bad
	}
	return v
}

// typed refuses the literal NULL as an operand and says whether the operand can be used.
func (c *checker) typed(o operand) bool {
	if o.null {
		c.report(o.span, fault.ExprNull, "NULL cannot be an operand or an argument", "use is_null(x) to test for null; "+fault.Lookup(fault.ExprNull).Hint)
		return false
	}
	return !o.bad
}

// all is typed for several operands, without stopping at the first defect.
func (c *checker) all(operands ...operand) bool {
	ok := true
	for _, o := range operands {
		ok = c.typed(o) && ok
	}
	return ok
}

// same demands one exact type on both sides.
func (c *checker) same(what string, span fault.Span, a, b operand) bool {
	if a.typ.Equal(b.typ) {
		return true
	}
	hint := "nothing converts by itself: write `x AS " + a.typ.String() + "`"
	if !a.typ.IsScalar() || !b.typ.IsScalar() {
		hint = ""
	} else if a.constant && !b.constant {
		hint = "nothing converts by itself: write `x AS " + b.typ.String() + "`"
	}
	if a.constant != b.constant && a.typ.IsScalar() && b.typ.IsScalar() && a.typ.Scalar.Numeric() && b.typ.Scalar.Numeric() && a.typ.Scalar.Float() != b.typ.Scalar.Float() {
		hint += "; whole constants are I64, 1.0 is F64"
	}
	c.report(span, fault.ExprType, what+" needs one type on both sides, not "+a.typ.String()+" and "+b.typ.String(), hint)
	return false
}

func bad(span fault.Span) operand { return operand{bad: true, span: span} }

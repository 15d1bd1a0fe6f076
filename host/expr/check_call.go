// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/types"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

// function is one builtin. A later one is an entry here, a build function and a node in a file of its own.
type function struct {
	name     string
	min, max int // arguments; max -1 is any number
	// volatile functions are evaluated at each occurrence and are no constants.
	volatile bool
	// build checks the types of the arguments, which are neither bad nor NULL, and makes the node.
	build func(c *checker, f *function, call *ast.Call, args []operand) operand
}

// functions lists the builtins by name and alias (nspl 7).
var functions = index([]*function{
	{name: "coalesce", min: 1, max: -1, build: buildCoalesce},
	{name: "is_null", min: 1, max: 1, build: buildIsNull},
	{name: "nullif", min: 2, max: 2, build: buildNullif},
	{name: "greatest", min: 1, max: -1, build: buildExtrema},
	{name: "least", min: 1, max: -1, build: buildExtrema},
	{name: "leak_sensitive", min: 1, max: 1, build: buildLeak},
	{name: "now", volatile: true, build: buildNow},
	{name: "uuid_v7", volatile: true, build: buildUUID},
	{name: "lower", min: 1, max: 1, build: buildText},
	{name: "upper", min: 1, max: 1, build: buildText},
	{name: "trim", min: 1, max: 1, build: buildText},
	{name: "length", min: 1, max: 1, build: buildText},
	{name: "substr", min: 2, max: 3, build: buildSubstr},
	{name: "concat", min: 1, max: -1, build: buildConcat},
	{name: "contains", min: 2, max: 2, build: buildSearch},
	{name: "starts_with", min: 2, max: 2, build: buildSearch},
	{name: "ends_with", min: 2, max: 2, build: buildSearch},
	{name: "abs", min: 1, max: 1, build: buildNumber},
	{name: "floor", min: 1, max: 1, build: buildNumber},
	{name: "round", min: 1, max: 2, build: buildNumber},
}, map[string]string{"substring": "substr"})

func index(list []*function, aliases map[string]string) map[string]*function {
	m := make(map[string]*function, len(list)+len(aliases))
	for _, f := range list {
		m[f.name] = f
	}
	for alias, name := range aliases {
		m[alias] = m[name]
	}
	return m
}

// Canonical gives the name a function is printed and reported by, for an alias or the name itself, and whether it exists.
func Canonical(name string) (string, bool) {
	f, ok := functions[name]
	if !ok {
		return name, false
	}
	return f.name, true
}

// FunctionNames lists all names and aliases in order, for completion.
func FunctionNames() []string {
	names := make([]string, 0, len(functions))
	for name := range functions {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (c *checker) call(e *ast.Call) operand {
	args := make([]operand, len(e.Args))
	for i, a := range e.Args {
		args[i] = c.expr(a)
	}
	f, ok := functions[string(e.Name.Name)]
	if !ok {
		hint := ""
		if s := Suggest(string(e.Name.Name), FunctionNames()); s != "" {
			hint = "did you mean `" + s + "`?"
		}
		if strings.EqualFold(string(e.Name.Name), "cast") {
			hint = "a conversion is written `x AS F64`; TRY_CAST(x AS F64) gives null where it fails"
		}
		return c.report(e.Name.Span, fault.ExprFunction, "there is no function `"+string(e.Name.Name)+"`", hint)
	}
	if len(args) < f.min || f.max >= 0 && len(args) > f.max {
		return c.report(e.Where(), fault.ExprArguments, f.name+" takes "+arity(f)+", not "+strconv.Itoa(len(args)), "")
	}
	if f.volatile {
		if c.opts.Constant {
			return c.report(e.Where(), fault.ExprPlace, f.name+" cannot be called in "+c.place(), "only constants are allowed here")
		}
		c.volatile = true
	}
	if !c.all(args...) {
		return bad(e.Where())
	}
	v := f.build(c, f, e, args)
	v.constant = v.constant && !f.volatile
	return v
}

func arity(f *function) string {
	switch {
	case f.max < 0:
		return "at least " + strconv.Itoa(f.min) + plural(f.min)
	case f.min == f.max && f.min == 0:
		return "no arguments"
	case f.min == f.max:
		return strconv.Itoa(f.min) + plural(f.min)
	default:
		return strconv.Itoa(f.min) + " to " + strconv.Itoa(f.max) + " arguments"
	}
}

func plural(n int) string {
	if n == 1 {
		return " argument"
	}
	return " arguments"
}

// demand reports an argument of a wrong type.
func (c *checker) demand(f *function, o operand, ok bool, want string) bool {
	if !ok {
		c.report(o.span, fault.ExprType, f.name+" needs "+want+", not "+o.typ.String(), "")
	}
	return ok
}

func (c *checker) texts(f *function, args []operand) bool {
	ok := true
	for _, a := range args {
		ok = c.demand(f, a, a.typ.Scalar == types.String, "STRING") && ok
	}
	return ok
}

// oneType demands that all arguments have the type of the first.
func (c *checker) oneType(f *function, args []operand) bool {
	ok := true
	for _, a := range args[1:] {
		ok = c.same(f.name, a.span, args[0], a) && ok
	}
	return ok
}

func nodes(args []operand) []node {
	out := make([]node, len(args))
	for i, a := range args {
		out[i] = a.node
	}
	return out
}

// allOptional is the rule of coalesce, greatest and least: optional only if every argument is.
func allOptional(args []operand) bool {
	for _, a := range args {
		if !a.optional {
			return false
		}
	}
	return true
}

func buildCoalesce(c *checker, f *function, _ *ast.Call, args []operand) operand {
	if !c.oneType(f, args) {
		return operand{bad: true}
	}
	if !args[0].typ.IsScalar() && len(args) > 1 {
		return c.report(args[0].span, fault.ExprType, "coalesce of "+args[0].typ.String()+" is not available yet", "")
	}
	v := c.derived(args[0].typ, &coalesce{kind: args[0].typ.Scalar, args: nodes(args)}, args...)
	v.optional = allOptional(args)
	return v
}

func buildIsNull(c *checker, _ *function, _ *ast.Call, args []operand) operand {
	v := c.derived(boolType, &isNull{a: args[0].node}, args...)
	v.optional = false
	return v
}

func buildNullif(c *checker, f *function, _ *ast.Call, args []operand) operand {
	if !c.demand(f, args[0], args[0].typ.IsScalar(), "a scalar") || !c.oneType(f, args) {
		return operand{bad: true}
	}
	v := c.derived(args[0].typ, &nullif{kind: args[0].typ.Scalar, a: args[0].node, b: args[1].node}, args...)
	v.optional = true
	return v
}

func buildExtrema(c *checker, f *function, _ *ast.Call, args []operand) operand {
	if !c.demand(f, args[0], args[0].typ.IsScalar(), "a scalar") || !c.oneType(f, args) {
		return operand{bad: true}
	}
	v := c.derived(args[0].typ, &extrema{kind: args[0].typ.Scalar, args: nodes(args), least: f.name == "least"}, args...)
	v.optional = allOptional(args)
	return v
}

// buildLeak clears the sensitivity and costs nothing at run time (nspl 3.3).
func buildLeak(_ *checker, _ *function, _ *ast.Call, args []operand) operand {
	v := args[0]
	v.sensitive = false
	return v
}

func buildNow(c *checker, _ *function, _ *ast.Call, _ []operand) operand {
	return c.derived(types.Of(types.Datetime), now{})
}

func buildUUID(c *checker, _ *function, _ *ast.Call, _ []operand) operand {
	return c.derived(types.Of(types.String), &uuidV7{})
}

func buildText(c *checker, f *function, _ *ast.Call, args []operand) operand {
	if !c.texts(f, args) {
		return operand{bad: true}
	}
	a := args[0].node
	switch f.name {
	case "length":
		return c.derived(types.Of(types.I64), &length{a: a}, args...)
	case "trim":
		return c.derived(types.Of(types.String), &trim{a: a}, args...)
	default:
		return c.derived(types.Of(types.String), &changeCase{a: a, up: f.name == "upper"}, args...)
	}
}

func buildSubstr(c *checker, f *function, _ *ast.Call, args []operand) operand {
	ok := c.texts(f, args[:1])
	for _, a := range args[1:] {
		ok = c.demand(f, a, a.typ.Scalar.Integer(), "an integer") && ok
	}
	if !ok {
		return operand{bad: true}
	}
	x := &substr{a: args[0].node, from: args[1].node}
	if len(args) == 3 {
		x.count = args[2].node
	}
	return c.derived(types.Of(types.String), x, args...)
}

func buildConcat(c *checker, f *function, _ *ast.Call, args []operand) operand {
	if !c.texts(f, args) {
		return operand{bad: true}
	}
	return c.derived(types.Of(types.String), &concat{args: nodes(args)}, args...)
}

func buildSearch(c *checker, f *function, _ *ast.Call, args []operand) operand {
	if !c.texts(f, args) {
		return operand{bad: true}
	}
	what := map[string]searchKind{"contains": searchContains, "starts_with": searchStarts, "ends_with": searchEnds}[f.name]
	return c.derived(boolType, &search{a: args[0].node, b: args[1].node, what: what}, args...)
}

func buildNumber(c *checker, f *function, _ *ast.Call, args []operand) operand {
	x := args[0]
	ok := c.demand(f, x, x.typ.Scalar.Numeric(), "a number")
	if len(args) == 2 {
		ok = c.demand(f, args[1], args[1].typ.Scalar.Integer(), "an integer number of places") && ok
	}
	if !ok {
		return operand{bad: true}
	}
	kind := x.typ.Scalar
	var n node
	switch {
	case f.name == "abs":
		n = newAbs(kind, x.node)
	case len(args) == 2:
		n = &roundDigits{a: x.node, d: args[1].node, kind: kind}
	case !kind.Float():
		n = x.node
	case f.name == "floor":
		n = newRoundFloat(kind, x.node, f.name, math.Floor)
	default:
		n = newRoundFloat(kind, x.node, f.name, math.Round)
	}
	return c.derived(x.typ, n, args...)
}

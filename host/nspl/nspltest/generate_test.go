// SPDX-License-Identifier: Apache-2.0

package nspltest

import (
	"strconv"
	"strings"

	"pgregory.net/rapid"

	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/types"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

// awkward are names that look like something else: keywords, operators of ALTER, durations, numbers, scopes.
var awkward = []string{
	"where", "end", "set", "add", "rename", "flush", "to", "from", "if", "not", "10s", "2", "5e-3", "input", "relay_state", "branch_key", "a-b", "a--b", "-x", "~",
	".", "a.b", "x.", "null", "true", "on", "_", "between", "udf", "as", "schema", "64kib",
}

func names() *rapid.Generator[ast.Ident] {
	return rapid.Custom(func(t *rapid.T) ast.Ident {
		if rapid.Bool().Draw(t, "awkward") {
			return ast.Ident{Name: ident.Name(rapid.SampledFrom(awkward).Draw(t, "name"))}
		}
		return ast.Ident{Name: ident.Name(rapid.StringMatching(`[a-z0-9_~.-]{1,12}`).Draw(t, "name"))}
	})
}

func strs() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.StringOf(rapid.SampledFrom([]rune("ab' \"$q1\n\r\\;-/\x00é`"))),
		rapid.String().Filter(func(s string) bool { return strings.ToValidUTF8(s, "") == s }),
	)
}

func duration(t *rapid.T) ast.Duration {
	text := rapid.SampledFrom([]string{"250ms", "1h30m", "1d2h3m4s5ms6us7ns", "1µs", "007s", "18446744073709551615ns"}).Draw(t, "duration")
	ns := map[string]uint64{
		"250ms": 250e6, "1h30m": 5400e9, "1d2h3m4s5ms6us7ns": 93784005006007, "1µs": 1000, "007s": 7e9, "18446744073709551615ns": 18446744073709551615,
	}
	return ast.Duration{NS: ns[text], Text: text}
}

func size(t *rapid.T) ast.Size {
	n := rapid.Uint64Range(1, 1<<40).Draw(t, "size")
	return ast.Size{Bytes: n << 10, Text: strconv.FormatUint(n, 10) + "KiB"}
}

func count(t *rapid.T) ast.Uint {
	return ast.Uint{Value: rapid.OneOf(rapid.Just(uint64(18446744073709551615)), rapid.Uint64Range(1, 1000)).Draw(t, "count")}
}

var scalars = []types.Scalar{
	types.U8, types.I8, types.U16, types.I16, types.U32, types.I32, types.U64, types.I64, types.F32, types.F64, types.Bool, types.String, types.Datetime,
}

func scalar(t *rapid.T) types.Scalar { return rapid.SampledFrom(scalars).Draw(t, "scalar") }

func literal(t *rapid.T, most uint64) *ast.Literal {
	switch rapid.IntRange(0, 4).Draw(t, "literal") {
	case 0:
		return &ast.Literal{Kind: ast.LiteralNull}
	case 1:
		return &ast.Literal{Kind: ast.LiteralBool, Bool: rapid.Bool().Draw(t, "bool")}
	case 2:
		return integer(t, most)
	case 3:
		return float(t)
	default:
		return &ast.Literal{Kind: ast.LiteralString, Text: strs().Draw(t, "string")}
	}
}

func integer(t *rapid.T, most uint64) *ast.Literal {
	n := rapid.Uint64Range(0, most).Draw(t, "integer")
	return &ast.Literal{Kind: ast.LiteralInt, Int: n, Text: strconv.FormatUint(n, 10)}
}

func float(t *rapid.T) *ast.Literal {
	text := rapid.StringMatching(`[0-9]{1,5}\.[0-9]{1,5}`).Draw(t, "float")
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return &ast.Literal{Kind: ast.LiteralFloat, Float: f, Text: text}
}

const maxI64 = 1<<63 - 1

// expr draws an expression of at most the given depth; every form appears.
func expr(t *rapid.T, depth int) ast.Expr {
	if depth == 0 {
		return leaf(t)
	}
	sub := func() ast.Expr { return expr(t, depth-1) }
	flag := func() bool { return rapid.Bool().Draw(t, "flag") }
	switch rapid.IntRange(0, 11).Draw(t, "form") {
	case 0:
		return leaf(t)
	case 1:
		return &ast.Call{Name: ast.Ident{Name: rapid.SampledFrom([]ident.Name{"now", "lower", "if", "in", "case", "input", "add"}).Draw(t, "function")}, Args: exprs(t, depth-1)}
	case 2:
		return &ast.Unary{Op: rapid.SampledFrom([]ast.Op{ast.OpNeg, ast.OpNot}).Draw(t, "op"), X: sub()}
	case 3, 4:
		return &ast.Binary{Op: ast.Op(rapid.IntRange(int(ast.OpOr), int(ast.OpMod)).Draw(t, "op")), X: sub(), Y: sub()}
	case 5:
		return &ast.Cast{X: sub(), To: scalar(t)}
	case 6:
		return &ast.TryCast{X: sub(), To: scalar(t)}
	case 7:
		return &ast.If{Cond: sub(), Then: sub(), Else: sub()}
	case 8:
		return caseExpr(t, depth-1)
	case 9:
		return &ast.In{X: sub(), Not: flag(), List: constants(t)}
	case 10:
		return &ast.Between{X: sub(), Not: flag(), Low: sub(), High: sub()}
	default:
		if flag() {
			return &ast.List{Items: append(exprs(t, depth-1), sub())}
		}
		return &ast.Distinct{X: sub(), Not: flag(), Y: sub()}
	}
}

func exprs(t *rapid.T, depth int) []ast.Expr {
	var list []ast.Expr
	for range rapid.IntRange(0, 2).Draw(t, "items") {
		list = append(list, expr(t, depth))
	}
	return list
}

func caseExpr(t *rapid.T, depth int) ast.Expr {
	c := &ast.Case{}
	if rapid.Bool().Draw(t, "operand") {
		c.Operand = expr(t, depth)
	}
	for range rapid.IntRange(1, 2).Draw(t, "arms") {
		c.Whens = append(c.Whens, ast.When{Match: expr(t, depth), Then: expr(t, depth)})
	}
	if rapid.Bool().Draw(t, "else") {
		c.Else = expr(t, depth)
	}
	return c
}

func leaf(t *rapid.T) ast.Expr {
	if rapid.Bool().Draw(t, "literal") {
		return literal(t, maxI64)
	}
	scope := rapid.SampledFrom(append(ast.Scopes(), ast.ScopeBare)).Draw(t, "scope")
	p := &ast.Path{Scope: scope, Field: names().Draw(t, "field")}
	if scope == ast.ScopeRelayState {
		p.Relay = names().Draw(t, "relay")
	}
	return p
}

func constants(t *rapid.T) []ast.Expr {
	var list []ast.Expr
	for range rapid.IntRange(0, 3).Draw(t, "constants") {
		list = append(list, constant(t, 2))
	}
	return list
}

func constant(t *rapid.T, depth int) ast.Expr {
	if depth > 0 && rapid.IntRange(0, 3).Draw(t, "try") == 0 {
		return &ast.TryCast{X: constant(t, depth-1), To: scalar(t)}
	}
	var x ast.Expr = literal(t, maxI64)
	for range rapid.IntRange(0, 2).Draw(t, "casts") {
		x = &ast.Cast{X: x, To: scalar(t)}
	}
	if rapid.Bool().Draw(t, "sign") {
		x = &ast.Unary{Op: rapid.SampledFrom([]ast.Op{ast.OpNeg, ast.OpNot}).Draw(t, "op"), X: x}
	}
	return x
}

func maybeExpr(t *rapid.T) ast.Expr {
	if rapid.Bool().Draw(t, "left out") {
		return nil
	}
	return expr(t, 2)
}

// SPDX-License-Identifier: Apache-2.0

package expr_test

import (
	"math"
	"strconv"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"pgregory.net/rapid"

	"github.com/nervix-go/nervix/host/expr"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/types"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/nspl/print"
)

var scalars = []types.Scalar{
	types.U8, types.I8, types.U16, types.I16, types.U32, types.I32, types.U64, types.I64, types.F32, types.F64, types.Bool, types.String, types.Datetime,
}

var numeric = scalars[:10]

// drawValue draws a value of a type with many borderline cases.
func drawValue(t *rapid.T, k types.Scalar) any {
	switch k {
	case types.Bool:
		return rapid.Bool().Draw(t, "bool")
	case types.String:
		return rapid.OneOf(
			rapid.SampledFrom([]string{"", "a", "ab", "A", "ß", "  x ", "12", "-7", "true", "0.5", "1e3", "ÄΣ", "𝄞", "no", "2031-05-01T06:00:00Z", "NaN", "255", "128"}),
			rapid.StringN(0, 6, 20),
		).Draw(t, "string")
	case types.F64:
		return rapid.OneOf(
			rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1, -1, 0.5, 2.5, -2.5, 2.675, 1e300, math.NaN(), math.Inf(1), math.Inf(-1), 1 << 63, 255, 1e-320}),
			rapid.Float64(), rapid.Map(rapid.Int16(), func(v int16) float64 { return float64(v) / 8 }),
		).Draw(t, "f64")
	case types.F32:
		return rapid.OneOf(
			rapid.SampledFrom([]float32{0, 1, -1, 0.5, 2.5, 1e38, float32(math.NaN()), float32(math.Inf(1)), 255}), rapid.Float32(),
		).Draw(t, "f32")
	}
	raw := rapid.OneOf(rapid.SampledFrom([]int64{0, 1, -1, 2, 7, 10, math.MinInt64, math.MaxInt64, 127, -128, 1 << 31, -1 << 31, 1<<53 + 1}), rapid.Int64Range(-20, 20), rapid.Int64()).Draw(t, "int")
	switch k {
	case types.U8:
		return uint8(raw)
	case types.I8:
		return int8(raw)
	case types.U16:
		return uint16(raw)
	case types.I16:
		return int16(raw)
	case types.U32:
		return uint32(raw)
	case types.I32:
		return int32(raw)
	case types.U64:
		return uint64(raw)
	default:
		return raw
	}
}

// drawWorld draws an input with a required and an optional column of each type (some of them sliced) and a key likewise.
func drawWorld(t *rapid.T) *world {
	rows := rapid.OneOf(rapid.IntRange(0, 20), rapid.SampledFrom([]int{64, 65, 127, 130})).Draw(t, "rows")
	var fields, keys []types.Field
	w := &world{}
	for _, k := range scalars {
		for _, optional := range []bool{false, true} {
			name := columnName(k, optional)
			fields = append(fields, types.Field{Name: name, Type: types.Of(k), Optional: optional})
			keys = append(keys, types.Field{Name: name, Type: types.Of(k), Optional: optional})
			seed := make([]any, min(rows, 7))
			for i := range seed {
				if !optional || rapid.IntRange(0, 3).Draw(t, "null") > 0 {
					seed[i] = drawValue(t, k)
				}
			}
			values := make([]any, rows)
			for i := range values {
				values[i] = seed[(i*i+i/7)%len(seed)]
			}
			skip := rapid.SampledFrom([]int{0, 0, 3, 8, 13}).Draw(t, "skip")
			w.env.Columns[expr.RecordInput] = append(w.env.Columns[expr.RecordInput], build(k, values, skip))
			var key any
			if !optional || rapid.Bool().Draw(t, "key") {
				key = drawValue(t, k)
			}
			w.env.Columns[expr.RecordBranch] = append(w.env.Columns[expr.RecordBranch], build(k, []any{key}, 0))
		}
	}
	w.input, w.branch = types.NewSchema("input", fields), types.NewSchema("branch", keys)
	w.env.Rows = rows
	w.env.Now = vtime.LogicalFromNS(rapid.Int64().Draw(t, "now"))
	return w
}

func columnName(k types.Scalar, optional bool) ident.Name {
	name := "c" + strconv.Itoa(int(k))
	if optional {
		name += "o"
	}
	return ident.Name(name)
}

// drawExpr draws a well-typed expression.
func drawExpr(t *rapid.T, k types.Scalar, depth int) ast.Expr {
	if depth == 0 || rapid.IntRange(0, 5).Draw(t, "leaf") == 0 {
		return drawLeaf(t, k)
	}
	arg := func(k types.Scalar) ast.Expr { return drawExpr(t, k, depth-1) }
	any1 := func() types.Scalar { return rapid.SampledFrom(scalars).Draw(t, "type") }
	forms := []func() ast.Expr{
		func() ast.Expr { return &ast.Cast{X: arg(any1()), To: k} },
		func() ast.Expr { return &ast.TryCast{X: arg(any1()), To: k} },
		func() ast.Expr { return &ast.If{Cond: arg(types.Bool), Then: arg(k), Else: arg(k)} },
		func() ast.Expr { return drawCase(t, k, depth) },
		func() ast.Expr { return call("coalesce", arg(k), arg(k)) },
		func() ast.Expr { return call("nullif", arg(k), arg(k)) },
		func() ast.Expr {
			return call(rapid.SampledFrom([]string{"greatest", "least"}).Draw(t, "f"), arg(k), arg(k), arg(k))
		},
		func() ast.Expr { return call("leak_sensitive", arg(k)) },
	}
	switch {
	case k == types.Bool:
		forms = append(forms, boolForms(t, depth)...)
	case k == types.String:
		forms = append(forms,
			func() ast.Expr {
				return call(rapid.SampledFrom([]string{"lower", "upper", "trim"}).Draw(t, "f"), arg(k))
			},
			func() ast.Expr { return call("concat", arg(k), arg(k)) },
			func() ast.Expr {
				return call("substr", arg(k), arg(rapid.SampledFrom(scalars[:8]).Draw(t, "int")), arg(types.I64))
			},
			func() ast.Expr { return call("substr", arg(k), arg(types.I64)) },
		)
	case k == types.Datetime:
		forms = append(forms, func() ast.Expr { return call("now") })
	default:
		forms = append(forms, numberForms(t, k, depth)...)
	}
	return rapid.SampledFrom(forms).Draw(t, "form")()
}

func numberForms(t *rapid.T, k types.Scalar, depth int) []func() ast.Expr {
	arg := func(k types.Scalar) ast.Expr { return drawExpr(t, k, depth-1) }
	ops := []ast.Op{ast.OpAdd, ast.OpSub, ast.OpMul, ast.OpDiv, ast.OpMod}
	arithmetic := func() ast.Expr {
		return &ast.Binary{Op: rapid.SampledFrom(ops).Draw(t, "op"), X: arg(k), Y: arg(k)}
	}
	forms := []func() ast.Expr{
		arithmetic, arithmetic, arithmetic,
		func() ast.Expr {
			return call(rapid.SampledFrom([]string{"abs", "floor", "round"}).Draw(t, "f"), arg(k))
		},
		func() ast.Expr { return call("round", arg(k), small(t)) },
	}
	if k.Signed() {
		forms = append(forms, func() ast.Expr { return &ast.Unary{Op: ast.OpNeg, X: arg(k)} })
	}
	if k == types.I64 {
		forms = append(forms, func() ast.Expr { return call("length", arg(types.String)) })
	}
	return forms
}

func small(t *rapid.T) ast.Expr {
	return &ast.Unary{Op: ast.OpNeg, X: &ast.Binary{Op: ast.OpSub, X: integer(10), Y: integer(uint64(rapid.IntRange(0, 30).Draw(t, "digits")))}}
}

func boolForms(t *rapid.T, depth int) []func() ast.Expr {
	arg := func(k types.Scalar) ast.Expr { return drawExpr(t, k, depth-1) }
	kind := func(from []types.Scalar) types.Scalar { return rapid.SampledFrom(from).Draw(t, "type") }
	ordered := append(append([]types.Scalar(nil), numeric...), types.String, types.Datetime)
	return []func() ast.Expr{
		func() ast.Expr {
			k := kind(ordered)
			op := rapid.SampledFrom([]ast.Op{ast.OpEq, ast.OpNe, ast.OpLt, ast.OpLe, ast.OpGt, ast.OpGe}).Draw(t, "op")
			return &ast.Binary{Op: op, X: arg(k), Y: arg(k)}
		},
		func() ast.Expr {
			return &ast.Binary{Op: rapid.SampledFrom([]ast.Op{ast.OpAnd, ast.OpOr, ast.OpEq, ast.OpNe}).Draw(t, "op"), X: arg(types.Bool), Y: arg(types.Bool)}
		},
		func() ast.Expr { return &ast.Unary{Op: ast.OpNot, X: arg(types.Bool)} },
		func() ast.Expr {
			k := kind(ordered)
			return &ast.Between{X: arg(k), Low: arg(k), High: arg(k), Not: rapid.Bool().Draw(t, "not")}
		},
		func() ast.Expr {
			k := kind(scalars)
			return &ast.Distinct{X: arg(k), Y: arg(k), Not: rapid.Bool().Draw(t, "not")}
		},
		func() ast.Expr { return call("is_null", arg(kind(scalars))) },
		func() ast.Expr {
			return call(rapid.SampledFrom([]string{"contains", "starts_with", "ends_with"}).Draw(t, "f"), arg(types.String), arg(types.String))
		},
		func() ast.Expr {
			in := &ast.In{X: arg(types.I64), Not: rapid.Bool().Draw(t, "not")}
			for range rapid.IntRange(0, 12).Draw(t, "set") {
				in.List = append(in.List, integer(uint64(rapid.IntRange(0, 20).Draw(t, "element"))))
			}
			return in
		},
	}
}

func drawCase(t *rapid.T, k types.Scalar, depth int) ast.Expr {
	e := &ast.Case{}
	match := types.Bool
	if rapid.Bool().Draw(t, "simple") {
		match = rapid.SampledFrom(scalars).Draw(t, "operand")
		e.Operand = drawExpr(t, match, depth-1)
	}
	for i := range rapid.IntRange(1, 3).Draw(t, "whens") {
		then := drawExpr(t, k, depth-1)
		if i > 0 && rapid.IntRange(0, 4).Draw(t, "null") == 0 {
			then = &ast.Literal{Kind: ast.LiteralNull}
		}
		e.Whens = append(e.Whens, ast.When{Match: drawExpr(t, match, depth-1), Then: then})
	}
	if rapid.Bool().Draw(t, "else") {
		e.Else = drawExpr(t, k, depth-1)
	}
	return e
}

func drawLeaf(t *rapid.T, k types.Scalar) ast.Expr {
	scope := rapid.SampledFrom([]ast.Scope{ast.ScopeInput, ast.ScopeInput, ast.ScopeInput, ast.ScopeBranch}).Draw(t, "scope")
	if rapid.IntRange(0, 2).Draw(t, "literal") > 0 {
		return &ast.Path{Scope: scope, Field: ast.Ident{Name: columnName(k, rapid.Bool().Draw(t, "optional"))}}
	}
	switch k {
	case types.Bool:
		return &ast.Literal{Kind: ast.LiteralBool, Bool: rapid.Bool().Draw(t, "bool")}
	case types.I64:
		return integer(uint64(rapid.SampledFrom([]int64{0, 1, 3, 10, math.MaxInt64}).Draw(t, "int")))
	case types.F64:
		return &ast.Literal{Kind: ast.LiteralFloat, Float: rapid.SampledFrom([]float64{0, 0.5, 1, 2.25, 1e18}).Draw(t, "float")}
	case types.String:
		return &ast.Literal{Kind: ast.LiteralString, Text: drawValue(t, k).(string)}
	default:
		return &ast.Cast{X: integer(uint64(rapid.IntRange(0, 300).Draw(t, "int"))), To: k}
	}
}

func integer(v uint64) ast.Expr { return &ast.Literal{Kind: ast.LiteralInt, Int: v} }

func call(name string, args ...ast.Expr) ast.Expr {
	return &ast.Call{Name: ast.Ident{Name: ident.Name(name)}, Args: args}
}

// rowOf is one row as the reference reads it.
func (w *world) rowOf(i int) map[string]any {
	row := make(map[string]any)
	for c, f := range w.input.Fields() {
		row["input."+string(f.Name)] = tagged(valueAt(w.env.Columns[expr.RecordInput][c], i), f.Type.Scalar)
	}
	for c, f := range w.branch.Fields() {
		row["branch."+string(f.Name)] = tagged(valueAt(w.env.Columns[expr.RecordBranch][c], 0), f.Type.Scalar)
	}
	return row
}

func tagged(v any, k types.Scalar) any {
	if ns, ok := v.(int64); ok && k == types.Datetime {
		return moment(ns)
	}
	return v
}

// slice is the world of rows from..to.
func (w *world) slice(from, to int) *world {
	part := *w
	part.env.Rows = to - from
	part.env.Columns[expr.RecordInput] = nil
	for _, c := range w.env.Columns[expr.RecordInput] {
		part.env.Columns[expr.RecordInput] = append(part.env.Columns[expr.RecordInput], array.NewSlice(c, int64(from), int64(to)))
	}
	return &part
}

// results are the values of a program over a world, failures as kinds.
func results(t *rapid.T, w *world, p *expr.Program) []any {
	res := p.Eval(&w.env)
	defer res.Array.Release()
	if res.Array.Len() != w.env.Rows || !arrow.TypeEqual(res.Array.DataType(), p.Type().Arrow()) {
		t.Fatalf("%d rows of %v, want %d of %v", res.Array.Len(), res.Array.DataType(), w.env.Rows, p.Type())
	}
	out := valuesOf(res.Array)
	for i := range out {
		out[i] = tagged(out[i], p.Type().Scalar)
		if !p.Optional() && out[i] == nil && !res.Failed.Failed(i) {
			t.Fatalf("row %d of a required expression is null", i)
		}
	}
	for j := range res.Failed.Len() {
		f := res.Failed.Rows[j]
		if out[f.Row] != nil || f.Text == "" {
			t.Fatalf("failed row %d: value %v, text %q", f.Row, out[f.Row], f.Text)
		}
		out[f.Row] = f.Kind
	}
	return out
}

func agree(t *rapid.T, what string, got, want []any) {
	if len(got) != len(want) {
		t.Fatalf("%s: %d rows, want %d", what, len(got), len(want))
	}
	for i := range got {
		if !same(got[i], want[i]) {
			t.Fatalf("%s: row %d is %v (%T), want %v (%T)", what, i, got[i], got[i], want[i], want[i])
		}
	}
}

// TestAgainstReference: a program gives what a walk over the tree gives for every row, folded or not, whole or split.
func TestAgainstReference(t *testing.T) {
	// req: N05
	scratch := expr.NewScratch()
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		defer func() {
			if n := mem.CurrentAlloc(); n != 0 {
				t.Fatalf("%d bytes were not released", n)
			}
		}()
		w.env.Alloc, w.env.Scratch = mem, scratch
		kind := rapid.SampledFrom(scalars).Draw(t, "kind")
		e := drawExpr(t, kind, rapid.IntRange(1, 4).Draw(t, "depth"))
		plain := compile(t, w, e, expr.Options{KeepConstants: true})
		got := results(t, w, plain)
		want := make([]any, w.env.Rows)
		for i := range want {
			r := &reference{row: w.rowOf(i), now: w.env.Now.NS()}
			if want[i] = r.eval(e); r.kind != 0 {
				want[i] = r.kind
			}
		}
		agree(t, "reference of "+print.Expr(e), got, want)
		folded := compile(t, w, e, expr.Options{})
		agree(t, "folded", results(t, w, folded), got)
		cut := rapid.IntRange(0, w.env.Rows).Draw(t, "cut")
		front, back := w.slice(0, cut), w.slice(cut, w.env.Rows)
		agree(t, "split", append(results(t, front, folded), results(t, back, folded)...), got)
		if kind == types.Bool {
			mask, failed := folded.EvalMask(&w.env, nil)
			for i, v := range got {
				if selected := mask[i>>3]>>(i&7)&1 == 1; selected != (v == true) {
					t.Fatalf("mask of row %d is %v, the value is %v", i, selected, v)
				}
				if _, isKind := v.(expr.Kind); isKind != failed.Failed(i) {
					t.Fatalf("row %d: failed in the mask: %v, value %v", i, failed.Failed(i), v)
				}
			}
		}
	})
}

func compile(t *rapid.T, w *world, e ast.Expr, opts expr.Options) *expr.Program {
	checked, faults := expr.Check(e, w, opts)
	if len(faults) > 0 {
		t.Fatalf("refused: %v", faults)
	}
	return expr.Compile(checked)
}

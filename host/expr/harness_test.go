// SPDX-License-Identifier: Apache-2.0

package expr_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/host/expr"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/types"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/nspl/parse"
)

// world is an input record and a branch key, each a schema with columns.
type world struct {
	input, branch *types.Schema
	env           expr.Env
}

// Resolve reads bare and input fields from the input, branch fields from the key.
func (w *world) Resolve(p *ast.Path) (expr.Ref, *fault.Diagnostic) {
	record, schema := expr.RecordInput, w.input
	if p.Scope == ast.ScopeBranch {
		record, schema = expr.RecordBranch, w.branch
	}
	i, ok := schema.Index(p.Field.Name)
	if !ok {
		d := fault.At(fault.StageResolve, fault.ExprField, p.Where(), "no field `"+string(p.Field.Name)+"`", expr.FieldHint(p.Field.Name, schema))
		return expr.Ref{}, &d
	}
	f := schema.Field(i)
	return expr.Ref{Record: record, Column: i, Field: f.Name, Type: f.Type, Optional: f.Optional, Sensitive: f.Sensitive}, nil
}

// col is a column of a world: values are nil, bool, string, time as int64, or a number of the Go type of the column.
type col struct {
	name      string
	kind      types.Scalar
	optional  bool
	sensitive bool
	values    []any
}

func newWorld(cols ...col) *world {
	w := &world{}
	in := append([]col(nil), cols...)
	w.input, w.env.Columns[expr.RecordInput] = record("input", in)
	w.branch = types.NewSchema("branch", nil)
	if len(cols) > 0 {
		w.env.Rows = len(cols[0].values)
	}
	w.env.Now = vtime.LogicalFromNS(1_700_000_000_123_456_789)
	w.env.Random = func(b []byte) {
		for i := range b {
			b[i] = byte(i * 37)
		}
	}
	return w
}

func (w *world) withBranch(cols ...col) *world {
	w.branch, w.env.Columns[expr.RecordBranch] = record("branch", cols)
	return w
}

func record(name string, cols []col) (*types.Schema, []arrow.Array) {
	fields := make([]types.Field, len(cols))
	arrays := make([]arrow.Array, len(cols))
	for i, c := range cols {
		fields[i] = types.Field{Name: ident.Name(c.name), Type: types.Of(c.kind), Optional: c.optional, Sensitive: c.sensitive}
		arrays[i] = build(c.kind, c.values, 0)
	}
	return types.NewSchema(ident.Name(name), fields), arrays
}

// build makes an array; skip rows are put in front and sliced off, so that bitmaps and offsets do not start at zero.
func build(kind types.Scalar, values []any, skip int) arrow.Array {
	b := array.NewBuilder(memory.DefaultAllocator, kind.Arrow())
	defer b.Release()
	for i := range skip {
		if i%3 == 0 {
			b.AppendNull()
		} else if kind == types.String {
			b.(*array.StringBuilder).Append("skipped äß")
		} else {
			b.AppendEmptyValue()
		}
	}
	for _, v := range values {
		appendValue(b, v)
	}
	a := b.NewArray()
	if skip == 0 {
		return a
	}
	defer a.Release()
	return array.NewSlice(a, int64(skip), int64(a.Len()))
}

func appendValue(b array.Builder, v any) {
	switch v := v.(type) {
	case nil:
		b.AppendNull()
	case bool:
		b.(*array.BooleanBuilder).Append(v)
	case string:
		b.(*array.StringBuilder).Append(v)
	case uint8:
		b.(*array.Uint8Builder).Append(v)
	case int8:
		b.(*array.Int8Builder).Append(v)
	case uint16:
		b.(*array.Uint16Builder).Append(v)
	case int16:
		b.(*array.Int16Builder).Append(v)
	case uint32:
		b.(*array.Uint32Builder).Append(v)
	case int32:
		b.(*array.Int32Builder).Append(v)
	case uint64:
		b.(*array.Uint64Builder).Append(v)
	case int64:
		if tb, ok := b.(*array.TimestampBuilder); ok {
			tb.Append(arrow.Timestamp(v))
			return
		}
		b.(*array.Int64Builder).Append(v)
	case float32:
		b.(*array.Float32Builder).Append(v)
	case float64:
		b.(*array.Float64Builder).Append(v)
	default:
		panic(fmt.Sprintf("no column for %T", v))
	}
}

// valueAt reads a value back in the same Go types.
func valueAt(a arrow.Array, i int) any {
	if a.IsNull(i) {
		return nil
	}
	switch a := a.(type) {
	case *array.Boolean:
		return a.Value(i)
	case *array.String:
		return a.Value(i)
	case *array.Uint8:
		return a.Value(i)
	case *array.Int8:
		return a.Value(i)
	case *array.Uint16:
		return a.Value(i)
	case *array.Int16:
		return a.Value(i)
	case *array.Uint32:
		return a.Value(i)
	case *array.Int32:
		return a.Value(i)
	case *array.Uint64:
		return a.Value(i)
	case *array.Int64:
		return a.Value(i)
	case *array.Timestamp:
		return int64(a.Value(i))
	case *array.Float32:
		return a.Value(i)
	case *array.Float64:
		return a.Value(i)
	default:
		panic(fmt.Sprintf("no value of %T", a))
	}
}

func valuesOf(a arrow.Array) []any {
	out := make([]any, a.Len())
	for i := range out {
		out[i] = valueAt(a, i)
	}
	return out
}

// same compares two values; NaN equals NaN, zeros differ by sign.
func same(a, b any) bool {
	switch x := a.(type) {
	case float64:
		y, ok := b.(float64)
		return ok && (math.Float64bits(x) == math.Float64bits(y) || x != x && y != y)
	case float32:
		y, ok := b.(float32)
		return ok && (math.Float32bits(x) == math.Float32bits(y) || x != x && y != y)
	default:
		return a == b
	}
}

func mustParse(t testing.TB, src string) ast.Expr {
	t.Helper()
	e, faults := parse.Expr(src)
	if len(faults) > 0 {
		t.Fatalf("%s: %v", src, faults)
	}
	return e
}

func mustCheck(t testing.TB, w *world, src string) *expr.Checked {
	t.Helper()
	checked, faults := expr.Check(mustParse(t, src), w, expr.Options{})
	if len(faults) > 0 {
		t.Fatalf("%s: %v", src, faults)
	}
	return checked
}

// run evaluates text over a world and gives the values; a failed row is the expr.Kind of its failure.
func (w *world) run(t testing.TB, src string) []any {
	t.Helper()
	res := expr.Compile(mustCheck(t, w, src)).Eval(&w.env)
	defer res.Array.Release()
	out := valuesOf(res.Array)
	if res.Failed != nil {
		for _, f := range res.Failed.Rows {
			if out[f.Row] != nil {
				t.Errorf("%s: failed row %d has the value %v", src, f.Row, out[f.Row])
			}
			out[f.Row] = f.Kind
		}
	}
	return out
}

// one evaluates a constant expression, folded and not, and demands the same.
func one(t testing.TB, src string) any {
	t.Helper()
	w := newWorld(col{name: "row", kind: types.I64, values: []any{int64(1)}})
	folded := w.run(t, src)[0]
	checked, faults := expr.Check(mustParse(t, src), w, expr.Options{KeepConstants: true})
	if len(faults) > 0 {
		t.Fatalf("%s: %v", src, faults)
	}
	res := expr.Compile(checked).Eval(&w.env)
	defer res.Array.Release()
	var plain any = valueAt(res.Array, 0)
	if res.Failed != nil {
		plain = res.Failed.Rows[0].Kind
	}
	if !same(folded, plain) {
		t.Errorf("%s: %v folded, %v at run time", src, folded, plain)
	}
	return folded
}

// refused gives the diagnostics of an expression that must be refused.
func refused(t testing.TB, w *world, src string) fault.Diagnostics {
	t.Helper()
	_, faults := expr.Check(mustParse(t, src), w, expr.Options{})
	if len(faults) == 0 {
		t.Errorf("%s was accepted", src)
	}
	return faults
}

// SPDX-License-Identifier: Apache-2.0

package expr_test

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/host/expr"
	"github.com/nervix-go/nervix/host/kernel/types"
)

var vecOfText = types.Type{Scalar: types.Vec, Elem: &types.Type{Scalar: types.String}}

func vec(t *testing.T, rows ...[]string) arrow.Array {
	t.Helper()
	b := array.NewBuilder(memory.DefaultAllocator, vecOfText.Arrow()).(*array.ListBuilder)
	defer b.Release()
	for _, row := range rows {
		if row == nil {
			b.AppendNull()
			continue
		}
		b.Append(true)
		for _, s := range row {
			b.ValueBuilder().(*array.StringBuilder).Append(s)
		}
	}
	return b.NewArray()
}

// TestListColumns: lists have no functions yet, but they pass: a bare field, leak_sensitive, is_null, and a row that fails beside one.
func TestListColumns(t *testing.T) {
	w := newWorld()
	w.env.Rows = 3
	w.input = types.NewSchema("input", []types.Field{{Name: "v", Type: vecOfText, Optional: true}, {Name: "n", Type: types.Of(types.I64)}})
	w.env.Columns[expr.RecordInput] = []arrow.Array{vec(t, []string{"a", "b"}, nil, []string{}), build(types.I64, []any{int64(1), int64(0), int64(2)}, 0)}
	res := expr.Compile(mustCheck(t, w, "leak_sensitive(v)")).Eval(&w.env)
	if res.Array != w.env.Columns[expr.RecordInput][0] {
		t.Error("a list column is passed as it is")
	}
	if got := w.run(t, "is_null(v)"); got[0] != false || got[1] != true || got[2] != false {
		t.Errorf("is_null: %v", got)
	}
	for _, src := range []string{"v = v", "coalesce(v, v)", "v AS STRING", "IF TRUE THEN v ELSE v END", "v IS DISTINCT FROM v", "greatest(v)", "v IN ('a')"} {
		refused(t, w, src)
	}
}

func TestGather(t *testing.T) {
	for kind, values := range edges {
		a, b := build(kind, values, 3), build(kind, append([]any{nil}, values...), 0)
		got, err := expr.Gather(nil, types.Of(kind), []expr.Pick{{Array: b, Row: 2}, {}, {Array: a, Row: 0}, {Array: b, Row: 0}, {Array: a, Row: 1}})
		if err != nil {
			t.Fatal(err)
		}
		want := []any{values[1], nil, values[0], nil, values[1]}
		for i, v := range valuesOf(got) {
			if !same(v, want[i]) {
				t.Errorf("%v: row %d is %v, want %v", kind, i, v, want[i])
			}
		}
	}
	v := vec(t, []string{"a", "b"}, nil, []string{"c"})
	got, err := expr.Gather(nil, vecOfText, []expr.Pick{{Array: v, Row: 2}, {}, {Array: v, Row: 0}, {Array: v, Row: 1}})
	if err != nil || got.String() != `[["c"] (null) ["a" "b"] (null)]` {
		t.Errorf("%v %v", got, err)
	}
	if got, err := expr.Gather(nil, vecOfText, nil); err != nil || got.Len() != 0 {
		t.Errorf("%v %v", got, err)
	}
}

func TestHasNulls(t *testing.T) {
	a := build(types.I64, []any{nil, int64(1), int64(2)}, 0)
	if !expr.HasNulls(a) || expr.HasNulls(array.NewSlice(a, 1, 3)) || expr.HasNulls(build(types.I64, []any{int64(1)}, 0)) {
		t.Error("a slice has the nulls of its rows only")
	}
}

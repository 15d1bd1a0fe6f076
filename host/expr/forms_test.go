// SPDX-License-Identifier: Apache-2.0

package expr_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/nervix-go/nervix/host/expr"
	"github.com/nervix-go/nervix/host/kernel/types"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/nspl/parse"
)

// edges are values of each type whose order and arithmetic are easy to get wrong.
var edges = map[types.Scalar][]any{
	types.U8:       {uint8(0), uint8(1), uint8(127), uint8(128), uint8(255)},
	types.I8:       {int8(-128), int8(-1), int8(0), int8(1), int8(127)},
	types.U16:      {uint16(0), uint16(1), uint16(32767), uint16(32768), uint16(65535)},
	types.I16:      {int16(-32768), int16(-1), int16(0), int16(255), int16(32767)},
	types.U32:      {uint32(0), uint32(1), uint32(1 << 31), uint32(math.MaxUint32)},
	types.I32:      {int32(math.MinInt32), int32(-1), int32(0), int32(46341), int32(math.MaxInt32)},
	types.U64:      {uint64(0), uint64(1), uint64(1<<53 + 1), uint64(1 << 63), uint64(math.MaxUint64)},
	types.I64:      {int64(math.MinInt64), int64(-1), int64(0), int64(1<<53 + 1), int64(1<<53 - 1), int64(math.MaxInt64)},
	types.F32:      {float32(math.Inf(-1)), float32(-1), float32(math.Copysign(0, -1)), float32(0), float32(1.5), float32(math.NaN()), float32(math.Inf(1))},
	types.F64:      {math.Inf(-1), -1.0, math.Copysign(0, -1), 0.0, 1.5, math.NaN(), math.Inf(1), math.MaxFloat64},
	types.Datetime: {int64(math.MinInt64), int64(-1), int64(0), int64(math.MaxInt64)},
	types.String:   {"", "a", "aa", "b", "ä", "\U0001d11e"},
	types.Bool:     {false, true},
}

// TestOperandForms runs every operator of every type over all pairs of edge values, with columns and with keys (one value for all rows)
// on either side, and compares with the reference.
func TestOperandForms(t *testing.T) {
	// req: N05
	for kind, values := range edges {
		var left, right []any
		for range 3 { // more than one byte of results, and a partial one
			for _, a := range values {
				for _, b := range values {
					left, right = append(left, a), append(right, b)
				}
			}
		}
		left, right = append(left, nil, values[0]), append(right, values[0], nil)
		ops := []string{"=", "!=", "IS DISTINCT FROM"}
		if kind.Ordered() {
			ops = append(ops, "<", "<=", ">", ">=")
		}
		if kind.Numeric() {
			ops = append(ops, "+", "-", "*", "/", "%")
		}
		for _, key := range append(values, nil) {
			w := newWorld(col{name: "a", kind: kind, optional: true, values: left}, col{name: "b", kind: kind, optional: true, values: right}).
				withBranch(col{name: "k", kind: kind, optional: true, values: []any{key}})
			for _, op := range ops {
				for _, form := range []string{"input.a %s input.b", "input.a %s branch.k", "branch.k %s input.a", "branch.k %s branch.k"} {
					against(t, w, fmt.Sprintf(form, op))
				}
			}
			for _, src := range []string{"greatest(input.a, branch.k, input.b)", "least(branch.k, input.a)", "nullif(branch.k, input.a)", "nullif(input.a, branch.k)", "coalesce(input.a, branch.k)"} {
				against(t, w, src)
			}
			if kind.Ordered() {
				against(t, w, "input.a BETWEEN branch.k AND input.b")
				against(t, w, "branch.k NOT BETWEEN input.a AND input.b")
			}
			if kind.Numeric() {
				against(t, w, "abs(input.a)")
				against(t, w, "round(input.a, 0 - 1)")
				against(t, w, "floor(branch.k)")
			}
		}
	}
}

// TestMembershipOfEveryType: short sets and long ones, with NOT.
func TestMembershipOfEveryType(t *testing.T) {
	long := "1 AS %[1]s, 2 AS %[1]s, 3 AS %[1]s, 4 AS %[1]s, 5 AS %[1]s, 6 AS %[1]s, 7 AS %[1]s, 8 AS %[1]s, 9 AS %[1]s, 0 AS %[1]s"
	for kind, values := range edges {
		w := newWorld(col{name: "a", kind: kind, optional: true, values: append(append([]any(nil), values...), nil)})
		for _, set := range []string{"", "0 AS %[1]s", "1 AS %[1]s, 0 AS %[1]s", long} {
			list := set
			if set != "" {
				list = fmt.Sprintf(set, kind)
			}
			against(t, w, "input.a IN ("+list+")")
			against(t, w, "input.a NOT IN ("+list+")")
		}
	}
}

// against compares a program with the reference over a world.
func against(t *testing.T, w *world, src string) {
	t.Helper()
	e, faults := parse.Expr(src)
	if len(faults) > 0 {
		t.Fatalf("%s: %v", src, faults)
	}
	checked, faults := expr.Check(e, w, expr.Options{})
	if len(faults) > 0 {
		t.Fatalf("%s: %v", src, faults)
	}
	p := expr.Compile(checked)
	res := p.Eval(&w.env)
	defer res.Array.Release()
	for i := range w.env.Rows {
		got := tagged(valueAt(res.Array, i), p.Type().Scalar)
		if res.Failed.Failed(i) {
			for _, f := range res.Failed.Rows {
				if f.Row == i {
					got = f.Kind
				}
			}
		}
		if want := w.expected(e, i); !same(got, want) {
			t.Errorf("%s, row %v: %v, want %v", src, w.rowOf(i), got, want)
		}
	}
}

// expected is the reference's value of a row, or the kind of its failure.
func (w *world) expected(e ast.Expr, i int) any {
	r := &reference{row: w.rowOf(i), now: w.env.Now.NS()}
	if v := r.eval(e); r.kind == 0 {
		return v
	}
	return r.kind
}

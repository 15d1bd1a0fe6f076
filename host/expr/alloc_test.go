// SPDX-License-Identifier: Apache-2.0

package expr_test

import (
	"strconv"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/nervix-go/nervix/host/expr"
	"github.com/nervix-go/nervix/host/kernel/types"
)

// TestAllocationsDoNotGrowWithRows: an evaluation allocates its result, whatever the number of rows.
func TestAllocationsDoNotGrowWithRows(t *testing.T) {
	for _, src := range []string{
		"upper(s)", "lower(concat(s, '-', s))", "contains(s, 'ell') AND n > 5", "n * 2 + 1", "IF n % 2 = 0 THEN s ELSE trim(s) END", "n AS STRING", "f AS STRING", "TRY_CAST(s AS I64)",
		"s IN ('a', 'b')", "coalesce(o, n)", "round(f, 2)", "substr(s, 2, 3)", "uuid_v7()", "length(s) BETWEEN 1 AND 9", "upper('ß' AS STRING)", "greatest(n, o)", "upper(u)",
	} {
		small, large := allocations(t, src, 64), allocations(t, src, 4096)
		if large > small {
			t.Errorf("%s: %v allocations for 64 rows, %v for 4096", src, small, large)
		}
		if large > 12 {
			t.Errorf("%s: %v allocations", src, large)
		}
	}
}

func allocations(t *testing.T, src string, rows int) float64 {
	var s, u, n, o, f []any
	for i := range rows {
		s, u = append(s, "hello "+strconv.Itoa(i)), append(u, "groß "+strconv.Itoa(i))
		n, f = append(n, int64(i)), append(f, float64(i)/8)
		if i%3 == 0 {
			o = append(o, nil)
		} else {
			o = append(o, int64(i))
		}
	}
	w := newWorld(
		col{name: "s", kind: types.String, values: s}, col{name: "u", kind: types.String, values: u}, col{name: "n", kind: types.I64, values: n},
		col{name: "o", kind: types.I64, optional: true, values: o}, col{name: "f", kind: types.F64, values: f},
	)
	w.env.Scratch = expr.NewScratch()
	p := expr.Compile(mustCheck(t, w, src))
	return testing.AllocsPerRun(20, func() {
		p.Eval(&w.env).Array.Release()
	})
}

// TestBareFieldIsTheInputColumn: no copy is made.
func TestBareFieldIsTheInputColumn(t *testing.T) {
	w := newWorld(col{name: "s", kind: types.String, sensitive: true, values: []any{"a", "b"}})
	in := w.env.Columns[expr.RecordInput][0]
	for _, src := range []string{"s", "leak_sensitive(s)", "coalesce(s, 'x')", "IF TRUE THEN s ELSE 'x' END"} {
		var got arrow.Array = expr.Compile(mustCheck(t, w, src)).Eval(&w.env).Array
		if got != in {
			t.Errorf("%s is a copy", src)
		}
		got.Release()
	}
}

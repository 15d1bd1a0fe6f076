// SPDX-License-Identifier: Apache-2.0

package construct_test

import (
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/nervix-go/nervix/host/expr"
	"github.com/nervix-go/nervix/host/expr/construct"
)

// TestSharedPlanAndBatch: lanes share one plan and consumers share the arrays of one batch, slices among them. The race detector judges.
func TestSharedPlanAndBatch(t *testing.T) {
	b := newBench(t, "a I64 OPTIONAL, s STRING", "a I64 OPTIONAL, s STRING, up STRING")
	plan, faults, _ := b.check("INHERIT ALL SET up = upper(s), a = coalesce(a, 1 / length(s)) WHERE contains(up, 'X')", false)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	whole := table{"a": {nil, nil, int64(1), int64(2)}, "s": {"x", "", "äx", "y"}}.columns(t, b.in, b.mem)
	var sliced []arrow.Array
	for _, c := range whole {
		sliced = append(sliced, array.NewSlice(c, 1, 4))
	}
	release(whole)
	defer release(sliced)
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			env := expr.Env{Rows: 3, Scratch: expr.NewScratch()}
			env.Columns[expr.RecordInput] = sliced
			var out construct.Outcome
			for range 50 {
				plan.Run(&env, &out)
				if got := text(b.out, out.Columns, kept(&out, 3)); got != "a=1 s=äx up=ÄX\n" || len(out.Failures) != 1 {
					t.Errorf("kept %q, %d failures", got, len(out.Failures))
				}
			}
			out.Release()
		})
	}
	wait.Wait()
}

// TestSharedSetOnlyPlan: the same for set-only routes, with an uninitialised column.
func TestSharedSetOnlyPlan(t *testing.T) {
	b := newBench(t, "x I64", "a I64 OPTIONAL, s STRING, up STRING OPTIONAL")
	plan, faults, _ := b.generated("SET up = coalesce(up, upper(s)), a = coalesce(a, 1 / length(s)) WHERE contains(up, 'X')")
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	whole, free := b.base(table{"a": {nil, nil, int64(1), int64(2)}, "s": {"x", "", "äx", "y"}})
	sliced := make([]arrow.Array, len(whole))
	for i, c := range whole {
		if c != nil {
			sliced[i] = array.NewSlice(c, 1, 4)
			defer sliced[i].Release()
		}
	}
	free()
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			env := expr.Env{Rows: 3, Scratch: expr.NewScratch()}
			var out construct.Outcome
			for range 50 {
				plan.RunOver(&env, sliced, &out)
				if got := text(b.out, out.Columns, kept(&out, 3)); got != "a=1 s=äx up=ÄX\n" || len(out.Failures) != 1 {
					t.Errorf("kept %q, %d failures", got, len(out.Failures))
				}
			}
			out.Release()
		})
	}
	wait.Wait()
}

// SPDX-License-Identifier: Apache-2.0

package shim_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/wasm/engine"
	"github.com/nervix-go/nervix/wasm/engine/watguest"
)

// One operation of a guest uses the same fuel in every store, engine, profile and backend, and MAX FUEL is counted in the library's units: a budget of what
// it used passes, and where one unit of work follows the library's last check, one less does not. The checks are at function entries and loop heads, so a
// guest with a longer tail behind them passes with a budget that is smaller by just that.
func TestFuelIsTheLibrarysAndTheSameEverywhere(t *testing.T) {
	// req: W-301 half: engines of one process stand for nodes
	const message = "a message of some length"
	// A loop, a call, a growth, bulk memory and SIMD; the tail is what follows the last check, and a block has a unit for each of its instructions.
	work := `(local $k i32) (local.set $k (i32.const 40))
	  (loop $l (i64.store (i32.const 512) (i64.add (i64.load (i32.const 512)) (i64.extend_i32_u (call $double (local.get $k)))))
	    (br_if $l (local.tee $k (i32.sub (local.get $k) (i32.const 1)))))
	  (memory.copy (i32.const 2048) (local.get 0) (local.get 1)) (drop (memory.grow (i32.const 1)))
	  (v128.store (i32.const 640) (i32x4.add (v128.load (i32.const 512)) (v128.load (i32.const 640)))) i32.const 0`
	for _, tail := range []struct {
		body  string
		units uint64
	}{{"i32.const 0", 1}, {"(i32.add (i32.const 0) (i32.const 0))", 3}} {
		g := watguest.Guest{Bodies: map[string]string{"nervix_process_batch": work, "nervix_read_emit": tail.body},
			Extra: "(func $double (param i32) (result i32) (i32.add (local.get 0) (local.get 0)))"}
		var used uint64 // everywhere
		for round := range 2 {
			each(t, engine.Limits{}, func(w world) {
				m := w.module(g)
				try := func(budget uint64) (uint64, error) {
					w.Helper()
					i, err := m.Instantiate(engine.Spec{Fuel: budget, Memory: 1 << 20}, now)
					if err != nil {
						w.Fatal(err)
					}
					defer func() {
						if err := i.Close(); err != nil {
							w.Error(err)
						}
					}()
					i.Begin(engine.OpBatch, now)
					a, err := i.Deliver(engine.ProcessBatch, []byte(message))
					return a.FuelUsed, err
				}
				same := func(budget uint64) {
					w.Helper()
					got, err := try(budget)
					if err != nil {
						w.Fatalf("a budget of %d: %v", budget, err)
					}
					if used == 0 {
						used = got
					}
					if got != used {
						w.Fatalf("round %d: with a budget of %d it used %d, elsewhere %d", round, budget, got, used)
					}
				}
				same(1_000_000_000) // two stores of one engine
				same(1_000_000)
				least := used - tail.units + 1
				same(used)
				if got, err := try(least); err != nil || got != least {
					w.Errorf("a budget of %d: used %d, %v", least, got, err)
				}
				got, err := try(least - 1)
				if f := want(w, err, fault.WasmFuel); got != least-1 || !strings.Contains(f.Error(), fmt.Sprintf("exhausted MAX FUEL %d", least-1)) {
					w.Errorf("used %d: %v", got, f)
				}
			})
		}
		if used < 400 { // ten units a turn, and more
			t.Errorf("the operation used %d", used)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package shim_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/wasm/engine"
	"github.com/nervix-go/nervix/wasm/engine/shim"
	"github.com/nervix-go/nervix/wasm/engine/watguest"
)

// spin burns about n rounds of fuel.
func spin(n int) string {
	return fmt.Sprintf(`(local $s i32) (local.set $s (i32.const %d)) (loop $spin (br_if $spin (local.tee $s (i32.sub (local.get $s) (i32.const 1))))) `, n)
}

const forever = "(loop $l (br $l)) unreachable"

// Each operation starts with a full budget, and its calls share it.
func TestFuelIsPerOperation(t *testing.T) {
	// req: W-013, W-014, W-016
	budget := uint64(100_000)
	each(t, engine.Limits{}, func(w world) {
		sixty := spin(60_000 / 6)
		bodies := map[string]string{"nervix_dump_state": sixty + "i32.const 0", "nervix_flush": sixty + "i32.const 0"}
		for _, name := range []string{"nervix_init", "nervix_process_batch", "nervix_on_timeout", "nervix_load_state"} {
			bodies[name] = sixty + "i32.const 0"
		}
		i := w.instance(watguest.Guest{Bodies: bodies}, engine.Spec{Fuel: budget, Memory: 1 << 20})
		for range 10 {
			steps := []struct {
				op  engine.Op
				run func() (engine.Answer, error)
			}{
				{engine.OpInit, func() (engine.Answer, error) { return i.Deliver(engine.Init, []byte("x")) }},
				{engine.OpRestore, func() (engine.Answer, error) { return i.Deliver(engine.LoadState, []byte("x")) }},
				{engine.OpBatch, func() (engine.Answer, error) { return i.Deliver(engine.ProcessBatch, []byte("x")) }},
				{engine.OpTimeout, func() (engine.Answer, error) { return i.OnTimeout(1) }},
				{engine.OpFlush, i.Flush},
				{engine.OpSave, i.Dump},
			}
			for _, s := range steps {
				i.Begin(s.op, now)
				a, err := s.run()
				if err != nil {
					w.Fatal(s.op.Stage(), err)
				}
				if a.FuelUsed < 30_000 || a.FuelUsed > budget {
					w.Errorf("%s used %d", s.op.Stage(), a.FuelUsed)
				}
			}
		}
		forty := spin(40_000 / 5)
		shared := w.instance(watguest.Guest{Bodies: map[string]string{"nervix_alloc": forty + "i32.const 1024",
			"nervix_process_batch": forty + "i32.const 0", "nervix_read_emit": forty + "i32.const 0"}}, engine.Spec{Fuel: budget, Memory: 1 << 20})
		shared.Begin(engine.OpBatch, now)
		_, err := shared.Deliver(engine.ProcessBatch, []byte("x"))
		f := want(w, err, fault.WasmFuel)
		if f.Export != engine.ReadEmit || !f.Gone || !strings.Contains(f.Error(), "wasm guest exhausted MAX FUEL 100000") {
			w.Errorf("got %v", f)
		}
	})
}

// Instantiation has a budget of its own, which the start function and a reactor's start share; both end at each limit.
func TestStartFunctions(t *testing.T) {
	// req: W-015
	// req: A02
	start := func(body string) watguest.Guest {
		return watguest.Guest{Extra: "(func $begin " + body + ") (start $begin)"}
	}
	reactor := func(body string) watguest.Guest {
		return watguest.Guest{Extra: `(func (export "_initialize") ` + body + ")"}
	}
	cases := []struct {
		name string
		g    watguest.Guest
		code fault.Code
	}{
		{"start that burns", start(forever), fault.WasmFuel},
		{"start that traps", start("unreachable"), fault.WasmTrap},
		{"start that recurses", start("call $begin"), fault.WasmTrap},
		{"start that grows", start("(drop (memory.grow (i32.const 100)))"), fault.WasmMemory},
		{"initialize that burns", reactor(forever), fault.WasmFuel},
		{"initialize that traps", reactor("unreachable"), fault.WasmTrap},
		{"start within the budget", start(spin(100)), ""},
		{"initialize within the budget", reactor(spin(100)), ""},
		{"start that asks the host", start("(drop (call $reset)) (drop (call $after (i64.const 1))) (if (i64.ne (call $now) (i64.const 1700000000000000007)) (then unreachable))"), ""},
	}
	each(t, engine.Limits{}, func(w world) {
		for _, c := range cases {
			m := w.module(c.g)
			i, err := m.Instantiate(engine.Spec{Fuel: 1_000_000, Memory: 1 << 20}, now)
			switch {
			case c.code == "" && err != nil:
				w.Errorf("%s: %v", c.name, err)
			case c.code == "":
				if _, err := w.batch(i, "x"); err != nil || i.NextHandle() != 1 {
					w.Errorf("%s: %v, next handle %d", c.name, err, i.NextHandle())
				}
			case c.code == fault.WasmMemory && strings.Contains(w.Name(), "reference"):
			default:
				if f := want(w, err, c.code); f.Stage != "instantiation" {
					w.Errorf("%s: stage %q", c.name, f.Stage)
				}
			}
		}
	})
}

// Fuel does not bound time: the epoch does. Both kinds of burner end, and each is told apart.
func TestTimeLimit(t *testing.T) {
	burners := map[string]string{
		"loop":        forever,
		"memory.fill": "(loop $l (memory.fill (i32.const 0) (i32.const 1) (i32.const 60000000)) (br $l)) unreachable",
		"memory.copy": "(loop $l (memory.copy (i32.const 0) (i32.const 30000000) (i32.const 30000000)) (br $l)) unreachable",
	}
	each(t, engine.Limits{OperationTime: 30 * time.Millisecond, EpochPeriod: 5 * time.Millisecond}, func(w world) {
		for name, body := range burners {
			g := watguest.With("nervix_process_batch", body)
			g.Memory = "1000"
			for try := 0; ; try++ {
				i := w.instance(g, engine.Spec{Fuel: 1 << 62, Memory: 64 << 20})
				_, err := w.batch(i, "x")
				f := want(w, err, fault.WasmTime)
				if err := i.Close(); err != nil {
					w.Error(err)
				}
				if f.Export == engine.Alloc && try < 100 {
					continue // the time of this thread was over before the burner began
				}
				if !f.Gone || f.Export != engine.ProcessBatch {
					w.Errorf("%s: %v", name, f)
				}
				break
			}
		}
	})
}

// MAX MEMORY bounds all memories of a store together, from the start and in growth; a second store is not concerned.
func TestMemoryCeiling(t *testing.T) {
	// req: W-017 half: one step of growth past 4 GiB is answered by the library and looks like the guest's own limit, W-021
	// req: A02, A05
	grow := func(memory string, pages int) watguest.Guest {
		g := watguest.With("nervix_process_batch", fmt.Sprintf("(drop (memory.grow %s (i32.const %d))) i32.const 0", memory, pages))
		g.Memories = "(memory $second 3)"
		return g
	}
	for _, v := range variants[:2] {
		t.Run(v.name, func(t *testing.T) {
			w := open(t, engine.Config{Profile: v.profile}, v.open)
			ceiling := engine.Spec{Fuel: 1e6, Memory: 10 << 16}
			for _, memory := range []string{"$m", "$second"} {
				m := w.module(grow(memory, 3))
				i, err := m.Instantiate(ceiling, now)
				if err != nil {
					t.Fatal(err)
				}
				beside, err := m.Instantiate(ceiling, now)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := w.batch(i, "x"); err != nil || i.MemoryBytes() != 8<<16 {
					t.Fatalf("growth to 8 of 10 pages: %v, %d bytes", err, i.MemoryBytes())
				}
				_, err = w.batch(i, "x")
				f := want(t, err, fault.WasmMemory)
				if !f.Gone || !strings.Contains(f.Error(), "wasm guest exceeded MAX MEMORY 655360: it has 8 pages of 64 KiB and asked for 11") {
					t.Errorf("got %v", f)
				}
				_, err = w.batch(i, "x")
				want(t, err, fault.WasmMisuse) // the instance is gone
				if _, err := w.batch(beside, "x"); err != nil {
					t.Error("the store beside:", err)
				}
			}
			_, err := w.module(grow("$m", 1)).Instantiate(engine.Spec{Fuel: 1e6, Memory: 4 << 16}, now)
			if f := want(t, err, fault.WasmMemory); f.Stage != "instantiation" || !strings.Contains(f.Error(), "wasm guest exceeded MAX MEMORY") {
				t.Errorf("got %v", f)
			}
		})
	}
}

// The ceiling counts the guest's pages and nothing of the host: a store whose pages just fit carries messages of any size that fits.
func TestCeilingCountsGuestPages(t *testing.T) {
	// req: W-018
	each(t, engine.Limits{}, func(w world) {
		i := w.instance(watguest.Guest{}, engine.Spec{Fuel: 1e6, Memory: 2 << 16})
		in := strings.Repeat("y", 130_000)
		for range 3 {
			if out, err := w.batch(i, in); err != nil || out != in {
				w.Fatalf("%d bytes, %v", len(out), err)
			}
		}
	})
}

// A growth past what the module itself declares is the guest's own limit and fails nothing.
func TestDeclaredMaximum(t *testing.T) {
	g := watguest.With("nervix_process_batch", "(if (i32.ne (memory.grow (i32.const 5)) (i32.const -1)) (then unreachable)) i32.const 0")
	g.Memory = "2 4"
	// Beyond 4 GiB no growth is possible either; the guest hears -1.
	all := watguest.With("nervix_process_batch", "(if (i32.ne (memory.grow (i32.const 65535)) (i32.const -1)) (then unreachable)) i32.const 0")
	each(t, engine.Limits{}, func(w world) {
		for _, g := range []watguest.Guest{g, all} {
			if _, err := w.batch(w.instance(g, plain), "x"); err != nil {
				w.Error(err)
			}
		}
	})
}

// The node's budgets are refused with a code, early, and come back when stores go.
func TestBudgets(t *testing.T) {
	// req: A17
	for _, profile := range []engine.Profile{engine.ProfileGuard, engine.ProfileDense} {
		t.Run(profile.String(), func(t *testing.T) {
			cases := []struct {
				name string
				lim  engine.Limits
				fit  int
			}{
				{"stores", engine.Limits{Stores: 3}, 3},
				{"linear memory", engine.Limits{LinearBytes: 7 << 16}, 3},
			}
			if profile == engine.ProfileGuard {
				cases = append(cases, struct {
					name string
					lim  engine.Limits
					fit  int
				}{"maps", engine.Limits{Maps: 9}, 4})
			}
			for _, c := range cases {
				w := open(t, engine.Config{Profile: profile, Limits: c.lim}, shim.Open)
				m := w.module(watguest.Guest{})
				for range 3 {
					var live []*engine.Instance
					for range c.fit {
						i, err := m.Instantiate(plain, now)
						if err != nil {
							t.Fatalf("%s: %v", c.name, err)
						}
						live = append(live, i)
					}
					_, err := m.Instantiate(plain, now)
					want(t, err, fault.WasmBudget)
					for _, i := range live {
						if err := i.Close(); err != nil {
							t.Error(err)
						}
					}
				}
				if u := w.Usage(); u.Stores != 0 || u.LinearBytes != 0 || profile == engine.ProfileGuard && u.Maps != 0 {
					t.Errorf("%s: %+v is left", c.name, u)
				}
			}
			// Growth counts too.
			w := open(t, engine.Config{Profile: profile, Limits: engine.Limits{LinearBytes: 5 << 16}}, shim.Open)
			i := w.instance(watguest.With("nervix_process_batch", "(drop (memory.grow (i32.const 2))) i32.const 0"), plain)
			if _, err := w.batch(i, "x"); err != nil {
				t.Fatal(err)
			}
			_, err := w.batch(i, "x")
			want(t, err, fault.WasmBudget)
		})
	}
}

// A shutdown ends spinning guests, those that start included, and leaves no goroutine.
func TestShutdownStopsSpinningGuests(t *testing.T) {
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			e, err := engine.New(engine.Config{Profile: v.profile, Limits: engine.Limits{OperationTime: 10 * time.Minute}}, v.open)
			if err != nil {
				t.Fatal(err)
			}
			m, err := e.Acquire(context.Background(), wasm(t, watguest.With("nervix_process_batch", forever)))
			if err != nil {
				t.Fatal(err)
			}
			starter, err := e.Acquire(context.Background(), wasm(t, watguest.Guest{Extra: "(func $f (loop $l (br $l))) (start $f)"}))
			if err != nil {
				t.Fatal(err)
			}
			var running, done sync.WaitGroup
			spec := engine.Spec{Fuel: 1 << 62, Memory: 1 << 20}
			run := func(f func() error) {
				running.Add(1)
				done.Add(1)
				go func() {
					defer done.Done()
					running.Done()
					err := f()
					if code := fault.CodeOf(err); code != fault.WasmStopped {
						t.Errorf("got %v", err)
					}
				}()
			}
			for range 20 {
				i, err := m.Instantiate(spec, now)
				if err != nil {
					t.Fatal(err)
				}
				run(func() error {
					i.Begin(engine.OpBatch, now)
					_, err := i.Deliver(engine.ProcessBatch, nil)
					return err
				})
			}
			for range 4 {
				run(func() error {
					_, err := starter.Instantiate(spec, now)
					return err
				})
			}
			running.Wait()
			ctx, cancel := osclock.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			if err := e.Stop(ctx); err != nil { // the calls end, and whoever made them goes on
				t.Fatal(err)
			}
			done.Wait()
			if err := e.Close(ctx); err != nil {
				t.Fatal(err)
			}
			_, err = e.Acquire(context.Background(), wasm(t, watguest.Guest{}))
			want(t, err, fault.WasmStopped)
		})
	}
}

// One instance is for one caller at a time; a second one is refused, not run, while the first goes on.
func TestTwoCallers(t *testing.T) {
	w := open(t, engine.Config{Limits: engine.Limits{OperationTime: 10 * time.Minute}}, shim.Open)
	i := w.instance(watguest.With("nervix_flush", forever), engine.Spec{Fuel: 1 << 62, Memory: 1 << 20})
	i.Begin(engine.OpFlush, now)
	ended := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := i.Flush()
			ended <- err
		}()
	}
	want(t, <-ended, fault.WasmMisuse)
	if len(ended) > 0 {
		t.Errorf("the first call ended too: %v", <-ended)
	}
	if err := w.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	want(t, <-ended, fault.WasmStopped)
}

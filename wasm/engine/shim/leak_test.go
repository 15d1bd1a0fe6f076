// SPDX-License-Identifier: Apache-2.0

package shim_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/wasm/engine"
	"github.com/nervix-go/nervix/wasm/engine/shim"
	"github.com/nervix-go/nervix/wasm/engine/watguest"
)

// footprint is what a cycle may leave behind.
type footprint struct {
	cHeap, resident  int64
	maps, goroutines int
}

func measure(t testing.TB) footprint {
	t.Helper()
	runtime.GC()
	debug.FreeOSMemory()
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.ParseInt(string(bytes.Fields(statm)[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return footprint{int64(shim.HeapBytes()), pages * int64(os.Getpagesize()), engine.MapCount(), runtime.NumGoroutine()}
}

// flat fails if n cycles leave something, every time they are run. The C heap is exact up to the caches of threads; what is resident is not, so it
// may drift by 8 MiB, which is less than 100 bytes for each cycle of the long run.
func flat(t *testing.T, what string, n int, run func(n int)) { flatBut(t, what, n, 64<<10, run) }

// flatBut allows the C heap so much: compilations run on changing threads, each with an arena of its own.
func flatBut(t *testing.T, what string, n int, cHeap int64, run func(n int)) {
	t.Helper()
	before := measure(t)
	goroutines := before.goroutines
	for rounds := 4; ; rounds-- {
		run(n)
		after := measure(t)
		for range 300 { // a finalizer that runs is a goroutine, for a moment
			if after.goroutines <= goroutines {
				break
			}
			_ = osclock.Wait(context.Background(), 100*time.Millisecond)
			after = measure(t)
		}
		t.Logf("%s: %d cycles: C heap %+d bytes, resident %+d KiB, maps %+d, goroutines %+d", what, n, after.cHeap-before.cHeap,
			(after.resident-before.resident)>>10, after.maps-before.maps, after.goroutines-goroutines)
		grown := after.cHeap-before.cHeap > cHeap || after.resident-before.resident > 8<<20 || after.maps-before.maps > 20
		switch {
		case after.goroutines > goroutines, grown && rounds == 1:
			t.Errorf("%s: %d cycles took %+v to %+v", what, n, before, after)
			return
		case !grown:
			return
		}
		before = after // threads that came meanwhile have arenas; they come once, and a leak comes again
	}
}

func leakVariants(t *testing.T, f func(world)) {
	for _, v := range variants[:2] {
		t.Run(v.name, func(t *testing.T) { f(open(t, engine.Config{Profile: v.profile}, v.open)) })
	}
}

// A guest that traps, runs out of fuel or memory, or fails to start is replaced any number of times, and nothing stays behind.
func TestTrapAndRecreateIsFlat(t *testing.T) {
	// req: W-020 half: the checkpoint the replacement starts from
	// req: A04, A12 half: timeouts and tokens of the old instance are the processor's, A13
	leakVariants(t, func(w world) {
		spec := engine.Spec{Fuel: 20_000, Memory: 4 << 20}
		kinds := []struct {
			m    *engine.Module
			code fault.Code
		}{
			{w.module(watguest.With("nervix_process_batch", "(drop (call $after (i64.const 1))) unreachable")), fault.WasmTrap},
			{w.module(watguest.With("nervix_process_batch", forever)), fault.WasmFuel},
			{w.module(watguest.With("nervix_process_batch", "(drop (memory.grow (i32.const 30))) (drop (memory.grow (i32.const 40))) i32.const 0")), fault.WasmMemory},
			{w.module(watguest.With("nervix_process_batch", "(drop (i32.load (i32.const 131073))) i32.const 0")), fault.WasmTrap},
			{w.module(watguest.Guest{Extra: "(func $s unreachable) (start $s)"}), fault.WasmTrap},
		}
		cycle := func(k int) {
			kind := kinds[k%len(kinds)]
			i, err := kind.m.Instantiate(spec, now)
			if err == nil {
				_, err = w.batch(i, "payload")
				if err := i.Close(); err != nil {
					w.Fatal(err)
				}
			}
			if fault.CodeOf(err) != kind.code {
				w.Fatalf("cycle %d: %v", k, err)
			}
		}
		for k := range 200 {
			cycle(k)
		}
		flat(w.T, "trap and recreate", soak(1_000, 10_000), func(n int) {
			for k := range n {
				cycle(k)
			}
		})
		if u := w.Usage(); u.Stores != 0 || u.LinearBytes != 0 {
			w.Errorf("left: %+v", u)
		}
	})
}

// Branches come and go in random order.
func TestCreateAndEvictIsFlat(t *testing.T) {
	// req: A07 half: the recycle threshold is the processor's, A13
	leakVariants(t, func(w world) {
		m := w.module(watguest.Guest{Memory: "1", Extra: `(data (i32.const 100) "data")`})
		const window = 300
		random := rand.New(rand.NewPCG(1, 2))
		var live []*engine.Instance
		cycle := func() {
			i, err := m.Instantiate(plain, now)
			if err != nil {
				w.Fatal(err)
			}
			if out, err := w.batch(i, "x"); err != nil || out != "x" {
				w.Fatal(out, err)
			}
			if len(live) < window {
				live = append(live, i)
				return
			}
			k := random.IntN(window)
			if err := live[k].Close(); err != nil {
				w.Fatal(err)
			}
			live[k] = i
		}
		for range 2 * window {
			cycle()
		}
		maps := w.Usage().Maps
		flat(w.T, "create and evict", soak(1_000, 100_000), func(n int) {
			for range n {
				cycle()
			}
		})
		if now := w.Usage().Maps; now != maps {
			w.Errorf("maps of guests went from %d to %d", maps, now)
		}
	})
}

// A processor whose module is replaced again and again keeps nothing of the former ones.
func TestReplacedModulesAreFlat(t *testing.T) {
	// req: A06
	leakVariants(t, func(w world) {
		cycle := func(k int) {
			g := watguest.Guest{Extra: fmt.Sprintf(`(func (result i32) (i32.const %d))`, k)}
			m, err := w.Acquire(context.Background(), wasm(w, g))
			if err != nil {
				w.Fatal(err)
			}
			i, err := m.Instantiate(plain, now)
			if err != nil {
				w.Fatal(err)
			}
			if _, err := w.batch(i, "x"); err != nil {
				w.Fatal(err)
			}
			m.Release()
			if err := i.Close(); err != nil {
				w.Fatal(err)
			}
		}
		for k := range 50 {
			cycle(k)
		}
		flatBut(w.T, "replace", soak(150, 1_000), 512<<10, func(n int) {
			for k := range n {
				cycle(100 + k)
			}
		})
		if w.Modules() != 0 {
			w.Errorf("%d modules are left", w.Modules())
		}
	})
}

// Evicting every other store of a dense engine leaves holes in shared maps, not maps.
func TestDenseMapsStayFlat(t *testing.T) {
	w := open(t, engine.Config{Profile: engine.ProfileDense, Limits: engine.Limits{Stores: 5000}}, shim.Open)
	m := w.module(watguest.Guest{Memory: "1"})
	before := engine.MapCount()
	var live []*engine.Instance
	for range 3000 {
		i, err := m.Instantiate(plain, now)
		if err != nil {
			t.Fatal(err)
		}
		live = append(live, i)
	}
	for k := 0; k < len(live); k += 2 {
		if err := live[k].Close(); err != nil {
			t.Fatal(err)
		}
	}
	if u, grown := w.Usage(), engine.MapCount()-before; u.Maps != 3 || grown > 60 {
		t.Errorf("1,500 of 3,000 stores hold %d maps; the process has %d more", u.Maps, grown)
	}
	for _, i := range live {
		if err := i.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if u := w.Usage(); u.Maps != 1 || u.LinearBytes != 0 {
		t.Errorf("left: %+v", u) // one empty slab is kept
	}
}

// What a guest wrote is not there for the next one in the same place, nor beyond what it had grown to.
func TestMemoryIsZeroed(t *testing.T) {
	dirty := watguest.Guest{Memory: "1", Bodies: map[string]string{
		"nervix_process_batch": "(drop (memory.grow (i32.const 2))) (memory.fill (i32.const 0) (i32.const 0xee) (i32.const 196608)) i32.const 0"}}
	clean := watguest.Guest{Memory: "1", Bodies: map[string]string{"nervix_process_batch": `(local $k i32) (drop (memory.grow (i32.const 2)))
	  (loop $l (if (i64.ne (i64.load (local.get $k)) (i64.const 0)) (then unreachable))
	    (local.set $k (i32.add (local.get $k) (i32.const 8))) (br_if $l (i32.lt_u (local.get $k) (i32.const 196608)))) i32.const 0`}}
	leakVariants(t, func(w world) {
		d, c := w.module(dirty), w.module(clean)
		for range 50 {
			for _, m := range []*engine.Module{d, c} {
				i, err := m.Instantiate(engine.Spec{Fuel: 1e7, Memory: 1 << 20}, now)
				if err != nil {
					w.Fatal(err)
				}
				i.Begin(engine.OpBatch, now)
				if _, err := i.Deliver(engine.ProcessBatch, nil); err != nil {
					w.Fatal(err)
				}
				if err := i.Close(); err != nil {
					w.Fatal(err)
				}
			}
		}
	})
}

// Growth keeps what was written, through slots, to maps of their own, and there.
func TestGrowthKeepsContents(t *testing.T) {
	g := watguest.Guest{Memory: "1", Bodies: map[string]string{"nervix_process_batch": `(local $p i32) (local $end i32)
	  (local.set $end (memory.size))
	  (loop $l (if (i32.ne (i32.load offset=8 (i32.shl (local.get $p) (i32.const 16))) (local.get $p)) (then unreachable))
	    (local.set $p (i32.add (local.get $p) (i32.const 1))) (br_if $l (i32.lt_u (local.get $p) (local.get $end))))
	  (if (i32.eq (memory.grow (local.get $end)) (i32.const -1)) (then unreachable))
	  (loop $m (i32.store offset=8 (i32.shl (local.get $p) (i32.const 16)) (local.get $p))
	    (local.set $p (i32.add (local.get $p) (i32.const 1))) (br_if $m (i32.lt_u (local.get $p) (memory.size)))) i32.const 0`}}
	leakVariants(t, func(w world) {
		a, b := w.instance(g, engine.Spec{Fuel: 1e9, Memory: 512 << 20}), w.instance(g, engine.Spec{Fuel: 1e9, Memory: 512 << 20})
		for k := range 13 { // 1 page to 512 MiB
			for _, i := range []*engine.Instance{a, b} {
				i.Begin(engine.OpBatch, now)
				if _, err := i.Deliver(engine.ProcessBatch, nil); err != nil {
					w.Fatalf("step %d: %v", k, err)
				}
			}
		}
		if a.MemoryBytes() != 512<<20 {
			w.Errorf("%d bytes", a.MemoryBytes())
		}
	})
}

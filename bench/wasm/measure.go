// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strconv"

	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/wasm/engine"
	"github.com/nervix-go/nervix/wasm/engine/shim"
	"github.com/nervix-go/nervix/wasm/engine/watguest"
)

var (
	snapshot = vtime.LogicalFromNS(1_700_000_000_000_000_000)
	spec     = engine.Spec{Fuel: 1 << 60, Memory: 64 << 20}
)

func openEngine(s setup, stores int) *engine.Engine {
	e, err := engine.New(engine.Config{Profile: s.profile, Limits: engine.Limits{Stores: stores, LinearBytes: 1 << 40}}, s.open)
	fail(err)
	return e
}

func module(e *engine.Engine, g watguest.Guest) *engine.Module {
	b, err := shim.ModuleText(g.Text())
	fail(err)
	m, err := e.Acquire(context.Background(), b)
	fail(err)
	return m
}

func instance(m *engine.Module) *engine.Instance {
	i, err := m.Instantiate(spec, snapshot)
	fail(err)
	return i
}

// operations: a batch operation of a guest that does nothing with it. `silent` emits nothing, `echo` points at its input, whose bytes the
// host then reads.
func operations() {
	fmt.Println("\n| operation without guest work | engine | bytes | ns median | least | allocations |\n|---|---|---|---|---|---|")
	for _, s := range setups {
		e := openEngine(s, 10)
		silent := instance(module(e, watguest.With("nervix_process_batch", "i32.const 0")))
		echo := instance(module(e, watguest.Guest{}))
		keep := make([]byte, 64<<10)
		for _, n := range []int{64, 4 << 10, 60 << 10} {
			payload := make([]byte, n)
			row := func(name string, f func()) {
				ns, least, allocs := perOp(15, 10_000, f)
				fmt.Printf("| %s | %s | %d | %.0f | %.0f | %.1f |\n", name, s.name, n, ns, least, allocs)
			}
			row("Deliver, no output", func() {
				silent.Begin(engine.OpBatch, snapshot)
				_, err := silent.Deliver(engine.ProcessBatch, payload)
				fail(err)
			})
			row("Alloc + Send, no output", func() {
				silent.Begin(engine.OpBatch, snapshot)
				v, err := silent.Alloc(uint32(n))
				fail(err)
				copy(v.Bytes(), payload)
				_, err = silent.Send(engine.ProcessBatch, v.At(), uint32(n))
				fail(err)
			})
			row("Deliver, output copied, last read", func() {
				echo.Begin(engine.OpBatch, snapshot)
				a, err := echo.Deliver(engine.ProcessBatch, payload)
				fail(err)
				copy(keep, a.Output.Bytes())
				_, err = echo.ReadEmit()
				fail(err)
			})
		}
		fail(e.Close(context.Background()))
	}
}

// instances: creation alone, and with the close, one at a time beside 1,000 live ones.
func instances() {
	fmt.Println("\n| instance beside 1,000 live ones | create p50 us | p99 | close p50 us | p99 |\n|---|---|---|---|---|")
	for _, s := range setups {
		e := openEngine(s, 2000)
		m := module(e, watguest.Guest{})
		for range 1000 {
			instance(m)
		}
		var create, closing []float64
		for range 5000 {
			t0 := osclock.Mono()
			i := instance(m)
			t1 := osclock.Mono()
			fail(i.Close())
			t2 := osclock.Mono()
			create, closing = append(create, t1.Sub(t0).Seconds()*1e6), append(closing, t2.Sub(t1).Seconds()*1e6)
		}
		slices.Sort(create)
		slices.Sort(closing)
		fmt.Printf("| %s | %.1f | %.1f | %.1f | %.1f |\n", s.name, create[2500], create[4950], closing[2500], closing[4950])
		fail(e.Close(context.Background()))
	}
}

// memory gives resident and virtual bytes of the process.
func memory() (resident, virtual int64) {
	debug.FreeOSMemory()
	statm, err := os.ReadFile("/proc/self/statm")
	fail(err)
	f := bytes.Fields(statm)
	v, err := strconv.ParseInt(string(f[0]), 10, 64)
	fail(err)
	r, err := strconv.ParseInt(string(f[1]), 10, 64)
	fail(err)
	page := int64(os.Getpagesize())
	return r * page, v * page
}

// idle: stores that have worked one batch of 1 KiB and wait.
func idle(which, count string) {
	k, err := strconv.Atoi(which)
	fail(err)
	n, err := strconv.Atoi(count)
	fail(err)
	s := setups[k]
	e := openEngine(s, n+1)
	m := module(e, watguest.Guest{})
	instance(m)
	live := make([]*engine.Instance, n)
	payload := make([]byte, 1024)
	r0, v0 := memory()
	maps := engine.MapCount()
	began := osclock.Mono()
	for k := range live {
		live[k] = instance(m)
		live[k].Begin(engine.OpBatch, snapshot)
		_, err := live[k].Deliver(engine.ProcessBatch, payload)
		fail(err)
	}
	took := osclock.Mono().Sub(began)
	r1, v1 := memory()
	fmt.Printf("| %d | %s | %.1f KiB | %.0f KiB | %.2f | %.1f |\n", n, s.name, float64(r1-r0)/float64(n)/1024, float64(v1-v0)/float64(n)/1024,
		float64(engine.MapCount()-maps)/float64(n), took.Seconds()*1e6/float64(n))
	fail(e.Close(context.Background()))
}

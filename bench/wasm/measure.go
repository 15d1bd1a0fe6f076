// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"

	"github.com/nervix-go/nervix/bench/guests"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/node/wasmproc"
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
	var engines []*engine.Engine
	var silent, echo []*engine.Instance
	for _, s := range setups {
		e := openEngine(s, 10)
		engines = append(engines, e)
		silent = append(silent, instance(module(e, watguest.With("nervix_process_batch", "i32.const 0"))))
		echo = append(echo, instance(module(e, watguest.Guest{})))
	}
	fmt.Println("\n| operation without guest work | engine | bytes | us | 10 % to 90 % | allocations |\n|---|---|---|---|---|---|")
	for _, n := range []int{64, 4 << 10, 60 << 10} {
		payload, keep := make([]byte, n), make([]byte, n)
		for _, o := range []struct {
			name string
			on   []*engine.Instance
			once func(i *engine.Instance)
		}{
			{"Deliver, no output", silent, func(i *engine.Instance) { deliver(i, payload) }},
			{"Alloc + Send, no output", silent, func(i *engine.Instance) { allocSend(i, payload) }},
			{"Deliver, output copied, last read", echo, func(i *engine.Instance) { deliverRead(i, payload, keep) }},
		} {
			var all []contender
			for k, s := range setups {
				all = append(all, here(s.name, func(times int) {
					for range times {
						o.once(o.on[k])
					}
				}))
			}
			for _, f := range compare(21, all) {
				if n == 64 && f.name == "shim guard" && o.name == "Alloc + Send, no output" {
					note("operation", "%s us, %.0f allocations", us(f.ns), f.allocs)
				}
				fmt.Printf("| %s | %s | %d | %s | %s to %s | %.1f |\n", o.name, f.name, n, us(f.ns), us(f.low), us(f.high), f.allocs)
			}
		}
	}
	for _, e := range engines {
		fail(e.Close(context.Background()))
	}
}

func deliver(i *engine.Instance, payload []byte) engine.Answer {
	i.Begin(engine.OpBatch, snapshot)
	a, err := i.Deliver(engine.ProcessBatch, payload)
	fail(err)
	return a
}

func allocSend(i *engine.Instance, payload []byte) {
	i.Begin(engine.OpBatch, snapshot)
	v, err := i.Alloc(uint32(len(payload)))
	fail(err)
	copy(v.Bytes(), payload)
	_, err = i.Send(engine.ProcessBatch, v.At(), uint32(len(payload)))
	fail(err)
}

func deliverRead(i *engine.Instance, payload, keep []byte) {
	a := deliver(i, payload)
	copy(keep, a.Output.Bytes())
	_, err := i.ReadEmit()
	fail(err)
}

// instances: creation alone, and with the close, one at a time beside 1,000 live ones: the plain test guest in every engine, and a guest made with the
// C header, with its init call, in both profiles.
func instances() {
	fmt.Println("\n| instance beside 1,000 live ones | create p50 us | p99 | close p50 us | p99 |\n|---|---|---|---|---|")
	for _, s := range setups {
		e := openEngine(s, 2000)
		m := module(e, watguest.Guest{})
		creations("plain guest, "+s.name, func() func() {
			i := instance(m)
			return func() { fail(i.Close()) }
		})
		fail(e.Close(context.Background()))
	}
	w, err := guests.NewWorld()
	fail(err)
	init, _, err := guests.Messages(w, "numbering", 1)
	fail(err)
	for _, p := range []engine.Profile{engine.ProfileGuard, engine.ProfileDense} {
		f := openFloor(p, shim.Options{}, 2000)
		m, err := f.Acquire(context.Background(), wasmproc.Pin{File: "c_passthrough.wasm"})
		fail(err)
		p50, p99 := creations("C guest with init, shim "+p.String(), func() func() {
			g, err := guests.Instance(m, init)
			fail(err)
			return g.Close
		})
		note("instance "+p.String(), "%.1f / %.1f us", p50, p99)
		m.Release()
		fail(f.engine.Close(context.Background()))
	}
	fail(w.Close())
}

// creations prints the times of 5,000 creations; create gives the end of what it made.
func creations(name string, create func() func()) (p50, p99 float64) {
	var live []func()
	for range 1000 {
		live = append(live, create())
	}
	var created, closed []float64
	for range 5000 {
		t0 := osclock.Mono()
		end := create()
		t1 := osclock.Mono()
		end()
		t2 := osclock.Mono()
		created, closed = append(created, t1.Sub(t0).Seconds()*1e6), append(closed, t2.Sub(t1).Seconds()*1e6)
	}
	c50, c99 := percentiles(created)
	e50, e99 := percentiles(closed)
	fmt.Printf("| %s | %.1f | %.1f | %.1f | %.1f |\n", name, c50, c99, e50, e99)
	for _, end := range live {
		end()
	}
	return c50, c99
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
	note("store "+count, "%.1f KiB", float64(r1-r0)/float64(n)/1024)
	fmt.Printf("| %d | %s | %.1f KiB | %.0f KiB | %.2f | %.1f |\n", n, s.name, float64(r1-r0)/float64(n)/1024, float64(v1-v0)/float64(n)/1024,
		float64(engine.MapCount()-maps)/float64(n), took.Seconds()*1e6/float64(n))
	fail(e.Close(context.Background()))
}

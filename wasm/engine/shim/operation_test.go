// SPDX-License-Identifier: Apache-2.0

package shim_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/wasm/engine"
	"github.com/nervix-go/nervix/wasm/engine/watguest"
)

func TestEcho(t *testing.T) {
	each(t, engine.Limits{}, func(w world) {
		i := w.instance(watguest.Guest{}, plain)
		for _, n := range []int{0, 1, 64, 4096, 60000} {
			in := strings.Repeat("x", n)
			out, err := w.batch(i, in)
			if err != nil || out != in {
				w.Fatalf("%d bytes: got %d, %v", n, len(out), err)
			}
		}
	})
}

// The buffer moves on every nervix_alloc; the host writes where the last call said.
func TestBufferThatMoves(t *testing.T) {
	// req: W-039, W-041
	move := watguest.Guest{Memory: "8", Bodies: map[string]string{
		"nervix_alloc": `(global.set $ptr (i32.add (global.get $ptr) (i32.const 70000)))
		  (if (i32.gt_u (global.get $ptr) (i32.const 400000)) (then (global.set $ptr (i32.const 2048)))) global.get $ptr`,
		// Answers from another place than the input was in.
		"nervix_process_batch": `(memory.copy (i32.add (local.get 0) (i32.const 4096)) (local.get 0) (local.get 1))
		  (global.set $ptr (i32.add (local.get 0) (i32.const 4096))) (global.set $emit (local.get 1)) i32.const 0`,
	}}
	each(t, engine.Limits{}, func(w world) {
		i := w.instance(move, plain)
		for k := range 20 {
			in := fmt.Sprint("message ", k)
			i.Begin(engine.OpBatch, now)
			v, err := i.Alloc(64)
			if err != nil {
				w.Fatal(err)
			}
			copy(v.Bytes()[10:], in)
			a, err := i.Send(engine.ProcessBatch, v.At()+10, uint32(len(in)))
			if err != nil || string(a.Output.Bytes()) != in {
				w.Fatalf("got %q, %v", a.Output.Bytes(), err)
			}
		}
	})
}

// Messages of 64 MiB pass in both directions, and not a byte more.
func TestLargestBuffer(t *testing.T) {
	// req: W-044
	const most = 64 << 20
	large := watguest.Guest{Memory: "1030", Bodies: map[string]string{
		"nervix_dump_state": "(global.set $ptr (i32.const 65536)) i32.const 67108864", "nervix_flush": "(global.set $emit (i32.const 67108865)) i32.const 0"}}
	each(t, engine.Limits{}, func(w world) {
		i := w.instance(large, engine.Spec{Fuel: 1e6, Memory: 128 << 20})
		i.Begin(engine.OpBatch, now)
		a, err := i.Deliver(engine.ProcessBatch, make([]byte, most))
		if err != nil || a.Output.Len() != most {
			w.Errorf("%d bytes, %v", a.Output.Len(), err)
		}
		i.Begin(engine.OpSave, now)
		if a, err = i.Dump(); err != nil || a.Output.Len() != most {
			w.Errorf("%d bytes, %v", a.Output.Len(), err)
		}
		i.Begin(engine.OpFlush, now)
		_, err = i.Flush()
		if f := want(w, err, fault.WasmBuffer); f.Gone || !strings.Contains(f.Error(), "guest buffer size 67108865 exceeds configured limit 67108864") {
			w.Error(f)
		}
		i.Begin(engine.OpBatch, now)
		_, err = i.Alloc(most + 1)
		want(w, err, fault.WasmBuffer)
		if v, err := i.Alloc(0); err != nil || v.Len() != 0 {
			w.Error(err)
		} else if _, err := i.Send(engine.ProcessBatch, v.At(), 0); err != nil {
			w.Error(err)
		}
	})
}

// A view ends with the next call, and a message has to lie in the last grant.
func TestViewsAndGrants(t *testing.T) {
	// req: W-040 half: the writer of the messages is not here, W-043
	each(t, engine.Limits{}, func(w world) {
		i := w.instance(watguest.Guest{}, plain)
		i.Begin(engine.OpBatch, now)
		v, err := i.Alloc(100)
		if err != nil {
			w.Fatal(err)
		}
		_, err = i.Send(engine.ProcessBatch, v.At()+1, 100)
		want(w, err, fault.WasmMisuse)
		_, err = i.Send(engine.ProcessBatch, v.At()-1, 10)
		want(w, err, fault.WasmMisuse)
		if _, err = i.Send(engine.ProcessBatch, v.At(), 100); err != nil {
			w.Fatal(err)
		}
		defer func() {
			if recover() == nil {
				w.Error("a view outlived the guest call")
			}
		}()
		v.Bytes()
	})
}

// Guest memory grows and moves inside a call; what the host reads afterwards comes from where it is then.
func TestGrowthWithinACall(t *testing.T) {
	// req: W-007 half: timeouts of two instances are not compared here
	grow := watguest.Guest{Bodies: map[string]string{
		"nervix_process_batch": `(drop (memory.grow (i32.const 3)))
		  (memory.copy (i32.sub (i32.shl (memory.size) (i32.const 16)) (local.get 1)) (local.get 0) (local.get 1))
		  (global.set $ptr (i32.sub (i32.shl (memory.size) (i32.const 16)) (local.get 1))) (global.set $emit (local.get 1)) i32.const 0`,
		"nervix_alloc": "i32.const 1024",
	}}
	each(t, engine.Limits{}, func(w world) {
		spec := engine.Spec{Fuel: 1e9, Memory: 64 << 20}
		i, idle := w.instance(grow, spec), w.instance(grow, spec)
		for k := range 100 {
			in := fmt.Sprintf("%0100d", k)
			if out, err := w.batch(i, in); err != nil || out != in {
				w.Fatalf("growth %d: got %q, %v", k, out, err)
			}
		}
		if i.MemoryBytes() != 302<<16 || idle.MemoryBytes() != 2<<16 {
			w.Errorf("memory is %d and %d pages", i.MemoryBytes()>>16, idle.MemoryBytes()>>16)
		}
		if u := w.Usage(); u.LinearBytes != 304<<16 || u.Stores != 2 {
			w.Errorf("usage %+v", u)
		}
	})
}

// One snapshot holds for all calls of an operation.
func TestDomainTime(t *testing.T) {
	// req: W-024, W-025, W-026
	clock := watguest.Guest{Bodies: map[string]string{
		// Emits 1000 readings.
		"nervix_process_batch": `(local $k i32) (loop $l (i64.store (i32.add (i32.const 1024) (i32.shl (local.get $k) (i32.const 3))) (call $now))
		  (local.set $k (i32.add (local.get $k) (i32.const 1))) (br_if $l (i32.lt_u (local.get $k) (i32.const 1000))))
		  (global.set $ptr (i32.const 1024)) (global.set $emit (i32.const 8000)) i32.const 0`,
		"nervix_read_emit": `(i64.store (i32.const 1024) (call $now)) global.get $emit (global.set $emit (i32.const 0))`,
	}}
	each(t, engine.Limits{}, func(w world) {
		i := w.instance(clock, plain)
		for _, at := range []int64{5, -7, 1 << 62} {
			i.Begin(engine.OpBatch, vtime.LogicalFromNS(at))
			a, err := i.Deliver(engine.ProcessBatch, nil)
			if err != nil {
				w.Fatal(err)
			}
			out := a.Output.Bytes()
			for k := 0; k < len(out); k += 8 {
				if got := int64(binary.LittleEndian.Uint64(out[k:])); got != at {
					w.Fatalf("reading %d is %d, want %d", k/8, got, at)
				}
			}
		}
	})
}

// The six operations ask for a timeout and a reset each: what is allowed where, and which handles come out.
func TestTimeoutsAndResets(t *testing.T) {
	// req: W-032, W-162 half: no reset follows a refusal is the processor's part, W-168 half: the reset itself, W-233 half: anchoring, W-234
	ask := `(i64.store (i32.const 200) (call $after (i64.const 11))) (i32.store (i32.const 208) (call $reset)) `
	bodies := map[string]string{
		// The answers go where the output is read.
		"nervix_read_emit":  "(global.set $ptr (i32.const 200)) global.get $emit (global.set $emit (i32.const 0))",
		"nervix_init":       ask + "i32.const 0",
		"nervix_dump_state": ask + "(global.set $ptr (i32.const 200)) i32.const 12",
		"nervix_load_state": ask + "i32.const 0",
	}
	for _, name := range []string{"nervix_process_batch", "nervix_on_timeout", "nervix_flush"} {
		bodies[name] = ask + "(global.set $emit (i32.const 12)) i32.const 0"
	}
	each(t, engine.Limits{}, func(w world) {
		i := w.instance(watguest.Guest{Bodies: bodies}, engine.Spec{Fuel: 1e6, Memory: 1 << 20, FirstHandle: 5})
		check := func(name string, a engine.Answer, err error, handle int64, reset int32, read bool) {
			w.Helper()
			if err != nil {
				w.Fatal(name, err)
			}
			if read {
				out := a.Output.Bytes()
				if h, r := int64(binary.LittleEndian.Uint64(out)), int32(binary.LittleEndian.Uint32(out[8:])); h != handle || r != reset {
					w.Errorf("%s: the guest got handle %d and %d", name, h, r)
				}
			}
			var armed []engine.Timeout
			if handle > 0 {
				armed = []engine.Timeout{{Handle: handle, Delay: 11}}
			}
			if fmt.Sprint(a.Timeouts) != fmt.Sprint(armed) || a.Reset != (reset == 0) {
				w.Errorf("%s: armed %v, reset %v", name, a.Timeouts, a.Reset)
			}
		}
		i.Begin(engine.OpInit, now)
		a, err := i.Deliver(engine.Init, []byte("x"))
		check("init", a, err, 5, -9, false)
		i.Begin(engine.OpRestore, now)
		a, err = i.Deliver(engine.LoadState, []byte("x"))
		check("load", a, err, -1, -9, false)
		i.Begin(engine.OpBatch, now)
		a, err = i.Deliver(engine.ProcessBatch, []byte("x"))
		check("batch", a, err, 6, 0, true)
		i.Begin(engine.OpTimeout, now)
		a, err = i.OnTimeout(6)
		check("timeout", a, err, 7, 0, true)
		i.Begin(engine.OpFlush, now)
		a, err = i.Flush()
		check("flush", a, err, 8, 0, true)
		i.Begin(engine.OpSave, now)
		a, err = i.Dump()
		check("dump", a, err, -1, -9, true)
		if i.NextHandle() != 9 {
			w.Errorf("next handle %d", i.NextHandle())
		}
	})
}

// A reset asked for before a trap is still reported, and so are the timeouts.
func TestRequestsSurviveAFailure(t *testing.T) {
	g := watguest.With("nervix_process_batch", "(drop (call $reset)) (drop (call $after (i64.const 3))) unreachable")
	each(t, engine.Limits{}, func(w world) {
		i := w.instance(g, plain)
		i.Begin(engine.OpBatch, now)
		a, err := i.Deliver(engine.ProcessBatch, []byte("x"))
		if f := want(w, err, fault.WasmTrap); !f.Gone {
			w.Error("a trap kept the instance")
		}
		if !a.Reset || len(a.Timeouts) != 1 {
			w.Errorf("got %+v", a)
		}
	})
}

// A guest that arms without end gets 65,536 handles an operation, then -1.
func TestTimeoutFlood(t *testing.T) {
	g := watguest.With("nervix_process_batch", `(local $k i32) (loop $l (drop (call $after (i64.const 1)))
	  (local.set $k (i32.add (local.get $k) (i32.const 1))) (br_if $l (i32.lt_u (local.get $k) (i32.const 70000)))) i32.const 0`)
	each(t, engine.Limits{}, func(w world) {
		i := w.instance(g, engine.Spec{Fuel: 1e9, Memory: 1 << 20})
		for range 2 {
			i.Begin(engine.OpBatch, now)
			a, err := i.Deliver(engine.ProcessBatch, nil)
			if err != nil || len(a.Timeouts) != 65536 {
				w.Fatalf("armed %d, %v", len(a.Timeouts), err)
			}
		}
		if i.NextHandle() != 2*65536+1 {
			w.Errorf("next handle %d", i.NextHandle())
		}
	})
}

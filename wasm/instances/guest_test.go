// SPDX-License-Identifier: Apache-2.0

package instances_test

import (
	"bytes"
	"context"
	"slices"
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/node/wasmproc"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/wasm/engine"
	"github.com/nervix-go/nervix/wasm/engine/watguest"
	"github.com/nervix-go/nervix/wasm/instances"
	"github.com/nervix-go/nervix/wasm/protocol"
)

var limits = wasmproc.Limits{Fuel: 1_000_000, Memory: 4 << 20, FirstHandle: 7}

// An output is copied once and stays as it was, whatever the guest writes later (W-304).
func TestOutputIsTheCallers(t *testing.T) {
	// req: W-304 half: that the columns are slices of it is in host/node/wasmproc
	// req: W-041
	g := guestOf(t, watguest.Guest{}, limits) // it answers a batch with the same bytes, in the same buffer
	first := bytes.Repeat([]byte("first"), 100)
	g.Begin(wasmproc.OpBatch, now)
	a, err := g.Send(protocol.Bytes(first))
	if err != nil || !bytes.Equal(a.Output, first) || a.FuelUsed == 0 || a.Memory != 131072 || a.NextHandle != 7 || a.Reset || len(a.Timeouts) > 0 {
		t.Fatalf("%+v %v", a, err)
	}
	if more, err := g.ReadEmit(); err != nil || more.Output != nil {
		t.Fatalf("%+v %v", more, err)
	}
	g.Begin(wasmproc.OpBatch, now)
	if _, err := g.Send(protocol.Bytes(bytes.Repeat([]byte("later"), 100))); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a.Output, first) {
		t.Fatal("an output changed with the guest's next call")
	}
}

func TestWhatAGuestAsksFor(t *testing.T) {
	// req: W-032, W-234 half: numbers go on over instances in host/node/wasmproc
	ask := "(drop (call $after (i64.const 5))) (drop (call $after (i64.const 9))) (drop (call $reset)) i32.const 0"
	g := guestOf(t, watguest.Guest{Bodies: map[string]string{
		"nervix_process_batch": ask, "nervix_on_timeout": ask, "nervix_flush": ask, "nervix_init": ask,
		"nervix_dump_state": "(drop (call $after (i64.const 5))) (drop (call $reset)) (global.set $ptr (i32.const 1024)) i32.const 3",
	}, Imports: watguest.HostImports}, limits)
	next := int64(7)
	want := func(a wasmproc.Answer, err error, reset bool) {
		t.Helper()
		asked := []wasmproc.Timeout{{Handle: next, Delay: 5}, {Handle: next + 1, Delay: 9}}
		next += 2
		if err != nil || !slices.Equal(a.Timeouts, asked) || a.Reset != reset || a.NextHandle != next || a.Output != nil {
			t.Fatalf("%+v %v, want %v", a, err, asked)
		}
	}
	g.Begin(wasmproc.OpInit, now)
	a, err := g.Send(protocol.Bytes("init"))
	want(a, err, false) // an initialisation carries no reset
	g.Begin(wasmproc.OpBatch, now)
	a, err = g.Send(protocol.Bytes("batch"))
	want(a, err, true)
	g.Begin(wasmproc.OpTimeout, now)
	a, err = g.OnTimeout(8)
	want(a, err, true)
	g.Begin(wasmproc.OpFlush, now)
	a, err = g.Flush()
	want(a, err, true)
	g.Begin(wasmproc.OpSave, now)
	if a, err = g.Dump(); err != nil || len(a.Output) != 3 || a.Reset || len(a.Timeouts) > 0 || a.NextHandle != next {
		t.Fatalf("%+v %v", a, err)
	}
}

func TestFailures(t *testing.T) {
	// req: W-029, W-100, W-013 half: a batch; the operations one by one are the engine's
	trap := map[string]string{"nervix_process_batch": "unreachable", "nervix_load_state": "i32.const -8", "nervix_on_timeout": "i32.const -3", "nervix_flush": "(loop $l (br $l)) unreachable"}
	g := guestOf(t, watguest.Guest{Bodies: trap}, limits)
	g.Begin(wasmproc.OpRestore, now)
	_, err := g.Send(protocol.Bytes("state"))
	wantFailure(t, err, wasmproc.Failure{Stage: protocol.StageStateRestoration, Export: "nervix_load_state"}, "wasm guest rejected the application state in its saved snapshot")
	g.Begin(wasmproc.OpTimeout, now)
	_, err = g.OnTimeout(1)
	wantFailure(t, err, wasmproc.Failure{Stage: protocol.StageTimeout, Export: "nervix_on_timeout"}, "wasm guest rejected the call of nervix_on_timeout with code -3")
	g.Begin(wasmproc.OpBatch, now)
	a, err := g.Send(protocol.Bytes("batch"))
	wantFailure(t, err, wasmproc.Failure{Stage: protocol.StageBatch, Export: "nervix_process_batch", Gone: true}, "wasm guest trapped: unreachable executed")
	if a.Memory == 0 || a.NextHandle != 7 {
		t.Fatalf("%+v", a)
	}
	g = guestOf(t, watguest.Guest{Bodies: trap}, limits)
	g.Begin(wasmproc.OpFlush, now)
	a, err = g.Flush()
	wantFailure(t, err, wasmproc.Failure{Stage: protocol.StageFlush, Export: "nervix_flush", Gone: true}, "wasm guest exhausted MAX FUEL 1000000")
	if a.FuelUsed != limits.Fuel {
		t.Fatalf("%+v", a)
	}
	g.Close()
	g.Close()
	g = guestOf(t, watguest.Guest{Bodies: map[string]string{"nervix_alloc": "i32.const 0"}}, limits)
	g.Begin(wasmproc.OpBatch, now)
	_, err = g.Send(protocol.Bytes("batch"))
	wantFailure(t, err, wasmproc.Failure{Stage: protocol.StageBatch, Export: "nervix_alloc"}, "nervix_alloc gave no buffer of 5 bytes")
}

func TestModules(t *testing.T) {
	// req: W-001 half: one of the modules that cannot be used; the engine has the others
	// req: W-017 half: at CREATE
	e := open(t, engine.Limits{})
	defer shut(t, e)
	big := watguest.Guest{Memory: "80"}
	m := instances.New(e, files{"plain": wat(t, watguest.Guest{}), "text": []byte("no module"), "big": wat(t, big)}.read)
	ctx := context.Background()
	_, err := m.Acquire(ctx, wasmproc.Pin{File: "nowhere"})
	wantFailure(t, err, wasmproc.Failure{Stage: protocol.StageCompilation, Gone: true}, errNoFile.Error())
	if _, err = m.Acquire(ctx, wasmproc.Pin{File: "text"}); !fault.Has(err, fault.WasmModule) {
		t.Fatal(err)
	}
	if err := m.Prepare(ctx, wasmproc.Pin{File: "text"}, 1<<20); !fault.Has(err, fault.WasmModule) {
		t.Fatal(err)
	}
	if err := m.Prepare(ctx, wasmproc.Pin{File: "plain"}, 1<<20); err != nil {
		t.Fatal(err)
	}
	if err := m.Prepare(ctx, wasmproc.Pin{File: "big"}, 4<<20); !fault.Has(err, fault.WasmMemory) {
		t.Fatal(err)
	}
	released := func() {
		t.Helper()
		for range 60_000 { // whoever compiled lets go a moment after it told
			if e.Modules() == 0 {
				return
			}
			_ = osclock.Wait(ctx, time.Millisecond)
		}
		t.Fatalf("%d modules are held", e.Modules())
	}
	released()
	one, err := m.Acquire(ctx, wasmproc.Pin{File: "big"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = one.Instantiate(limits, now)
	wantFailure(t, err, wasmproc.Failure{Stage: protocol.StageInstantiation, Gone: true}, "wasm guest exceeded MAX MEMORY 4194304: its memories start with 80 pages of 64 KiB")
	one.Release()
	released()
	if u := e.Usage(); u.Stores != 0 {
		t.Fatalf("%+v", u)
	}
}

// BenchmarkGuest is what an operation costs below the ports, over a guest that does nothing.
func BenchmarkGuest(b *testing.B) {
	g := guestOf(b, watguest.With("nervix_process_batch", "i32.const 0"), limits)
	var m protocol.Message = protocol.Bytes(make([]byte, 1024))
	b.ReportAllocs()
	for b.Loop() {
		g.Begin(wasmproc.OpBatch, now)
		if _, err := g.Send(m); err != nil {
			b.Fatal(err)
		}
	}
}

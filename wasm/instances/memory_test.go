// SPDX-License-Identifier: Apache-2.0

package instances_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/node/nodetest"
	"github.com/nervix-go/nervix/host/node/wasmproc"
	"github.com/nervix-go/nervix/wasm/engine"
	"github.com/nervix-go/nervix/wasm/engine/reference"
	"github.com/nervix-go/nervix/wasm/engine/watguest"
	"github.com/nervix-go/nervix/wasm/instances"
	"github.com/nervix-go/nervix/wasm/protocol"
)

// watch stands between the engine and the stores of its backend. All that the host gets to see of a guest's memory goes through it: the ranges of a
// Result. It hands out copies, so that the host has nothing else in its hands, carries what was written into the guest when the next call begins, and
// compares every range with what the guest itself says of its buffer and of its error.
type watch struct {
	t                                testing.TB
	grants, outputs, reasons, allocs int
}

// spoiled fills a range whose time is over.
const spoiled = 0xdb

func (w *watch) open(o engine.BackendOptions) (engine.Backend, error) {
	b, err := reference.Open(o)
	return watchedBackend{b, w}, err
}

type watchedBackend struct {
	engine.Backend
	w *watch
}

func (b watchedBackend) Compile(wasm []byte) (engine.Code, error) {
	c, err := b.Backend.Compile(wasm)
	return watchedCode{c, b.w}, err
}

type watchedCode struct {
	engine.Code
	w *watch
}

func (c watchedCode) Instantiate(q *engine.Request, r *engine.Result) engine.Store {
	s := c.Code.Instantiate(q, r)
	if s == nil {
		return nil
	}
	return &watchedStore{Store: s, w: c.w}
}

// lease is a range of guest memory that the host has.
type lease struct {
	lent, guest []byte
	writable    bool
}

type watchedStore struct {
	engine.Store
	w     *watch
	out   []lease
	ended [][]byte
}

func (s *watchedStore) Run(q *engine.Request, r *engine.Result) {
	s.end()
	if q.Ask {
		s.w.allocs++
	}
	s.Store.Run(q, r)
	if r.Status != engine.StatusOK {
		return
	}
	s.judge(r)
	r.Grant = s.lend(r.Grant, true)
	r.Output = s.lend(r.Output, false)
}

// lend gives the host a copy.
func (s *watchedStore) lend(guest []byte, writable bool) []byte {
	if len(guest) == 0 {
		return guest
	}
	l := lease{bytes.Clone(guest), guest, writable}
	s.out = append(s.out, l)
	return l.lent
}

// end ends all leases before the guest runs again. From here on the host may neither read nor write them: what it reads is spoiled, what it writes shows.
func (s *watchedStore) end() {
	for _, l := range s.out {
		if l.writable {
			copy(l.guest, l.lent)
		}
		for k := range l.lent {
			l.lent[k] = spoiled
		}
		s.ended = append(s.ended, l.lent)
	}
	s.out = s.out[:0]
	s.untouched()
}

func (s *watchedStore) untouched() {
	for _, lent := range s.ended {
		if len(bytes.Trim(lent, string([]byte{spoiled}))) > 0 {
			s.w.t.Error("the host wrote into guest memory after the next guest call had begun")
		}
	}
}

func (s *watchedStore) Close() {
	s.end()
	s.Store.Close()
}

// tell asks the guest.
func (s *watchedStore) tell(x engine.Export) uint64 {
	var r engine.Result
	s.Store.Run(&engine.Request{Entry: x}, &r)
	if r.Status != engine.StatusOK {
		s.w.t.Fatalf("%s ended with status %d", x, r.Status)
	}
	return uint64(uint32(r.Code))
}

func (s *watchedStore) judge(r *engine.Result) {
	grant, output := r.Grant, r.Output
	if len(grant)+len(output) == 0 && len(r.Reason) == 0 {
		return
	}
	// What follows calls the guest, and may not disturb what r shows.
	at, size := s.tell(engine.BufferPtr), s.tell(engine.BufferCapacity)
	inside := func(what string, ptr uint32, n int) {
		if uint64(ptr) < at || uint64(ptr)+uint64(n) > at+size {
			s.w.t.Errorf("%s: the host has %d bytes at %d; the guest's buffer is %d bytes at %d", what, n, ptr, size, at)
		}
	}
	if len(grant) > 0 {
		s.w.grants++
		inside("writes", r.GrantPtr, len(grant))
	}
	if len(output) > 0 {
		s.w.outputs++
		inside("reads", r.OutputPtr, len(output))
	}
	if len(r.Reason) > 0 {
		s.w.reasons++
		if len(output) > 0 {
			s.w.t.Error("an answer with a reason was read from the buffer")
		}
	}
}

// counterParts are what the counting guest in C gets: its init payload, and messages of rows.
func counterParts(t *testing.T) (init []byte, batch func(first uint64, rows ...string) []byte) {
	t.Helper()
	w := nodetest.New(t, graph, 1)
	t.Cleanup(w.Close)
	plan := w.Graph.WASMs[0]
	init, err := protocol.EncodeInit(&protocol.Init{
		DomainName: "farm", DomainType: "unpaced", BranchKey: []byte(`{"location":"oslo"}`), Input: protocol.ShapeOf("day", plan.InputSchema),
		Outputs: []protocol.Shape{protocol.ShapeOf("trends", plan.Routes[0].Relay.Schema)},
	})
	if err != nil {
		t.Fatal(err)
	}
	encoder, err := protocol.NewInputEncoder(plan.InputSchema)
	if err != nil {
		t.Fatal(err)
	}
	return init, func(first uint64, rows ...string) []byte {
		record := w.Record(plan.InputSchema.Arrow(), rows)
		defer record.Release()
		if err := encoder.Prepare(record, first); err != nil {
			t.Fatal(err)
		}
		out := make([]byte, encoder.Size())
		if err := encoder.WriteTo(out); err != nil {
			t.Fatal(err)
		}
		return out
	}
}

// watched makes a module over a watch.
func watched(t *testing.T, module []byte) (*watch, wasmproc.Module) {
	t.Helper()
	w := &watch{t: t}
	e, err := engine.New(engine.Config{}, w.open)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shut(t, e) })
	m, err := instances.New(e, files{"g": module}.read).Acquire(context.Background(), wasmproc.Pin{File: "g"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Release)
	return w, m
}

// A guest with heap, stack and data of its own: everything the host writes goes into its buffer, batches and state are read from there, and only a reason
// comes from elsewhere. The buffer grows and moves with every larger message.
func TestHostStaysInTheBuffer(t *testing.T) {
	// req: W-002, W-043
	counter, err := os.ReadFile("../guest/testdata/c_counter.wasm")
	if err != nil {
		t.Fatal(err)
	}
	init, batch := counterParts(t)
	w, m := watched(t, counter)
	roomy := wasmproc.Limits{Fuel: 1_000_000_000, Memory: 16 << 20, FirstHandle: 1}
	made := func() wasmproc.Guest {
		t.Helper()
		g, err := m.Instantiate(roomy, now)
		if err != nil {
			t.Fatal(err)
		}
		g.Begin(wasmproc.OpInit, now)
		if _, err := g.Send(protocol.Bytes(init)); err != nil {
			t.Fatal(err)
		}
		return g
	}
	type kept struct{ was, is []byte }
	var outputs []kept // of calls that are over
	keep := func(out []byte) []byte {
		outputs = append(outputs, kept{bytes.Clone(out), out})
		return out
	}
	g := made()
	next := uint64(1)
	for _, size := range []int{1, 3, 500, 2, 1000} { // the buffer moves for larger ones
		rows := make([]string, size)
		for i := range rows {
			rows[i] = day("oslo", 1+i%28, float64(i%50))
		}
		g.Begin(wasmproc.OpBatch, now)
		a, err := g.Send(protocol.Bytes(batch(next, rows...)))
		if err != nil || len(a.Output) == 0 {
			t.Fatalf("%d rows: %d bytes, %v", size, len(a.Output), err)
		}
		next += uint64(size)
		keep(a.Output)
		g.Begin(wasmproc.OpFlush, now)
		if _, err := g.Flush(); err != nil {
			t.Fatal(err)
		}
		g.Begin(wasmproc.OpTimeout, now)
		if _, err := g.OnTimeout(1); err != nil {
			t.Fatal(err)
		}
	}
	g.Begin(wasmproc.OpSave, now)
	a, err := g.Dump()
	if err != nil || len(a.Output) == 0 {
		t.Fatalf("%d bytes of state, %v", len(a.Output), err)
	}
	state := keep(a.Output)
	other := made()
	other.Begin(wasmproc.OpRestore, now)
	if _, err := other.Send(protocol.Bytes(state)); err != nil {
		t.Fatal(err)
	}
	other.Begin(wasmproc.OpSave, now)
	if a, err = other.Dump(); err != nil || !bytes.Equal(a.Output, state) {
		t.Fatalf("the restored guest saves %d other bytes, %v", len(a.Output), err)
	}
	other.Close()
	// A refusal, with its reason.
	bad := made()
	bad.Begin(wasmproc.OpRestore, now)
	var f *wasmproc.Failure
	if _, err = bad.Send(protocol.Bytes("this is no state")); !errors.As(err, &f) || f.Reason == "" {
		t.Fatalf("%v", err)
	}
	bad.Close()
	g.Close()
	for i, k := range outputs {
		if !bytes.Equal(k.was, k.is) {
			t.Errorf("output %d lies in guest memory: a later call changed it", i)
		}
	}
	if w.grants != 3+5+2 || w.allocs != w.grants || w.outputs != 5+2 || w.reasons != 1 {
		t.Errorf("%+v", *w)
	}
}

// A guest whose memory grows and whose buffer moves at every nervix_alloc: the host has no range of it by then, and reads and writes where it lies afterwards.
func TestAllocFindsNoViewInUse(t *testing.T) {
	// req: W-043
	mover := watguest.Guest{Memory: "2", Bodies: map[string]string{
		"nervix_alloc": `(local $old i32) (local.set $old (global.get $ptr))
		  (global.set $ptr (i32.shl (memory.size) (i32.const 16))) (drop (memory.grow (i32.const 1)))
		  (memory.fill (local.get $old) (i32.const 0x55) (i32.const 512)) global.get $ptr`,
		"nervix_dump_state": "i32.const 100",
	}}
	w, m := watched(t, wat(t, mover))
	g, err := m.Instantiate(limits, now)
	if err != nil {
		t.Fatal(err)
	}
	type kept struct{ was, is []byte }
	var outputs []kept
	for k := range 30 {
		in := bytes.Repeat([]byte{byte(k)}, 100+k)
		g.Begin(wasmproc.OpBatch, now)
		a, err := g.Send(protocol.Bytes(in))
		if err != nil || !bytes.Equal(a.Output, in) {
			t.Fatalf("message %d: %d bytes, %v", k, len(a.Output), err)
		}
		outputs = append(outputs, kept{in, a.Output})
		g.Begin(wasmproc.OpSave, now)
		if a, err = g.Dump(); err != nil || !bytes.Equal(a.Output, in[:100]) {
			t.Fatalf("state %d: %v", k, err)
		}
		outputs = append(outputs, kept{in[:100], a.Output})
	}
	g.Close()
	for i, k := range outputs {
		if !bytes.Equal(k.was, k.is) {
			t.Errorf("output %d changed with a later call", i)
		}
	}
	if w.allocs != 30 || w.grants != 30 || w.outputs != 60 {
		t.Errorf("%+v", *w)
	}
}

// What a guest reads as domain time in an export is the snapshot that the operation began with, whichever it is.
func TestOperationsHaveTheirSnapshots(t *testing.T) {
	// req: W-023 half: which snapshot belongs to which operation is in host/node/wasmproc
	note := func(k int) string {
		return strings.ReplaceAll("(i64.store (i32.const AT) (call $now))", "AT", string('0'+rune(k))+"00")
	}
	g := guestOf(t, watguest.Guest{Bodies: map[string]string{
		"nervix_init": note(1) + "i32.const 0", "nervix_load_state": note(2) + "i32.const 0", "nervix_process_batch": note(3) + "i32.const 0",
		"nervix_alloc": "(global.set $ptr (i32.const 1024)) i32.const 1024", "nervix_on_timeout": note(4) + "i32.const 0", "nervix_flush": note(5) + "i32.const 0",
		"nervix_dump_state": note(6) + "(global.set $ptr (i32.const 0)) i32.const 800",
	}, Imports: watguest.HostImports}, limits)
	at := func(k int64) vtime.Logical { return vtime.LogicalFromNS(now.NS() + 1_000_000*k) }
	for round := range int64(2) {
		base := 10 * round
		var a wasmproc.Answer
		for _, step := range []struct {
			op  wasmproc.Op
			run func() (wasmproc.Answer, error)
		}{
			{wasmproc.OpInit, func() (wasmproc.Answer, error) { return g.Send(protocol.Bytes("x")) }},
			{wasmproc.OpRestore, func() (wasmproc.Answer, error) { return g.Send(protocol.Bytes("x")) }},
			{wasmproc.OpBatch, func() (wasmproc.Answer, error) { return g.Send(protocol.Bytes("x")) }},
			{wasmproc.OpTimeout, func() (wasmproc.Answer, error) { return g.OnTimeout(1) }},
			{wasmproc.OpFlush, g.Flush},
			{wasmproc.OpSave, g.Dump},
		} {
			base++
			g.Begin(step.op, at(base))
			var err error
			if a, err = step.run(); err != nil {
				t.Fatalf("operation %d: %v", step.op, err)
			}
		}
		for k := range int64(6) {
			if got := int64(binary.LittleEndian.Uint64(a.Output[100*(k+1):])); got != at(10*round+k+1).NS() {
				t.Errorf("round %d: operation %d saw %d, want %d", round, k+1, got, at(10*round+k+1).NS())
			}
		}
	}
}

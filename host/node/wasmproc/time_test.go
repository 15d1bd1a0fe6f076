// SPDX-License-Identifier: Apache-2.0

package wasmproc_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/node/wasmproc"
	"github.com/nervix-go/nervix/host/osclock"
)

// timed is a guest that asks for a timeout a row: its text is the delay. The row is held, and emitted when the timeout comes.
func timed() script {
	return script{
		batch: func(g *guest, in *given) int32 {
			for i, t := range in.tokens {
				switch text := in.text(0, i); {
				case text == "trap":
					g.trap("unreachable executed")
				case text == "tick":
					g.emit(copied(envelope()).rows(t).message())
				default:
					d, err := time.ParseDuration(text)
					if err != nil {
						panic(err)
					}
					g.kept = append(g.kept, keptRow{t, fmt.Sprint(g.after(int64(d)))})
				}
			}
			return 0
		},
		timeout: func(g *guest, handle int64) int32 {
			g.note(fmt.Sprintf("due %d", handle))
			for i, k := range g.kept {
				if k.text == fmt.Sprint(handle) {
					g.kept = slices.Delete(g.kept, i, i+1)
					g.emit(copied(envelope()).rows(k.token).message())
					return 0
				}
			}
			g.emit(envelope().generated([]string{"again"}, []int64{handle}).to("alarms", "gen0", "gen1").row(0).message())
			return 0
		},
	}
}

func (b *bench) due() (out []string) {
	for _, c := range b.fakes.calls() {
		if strings.Contains(c, "due") {
			out = append(out, c)
		}
	}
	return out
}

func TestTimeouts(t *testing.T) {
	// req: W-233 half: the six operations; that saves and restores are refused is the engine's
	// req: W-235, W-236 half: groups and the failed callback; that no emit is read then is the adapter's
	// req: W-237, W-010 half: the timeout callback
	run(t, 2, watch+logs, timed(), func(b *bench) {
		copies := b.Reader("copies")
		f := b.Publish("readings", bedA, nil, "3s|1|1", "1s|1|2", "-5s|1|3", "2s|1|4")
		b.pass(time.Millisecond)
		wantRows(b.T, "copies", copies.Rows(), "-5s|1|3")
		b.pass(998 * time.Millisecond)
		if d := b.branchOf(0); d.HeldRows != 3 || b.p.Busy() {
			b.T.Fatalf("%+v", d)
		}
		last := f.Alive()
		b.pass(time.Millisecond)
		wantRows(b.T, "copies", copies.Rows(), "-5s|1|3", "1s|1|2")
		b.pass(1500 * time.Millisecond)
		if f.Alive() <= last {
			b.T.Fatal("rows that a guest holds are alive")
		}
		wantFate(b.T, f, false)
		b.pass(500 * time.Millisecond)
		wantFate(b.T, f, true)
		wantRows(b.T, "copies", copies.Rows(), "-5s|1|3", "1s|1|2", "2s|1|4", "3s|1|1")
		wantRows(b.T, "due", b.due(), "1:due 3", "1:due 2", "1:due 4", "1:due 1")
		if d := b.branchOf(0); d.Callbacks != 5 || d.Committed != 5 || d.HeldRows != 0 { // each timeout has its checkpoint (gaps 1.7.4)
			b.T.Fatalf("%+v", d)
		}
	})
}

// Numbers go on over the instances of a branch, and an instance never hears of another's timeouts (W-234, W-238).
func TestTimeoutsEndWithTheirInstance(t *testing.T) {
	// req: W-234, W-238, A12 half: timeouts; tokens in the flood
	run(t, 1, watch+logs, timed(), func(b *bench) {
		copies := b.Reader("copies")
		f := b.say("1s", "1s", "1s")
		b.wantEnd(b.say("trap"), true, 0)
		b.wantEnd(f, true, 0, 1, 2)
		g := b.say("500ms")
		if next := b.fakes.all()[1].limits.FirstHandle; next != 4 {
			b.T.Fatalf("the next instance begins at %d", next)
		}
		b.pass(5 * time.Second)
		b.wantEnd(g, true)
		wantRows(b.T, "due", b.due(), "2:due 4")
		h := b.say("90s")
		b.pass(61 * time.Second) // evicted
		b.wantEnd(h, true, 0)
		b.pass(2 * time.Minute)
		b.wantEnd(b.say("1s"), false)
		if next := b.fakes.all()[2].limits.FirstHandle; next != 6 {
			b.T.Fatalf("after an eviction the instance begins at %d", next)
		}
		b.pass(time.Second)
		wantRows(b.T, "due", b.due(), "2:due 4", "3:due 6")
		wantRows(b.T, "copies", copies.Rows(), "500ms|1|1", "1s|1|1")
	})
}

// A timeout that comes due while the branch is busy waits for its turn; one call a handle.
func TestTimeoutsWaitForTheBranch(t *testing.T) {
	run(t, 1, watch+logs, timed(), func(b *bench) {
		copies := b.Reader("copies")
		f := b.say("1s", "2s")
		b.store.hold = true
		g := b.say("tick")
		b.pass(4 * time.Second)
		if len(b.due()) != 0 {
			b.T.Fatal("a timeout during a checkpoint")
		}
		b.store.let(nil)
		b.pass(time.Millisecond)
		b.wantEnd(f, true)
		b.wantEnd(g, true)
		wantRows(b.T, "due", b.due(), "1:due 1", "1:due 2")
		copies.Stall()
		for range 6 { // the relay is full: the branch stands still
			b.say("tick")
		}
		h := b.Publish("readings", bedA, nil, "1ns|1|1")
		b.pass(time.Second)
		copies.Go()
		b.pass(time.Second)
		wantFate(b.T, h, true)
		wantRows(b.T, "due", b.due(), "1:due 1", "1:due 2", "1:due 3")
	})
}

// rated is a domain clock that runs at another rate than the wall clock, pauses, and fails.
type rated struct {
	mu     sync.Mutex
	start  vtime.Mono
	base   int64
	rate   int64 // per cent
	broken bool
	blind  bool
}

func (c *rated) set(rate int64, broken bool) {
	now := c.now()
	c.mu.Lock()
	c.start, c.base, c.rate, c.broken = osclock.Mono(), now.NS(), rate, broken
	c.mu.Unlock()
}

func (c *rated) now() vtime.Logical {
	c.mu.Lock()
	defer c.mu.Unlock()
	return vtime.LogicalFromNS(c.base + int64(osclock.Mono().Sub(c.start))*c.rate/100)
}

var errBroken = fault.New(fault.DomainStopped, "test", ident.Ref{}, "no clock", nil)

func (c *rated) reading() (rate int64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken {
		return 0, errBroken
	}
	return c.rate, nil
}

func (c *rated) Snapshot() (vtime.Snapshot, error) {
	c.mu.Lock()
	blind := c.blind
	c.mu.Unlock()
	if _, err := c.reading(); err != nil || blind {
		return vtime.Snapshot{}, errBroken
	}
	return vtime.Snapshot{Now: c.now()}, nil
}

func (c *rated) Until(target vtime.Logical) (time.Duration, error) {
	rate, err := c.reading()
	if err != nil {
		return 0, err
	}
	left, err := target.Sub(c.now())
	if err != nil || rate == 0 {
		return time.Hour, nil
	}
	return left * 100 / time.Duration(rate), nil
}

// Deadlines are domain time: looked at again when the timer fires, and when the clock was installed anew.
func TestTimeoutsFollowTheDomainClock(t *testing.T) {
	var clock *rated
	with := func(c *wasmproc.Config, b *bench) {
		clock = &rated{start: osclock.Mono(), rate: 1000}
		c.Clock = clock
		c.Now = func() (vtime.Logical, bool) { return clock.now(), true }
	}
	run(t, 1, watch+logs, timed(), func(b *bench) {
		copies := b.Reader("copies")
		b.say("10s")
		b.pass(998 * time.Millisecond)
		if len(copies.Rows()) != 0 {
			b.T.Fatal("too early")
		}
		b.pass(time.Millisecond)
		wantRows(b.T, "ten times faster", copies.Rows(), "10s|1|1")
		b.say("10s")
		clock.set(0, false) // paused: the timer fires, the deadline is not reached
		b.pass(10 * time.Second)
		if len(copies.Rows()) != 1 {
			b.T.Fatal("called while domain time stands still")
		}
		clock.set(100, false)
		b.p.Recheck()
		b.pass(9989 * time.Millisecond)
		if len(copies.Rows()) != 1 {
			b.T.Fatal("too early")
		}
		clock.set(100, true)
		b.pass(5 * time.Second)
		if len(copies.Rows()) != 1 {
			b.T.Fatal("called without a clock")
		}
		clock.set(100, false)
		b.pass(100 * time.Millisecond)
		wantRows(b.T, "paused", copies.Rows(), "10s|1|1", "10s|1|1")
	}, with)
}

// Work whose snapshot cannot be read is not done: inputs fail, flushes are left out, timeouts wait.
func TestWorkWithoutASnapshot(t *testing.T) {
	var clock *rated
	with := func(c *wasmproc.Config, b *bench) {
		clock = &rated{start: osclock.Mono(), rate: 100}
		c.Clock = clock
		c.Now = func() (vtime.Logical, bool) { return clock.now(), true }
	}
	refuse := func(_ *wasmproc.Config, b *bench) { b.fakes.refuse = errLost }
	run(t, 1, watch+logs, timed(), func(b *bench) {
		f := b.say("1s", "tick")
		_ = b.p.Start(b.T.Context())
		b.fakes.refuse = nil
		clock.set(100, true)
		if err := b.p.Start(b.T.Context()); err != nil {
			b.T.Fatal(err)
		}
		b.pass(time.Millisecond)
		b.wantEnd(f, true, 0, 1)
		if b.p.Busy() {
			b.T.Fatal("busy with nothing")
		}
	}, with, refuse)
	run(t, 1, watch+logs, timed(), func(b *bench) {
		copies := b.Reader("copies")
		f := b.say("1s")
		clock.unreadable(true)
		b.p.Quiesce()
		b.pass(5 * time.Second)
		b.wantEnd(f, false)
		if slices.Contains(b.fakes.calls(), "1:nervix_flush") || len(b.due()) != 0 || b.p.Busy() {
			b.T.Fatalf("%q", b.fakes.calls())
		}
		clock.unreadable(false)
		b.pass(60 * time.Millisecond)
		wantRows(b.T, "copies", copies.Rows(), "1s|1|1")
	}, with)
}

// unreadable lets deadlines come and gives no snapshot.
func (c *rated) unreadable(yes bool) {
	c.mu.Lock()
	c.blind = yes
	c.mu.Unlock()
}

// draining is the engine's way: flush, look, and ask guests when everything else is through.
func (b *bench) drain() bool {
	for range 1000 {
		b.p.Node().ForceFlush()
		if !b.p.Busy() && !b.p.Quiesce() {
			return true
		}
		time.Sleep(2 * time.Millisecond)
	}
	return false
}

func TestQuiesceFlushesOnce(t *testing.T) {
	// req: W-239 half: what a stop, a drop and a shutdown do; the engine calls it
	// req: W-240, W-241 half: a stop fails what stays; pauses keep it and come later
	// req: W-010 half: the quiesce flush
	flushed := map[string]int{}
	var mu sync.Mutex
	s := counting()
	s.flush = func(g *guest) int32 {
		mu.Lock()
		flushed[g.key()]++
		mu.Unlock()
		if len(g.kept) < 2 {
			return 0 // keeps it
		}
		x := envelope().generated(slices.Repeat([]string{"flushed"}, len(g.kept)), make([]int64, len(g.kept))).to("alarms", "gen0", "gen1")
		for _, k := range g.kept {
			x.row(0, k.token)
		}
		g.kept = nil
		g.emit(x.message())
		return 0
	}
	run(t, 2, watch+logs, s, func(b *bench) {
		alarms := b.Reader("alarms")
		f := b.say("hold", "hold", "hold")
		g := b.Publish("readings", bedB, nil, "hold|1|1")
		h := b.Publish("readings", []string{"c"}, nil, "x|1|1")
		b.pass(time.Millisecond)
		b.store.hold = true
		done := make(chan bool, 1)
		go func() { done <- b.drain() }()
		b.pass(100 * time.Millisecond)
		if len(done) != 0 {
			b.T.Fatal("drained before the checkpoint of the flush")
		}
		b.store.let(nil)
		if !<-done {
			b.T.Fatal("no end of the drain")
		}
		b.wantEnd(f, true)
		wantFate(b.T, g, false)
		wantFate(b.T, h, true)
		wantRows(b.T, "alarms", alarms.Rows()[1:], "flushed|0", "flushed|0", "flushed|0")
		if len(flushed) != 3 || flushed[`{"bed":"a"}`] != 1 || flushed[`{"bed":"b"}`] != 1 || flushed[`{"bed":"c"}`] != 1 {
			b.T.Fatalf("%v", flushed)
		}
		revisions := map[string]uint64{}
		for _, d := range b.p.Observe().Details {
			revisions[d.Fingerprint[:4]] = d.Committed
		}
		if counts := slices.Sorted(mapValues(revisions)); !slices.Equal(counts, []uint64{1, 1, 2}) {
			b.T.Fatalf("a flush that emits nothing takes no checkpoint: %v", counts)
		}
		b.say("x") // new input: asked again
		if !b.drain() || flushed[`{"bed":"a"}`] != 2 {
			b.T.Fatalf("%v", flushed)
		}
		b.stop() // what the guest kept nevertheless fails
		wantFate(b.T, g, true, 0)
		if n := b.fakes.left(); n != 0 {
			b.T.Fatalf("%d guests are left", n)
		}
	})
}

func mapValues(m map[string]uint64) func(func(uint64) bool) {
	return func(yield func(uint64) bool) {
		for _, v := range m {
			if !yield(v) {
				return
			}
		}
	}
}

func TestFailedFlush(t *testing.T) {
	s := counting()
	s.flush = func(g *guest) int32 { return -6 }
	run(t, 1, watch+logs, s, func(b *bench) {
		f := b.say("hold")
		if !b.drain() {
			b.T.Fatal("no end of the drain")
		}
		b.wantErrors(marker + "quiesce flush failed (branch ..., export 'nervix_flush'): wasm guest rejected the call of nervix_flush with code -6")
		b.wantEnd(f, false)
		if d := b.branchOf(0); d.Committed != 1 {
			b.T.Fatalf("%+v", d)
		}
	})
}

// A guest that runs for seconds holds up nobody: other branches of its lane, their timeouts and their checkpoints go on.
func TestLongCallsHoldUpNobody(t *testing.T) {
	// req: W-302, W-202
	s := timed()
	batch := s.batch
	s.batch = func(g *guest, in *given) int32 {
		if in.text(0, 0) == "long" {
			time.Sleep(5 * time.Second)
			return through(g, in)
		}
		return batch(g, in)
	}
	run(t, 1, watch+logs, s, func(b *bench) {
		copies := b.Reader("copies")
		slow := b.Publish("readings", bedA, nil, "long|1|1")
		b.pass(5 * time.Millisecond)
		behind := b.Publish("readings", bedA, nil, "tick|9|9")
		f := b.Publish("readings", bedB, nil, "100ms|1|1")
		b.pass(time.Millisecond)
		for i := range 10 {
			other := b.Publish("readings", bedB, nil, "tick|1|1")
			b.pass(time.Millisecond)
			wantFate(b.T, other, true)
			if i == 0 {
				b.pass(100 * time.Millisecond)
				wantFate(b.T, f, true)
			}
		}
		if o := b.p.Observe(); o.LongCalls != 1 || b.Exec.Away() != 1 || !b.p.Busy() {
			b.T.Fatalf("%+v", o)
		}
		wantFate(b.T, slow, false)
		last := slow.Alive()
		b.pass(time.Second)
		if slow.Alive() <= last {
			b.T.Fatal("the input of a long call is alive")
		}
		wantFate(b.T, behind, false)
		b.pass(4 * time.Second)
		wantFate(b.T, slow, true)
		wantFate(b.T, behind, true)
		if rows := copies.Rows(); !slices.Equal(rows[len(rows)-2:], []string{"long|1|1", "tick|9|9"}) || b.Exec.Away() != 0 {
			b.T.Fatalf("%q", rows)
		}
	})
}

// The same for timeouts and flushes: their branch takes no batch meanwhile, and no second call comes into the guest.
func TestLongTimeoutsAndFlushes(t *testing.T) {
	s := timed()
	timeout := s.timeout
	s.timeout = func(g *guest, handle int64) int32 {
		time.Sleep(time.Second)
		return timeout(g, handle)
	}
	s.flush = func(g *guest) int32 {
		time.Sleep(time.Second)
		return 0
	}
	run(t, 1, watch+logs, s, func(b *bench) {
		copies := b.Reader("copies")
		b.say("1s")
		b.pass(1100 * time.Millisecond)
		f := b.say("tick")
		b.wantEnd(f, false)
		b.pass(time.Second)
		b.wantEnd(f, true)
		wantRows(b.T, "copies", copies.Rows(), "1s|1|1", "tick|1|1")
		if !b.p.Quiesce() {
			b.T.Fatal("there is a guest to ask")
		}
		b.pass(100 * time.Millisecond)
		f = b.say("tick")
		b.pass(800 * time.Millisecond)
		b.wantEnd(f, false)
		b.pass(200 * time.Millisecond)
		b.wantEnd(f, true)
	})
}

// A processor whose guests all run for seconds has only so many of them run: the others wait, and go on when one ends.
func TestLongCallsAreBounded(t *testing.T) {
	s := script{batch: func(g *guest, in *given) int32 {
		time.Sleep(3 * time.Second)
		return through(g, in)
	}}
	run(t, 2, watch+logs, s, func(b *bench) {
		b.Reader("copies")
		var fates []interface{ Settled() bool }
		for i := range 12 {
			fates = append(fates, b.Publish("readings", []string{string(rune('a' + i))}, nil, "x|1|1"))
		}
		most := 0
		for range 400 {
			b.pass(100 * time.Millisecond)
			most = max(most, b.Exec.Away())
		}
		for i, f := range fates {
			if !f.Settled() {
				b.T.Fatalf("branch %d did not get its turn", i)
			}
		}
		if most == 0 || most > 4 { // two away, and one in work on each lane
			b.T.Fatalf("%d long calls at a time", most)
		}
		b.wantErrors()
	})
}

// Ending while guests run, checkpoints are on their way and publications wait.
func TestEndInTheMiddle(t *testing.T) {
	s := counting()
	batch := s.batch
	s.batch = func(g *guest, in *given) int32 {
		if in.text(0, 0) == "long" {
			time.Sleep(5 * time.Second)
		}
		return batch(g, in)
	}
	synctest.Test(t, func(t *testing.T) {
		b := start(t, 1, watch+logs, s)
		alarms := b.Reader("alarms")
		alarms.Stall()
		long := b.Publish("readings", []string{"l"}, nil, "long|1|1")
		b.pass(5 * time.Millisecond)
		held := b.Publish("readings", bedA, nil, "hold|1|1")
		b.pass(time.Millisecond)
		full := b.Publish("readings", bedB, nil, "1|1|1", "2|1|1", "3|1|1", "4|1|1", "5|1|1", "6|1|1", "7|1|1")
		b.pass(time.Millisecond)
		b.store.hold = true
		stored := b.Publish("readings", []string{"s"}, nil, "hold|1|1")
		b.pass(time.Millisecond)
		b.p.Node().Close(errEnd)
		b.p.Node().Abandon(errEnd)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := b.p.End(ctx, errEnd); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		wantFate(t, held, true, 0)
		wantFate(t, stored, true, 0)
		wantFate(t, long, false)
		b.store.let(nil) // too late
		for _, r := range b.Relays {
			r.Close()
		}
		alarms.Go()
		b.end()
		wantFate(t, long, true, 0)
		if failed := full.Failed(); !full.Settled() || len(failed) == 0 {
			t.Fatalf("%v %v", full.Settled(), failed)
		}
	})
}

func TestInstanceLimit(t *testing.T) {
	// req: W-126
	text := strings.Replace(watch, "BRANCHED BY by_bed", "BRANCHED BY few", 1) + logs
	text = strings.ReplaceAll(strings.ReplaceAll(text, "readings", "r2"), "copies", "c2")
	text = strings.ReplaceAll(text, "alarms", "a2")
	declared := `CREATE BRANCH few SCHEMA bed_key TTL 1h MAX INSTANCES 2 EVICT LRU; CREATE RELAY r2 SCHEMA reading BRANCHED BY few CAPACITY 4;
	  CREATE RELAY c2 SCHEMA reading BRANCHED BY few CAPACITY 4; CREATE RELAY a2 SCHEMA alarm BRANCHED BY few CAPACITY 4; `
	s := counting()
	batch := s.batch
	s.batch = func(g *guest, in *given) int32 {
		if in.text(0, 0) == "hold" {
			return batch(g, in)
		}
		g.counter++
		g.emit(envelope().generated([]string{in.text(0, 0)}, []int64{int64(g.counter)}).to("a2", "gen0", "gen1").rows(in.tokens...).message())
		return 0
	}
	run(t, 2, declared+text, s, func(b *bench) {
		alarms := b.Reader("a2")
		say := func(bed, row string) interface {
			Settled() bool
			Failed() map[int]string
		} {
			f := b.Publish("r2", []string{bed}, nil, row+"|1|1")
			b.pass(time.Millisecond)
			return f
		}
		say("a", "a")
		held := say("a", "hold")
		say("b", "b")
		b.wantEnd(held, false)
		say("c", "c") // a gives way
		b.pass(200 * time.Millisecond)
		b.wantEnd(held, true, 0)
		if o := b.p.Observe(); o.Branches != 2 || o.Instances != 2 {
			b.T.Fatalf("%+v", o)
		}
		say("a", "a") // comes back to its checkpoint, b gives way
		b.pass(200 * time.Millisecond)
		wantRows(b.T, "alarms", alarms.Rows(), "a|1", "b|1", "c|1", "a|3")
		if slices.Contains(b.fakes.calls(), "1:nervix_flush") {
			b.T.Fatal("flushed at the eviction")
		}
	})
}

// SPDX-License-Identifier: Apache-2.0

package wasmproc_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/node/nodetest"
	"github.com/nervix-go/nervix/host/node/runtime"
	"github.com/nervix-go/nervix/host/node/wasmproc"
)

// countedClock is a domain clock whose reads can be told apart: no two snapshots are equal, however soon they follow each other.
type countedClock struct {
	runtime.Clock
	mu    sync.Mutex
	reads int64
	taken []vtime.Logical
}

func (c *countedClock) Snapshot() (vtime.Snapshot, error) {
	s, err := c.Clock.Snapshot()
	if err != nil {
		return s, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reads++
	s.Now = vtime.LogicalFromNS(s.Now.NS() + c.reads) // nanoseconds, while tests pass milliseconds
	c.taken = append(c.taken, s.Now)
	return s, nil
}

// snapshots are those that were taken so far.
func (c *countedClock) snapshots() []vtime.Logical {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.taken)
}

// counted puts a countedClock before the domain clock of a processor.
func counted(into **countedClock) option {
	return func(c *wasmproc.Config, _ *bench) {
		*into = &countedClock{Clock: c.Clock}
		c.Clock = *into
	}
}

// stamps are what the guests saw as domain time, in the order of their calls.
type stamps struct {
	mu   sync.Mutex
	seen []string
	at   []vtime.Logical
}

func (x *stamps) note(g *guest, call string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.seen = append(x.seen, fmt.Sprintf("%d %s", g.number, call))
	x.at = append(x.at, g.now)
}

// executions are the calls as `number call #execution`: a new execution begins with each other snapshot that was taken. Time that was not read, or read
// before that of an earlier call, has the number 0.
func (x *stamps) executions(taken []vtime.Logical) (out []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	last, number := -1, 0
	for i, call := range x.seen {
		at := slices.Index(taken, x.at[i])
		switch {
		case at > last:
			last = at
			number++
		case at < last:
			number = 0
		}
		out = append(out, fmt.Sprintf("%s #%d", call, number))
	}
	return out
}

// stamped is a guest that buffers each row `hold` until it is flushed, asks for a timeout for each row `wait`, and notes its clock in every export.
func stamped(x *stamps) script {
	release := func(g *guest) {
		if len(g.kept) > 0 {
			o := envelope().to("alarms", "none", "none")
			for _, k := range g.kept {
				o.acked(k.token)
			}
			g.emit(o.message())
			g.kept = nil
		}
	}
	return script{
		instantiate: func(g *guest) error { x.note(g, "start"); return nil },
		init:        func(g *guest) int32 { x.note(g, "init"); return 0 },
		load:        func(g *guest, _ []byte) int32 { x.note(g, "load"); return 0 },
		batch: func(g *guest, in *given) int32 {
			x.note(g, "batch")
			for i, t := range in.tokens {
				switch in.text(0, i) {
				case "trap":
					g.trap("unreachable executed")
				case "wait":
					g.after(int64(time.Second))
				}
				g.kept = append(g.kept, keptRow{token: t})
				if in.text(0, i) != "hold" {
					release(g)
				}
			}
			return 0
		},
		timeout: func(g *guest, _ int64) int32 { x.note(g, "timeout"); release(g); return 0 },
		flush:   func(g *guest) int32 { x.note(g, "flush"); release(g); return 0 },
		dump:    func(g *guest) ([]byte, int32) { x.note(g, "dump"); return []byte("state"), 0 },
	}
}

// Each execution of a branch reads the clock once for its guest, and every guest operation it makes has that snapshot: an input with the instance it makes, the state it
// restores and the checkpoint it takes, a timeout and a flush with theirs. However long a checkpoint takes, the next execution has a snapshot of its own.
func TestSnapshotsOfOperations(t *testing.T) {
	// req: W-023
	var x stamps
	var clock *countedClock
	run(t, 1, watch+logs, stamped(&x), func(b *bench) {
		b.Reader("alarms")
		b.wantEnd(b.say("plain"), true) // 1: makes the instance
		b.store.do(func() { b.store.hold = true })
		late := b.say("wait") // 2: its checkpoint takes 700 ms
		b.pass(700 * time.Millisecond)
		b.wantEnd(late, false)
		b.store.let(nil)
		b.pass(0)
		b.wantEnd(late, true)
		b.pass(time.Second)   // 3: the timeout
		held := b.say("hold") // 4
		b.wantEnd(held, false)
		if !b.p.Quiesce() { // 5
			b.T.Fatal("nothing to flush")
		}
		b.pass(time.Millisecond)
		b.wantEnd(held, true)
		b.wantEnd(b.say("trap"), true, 0) // 6: the instance goes
		b.wantEnd(b.say("plain"), true)   // 7: another is made and restored
		taken := clock.snapshots()
		want := []string{
			"1 start #1", "1 init #1", "1 batch #1", "1 dump #1",
			"1 batch #2", "1 dump #2",
			"1 timeout #3", "1 dump #3",
			"1 batch #4", "1 dump #4",
			"1 flush #5", "1 dump #5",
			"1 batch #6",
			"2 start #7", "2 init #7", "2 load #7", "2 batch #7", "2 dump #7",
		}
		wantRows(b.T, "calls", x.executions(taken), want...)
		if len(taken) != 7+5 { // WHERE and FILTER read domain time before the branch's turn comes, once for each of the 5 batches
			b.T.Fatalf("%d snapshots were taken", len(taken))
		}
		x.mu.Lock()
		defer x.mu.Unlock()
		if wait := x.at[6].NS() - x.at[4].NS(); wait < int64(time.Second) {
			b.T.Fatalf("the timeout of a second came after %d ns of domain time", wait)
		}
	}, counted(&clock))
}

// What is looked at costs no execution: no snapshot is taken, no guest is called, and nothing moves.
func TestObservingReadsNoClock(t *testing.T) {
	// req: C-119 half: inspecting resets comes with them
	// req: W-209 half: the scheduled binding is host/describe's part
	// req: W-216 half: there are no replicas, so a checkpoint that is taken here is confirmed at once
	var x stamps
	var clock *countedClock
	run(t, 1, watch+logs, stamped(&x), func(b *bench) {
		b.Reader("alarms")
		b.wantEnd(b.say("plain"), true)
		b.store.do(func() { b.store.hold = true })
		f := b.say("plain") // stays in its checkpoint
		before, calls := clock.snapshots(), b.fakes.calls()
		first := b.p.Observe()
		for range 100 {
			b.p.Observe()
		}
		b.pass(0)
		if after := clock.snapshots(); !slices.Equal(before, after) {
			b.T.Fatalf("%d snapshots were taken by looking", len(after)-len(before))
		}
		wantRows(b.T, "calls", b.fakes.calls(), calls...)
		last := b.p.Observe()
		if d, e := first.Details[0], last.Details[0]; d != e || d.Stage != wasmproc.StageCaptured || d.Committed != 1 || d.Latest != 2 {
			b.T.Fatalf("%+v became %+v", d, e)
		}
		b.wantEnd(f, false)
		b.store.let(nil)
		b.pass(0)
		b.wantEnd(f, true)
		stage := func(want wasmproc.Stage, committed uint64) {
			b.T.Helper()
			if d := b.branchOf(0); d.Stage != want || d.Committed != committed {
				b.T.Fatalf("%+v, want %s of %d", d, want, committed)
			}
		}
		stage(wasmproc.StageReplicaConfirmed, 2)
		b.store.do(func() { b.store.fail = errors.New("disk is full") })
		b.wantEnd(b.say("plain"), true, 0)
		stage(wasmproc.StageFailed, 2)
		b.pass(61 * time.Second) // evicted, and restored: what was saved is known to be here, and no more
		b.wantEnd(b.say("trap"), true, 0)
		stage(wasmproc.StageLocallyDurable, 2)
	}, counted(&clock))
}

// A guest's decisions end at the host: the fate of rows moves when the host moves it, after the callback and with the checkpoint, and nothing that the guest
// does inside of a call settles a row.
func TestTheHostAcknowledges(t *testing.T) {
	// req: W-101 half: that no import could do it is in wasm/engine
	var inside []string
	var fates interface {
		Settled() bool
		Failed() map[int]string
	}
	see := func(when string) {
		if fates != nil {
			inside = append(inside, fmt.Sprintf("%s settled=%v failed=%d", when, fates.Settled(), len(fates.Failed())))
		}
	}
	s := script{
		batch: func(g *guest, in *given) int32 {
			if in.text(0, 0) == "first" {
				g.kept = append(g.kept, keptRow{token: in.tokens[0]})
				return 0
			}
			g.emit(envelope().to("alarms", "none", "none").acked(g.kept[0].token, in.tokens[0]).nacked("no", in.tokens[1]).message())
			see("batch")
			return 0
		},
		dump: func(g *guest) ([]byte, int32) { see("dump"); return nil, 0 },
	}
	run(t, 1, watch+logs, s, func(b *bench) {
		b.Reader("alarms")
		fates = b.say("first")
		b.wantEnd(fates, false)
		inside = nil
		b.store.do(func() { b.store.hold = true })
		f := b.say("second", "third")
		wantRows(b.T, "inside", inside, "batch settled=false failed=0", "dump settled=false failed=0")
		b.wantEnd(fates, false)
		b.wantEnd(f, false, 1) // a refusal needs no checkpoint
		b.store.let(nil)
		b.pass(0)
		b.wantEnd(fates, true)
		b.wantEnd(f, true, 1)
	})
}

// A checkpoint that fails after the output is out: the input fails, its source offers it again, and the output comes a second time. What the state counts is
// the committed one, unless the guest's instance got it twice.
func TestOutputMayComeTwice(t *testing.T) {
	// req: W-228 half: a failed checkpoint stands for the crash
	// req: W-226 half: the source's part is in host/node/ingestor; a checkpoint that failed, an end of the node and a guest that buffers
	// req: W-232 half: the grace is the engine's
	run(t, 1, watch+logs, counting(), func(b *bench) {
		alarms := b.Reader("alarms")
		b.wantEnd(b.say("x"), true)
		b.store.do(func() { b.store.fail = errors.New("disk is full") })
		b.wantEnd(b.say("y"), true, 0)
		b.store.do(func() { b.store.fail = nil })
		b.wantEnd(b.say("y"), true) // again
		wantRows(b.T, "alarms", alarms.Rows(), "x|1", "y|2", "y|2")
		held := b.say("hold")
		b.store.do(func() { b.store.hold = true })
		stuck := b.say("z")
		b.wantEnd(held, false)
		b.wantEnd(stuck, false)
		b.stop()
		b.wantEnd(held, true, 0)
		b.wantEnd(stuck, true, 0)
		wantRows(b.T, "alarms", alarms.Rows(), "x|1", "y|2", "y|2", "z|4")
		if got := stuck.Failed()[0]; !strings.Contains(got, errEnd.Error()) {
			b.T.Fatal(got)
		}
	})
}

// The state may hold a row that its source offers again: the guest emitted it, its relay failed it afterwards, and its second coming counts anew.
func TestAStateMayKnowARowAlready(t *testing.T) {
	// req: W-227 half: a failure downstream stands for the crash
	run(t, 1, watch+logs, counting(), func(b *bench) {
		alarms := b.Reader("alarms")
		refuse := true
		alarms.Do(func() {
			alarms.Judge = func(s nodetest.Seen) error {
				if refuse {
					return errors.New("the sink refuses it")
				}
				return nil
			}
		})
		b.wantEnd(b.say("x"), true, 0)
		if d := b.branchOf(0); d.Committed != 1 {
			b.T.Fatalf("%+v", d)
		}
		alarms.Do(func() { refuse = false })
		b.pass(61 * time.Second) // evicted: what comes next continues from what was saved
		b.wantEnd(b.say("x"), true)
		if calls := b.fakes.calls(); !slices.Contains(calls, "2:nervix_load_state") {
			b.T.Fatalf("%q", calls)
		}
		wantRows(b.T, "alarms", alarms.Rows(), "x|1", "x|2")
	})
}

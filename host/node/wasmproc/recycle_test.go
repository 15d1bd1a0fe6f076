// SPDX-License-Identifier: Apache-2.0

package wasmproc_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/node/wasmproc"
)

// growing is counting, with a row `grow` that leaves the instance large: a MiB more, for good.
func growing() script {
	s := counting()
	batch := s.batch
	s.batch = func(g *guest, in *given) int32 {
		for i := range in.tokens {
			if in.text(0, i) == "grow" {
				g.memory = 1 << 20
			}
		}
		return batch(g, in)
	}
	return s
}

// soon replaces large instances after their third checkpoint.
func soon(c *wasmproc.Config, _ *bench) {
	c.Recycling = wasmproc.Recycling{Floor: 1 << 20, After: 3}
}

// wantInstances compares what the processor counts: instances made, lost, replaced; and that one is alive.
func (b *bench) wantInstances(made, lost, recycled uint64) {
	b.T.Helper()
	if o := b.p.Observe(); o.Made != made || o.Lost != lost || o.Recycled != recycled || o.Instances != 1 {
		b.T.Fatalf("%d made, %d lost, %d recycled, %d alive; want %d, %d, %d, 1\n%s", o.Made, o.Lost, o.Recycled, o.Instances, made, lost, recycled, strings.Join(b.fakes.calls(), " "))
	}
}

// of are the calls of one guest.
func (b *bench) of(number int) (calls string) {
	for _, c := range b.fakes.calls() {
		if name, ok := strings.CutPrefix(c, fmt.Sprintf("%d:", number)); ok {
			calls += name + " "
		}
	}
	return strings.TrimSpace(calls)
}

// A guest that one batch made large is replaced: each row comes out once and is acknowledged, the count goes on, memory is what it was at first.
func TestLargeInstanceIsReplaced(t *testing.T) {
	// req: A07, W-116, W-117, W-119
	for _, held := range []bool{false, true} { // checkpoints that take a while
		run(t, 1, watch+logs, growing(), func(b *bench) {
			alarms := b.Reader("alarms")
			for i, text := range []string{"x", "grow", "x", "x", "x"} {
				b.store.do(func() { b.store.hold = held })
				f := b.say(text)
				b.store.let(nil)
				b.pass(time.Millisecond)
				b.wantEnd(f, true)
				if i == 1 && b.branchOf(0).MemoryBytes != 65536+1<<20 {
					b.T.Fatalf("memory %d", b.branchOf(0).MemoryBytes)
				}
			}
			wantRows(b.T, "alarms", alarms.Rows(), "x|1", "grow|2", "x|3", "x|4", "x|5")
			b.wantInstances(2, 0, 1)
			b.wantErrors()
			if o := b.branchOf(0); o.MemoryBytes != 65536 || o.Instance != 2 || o.Committed != 5 || o.Callbacks != 5 {
				b.T.Fatalf("%+v", o)
			}
			all := strings.Join(b.fakes.calls(), " ")
			if want := "1:nervix_dump_state 2:instantiate 2:nervix_init 2:nervix_load_state 1:close 2:nervix_process_batch"; !strings.Contains(all, want) {
				b.T.Fatalf("%s\nis not in\n%s", want, all)
			}
		}, soon)
	}
}

// A guest that saves nothing is only initialised, as after any other end of an instance.
func TestLargeInstanceWithoutState(t *testing.T) {
	// req: A07, W-127
	s := growing()
	s.dump = nil
	run(t, 1, watch+logs, s, func(b *bench) {
		b.Reader("alarms")
		for range 3 {
			b.wantEnd(b.say("grow"), true)
		}
		b.wantInstances(2, 0, 1)
		if got := b.of(2); got != "instantiate nervix_init" {
			b.T.Fatal(got)
		}
	}, soon)
}

// While the guest holds an input it stays: the input is not lost, and not given twice.
func TestLargeInstanceThatHoldsInputs(t *testing.T) {
	// req: A07, W-123, W-185
	run(t, 1, watch+logs, growing(), func(b *bench) {
		alarms := b.Reader("alarms")
		held := b.say("hold")
		for range 6 {
			b.wantEnd(b.say("grow"), true)
		}
		b.wantEnd(held, false)
		b.wantInstances(1, 0, 0)
		b.wantEnd(b.say("free"), true) // decides both
		b.wantEnd(held, true)
		b.wantInstances(2, 0, 1)
		b.wantEnd(b.say("x"), true)
		rows := alarms.Rows()
		wantRows(b.T, "the end of alarms", rows[len(rows)-3:], "freed|8", "freed|8", "x|9")
	}, soon)
}

// While the guest waits for a timeout it stays. Handles of the successor follow those of its predecessor.
func TestLargeInstanceThatWaitsForATimeout(t *testing.T) {
	// req: A07, W-122, W-234, W-238
	s := growing()
	batch := s.batch
	s.batch = func(g *guest, in *given) int32 {
		if in.text(0, 0) == "later" {
			g.after(int64(time.Minute / 4))
		}
		return batch(g, in)
	}
	s.timeout = func(g *guest, handle int64) int32 {
		g.note(fmt.Sprintf("due %d", handle))
		return 0
	}
	run(t, 1, watch+logs, s, func(b *bench) {
		b.Reader("alarms")
		b.say("later")
		for range 6 {
			b.wantEnd(b.say("grow"), true)
		}
		b.wantInstances(1, 0, 0)
		b.pass(time.Minute / 4) // the timeout's checkpoint is the one
		wantRows(b.T, "timeouts", b.due(), "1:due 1")
		b.wantInstances(2, 0, 1)
		b.say("later")
		b.pass(time.Minute / 4)
		wantRows(b.T, "timeouts", b.due(), "1:due 1", "2:due 2")
	}, soon)
}

// A timeout that the successor asks for while it is initialised is its own.
func TestSuccessorThatAsksForATimeout(t *testing.T) {
	// req: A07, W-123
	s := growing()
	s.init = func(g *guest) int32 {
		if g.number == 2 {
			g.after(int64(time.Second))
		}
		return 0
	}
	s.timeout = func(g *guest, handle int64) int32 {
		g.note(fmt.Sprintf("due %d", handle))
		return 0
	}
	run(t, 1, watch+logs, s, func(b *bench) {
		for range 3 {
			b.say("grow")
		}
		b.wantInstances(2, 0, 1)
		b.pass(time.Second)
		wantRows(b.T, "timeouts", b.due(), "2:due 1")
	}, soon)
}

// A token of the predecessor means nothing to the successor's host.
func TestTokensOfAPredecessor(t *testing.T) {
	// req: A07, A12, W-102
	s := growing()
	var first uint64
	batch := s.batch
	s.batch = func(g *guest, in *given) int32 {
		if first == 0 {
			first = in.tokens[0]
		}
		if in.text(0, 0) == "old" {
			g.emit(envelope().to("copies", "in0", "in1", "in2").rows(first).message())
			return 0
		}
		return batch(g, in)
	}
	run(t, 1, watch+logs, s, func(b *bench) {
		for range 3 {
			b.say("grow")
		}
		b.wantInstances(2, 0, 1)
		b.wantEnd(b.say("old"), true, 0)
		b.wantErrors(marker + "output emission failed (branch ...): wasm output referenced unknown ack token ...")
	}, soon)
}

// A state that cannot be restored is known before it has to be: the instance goes on with it, the failure is reported once.
func TestStateThatCannotBeRestored(t *testing.T) {
	// req: A07, W-119, W-128
	for _, fails := range []func(g *guest) int32{
		func(*guest) int32 { return -8 },
		func(g *guest) int32 { g.trap("unreachable executed"); return 0 },
	} {
		for _, policy := range []string{logs, quiet} {
			s := growing()
			s.load = func(g *guest, _ []byte) int32 { return fails(g) }
			run(t, 1, watch+policy, s, func(b *bench) {
				alarms := b.Reader("alarms")
				for range 12 {
					b.wantEnd(b.say("grow"), true)
				}
				rows := alarms.Rows()
				if len(rows) != 12 || rows[11] != "grow|12" {
					b.T.Fatalf("%q", rows)
				}
				b.wantInstances(1, 0, 0)
				if made := len(b.fakes.all()); made != 2 {
					b.T.Fatalf("%d instances were tried", made)
				}
				if policy == quiet {
					b.wantErrors()
					return
				}
				b.wantErrors(marker + "... failed (branch ..., export 'nervix_load_state', saved state revision 3): ...")
				if e := b.p.Observe().Errors[0]; e.FirstRow != 0 {
					b.T.Fatalf("a batch is blamed: %+v", e)
				}
			}, soon)
		}
	}
}

// A node without room for a second instance keeps the first, says nothing, and tries again later.
func TestNoRoomForASuccessor(t *testing.T) {
	// req: A07
	for _, code := range []fault.Code{fault.WasmBudget, fault.WasmStopped} {
		s := growing()
		s.instantiate = func(g *guest) error {
			if g.number != 2 {
				return nil
			}
			return &wasmproc.Failure{Stage: "instantiation", Gone: true, Cause: fault.New(code, "test", ident.Ref{}, "no room", nil)}
		}
		run(t, 1, watch+logs, s, func(b *bench) {
			alarms := b.Reader("alarms")
			for i := range 9 {
				b.wantEnd(b.say("grow"), true)
				if i == 7 {
					b.wantInstances(1, 0, 0)
				}
			}
			b.wantInstances(2, 0, 1) // three checkpoints, then six
			b.wantErrors()
			if rows := alarms.Rows(); len(rows) != 9 || rows[8] != "grow|9" {
				b.T.Fatalf("%q", rows)
			}
		}, soon)
	}
}

// After a callback that the guest refused the instance is left as it is; the next good one decides.
func TestNoSuccessorAfterARefusal(t *testing.T) {
	// req: A07
	run(t, 1, watch+quiet, growing(), func(b *bench) {
		b.Reader("alarms")
		for _, text := range []string{"grow", "x", "no", "no"} {
			b.wantEnd(b.say(text), true)
		}
		b.wantInstances(1, 0, 0)
		b.wantEnd(b.say("x"), true)
		b.wantInstances(2, 0, 1)
	}, soon)
}

// The branch, or the node, ends while the successor is made. Nothing stays behind, whether it came to life or not.
func TestEndWhileASuccessorIsMade(t *testing.T) {
	// req: A07, A13
	for _, code := range []int32{0, -7} {
		s := growing()
		entered := make(chan struct{}, 1)
		s.load = func(g *guest, _ []byte) int32 {
			entered <- struct{}{}
			time.Sleep(time.Minute)
			return code
		}
		run(t, 1, watch+logs, s, func(b *bench) {
			alarms := b.Reader("alarms")
			for range 2 {
				b.wantEnd(b.say("grow"), true)
			}
			third := b.say("grow")
			<-entered
			b.pass(time.Second)
			b.wantEnd(third, true) // before its successor is there
			waits := b.say("x")
			b.wantEnd(waits, false)
			b.p.Node().Close(errEnd)
			b.p.Node().Abandon(errEnd)
			if err := b.p.End(b.T.Context(), errEnd); err != nil {
				b.T.Fatal(err)
			}
			b.wantEnd(waits, true, 0)
			if rows := alarms.Rows(); len(rows) != 3 || b.fakes.left() != 0 {
				b.T.Fatalf("%q, %d guests left", rows, b.fakes.left())
			}
		}, soon)
	}
}

// Other branches go on while a successor is made, and so does this one afterwards, with what came meanwhile.
func TestWorkWhileASuccessorIsMade(t *testing.T) {
	// req: A07, W-196
	s := growing()
	load := s.load
	s.load = func(g *guest, state []byte) int32 {
		time.Sleep(20 * time.Second)
		return load(g, state)
	}
	run(t, 1, watch+logs, s, func(b *bench) {
		alarms := b.Reader("alarms")
		for range 3 {
			b.say("grow")
		}
		mine := b.say("x")
		other := b.Publish("readings", bedB, nil, "y|1|1")
		b.pass(time.Second)
		wantFate(b.T, other, true)
		b.wantEnd(mine, false)
		b.pass(30 * time.Second)
		b.wantEnd(mine, true)
		if rows := alarms.Rows(); rows[len(rows)-1] != "x|4" {
			b.T.Fatalf("%q", rows)
		}
	}, soon)
}

// A guest whose inputs were all acknowledged may still owe something at a flush; its successor is asked for it.
func TestSuccessorIsFlushed(t *testing.T) {
	// req: A07, W-239
	s := growing()
	s.flush = func(g *guest) int32 {
		g.emit(envelope().generated([]string{"sum"}, []int64{int64(g.counter)}).to("alarms", "gen0", "gen1").row(0).message())
		return 0
	}
	run(t, 1, watch+logs, s, func(b *bench) {
		alarms := b.Reader("alarms")
		for range 3 {
			b.say("grow")
		}
		b.wantInstances(2, 0, 1)
		if !b.p.Quiesce() {
			b.T.Fatal("nothing to flush")
		}
		b.pass(time.Millisecond)
		if rows := alarms.Rows(); rows[len(rows)-1] != "sum|3" {
			b.T.Fatalf("%q", rows)
		}
		if !strings.Contains(b.of(2), "nervix_flush") {
			b.T.Fatal(b.of(2))
		}
	}, soon)
}

// A guest that takes a page more with each batch and gives none back runs into MAX MEMORY again and again, and each time loses what it was doing.
// With recycling it never does: it is large later than it may be replaced, so the pause stays short; and near the limit it is short whatever was before.
func TestLeakingGuest(t *testing.T) {
	// req: A07
	for _, c := range []struct {
		r        wasmproc.Recycling
		recycled uint64
	}{
		{wasmproc.Recycling{Floor: 1<<64 - 1}, 0},
		{wasmproc.Recycling{Floor: 1 << 20, After: 3}, 6},  // at 16 pages, every fifteenth batch
		{wasmproc.Recycling{Floor: 1 << 20, After: 20}, 4}, // after 20 batches; then, as it was large before its time, at 24 pages, three quarters of 2 MiB: every 23
	} {
		s := counting()
		batch := s.batch
		s.batch = func(g *guest, in *given) int32 {
			if g.memory += 64 << 10; g.memory+65536 > 2<<20 {
				g.die(fault.WasmMemory, "wasm guest exceeded MAX MEMORY 2097152")
			}
			return batch(g, in)
		}
		run(t, 1, watch+logs, s, func(b *bench) {
			alarms := b.Reader("alarms")
			for range 100 {
				b.say("x")
			}
			o := b.p.Observe()
			if c.recycled == 0 {
				if o.ErrorsTotal != 3 || o.Lost != 3 || o.Recycled != 0 {
					b.T.Fatalf("%+v", o)
				}
				return
			}
			b.wantErrors()
			if rows := alarms.Rows(); len(rows) != 100 || rows[99] != "x|100" || o.Lost != 0 {
				b.T.Fatalf("%d rows, the last %q, %d instances lost", len(rows), rows[len(rows)-1], o.Lost)
			}
			if o.Recycled != c.recycled {
				b.T.Errorf("%+v: %d recycled, want %d", c.r, o.Recycled, c.recycled)
			}
		}, func(cfg *wasmproc.Config, _ *bench) { cfg.Recycling = c.r })
	}
}

// The defaults leave alone what is small, and a guest that is off the floor for good.
func TestRecyclingIsOffBelowItsBounds(t *testing.T) {
	// req: A07
	run(t, 1, watch+logs, growing(), func(b *bench) {
		for range 10 {
			b.say("grow")
		}
		b.wantInstances(1, 0, 0) // 1,024 checkpoints are not over
	})
	run(t, 1, watch+logs, growing(), func(b *bench) {
		for range 10 {
			b.say("grow")
		}
		b.wantInstances(1, 0, 0)
	}, func(c *wasmproc.Config, _ *bench) { c.Recycling = wasmproc.Recycling{Floor: 1<<64 - 1, After: 1} })
}

// SPDX-License-Identifier: Apache-2.0

package wasmproc_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/node/wasmproc"
	"github.com/nervix-go/nervix/wasm/protocol"
)

// Callbacks that fail, under both policies: who is told, what becomes of the inputs, whether the instance lives on.
func TestFailedCallbacks(t *testing.T) {
	// req: W-019, W-020, W-021, W-027, W-098, W-100, W-187, W-250, A05
	type fate []int
	for _, c := range []struct {
		name        string
		rows        []string // after a batch `hold, x`
		report      string
		log, ignore fate   // failed rows of the batch
		held        bool   // whether the row that was held is failed, under LOG
		ignoredHeld bool   // and under IGNORE
		keeps       bool   // the instance
		dropped     uint64 // rows that IGNORE accepts
	}{
		{"negative", []string{"no", "y"}, "batch processing failed (branch ..., export 'nervix_process_batch'): wasm guest rejected the call of nervix_process_batch with code -3: not this one", fate{0, 1}, nil, false, false, true, 2},
		{"trap", []string{"trap"}, "batch processing failed (branch ..., export 'nervix_process_batch'): wasm guest trapped: unreachable executed", fate{0}, nil, true, true, false, 1},
		{"fuel", []string{"fuel", "y"}, "batch processing failed (branch ...): wasm guest exhausted MAX FUEL 1000", fate{0, 1}, nil, true, true, false, 2},
		{"invalid", []string{"y", "bad"}, "output emission failed (branch ..., export 'nervix_read_emit'): wasm output referenced unknown ack token ...", fate{0, 1}, nil, true, false, true, 3},
	} {
		for _, policy := range []string{logs, quiet} {
			t.Run(c.name, func(t *testing.T) {
				run(t, 2, watch+policy, counting(), func(b *bench) {
					alarms, copies := b.Reader("alarms"), b.Reader("copies")
					held := b.say("hold", "x")
					other := b.Publish("readings", bedB, nil, "p|1|1")
					b.pass(0)
					broken := b.say(c.rows...)
					failed, heldFails, dropped := c.log, c.held, uint64(0)
					if policy == quiet {
						failed, heldFails, dropped = c.ignore, c.ignoredHeld, c.dropped
						b.wantErrors()
					} else {
						b.wantErrors(marker + c.report)
					}
					b.wantEnd(broken, true, failed...)
					wantFate(b.T, other, true)
					if got := b.p.Observe().Rejected["callback"]; got != dropped {
						b.T.Fatalf("%d rows are counted as dropped, want %d", got, dropped)
					}
					if heldFails {
						b.wantEnd(held, true, 0)
					} else {
						b.wantEnd(held, c.name == "invalid") // held on by the guest, or accepted with the checkpoint
					}
					if n := len(copies.Rows()); n != 0 {
						b.T.Fatalf("%d rows of a callback that failed", n)
					}
					b.wantEnd(b.say("z"), true)
					after := "z|3" // from the checkpoint of hold, x
					if c.keeps {
						after = "z|" + map[string]string{"negative": "4", "invalid": "5"}[c.name]
					}
					if rows := alarms.Rows(); rows[len(rows)-1] != after {
						b.T.Fatalf("%q, want %s last", rows, after)
					}
					if made := b.p.Observe().Made; c.keeps != (made == 2) {
						b.T.Fatalf("%d instances were made", made)
					}
				})
			})
		}
	}
}

// The node's own troubles are no guest's fault: nacked under both policies, reported unless the node stops.
func TestTroublesOfTheNode(t *testing.T) {
	for text, report := range map[string]string{"room": "batch processing failed (branch ...): the node has no room", "stop": ""} {
		run(t, 1, watch+quiet, counting(), func(b *bench) {
			b.Reader("alarms")
			held := b.say("hold")
			b.wantEnd(b.say(text), true, 0)
			b.wantEnd(held, true, 0)
			if report == "" {
				b.wantErrors()
			} else {
				b.wantErrors(marker + report)
			}
		})
	}
}

func TestInstancesThatCannotBeMade(t *testing.T) {
	// req: W-015 half: the budget is the engine's
	// req: W-058, W-249, A04 half: traps go on with guests in the flood
	trapped := fault.New(fault.WasmFuel, "test", ident.Ref{}, "wasm guest exhausted MAX FUEL 1000", nil)
	for name, c := range map[string]struct {
		s    script
		want string
	}{
		"instantiation": {script{instantiate: func(*guest) error {
			return &wasmproc.Failure{Stage: protocol.StageInstantiation, Gone: true, Cause: trapped}
		}}, "instantiation failed (branch ...file 'guests/leak.wasm'): wasm guest exhausted MAX FUEL 1000"},
		"initialization": {script{init: func(g *guest) int32 { g.why = "I want other columns"; return -2 }},
			"initialization failed (branch ..., export 'nervix_init'): wasm guest rejected the call of nervix_init with code -2: I want other columns"},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, 1, watch+logs, c.s, func(b *bench) {
				copies := b.Reader("copies")
				for range 3 {
					b.wantEnd(b.say("x"), true, 0)
				}
				b.wantErrors(marker+c.want, marker+c.want, marker+c.want)
				for range 10 { // the backoff begins: inputs fail like the last one, without another instance
					b.wantEnd(b.say("x"), true, 0)
				}
				if n, m := len(b.fakes.all()), len(b.errorsOf()); n != 3 || m != 13 {
					b.T.Fatalf("%d instances, %d reports", n, m)
				}
				b.pass(100 * time.Millisecond)
				b.fakes.mu.Lock()
				b.fakes.script = script{batch: through}
				b.fakes.mu.Unlock()
				b.wantEnd(b.say("y"), true)
				wantRows(b.T, "copies", copies.Rows(), "y|1|1")
			})
			run(t, 1, watch+quiet, c.s, func(b *bench) {
				for range 5 {
					b.wantEnd(b.say("x"), true)
				}
				b.wantErrors()
			})
		})
	}
	// A refused initialisation before a restore names the saved state.
	refuse := false
	s := counting()
	s.init = func(*guest) int32 {
		if refuse {
			return -2
		}
		return 0
	}
	run(t, 1, watch+logs, s, func(b *bench) {
		b.Reader("alarms")
		b.wantEnd(b.say("x"), true)
		b.pass(61 * time.Second)
		refuse = true
		b.wantEnd(b.say("y"), true, 0)
		b.wantErrors(marker + "initialization failed (branch ..., export 'nervix_init', saved state revision 1): wasm guest rejected the call of nervix_init with code -2")
	})
}

// Text on the error channel fails an operation that answered 0; what was emitted goes nowhere (W-097).
func TestGlobalErrorBesideSuccess(t *testing.T) {
	// req: W-096 half: after the batch call; the other places are the engine's
	// req: W-097
	s := script{batch: func(g *guest, in *given) int32 {
		through(g, in)
		g.why = "lost the thread"
		return 0
	}}
	run(t, 1, watch+logs, s, func(b *bench) {
		copies := b.Reader("copies")
		b.wantEnd(b.say("x"), true, 0)
		if len(copies.Rows()) != 0 {
			b.T.Fatal("a row left")
		}
		b.wantErrors(marker + "batch processing failed (branch ...: wasm guest reported a global error: lost the thread")
	})
	run(t, 1, watch+quiet, s, func(b *bench) {
		b.wantEnd(b.say("x"), true)
		b.wantErrors()
	})
}

// A group that is good goes nowhere if a later one is bad, and a token that was decided is unknown.
func TestOutputIsValidatedAsAWhole(t *testing.T) {
	// req: W-049, W-104, W-106, W-107, W-109, W-112 half: one item each class; the table is wasm/protocol's
	// req: W-306, A10
	var first uint64
	good := func(in *given) []byte { return copied(envelope()).rows(in.tokens...).message() }
	for name, bad := range map[string]func(in *given) []byte{
		"damaged":        func(in *given) []byte { return good(in)[:20] },
		"empty group":    func(*given) []byte { return envelope().message() },
		"relay":          func(in *given) []byte { return envelope().to("elsewhere", "in0").rows(in.tokens...).message() },
		"column":         func(in *given) []byte { return envelope().to("copies", "in0", "in1").rows(in.tokens...).message() },
		"carried, acked": func(in *given) []byte { return copied(envelope()).acked(in.tokens[0]).message() },
		"decided twice": func(in *given) []byte {
			return envelope().to("alarms", "none", "none").acked(in.tokens[0]).nacked("x", in.tokens[0]).message()
		},
		"past": func(*given) []byte { return copied(envelope()).rows(first).message() },
		"source": func(in *given) []byte {
			return envelope().generated([]string{"s"}, []int64{1}).to("alarms", "gen0", "gen1").row(in.tokens[0]).message()
		},
		"generated rows": func(in *given) []byte {
			return envelope().generated([]string{"s", "t"}, []int64{1, 2}).to("alarms", "gen0", "gen1").row(0).message()
		},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, 1, watch+logs, script{batch: func(g *guest, in *given) int32 {
				g.emit(good(in))
				if in.text(0, 0) == "ok" {
					first = in.tokens[0]
					return 0
				}
				g.emit(bad(in))
				return 0
			}}, func(b *bench) {
				copies := b.Reader("copies")
				b.wantEnd(b.say("ok"), true)
				b.wantEnd(b.say("x", "y"), true, 0, 1)
				wantRows(b.T, "copies", copies.Rows(), "ok|1|1")
				b.wantErrors(marker + "output emission failed (branch ...")
				b.wantEnd(b.say("ok"), true)
			})
		})
	}
}

// What a guest asks for beyond measure takes its instance, not the host.
func TestOutputBeyondMeasure(t *testing.T) {
	endless := func(g *guest, in *given) int32 {
		m := envelope().to("alarms", "none", "none").message()
		for range 1<<16 + 1 {
			g.emit(m)
		}
		return 0
	}
	timers := func(g *guest, in *given) int32 {
		for range 1<<16 + 1 {
			g.after(1e18)
		}
		return 0
	}
	bulk := func(g *guest, in *given) int32 { // a row of a megabyte, 300 times
		copied(envelope())
		x := copied(envelope())
		for range 300 {
			x.rows(in.tokens[0])
		}
		x.rows(in.tokens[1])
		x.rows(in.tokens[0])
		g.emit(x.message())
		return 0
	}
	for name, c := range map[string]struct {
		batch func(g *guest, in *given) int32
		want  string
	}{
		"emits":    {endless, "output emission failed (branch ...: the guest emitted more than 65536 messages or 134217728 bytes in one callback"},
		"timeouts": {timers, "batch processing failed (branch ...: the guest waits for more than 65536 timeouts"},
		"copies":   {bulk, "output emission failed (branch ...: the rows of one callback would take more than 268435456 bytes beside the columns they share"},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, 1, strings.Replace(watch, "2MiB", "64MiB", 1)+logs, script{batch: c.batch}, func(b *bench) {
				b.wantEnd(b.say(strings.Repeat("x", 1<<20), "y"), true, 0, 1)
				b.wantErrors(marker + c.want)
			})
		})
	}
}

// Another export than the one that names the operation is named in the cause.
func TestTheExportThatFailedIsNamed(t *testing.T) {
	s := script{init: func(g *guest) int32 {
		panic(lost{&fault.Error{Code: fault.WasmTrap, Detail: "wasm guest trapped: out of bounds memory access"}})
	}}
	run(t, 1, watch+logs, s, func(b *bench) {
		b.say("x")
		b.wantErrors(marker + "initialization failed (branch ..., export 'nervix_init'): wasm guest trapped: out of bounds memory access")
	})
	alloc := script{instantiate: func(*guest) error {
		return &wasmproc.Failure{Stage: protocol.StageInitialization, Export: protocol.ExportAlloc, Gone: true, Cause: &fault.Error{Code: fault.WasmTrap, Detail: "wasm guest trapped: unreachable executed"}}
	}}
	run(t, 1, watch+logs, alloc, func(b *bench) {
		b.say("x")
		b.wantErrors(marker + "initialization failed (branch ..., export 'nervix_init'): the call of nervix_alloc: wasm guest trapped: unreachable executed")
	})
}

// resets is a coordinator that a test answers.
type resets struct {
	places []wasmproc.Place
	done   func(error)
}

func (r *resets) Request(p wasmproc.Place, done func(error)) (bool, error) {
	r.places, r.done = append(r.places, p), done
	return true, nil
}

func TestGuestRequestedReset(t *testing.T) {
	// req: W-163 half: what the callback did; the new lifetime comes with the coordinator
	// req: W-168, W-170 half: without a coordinator a request is reported and the lifetime stays
	run(t, 1, watch+quiet, counting(), func(b *bench) {
		alarms, copies := b.Reader("alarms"), b.Reader("copies")
		held := b.say("hold", "x")
		asked := b.say("y", "reset")
		b.wantEnd(asked, true, 0, 1)
		b.wantEnd(held, true, 0)
		wantRows(b.T, "alarms", alarms.Rows(), "x|2")
		if len(copies.Rows()) != 0 {
			b.T.Fatal("output of the callback that asked")
		}
		if n := len(slices.DeleteFunc(b.fakes.calls(), func(c string) bool { return c != "1:nervix_dump_state" })); n != 1 {
			b.T.Fatalf("%d saves", n)
		}
		b.wantErrors("wasm processor 'watch' of domain 'farm' could not reset its state (branch ...: coordinated resets of guest state are not available yet; the branch keeps its state")
		b.wantEnd(b.say("z"), true)
		wantRows(b.T, "alarms", alarms.Rows(), "x|2", "z|3")
		b.wantEnd(b.say("reset"), true, 0) // it may ask again
		if n := len(b.errorsOf()); n != 2 || b.p.Observe().Errors[0].Code != fault.WasmReset {
			b.T.Fatalf("%d reports", n)
		}
	})
	r := &resets{}
	run(t, 1, watch+logs, counting(), func(b *bench) {
		alarms := b.Reader("alarms")
		b.wantEnd(b.say("x"), true)
		b.wantEnd(b.say("reset"), true, 0)
		b.wantEnd(b.say("y"), true, 0) // the branch accepts nothing
		if len(r.places) != 1 || r.places[0].Generation != 1 || r.places[0].Created != 12 || len(r.places[0].Branch) != 64 {
			b.T.Fatalf("%+v", r.places)
		}
		r.done(nil)
		b.pass(0)
		b.wantEnd(b.say("z"), true)
		wantRows(b.T, "alarms", alarms.Rows(), "x|1", "z|2")
		b.wantErrors()
	}, func(c *wasmproc.Config, _ *bench) { c.Resets = r })
}

// A token that the host decided over, or that belonged to an instance before, is unknown.
func TestTokensEndWithTheirDecision(t *testing.T) {
	// req: W-102, W-106
	for name, rows := range map[string][]string{
		"rejected alone": {"no", "stale"}, "rejected beside others": {"hold", "no", "stale"}, "invalid": {"hold", "bad", "stale"}, "recreated": {"keep", "trap", "stale"},
		"recreated twice": {"trap", "keep", "trap", "stale"},
	} {
		t.Run(name, func(t *testing.T) {
			var token uint64
			s := counting()
			batch := s.batch
			s.batch = func(g *guest, in *given) int32 {
				switch in.text(0, 0) {
				case "stale":
					g.emit(envelope().generated([]string{"s"}, []int64{1}).to("alarms", "gen0", "gen1").row(0, in.tokens[0], token).message())
					return 0
				case "no", "bad", "keep":
					token = in.tokens[0]
				}
				return batch(g, in)
			}
			run(t, 1, watch+quiet, s, func(b *bench) {
				alarms := b.Reader("alarms")
				b.Reader("copies")
				for _, r := range rows[:len(rows)-1] {
					b.say(r)
				}
				before := len(alarms.Rows())
				b.say("stale")
				if n := len(alarms.Rows()); n != before {
					b.T.Fatal("a token was accepted that the host had decided over")
				}
				b.wantEnd(b.say("x"), true)
				b.wantErrors()
			})
		})
	}
}

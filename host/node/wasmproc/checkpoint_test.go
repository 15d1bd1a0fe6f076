// SPDX-License-Identifier: Apache-2.0

package wasmproc_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/node/wasmproc"
	"github.com/nervix-go/nervix/wasm/protocol"
)

// counting is a guest that counts its input rows in its state and emits the count of each; a row `trap`, `no`, `hold`, `free`, `bad`, `reset`,
// `fuel` or `room` does what it says instead.
func counting() script {
	return script{
		batch: func(g *guest, in *given) int32 {
			for i, t := range in.tokens {
				g.counter++
				switch in.text(0, i) {
				case "trap":
					g.trap("unreachable executed")
				case "fuel":
					g.die(fault.WasmFuel, "wasm guest exhausted MAX FUEL 1000")
				case "room":
					g.die(fault.WasmBudget, "the node has no room")
				case "stop":
					g.die(fault.WasmStopped, "the node stops its guests")
				case "no":
					g.why = "not this one"
					return -3
				case "hold":
					g.kept = append(g.kept, keptRow{t, "hold"})
				case "bad":
					g.emit(envelope().to("copies", "in0", "in1", "in2").rows(t).message())
					g.emit(envelope().to("copies", "in0", "in1", "in2").rows(t + 999).message())
				case "reset":
					g.reset = true
					g.emit(envelope().to("copies", "in0", "in1", "in2").rows(t).message())
				case "free":
					x := envelope().generated(slices.Repeat([]string{"freed"}, len(g.kept)+1), slices.Repeat([]int64{int64(g.counter)}, len(g.kept)+1)).to("alarms", "gen0", "gen1")
					for _, k := range g.kept {
						x.row(0, k.token)
					}
					g.kept = nil
					g.emit(x.row(0, t).message())
				default:
					g.emit(envelope().generated([]string{in.text(0, i)}, []int64{int64(g.counter)}).to("alarms", "gen0", "gen1").rows(t).message())
				}
			}
			return 0
		},
		load: func(g *guest, state []byte) int32 {
			n, err := strconv.Atoi(string(state))
			if err != nil {
				return -7
			}
			g.counter = n
			return 0
		},
		dump: func(g *guest) ([]byte, int32) { return []byte(strconv.Itoa(g.counter)), 0 },
	}
}

func (b *bench) branchOf(i int) wasmproc.BranchObservation { return b.p.Observe().Details[i] }

// say publishes one batch of branch a, a row a text.
func (b *bench) say(texts ...string) (fate interface {
	Settled() bool
	Failed() map[int]string
}) {
	rows := make([]string, len(texts))
	for i, t := range texts {
		rows[i] = t + "|1|1"
	}
	f := b.Publish("readings", bedA, nil, rows...)
	b.pass(time.Millisecond)
	return f
}

func (b *bench) wantEnd(f interface {
	Settled() bool
	Failed() map[int]string
}, settled bool, failed ...int) {
	b.T.Helper()
	got := []int{}
	for row := range f.Failed() {
		got = append(got, row)
	}
	slices.Sort(got)
	if f.Settled() != settled || !slices.Equal(got, append([]int{}, failed...)) {
		b.T.Fatalf("settled %v, failed %v; want %v, %v", f.Settled(), f.Failed(), settled, failed)
	}
}

// Output goes while its checkpoint is on its way; success waits, the branch waits, other branches do not, and the source hears that the rows live.
func TestSuccessWaitsForTheCheckpoint(t *testing.T) {
	// req: W-185, W-189, W-190, W-195, W-196, W-202, W-186, W-116
	run(t, 1, watch+logs, counting(), func(b *bench) {
		alarms := b.Reader("alarms")
		b.store.hold = true
		f := b.Publish("readings", bedA, nil, "x|1|1", "y|1|1")
		b.pass(time.Millisecond)
		wantRows(b.T, "alarms", alarms.Rows(), "x|1", "y|2")
		wantFate(b.T, f, false)
		second := b.Publish("readings", bedA, nil, "z|1|1")
		b.store.do(func() { b.store.hold = false })
		other := b.Publish("readings", bedB, nil, "p|1|1")
		b.pass(time.Millisecond)
		wantFate(b.T, other, true)
		last := f.Alive()
		for range 5 {
			b.pass(time.Second)
			if f.Alive() <= last {
				b.T.Fatal("no sign of life for a second")
			}
			last = f.Alive()
		}
		wantFate(b.T, f, false)
		if rows := alarms.Rows(); len(rows) != 3 || !b.p.Busy() {
			b.T.Fatalf("the next callback ran: %q", rows)
		}
		b.store.let(nil)
		b.pass(time.Millisecond)
		wantFate(b.T, f, true)
		wantFate(b.T, second, true)
		wantRows(b.T, "alarms", alarms.Rows(), "x|1", "y|2", "p|1", "z|3")
		want := []string{"1:instantiate", "1:nervix_init", "1:nervix_process_batch", "1:nervix_dump_state", "2:instantiate", "2:nervix_init",
			"2:nervix_process_batch", "2:nervix_dump_state", "1:nervix_process_batch", "1:nervix_dump_state"}
		wantRows(b.T, "calls", b.fakes.calls(), want...)
		if b.p.Busy() {
			b.T.Fatal("busy with nothing")
		}
	})
}

// What a callback decided in one of the four ways waits for its checkpoint (W-188).
func TestHeldSuccess(t *testing.T) {
	for name, c := range map[string]struct {
		policy string
		batch  func(g *guest, in *given) int32
		now    []int // rows that fail at once
		// dropped are the rows that IGNORE accepts.
		dropped []int
	}{
		"carried": {logs, through, nil, nil},
		"acked": {logs, func(g *guest, in *given) int32 {
			g.emit(envelope().to("alarms", "none", "none").acked(in.tokens...).message())
			return 0
		}, nil, nil},
		"nacked": {logs, func(g *guest, in *given) int32 {
			g.emit(envelope().to("alarms", "none", "none").acked(in.tokens[0]).nacked("no", in.tokens[1]).message())
			return 0
		}, []int{1}, nil},
		"message errors": {logs, func(g *guest, in *given) int32 {
			g.emit(envelope().to("alarms", "none", "none").failed("no", in.tokens...).message())
			return 0
		}, nil, nil},
		"rejected under IGNORE": {quiet, func(g *guest, in *given) int32 { return -1 }, nil, []int{0, 1}},
		"invalid under IGNORE": {quiet, func(g *guest, in *given) int32 {
			g.emit([]byte("rubbish"))
			return 0
		}, nil, []int{0, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			text := `CREATE WASM PROCESSOR watch FROM readings` + module + ` TO copies ON MESSAGE ERROR IGNORE TO alarms ON MESSAGE ERROR IGNORE` + c.policy
			run(t, 1, text, script{batch: c.batch}, func(b *bench) {
				b.Reader("copies")
				b.store.hold = true
				f := b.Publish("readings", bedA, nil, "x|1|1", "y|1|1")
				b.pass(time.Second)
				wantFate(b.T, f, false, c.now...)
				b.store.let(nil)
				b.pass(0)
				wantFate(b.T, f, true, c.now...)
				b.wantErrors()
				if got, want := b.p.Observe().Rejected["callback"], uint64(len(c.dropped)); got != want {
					b.T.Fatalf("%d rows are counted as dropped, want %d", got, want)
				}
			})
			run(t, 1, text, script{batch: c.batch}, func(b *bench) { // what no checkpoint covers comes again, and is not counted
				b.Reader("copies")
				b.store.hold = true
				f := b.Publish("readings", bedA, nil, "x|1|1", "y|1|1")
				b.pass(time.Second)
				b.store.let(errLost)
				b.pass(0)
				wantFate(b.T, f, true, 0, 1)
				if got := b.p.Observe().Rejected["callback"]; got != 0 {
					b.T.Fatalf("%d rows that come again are counted as dropped", got)
				}
			})
		})
	}
}

// A checkpoint that fails is reported under every policy; everything the callback decided and the guest holds fails, earlier success stays.
func TestCheckpointFailures(t *testing.T) {
	// req: W-203 half: replication has no replicas yet
	// req: W-099, W-118, W-119, W-204, W-205, W-206, W-207, W-249, W-191 half: the numbers of captures
	saves := func(break_ func(b *bench), mend func(b *bench)) func(b *bench) {
		return func(b *bench) {
			b.Reader("alarms")
			b.wantEnd(b.say("x"), true)
			held := b.say("hold", "y")
			b.wantEnd(held, false)
			break_(b)
			broken := b.say("hold", "z")
			b.wantEnd(held, true, 0)
			b.wantEnd(broken, true, 0, 1)
			mend(b)
			b.wantEnd(b.say("w"), true)
		}
	}
	store := func(change func(s *testStore)) func(b *bench) {
		return func(b *bench) { b.store.do(func() { change(b.store) }) }
	}
	staged := func(stage protocol.Stage) error {
		return &wasmproc.Failure{Stage: stage, Cause: fault.New(fault.StateFailed, "test", ident.Ref{}, "it is so", nil)}
	}
	for _, policy := range []string{logs, quiet} {
		for name, c := range map[string]struct {
			break_, mend func(s *testStore)
			want         string
		}{
			"persist":     {func(s *testStore) { s.fail = errors.New("disk is full") }, func(s *testStore) { s.fail = nil }, "local state persistence failed (branch ..., saved state revision 3): disk is full"},
			"replication": {func(s *testStore) { s.fail = staged(protocol.StageReplication) }, func(s *testStore) { s.fail = nil }, "state replication failed (branch ..., saved state revision 3): it is so"},
			"authority":   {func(s *testStore) { s.begin = staged(protocol.StageAuthority) }, func(s *testStore) { s.begin = nil }, "state authority check failed (branch ...file 'guests/leak.wasm'): it is so"},
		} {
			t.Run(name, func(t *testing.T) {
				run(t, 1, watch+policy, counting(), func(b *bench) {
					saves(store(c.break_), store(c.mend))(b)
					b.wantErrors(marker + c.want)
					if got := b.fakes.all()[1].counter; got != 4 { // x, hold and y committed, then w
						b.T.Fatalf("the counter is %d", got)
					}
					d := b.branchOf(0)
					if d.Instance != 2 || d.Committed != d.Latest || d.Stage != wasmproc.StageReplicaConfirmed || name == "authority" && d.Committed != 3 || name != "authority" && d.Committed != 4 {
						b.T.Fatalf("%+v", d)
					}
					if o := b.p.Observe(); o.Lost != 1 || o.Made != 2 {
						b.T.Fatalf("%+v", o)
					}
				})
			})
		}
		for name, dump := range map[string]func(g *guest) ([]byte, int32){
			"negative": func(g *guest) ([]byte, int32) { g.why = "no room"; return nil, -4 },
			"trap":     func(g *guest) ([]byte, int32) { g.trap("unreachable executed"); return nil, 0 },
			"fuel": func(g *guest) ([]byte, int32) {
				g.die(fault.WasmFuel, "wasm guest exhausted MAX FUEL 1000")
				return nil, 0
			},
		} {
			t.Run("dump "+name, func(t *testing.T) {
				broken := false
				s := counting()
				whole := s.dump
				s.dump = func(g *guest) ([]byte, int32) {
					if broken {
						return dump(g)
					}
					return whole(g)
				}
				run(t, 1, watch+policy, s, func(b *bench) {
					saves(func(*bench) { broken = true }, func(*bench) { broken = false })(b)
					b.wantErrors(marker + "state snapshot failed (branch ...")
					if text := b.errorsOf()[0]; !strings.Contains(text, ", export 'nervix_dump_state'): ") || strings.Contains(text, "revision") {
						b.T.Fatal(text)
					}
					if got := b.fakes.all()[1].counter; got != 4 {
						b.T.Fatalf("the counter is %d", got)
					}
				})
			})
		}
	}
}

// A checkpoint that was captured and failed leaves its mark until another succeeds; its late end says nothing (W-201, W-218).
func TestCheckpointDeadline(t *testing.T) {
	// req: W-201 half: the whole way; the replicas' part comes with them
	// req: W-218
	run(t, 1, watch+logs, counting(), func(b *bench) {
		b.Reader("alarms")
		b.wantEnd(b.say("x"), true)
		b.store.hold = true
		f := b.say("y")
		b.pass(9900 * time.Millisecond)
		b.wantEnd(f, false)
		if d := b.branchOf(0); d.Stage != wasmproc.StageCaptured || d.Committed != 1 || d.Latest != 2 {
			b.T.Fatalf("%+v", d)
		}
		b.pass(100 * time.Millisecond)
		b.wantEnd(f, true, 0)
		b.wantErrors(marker + "local state persistence failed (branch ..., saved state revision 2): WASM PROCESSOR watch in domain farm: the checkpoint was not durable within 10s")
		if d := b.branchOf(0); d.Stage != wasmproc.StageFailed || d.Committed != 1 || d.Latest != 2 {
			b.T.Fatalf("%+v", d)
		}
		next := b.say("z") // held back too
		b.wantEnd(next, false)
		b.store.do(func() {
			first := b.store.held[0]
			b.store.held = b.store.held[1:]
			first(nil) // far too late
		})
		b.pass(time.Second)
		b.wantEnd(next, false)
		b.store.let(nil)
		b.pass(0)
		b.wantEnd(next, true)
		if d := b.branchOf(0); d.Committed != 3 || d.Stage != wasmproc.StageReplicaConfirmed || b.fakes.all()[1].counter != 2 {
			b.T.Fatalf("%+v, counter %d", d, b.fakes.all()[1].counter)
		}
		if b.store.abort != 1 {
			b.T.Fatalf("%d checkpoints given up", b.store.abort)
		}
	})
}

func TestRestore(t *testing.T) {
	// req: W-117, W-127, W-126 half: TTL; the instance limit in TestInstanceLimit
	// req: W-122, W-217 half: counts come with replicas
	empty := false
	s := counting()
	whole := s.dump
	s.dump = func(g *guest) ([]byte, int32) {
		if empty {
			return nil, 0
		}
		return whole(g)
	}
	run(t, 1, watch+logs, s, func(b *bench) {
		alarms := b.Reader("alarms")
		b.wantEnd(b.say("x", "y"), true)
		held := b.say("hold")
		b.pass(61 * time.Second) // TTL: no flush, what the guest held fails
		b.wantEnd(held, true, 0)
		if o := b.p.Observe(); o.Branches != 0 || o.Instances != 0 || !strings.Contains(held.Failed()[0], "TTL") {
			b.T.Fatalf("%+v %v", o, held.Failed())
		}
		b.wantEnd(b.say("z"), true)
		if d := b.branchOf(0); d.Committed != 3 {
			b.T.Fatalf("%+v", d)
		}
		empty = true
		b.wantEnd(b.say("w"), true)
		b.pass(61 * time.Second)
		empty = false
		b.wantEnd(b.say("v"), true)
		wantRows(b.T, "alarms", alarms.Rows(), "x|1", "y|2", "z|4", "w|5", "v|1")
		calls := b.fakes.calls()
		if slices.Contains(calls, "1:nervix_flush") || !slices.Contains(calls, "2:nervix_load_state") || slices.Contains(calls, "3:nervix_load_state") {
			b.T.Fatalf("%q", calls)
		}
		if i := slices.Index(calls, "2:nervix_load_state"); calls[i-1] != "2:nervix_init" {
			b.T.Fatalf("%q", calls)
		}
		b.wantErrors()
	})
}

// A branch that was only restored says so.
func TestRestoredStageIsLocal(t *testing.T) {
	s := counting()
	run(t, 1, watch+logs, s, func(b *bench) {
		b.Reader("alarms")
		b.wantEnd(b.say("x"), true)
		b.pass(61 * time.Second)
		b.store.hold = true
		b.fakes.script.batch = func(g *guest, in *given) int32 { g.trap("unreachable executed"); return 0 }
		b.wantEnd(b.say("y"), true, 0)
		if d := b.branchOf(0); d.Stage != wasmproc.StageLocallyDurable || d.Committed != 1 {
			b.T.Fatalf("%+v", d)
		}
	})
}

// Every outcome of a restore has its stage; the saved state stays, and each input repeats the report with the same revision.
func TestRestoreFailures(t *testing.T) {
	// req: W-028, W-029, W-030, W-031, W-033, W-128, W-129, W-256, W-309 half: the text below the stage; the sample's names are other
	for name, c := range map[string]struct {
		load func(g *guest) int32
		want string
	}{
		"-7":   {func(g *guest) int32 { return -7 }, "snapshot envelope decoding failed (branch ..., export 'nervix_load_state', saved state revision 1): wasm guest cannot decode its saved snapshot"},
		"-8":   {func(g *guest) int32 { g.why = "counters header is truncated"; return -8 }, "application state restoration failed (branch ..., export 'nervix_load_state', saved state revision 1): wasm guest rejected the application state in its saved snapshot: counters header is truncated"},
		"-1":   {func(g *guest) int32 { return -1 }, "state restore failed (branch ..., export 'nervix_load_state', saved state revision 1): wasm guest rejected the call of nervix_load_state with code -1"},
		"trap": {func(g *guest) int32 { g.trap("unreachable executed"); return 0 }, "state restore failed (branch ..., saved state revision 1): wasm guest trapped: unreachable executed"},
	} {
		t.Run(name, func(t *testing.T) {
			broken := false
			s := counting()
			whole := s.load
			s.load = func(g *guest, state []byte) int32 {
				if broken {
					return c.load(g)
				}
				return whole(g, state)
			}
			run(t, 1, watch+logs, s, func(b *bench) {
				alarms := b.Reader("alarms")
				b.wantEnd(b.say("x"), true)
				b.pass(61 * time.Second)
				broken = true
				b.wantEnd(b.say("y"), true, 0)
				b.wantEnd(b.say("z"), true, 0)
				b.wantErrors(marker+c.want, marker+c.want)
				if e := b.errorsOf(); e[0] != e[1] {
					b.T.Fatalf("%q", e)
				}
				broken = false
				b.wantEnd(b.say("w"), true)
				wantRows(b.T, "alarms", alarms.Rows(), "x|1", "w|2")
			})
			broken = false
			run(t, 1, watch+quiet, s, func(b *bench) { // IGNORE accepts the input and is silent
				b.Reader("alarms")
				b.wantEnd(b.say("x"), true)
				b.pass(61 * time.Second)
				broken = true
				b.wantEnd(b.say("y"), true)
				b.wantErrors()
			})
		})
	}
}

// A store that cannot read is no verdict on a guest: reported and nacked under both policies; also when it answers late.
func TestLoadFailures(t *testing.T) {
	for _, slow := range []bool{false, true} {
		run(t, 1, watch+quiet, counting(), func(b *bench) {
			alarms := b.Reader("alarms")
			b.store.slow, b.store.load = slow, errors.New("block 7 is damaged")
			f := b.say("x")
			if slow {
				b.wantEnd(f, false)
				b.store.do(func() { b.store.load = nil })
				b.store.let(nil)
				b.pass(time.Millisecond)
			}
			b.wantEnd(f, true, 0)
			b.wantErrors(marker + "state restore failed (branch ..., export 'nervix_load_state'): block 7 is damaged")
			b.store.do(func() { b.store.load = nil })
			b.wantEnd(b.say("y"), true)
			wantRows(b.T, "alarms", alarms.Rows(), "y|1")
		})
	}
}

func TestMemoryStore(t *testing.T) {
	// req: W-131 half: a place of another generation; those come with resets
	m := wasmproc.NewMemory()
	p := wasmproc.Place{Domain: "farm", Processor: "watch", Created: 3, Branch: "aa", Generation: 1}
	take := func(p wasmproc.Place, text string, commit bool) uint64 {
		s := m.Open(p)
		defer s.Close()
		if _, pending, err := s.Load(nil); pending || err != nil || s.Begin() != nil {
			t.Fatal(pending, err)
		}
		revision := s.Capture([]byte(text))
		if pending, err := s.Persist(nil); pending || err != nil {
			t.Fatal(pending, err)
		}
		if commit {
			s.Commit()
		} else {
			s.Abort()
		}
		return revision
	}
	want := func(p wasmproc.Place, text string, revision uint64) {
		t.Helper()
		s := m.Open(p)
		defer s.Close()
		if saved, _, err := s.Load(nil); err != nil || saved.Revision != revision || !bytes.Equal(saved.State, []byte(text)) {
			t.Fatalf("%+v %v", saved, err)
		}
	}
	want(p, "", 0)
	if r := take(p, "one", true); r != 1 {
		t.Fatal(r)
	}
	if r := take(p, "two", false); r != 2 {
		t.Fatal(r)
	}
	want(p, "one", 1)
	if r := take(p, "three", true); r != 3 { // a revision is never used again (gaps 1.7.2)
		t.Fatal(r)
	}
	want(p, "three", 3)
	for _, other := range []wasmproc.Place{{Domain: "farm", Processor: "watch", Created: 4, Branch: "aa", Generation: 1}, {Domain: "farm", Processor: "watch", Created: 3, Branch: "aa", Generation: 2},
		{Domain: "farm", Processor: "watch", Created: 3, Generation: 1}, {Domain: "barn", Processor: "watch", Created: 3, Branch: "aa", Generation: 1}} {
		want(other, "", 0)
		take(other, fmt.Sprint(other), true)
	}
	want(p, "three", 3)
	if m.Len() != 5 {
		t.Fatal(m.Len())
	}
	m.Forget(func(p wasmproc.Place) bool { return p.Domain == "farm" })
	if m.Len() != 1 {
		t.Fatal(m.Len())
	}
	want(p, "", 0)
}

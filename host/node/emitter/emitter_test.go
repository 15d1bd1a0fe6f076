// SPDX-License-Identifier: Apache-2.0

package emitter_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/node/connector"
	"github.com/nervix-go/nervix/host/node/nodetest"
)

func TestOnePublishAFlush(t *testing.T) {
	// req: P-037 half: the shape of a record sink; rows and requests come with their sinks
	// req: K02 half: rows settle with the sink's confirmation; the position's side is in the ingestor
	sink := &nodetest.Sink{Respond: func(nodetest.Attempt) nodetest.Answer { return nodetest.Answer{None: true} }}
	run(t, text("readings, beds WHERE wet > 0.0", all+" WHERE bed != 'no'", each, "LOG"), sink, func(b *bench) {
		first := b.put(rows("a", "b", "no")...)
		b.pass(500 * time.Millisecond)
		second := b.putBed("x", nil, append(rows("c"), "d|-1|5", "e|1|7")...)
		none := b.put(rows("no")...)
		b.pass(499 * time.Millisecond)
		b.attempts()
		b.pass(time.Millisecond)
		b.attempts(lines("a", "b", "c") + ` {"bed":"e","wet":1,"n":7}`)
		a := b.sink.Attempts()[0]
		if !slices.IsSorted(a.IDs) || len(slices.Compact(slices.Clone(a.IDs))) != 4 {
			b.T.Fatalf("identities %v", a.IDs)
		}
		wantFate(b.T, none, true)
		wantFate(b.T, first, false)
		b.pass(time.Minute)
		wantFate(b.T, first, false)
		b.sink.Answer(a.Number, nodetest.All(a))
		b.pass(0)
		wantFate(b.T, first, true)
		wantFate(b.T, second, true)
		o := b.e.Observe()
		if o.Status != "OK" || o.Emitted != 4 || o.Flushes != 1 || o.Attempts != 1 || o.Held != 0 || o.Inputs[0].Rows != 4 || o.Inputs[1].Rows != 3 || o.Filtered != 3 {
			b.T.Fatalf("%+v", o)
		}
		if p := b.sink.Plans[0]; p.Kind != "file" || p.Client["root"] != "/data" || p.Options["path"] != "out.ndjson" {
			b.T.Fatalf("%+v", p)
		}
		if b.e.Busy() {
			b.T.Fatal("busy with nothing")
		}
	})
}

func TestAllBranchesAreOneUnit(t *testing.T) {
	// req: R-013 half: an emitter takes the whole relay, in its order; junctions are tested beside it
	sink := &nodetest.Sink{}
	run(t, text("beds", all, each, "LOG"), sink, func(b *bench) {
		for i := range 9 {
			b.putBed([]string{"a", "b", "c"}[i%3], nil, rows(fmt.Sprint(i))...)
			b.pass(time.Millisecond)
		}
		b.pass(time.Second)
		b.attempts(lines("0", "1", "2", "3", "4", "5", "6", "7", "8"))
		if n := b.e.Node().Branches(); n != 1 {
			b.T.Fatalf("%d branches", n)
		}
	})
}

func TestFlushBySizeAndAtOnce(t *testing.T) {
	sink := &nodetest.Sink{}
	run(t, text("readings", all, "FLUSH EACH 1h MAX BATCH SIZE 200B", "LOG"), sink, func(b *bench) {
		for i := range 7 {
			b.put(rows(fmt.Sprint(i), strings.Repeat("x", 40))...)
			b.pass(time.Millisecond)
		}
		if n := len(b.sink.Attempts()); n != 3 && n != 2 || !b.e.Busy() || b.e.Observe().Held == 0 {
			b.T.Fatalf("%d publish calls for 7 batches of about 90 bytes, %d held", n, b.e.Observe().Held)
		}
		b.e.Flush()
		b.pass(0)
		if b.e.Busy() || b.e.Observe().Emitted != 14 {
			b.T.Fatal("a forced flush left something")
		}
	})
	run(t, text("readings", all, immediate, "LOG"), &nodetest.Sink{}, func(b *bench) {
		f := b.put(rows("a")...)
		b.put(rows("b")...)
		b.pass(99 * time.Microsecond)
		b.attempts()
		b.pass(time.Microsecond)
		b.attempts(lines("a", "b"))
		wantFate(b.T, f, true)
	})
}

func TestUnansweredPayloadsAreOfferedAgain(t *testing.T) {
	// req: P-039
	round := 0
	sink := &nodetest.Sink{}
	sink.Respond = func(a nodetest.Attempt) nodetest.Answer {
		round++
		return judging(func(p string) string {
			if round == 1 && strings.Contains(p, "b") && strings.Contains(p, `"b"`) || round <= 2 && strings.Contains(p, `"d"`) {
				return "?"
			}
			return ""
		}, nil)(a)
	}
	run(t, text("readings", all, immediate, "LOG"), sink, func(b *bench) {
		first, second := b.put(rows("a", "b")...), b.put(rows("c", "d", "e")...)
		b.pass(time.Millisecond)
		later := b.put(rows("f")...)
		b.pass(time.Millisecond)
		wantFate(b.T, first, false)
		wantFate(b.T, second, false)
		if o := b.e.Observe(); o.Status != "ERROR" || o.Backoff != 100*time.Millisecond || o.Detail == "" || !b.e.Busy() {
			b.T.Fatalf("%+v", o)
		}
		b.pass(97 * time.Millisecond)
		b.attempts(lines("a", "b", "c", "d", "e"))
		b.pass(2 * time.Millisecond)
		b.attempts(lines("a", "b", "c", "d", "e"), lines("b", "d"))
		b.pass(200 * time.Millisecond)
		b.pass(time.Millisecond)
		b.attempts(lines("a", "b", "c", "d", "e"), lines("b", "d"), lines("d"), lines("f"))
		got := b.sink.Attempts()
		if got[1].IDs[0] != got[0].IDs[1] || got[2].IDs[0] != got[0].IDs[3] || got[3].IDs[0] <= got[0].IDs[4] {
			b.T.Fatalf("identities %+v", got)
		}
		for _, f := range []*nodetest.Fate{first, second, later} {
			wantFate(b.T, f, true)
		}
		if o := b.e.Observe(); o.Status != "OK" || o.Emitted != 6 || o.Attempts != 4 || o.Flushes != 2 {
			b.T.Fatalf("%+v", o)
		}
	})
}

func TestBackoffDoublesAndIsResetByACompletedFlush(t *testing.T) {
	// req: P-043
	down := true
	sink := &nodetest.Sink{Respond: func(a nodetest.Attempt) nodetest.Answer {
		if down {
			return nodetest.Answer{Failure: errors.New("no space left on device")}
		}
		return nodetest.All(a)
	}}
	run(t, text("readings", all, immediate, "LOG"), sink, func(b *bench) {
		for range 2 {
			sink.Do(func() { down = true })
			before := len(b.sink.Attempts())
			f := b.put(rows("a")...)
			b.pass(100 * time.Microsecond)
			for i, wait := range []time.Duration{100, 200, 300, 300} {
				if n := len(b.sink.Attempts()) - before; n != i+1 {
					b.T.Fatalf("%d attempts, want %d", n, i+1)
				}
				if o := b.e.Observe(); o.Status != "ERROR" || o.Backoff != wait*time.Millisecond || !strings.Contains(o.Detail, "no space left") || o.Transient != o.Detail {
					b.T.Fatalf("%+v", o)
				}
				b.pass(wait*time.Millisecond - time.Microsecond)
				if n := len(b.sink.Attempts()) - before; n != i+1 {
					b.T.Fatal("the backoff was cut short")
				}
				b.pass(time.Microsecond)
			}
			sink.Do(func() { down = false })
			b.pass(300 * time.Millisecond)
			wantFate(b.T, f, true)
			if o := b.e.Observe(); o.Status != "OK" || o.Backoff != 0 || o.Transient != "" || o.Detail != "" {
				b.T.Fatalf("%+v", o)
			}
		}
		if n := b.Logs.Count("publishing failed", "no space left"); n != 2 {
			b.T.Fatalf("told %d times\n%s", n, b.Logs)
		}
	})
}

// Neither a forced flush nor a sink that opens again ends a backoff, and an attempt ends once.
func TestBackoffIsNotCutShort(t *testing.T) {
	sink := &nodetest.Sink{Respond: func(nodetest.Attempt) nodetest.Answer { return nodetest.Answer{Failure: errors.New("down")} }}
	run(t, text("readings", all, immediate, "LOG"), sink, func(b *bench) {
		b.put(rows("a")...)
		b.pass(100 * time.Microsecond)
		b.sink.Answer(1, nodetest.Answer{Failure: errors.New("down, again")})
		b.e.Flush()
		b.pass(50 * time.Millisecond)
		b.sink.Lose("killed")
		b.sink.Open()
		b.pass(50*time.Millisecond - time.Microsecond)
		if o := b.e.Observe(); len(b.sink.Attempts()) != 1 || o.Attempts != 1 {
			b.T.Fatalf("%+v", o)
		}
		b.pass(time.Microsecond)
		if o := b.e.Observe(); len(b.sink.Attempts()) != 2 || o.Backoff != 200*time.Millisecond {
			b.T.Fatalf("%+v", o)
		}
	})
}

// Two answers for one payload are a defect of the connector; they must not stand for the payload that has none.
func TestTwoAnswersForOnePayload(t *testing.T) {
	sink := &nodetest.Sink{Respond: func(nodetest.Attempt) nodetest.Answer { return nodetest.Answer{None: true} }}
	run(t, text("readings", all, immediate, "LOG"), sink, func(b *bench) {
		f := b.put(rows("a", "b", "c")...)
		b.pass(time.Millisecond)
		id := b.sink.Attempts()[0].IDs[0]
		b.sink.Answer(1, nodetest.Answer{Answers: []connector.SinkAnswer{{FirstID: id, LastID: id + 1}, {FirstID: id, LastID: id + 1, Rejected: "no"}}})
		b.pass(0)
		wantFate(b.T, f, false)
		sink.Do(func() { sink.Respond = nil })
		b.pass(time.Second)
		b.attempts(lines("a", "b", "c"), line("c"))
		wantFate(b.T, f, true)
	})
}

// asked is a failure with which the receiver asks for a pause.
type asked time.Duration

func (a asked) Error() string             { return "slow down" }
func (a asked) RetryAfter() time.Duration { return time.Duration(a) }

func TestReceiverLengthensThePause(t *testing.T) {
	for pause, want := range map[time.Duration]time.Duration{time.Second: time.Second, 10 * time.Millisecond: 100 * time.Millisecond} {
		sink := &nodetest.Sink{}
		sink.Respond = func(a nodetest.Attempt) nodetest.Answer {
			sink.Respond = nil
			return nodetest.Answer{Failure: fmt.Errorf("publish: %w", asked(pause))}
		}
		run(t, text("readings", all, immediate, "LOG"), sink, func(b *bench) {
			b.put(rows("a")...)
			b.pass(100 * time.Microsecond)
			if got := b.e.Observe().Backoff; got != want {
				b.T.Fatalf("asked for %v: waits %v, want %v", pause, got, want)
			}
			b.pass(want - time.Microsecond)
			b.attempts(line("a"))
			b.pass(time.Microsecond)
			b.attempts(line("a"), line("a"))
		})
	}
}

func TestNothingIsTakenWhileAnAttemptIsUnderWay(t *testing.T) {
	sink := &nodetest.Sink{Respond: func(nodetest.Attempt) nodetest.Answer { return nodetest.Answer{None: true} }}
	run(t, text("readings", all, immediate, "LOG"), sink, func(b *bench) {
		held := b.put(rows("a")...)
		b.pass(time.Millisecond)
		var waiting []*nodetest.Fate
		for range 6 {
			waiting = append(waiting, b.put(rows("b")...))
			b.pass(time.Millisecond)
		}
		if o := b.Relays["readings"].Observe(); o.Depth != 4 || o.Waiting != 2 || b.e.Observe().Held != 1 {
			b.T.Fatalf("depth %d, waiting %d, held %d", o.Depth, o.Waiting, b.e.Observe().Held)
		}
		last := held.Alive()
		for range 10 {
			b.pass(time.Second)
			if held.Alive() <= last || waiting[5].Alive() <= last {
				b.T.Fatal("what is held shows no sign of life")
			}
			last = held.Alive()
		}
		b.e.Flush() // one attempt at a time, however much somebody wants a flush
		b.pass(0)
		b.attempts(line("a"))
		sink.Do(func() { sink.Respond = nil })
		b.sink.Answer(1, nodetest.All(b.sink.Attempts()[0]))
		b.pass(time.Millisecond)
		for _, f := range waiting {
			wantFate(b.T, f, true)
		}
	})
}

func TestPayloadsSurviveLostEpochs(t *testing.T) {
	// req: P-041 half: the host's bytes; a connector that really dies between attempts is in the kill tests
	sink := &nodetest.Sink{Shut: true, Respond: func(nodetest.Attempt) nodetest.Answer { return nodetest.Answer{None: true} }}
	run(t, text("readings", all, immediate, "LOG"), sink, func(b *bench) {
		f := b.put(rows("a", "b", "c")...)
		b.pass(time.Second)
		b.attempts()
		b.sink.Lose("/data/out.ndjson: permission denied")
		b.pass(0)
		if o := b.e.Observe(); o.Status != "ERROR" || !strings.Contains(o.Detail, "permission denied") || b.Logs.Count("sink was lost", "permission denied") != 1 {
			b.T.Fatalf("%+v", o)
		}
		b.sink.Open()
		b.pass(0)
		b.attempts(lines("a", "b", "c"))
		if b.e.Observe().Status != "OK" {
			b.T.Fatalf("%+v", b.e.Observe())
		}
		// A part is answered, then the process dies with the rest under way, twice.
		first := b.sink.Attempts()[0]
		b.sink.Answer(first.Number, nodetest.Answer{Answers: []connector.SinkAnswer{{FirstID: first.IDs[1], LastID: first.IDs[1]}}})
		b.pass(101 * time.Millisecond)
		b.attempts(lines("a", "b", "c"), lines("a", "c"))
		for range 2 {
			b.sink.Lose("signal: killed")
			newer := b.put(rows("z")...)
			b.pass(time.Minute)
			wantFate(b.T, newer, false)
			b.sink.Open()
			b.pass(time.Millisecond)
		}
		got := b.sink.Attempts()
		if len(got) != 4 {
			b.T.Fatalf("%d attempts", len(got))
		}
		for _, a := range got[1:] {
			if !slices.Equal(a.Payloads, []string{line("a"), line("c")}) || !slices.Equal(a.IDs, []uint64{first.IDs[0], first.IDs[2]}) {
				b.T.Fatalf("offered again: %+v", a)
			}
		}
		b.sink.Answer(got[2].Number, nodetest.All(got[2])) // of an epoch that is over
		b.pass(0)
		wantFate(b.T, f, false)
		sink.Do(func() { sink.Respond = nil })
		b.sink.Answer(got[3].Number, nodetest.Answer{Answers: []connector.SinkAnswer{{FirstID: first.IDs[0], LastID: first.IDs[2]}}})
		b.pass(time.Millisecond)
		wantFate(b.T, f, true)
		if a := b.sink.Attempts(); !slices.Equal(a[len(a)-1].Payloads, []string{line("z"), line("z")}) || b.e.Observe().Emitted != 5 {
			b.T.Fatalf("newer rows come last: %+v", a[len(a)-1])
		}
	})
}

// A sink that is not open is offered nothing, and rows whose flush has not come are not offered when it opens.
func TestSinkThatIsLostInBetween(t *testing.T) {
	run(t, text("readings", all, each, "LOG"), &nodetest.Sink{}, func(b *bench) {
		b.put(rows("a")...)
		b.pass(time.Second)
		b.attempts(line("a"))
		b.sink.Lose("killed")
		b.put(rows("b")...)
		b.pass(500 * time.Millisecond)
		b.sink.Open()
		b.pass(0)
		b.attempts(line("a"))
		b.sink.Lose("killed")
		b.pass(time.Minute)
		b.attempts(line("a"))
		b.sink.Open()
		b.pass(0)
		b.attempts(line("a"), line("b"))
	})
}

func TestDetachedEmitter(t *testing.T) {
	sink := &nodetest.Sink{Respond: func(nodetest.Attempt) nodetest.Answer { return nodetest.Answer{None: true} }}
	run(t, strings.Replace(text("readings", all, immediate, "LOG"), "CREATE EMITTER", "CREATE DETACHED EMITTER", 1), sink, func(b *bench) {
		f := b.put(rows("a")...)
		wantFate(b.T, f, true) // at fan-out
		b.pass(time.Millisecond)
		for range 5 {
			b.put(rows("b")...)
			b.pass(time.Millisecond)
		}
		if o := b.Relays["readings"].Observe(); o.Depth != 4 || o.Waiting != 1 || !b.e.Busy() {
			b.T.Fatal("a detached emitter holds its relay back all the same")
		}
	})
}

func TestCloseFailsWhatIsHeld(t *testing.T) {
	for _, under := range []bool{false, true} {
		sink := &nodetest.Sink{Shut: !under, Respond: func(nodetest.Attempt) nodetest.Answer { return nodetest.Answer{None: true} }}
		run(t, text("readings", all, immediate, "LOG"), sink, func(b *bench) {
			held, waiting := b.put(rows("a", "b")...), (*nodetest.Fate)(nil)
			b.pass(time.Millisecond)
			waiting = b.put(rows("c")...)
			b.pass(time.Millisecond)
			b.close()
			b.pass(0)
			wantFate(b.T, held, true, 0, 1)
			wantFate(b.T, waiting, true, 0)
			if b.sink.Opened() != 0 || b.e.Observe().Held != 0 {
				b.T.Fatalf("%d sessions open, %d held", b.sink.Opened(), b.e.Observe().Held)
			}
			n := len(b.sink.Attempts())
			if under {
				b.sink.Answer(1, nodetest.All(b.sink.Attempts()[0]))
			}
			b.pass(time.Hour)
			if len(b.sink.Attempts()) != n || b.e.Observe().Emitted != 0 {
				b.T.Fatal("an ended emitter goes on")
			}
		})
	}
}

func TestMissingClockFailsTheBatch(t *testing.T) {
	run(t, text("readings", all, immediate, "LOG"), &nodetest.Sink{}, func(b *bench) {
		b.Clock.End()
		f := b.put(rows("a")...)
		b.pass(time.Millisecond)
		wantFate(b.T, f, true, 0)
		b.attempts()
	})
}

// SPDX-License-Identifier: Apache-2.0

package ingestor_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/node/ingestor"
	"github.com/nervix-go/nervix/host/node/nodetest"
)

func TestParallelBoundsWhatIsBeyondTheDurablePosition(t *testing.T) {
	// req: P-022 half: the rows a source may send; that a connector obeys its credit is in the conformance suite
	for _, max := range []int{1, 6, 50} {
		mode := fmt.Sprintf("ACK PARALLEL MAX %d ACK TIMEOUT 5s", max)
		run(t, source(mode, toReadings+ignore+general), goods(40), func(b *bench) {
			b.at.Hold()
			r := b.Reader("readings")
			b.start()
			b.pass(time.Second)
			// Everything that was sent has settled, and nothing of it is durable.
			first := min(max, 40)
			if b.src.Sent() != first || len(r.Rows()) != first || b.at.Held() != 1 || len(b.src.Acks()) != 0 {
				b.T.Fatalf("sent %d, emitted %d, writes under way %d, acknowledged %v", b.src.Sent(), len(r.Rows()), b.at.Held(), b.src.Acks())
			}
			b.at.Release()
			b.pass(time.Second)
			b.want(40, 0, ingestor.Running)
			if b.src.Most() > int64(max) || len(r.Rows()) != 40 {
				b.T.Fatalf("%d lines beyond the durable position, %d emitted", b.src.Most(), len(r.Rows()))
			}
		})
	}
}

// What settles while a write is under way joins the next one, and gives its places back with it.
func TestWritesJoin(t *testing.T) {
	run(t, source("ACK PARALLEL MAX 8 ACK TIMEOUT 5s", toReadings+ignore+general), nil, func(b *bench) {
		r := b.Reader("readings")
		b.src.Size = 1
		b.at.Hold()
		b.start()
		for i := range 20 {
			b.src.Add(good(i + 1))
			b.pass(time.Millisecond)
		}
		if b.at.Held() != 1 || b.src.Sent() != 8 || len(r.Seen()) != 8 {
			b.T.Fatalf("%d writes at once, %d lines sent, %d batches", b.at.Held(), b.src.Sent(), len(r.Seen()))
		}
		b.at.Release()
		b.pass(time.Millisecond)
		if !slices.Equal(b.src.Acks()[:2], []int{1, 8}) || b.src.Sent() < 16 {
			b.T.Fatalf("acknowledged %v, %d lines sent", b.src.Acks(), b.src.Sent())
		}
		b.pass(time.Second)
		b.want(20, 0, ingestor.Running)
	})
}

func TestPositionIsAcknowledgedWhenDurable(t *testing.T) {
	// req: K02
	run(t, source(wide, toReadings+ignore+general), goods(8), func(b *bench) {
		b.at.Hold()
		r := b.Reader("readings")
		b.src.End = true
		b.start()
		if len(r.Rows()) != 8 || len(b.src.Acks()) != 0 || !b.in.Busy() {
			b.T.Fatalf("%d rows, acknowledged %v before anything is durable, busy %v", len(r.Rows()), b.src.Acks(), b.in.Busy())
		}
		b.at.Release()
		b.pass(0)
		b.want(8, 0, ingestor.Finished)
		if acks := b.src.Acks(); len(acks) == 0 || acks[len(acks)-1] != 8 || !slices.IsSorted(acks) || b.in.Busy() {
			b.T.Fatalf("acknowledged %v, busy %v", acks, b.in.Busy())
		}
	})
}

func TestStoreThatFailsStopsTheIngestor(t *testing.T) {
	run(t, source("ACK PARALLEL MAX 4 ACK TIMEOUT 5s", toReadings+ignore+general), goods(12), func(b *bench) {
		b.at.Fail = errors.New("the disk is gone")
		b.Reader("readings")
		b.start()
		b.pass(time.Minute)
		o := b.in.Observe()
		if b.src.Sent() != 4 || len(b.src.Acks()) != 0 || !strings.Contains(o.Transient, "the disk is gone") || b.Logs.Count("position cannot be stored", "disk is gone") != 1 {
			b.T.Fatalf("sent %d, acknowledged %v, %+v\n%s", b.src.Sent(), b.src.Acks(), o, b.Logs)
		}
		if b.in.Busy() {
			b.T.Fatal("a drain would wait for ever")
		}
	})
	run(t, source(wide, toReadings+ignore+general), goods(4), func(b *bench) {
		b.at.Fail = errors.New("the disk is gone")
		b.Reader("readings")
		b.start()
		b.at.Do(func() { b.at.Fail = nil }) // a store that failed is not believed again
		b.src.Add(good(5))
		b.pass(time.Second)
		if b.at.Line() != 0 || len(b.src.Acks()) != 0 || b.in.Busy() {
			b.T.Fatalf("line %d after a failed write", b.at.Line())
		}
	})
}

func TestResumesAfterTheStoredPosition(t *testing.T) {
	run(t, source(wide, toReadings+ignore+general), goods(6), func(b *bench) {
		b.at.Set(4)
		r := b.Reader("readings")
		b.start()
		if p := b.src.Plans[0]; nodetest.LineAt(p.Position) != 4 || string(p.Identity) != "file-1" || p.Kind != "file" || p.Options["path"] != "in.ndjson" || p.Client["root"] != "/data" {
			b.T.Fatalf("%+v", p)
		}
		wantRows(b.T, "rows", r.Rows(), row(5), row(6))
		b.want(6, 0, ingestor.Running)
	})
}

func TestSwallowedBatchTimesOut(t *testing.T) {
	run(t, source(wide, toReadings+ignore+general), goods(4), func(b *bench) {
		r := b.Reader("readings")
		r.Keep()
		b.start()
		b.pass(4900 * time.Millisecond)
		if len(b.src.Rejects()) != 0 || b.in.Observe().Unresolved != 4 {
			b.T.Fatalf("asked again for %v", b.src.Rejects())
		}
		b.pass(1500 * time.Millisecond) // the check runs every quarter of the timeout; then comes the backoff
		if got := b.src.Rejects(); !slices.Equal(got, []int{1, 2, 3, 4}) {
			b.T.Fatalf("asked again for %v", got)
		}
		if b.Logs.Count("timed out", "batches=1") != 1 || b.in.Observe().Status != ingestor.Running {
			b.T.Fatal(b.Logs)
		}
		// The second attempt is swallowed too. What becomes of the first now is nobody's business.
		first := len(r.Seen())
		if first != 2 {
			b.T.Fatalf("%d batches", first)
		}
		r.Let(errors.New("much too late"))
		b.pass(90 * time.Millisecond)
		b.pass(time.Second)
		b.want(4, 0, ingestor.Running)
		if got := b.src.Rejects(); len(got) != 8 {
			b.T.Fatalf("the failure of the second attempt counts once: %v", got)
		}
	})
}

// The late settlement of a first attempt must not acknowledge the second.
func TestLateAnswerOfAnOldAttempt(t *testing.T) {
	run(t, source(wide, toReadings+ignore+general), goods(4), func(b *bench) {
		r := b.Reader("readings")
		r.Keep()
		b.start()
		b.src.Do(func() { b.src.Mute = true })
		b.pass(6500 * time.Millisecond)
		r.Let(nil)
		b.pass(time.Second)
		b.want(0, 4, ingestor.Running)
	})
}

func TestRowsInARouteBufferAreAlive(t *testing.T) {
	text := source("ACK PARALLEL MAX 100 ACK TIMEOUT 2s", "TO readings INHERIT ALL UNBRANCHED FLUSH EACH 10s MAX BATCH SIZE 1MiB"+ignore+general)
	run(t, text, goods(3), func(b *bench) {
		r := b.Reader("readings")
		b.start()
		b.pass(9 * time.Second)
		if !b.in.Busy() || len(r.Seen()) != 0 {
			b.T.Fatal("the buffer was flushed too early")
		}
		b.pass(time.Second)
		b.want(3, 0, ingestor.Running)
		if len(b.src.Rejects()) != 0 {
			b.T.Fatalf("asked again for %v", b.src.Rejects())
		}
	})
}

func TestBatchesThatWaitInTheRelayAreAlive(t *testing.T) {
	run(t, source("ACK PARALLEL MAX 100 ACK TIMEOUT 2s", toReadings+ignore+general), goods(4), func(b *bench) {
		r := b.Reader("readings")
		r.Stall()
		b.start()
		b.pass(time.Minute)
		b.want(0, 4, ingestor.Running)
		r.Go()
		b.pass(0)
		b.want(4, 0, ingestor.Running)
		if len(b.src.Rejects()) != 0 {
			b.T.Fatalf("asked again for %v", b.src.Rejects())
		}
	})
}

func TestLostEpochJudgesNothing(t *testing.T) {
	// req: P-007 half: the host's side; a real crash is in plugins/supervise
	// req: P-010 half: the same
	run(t, source(wide, toReadings+log+general), []string{good(1), good(2), "?", good(4), good(5), good(6)}, func(b *bench) {
		r := b.Reader("readings")
		b.src.Size = 2
		b.start()
		b.want(2, 1, ingestor.Running)
		r.Keep()
		b.at.Hold()
		b.src.Mend(3, good(3))
		b.pass(110 * time.Millisecond) // line 3 comes again and is swallowed
		b.want(2, 1, ingestor.Running)
		b.src.Add(good(7), good(8))
		b.pass(time.Millisecond)
		b.src.Lose("connector file died: signal: killed")
		b.pass(0)
		o := b.in.Observe()
		if o.Ready || o.Unresolved != 0 || o.Status != ingestor.Running || !strings.Contains(o.Transient, "signal: killed") || b.Logs.Count("source was lost", "signal: killed") != 1 {
			b.T.Fatalf("%+v\n%s", o, b.Logs)
		}
		rejects, acks := len(b.src.Rejects()), len(b.src.Acks())
		r.Let(nil) // what settles now belongs to nobody
		b.pass(time.Minute)
		if len(b.src.Rejects()) != rejects || len(b.src.Acks()) != acks || b.at.Held() != 0 {
			b.T.Fatalf("rejected %v, acknowledged %v, %d writes", b.src.Rejects(), b.src.Acks(), b.at.Held())
		}
		b.at.Release()
		b.src.Open()
		b.pass(time.Millisecond)
		b.want(8, 0, ingestor.Running)
		if o := b.in.Observe(); !o.Ready || o.Transient != "" {
			b.T.Fatalf("%+v", o)
		}
		rows := r.Rows()
		wantRows(b.T, "the new epoch", rows[len(rows)-6:], row(3), row(4), row(5), row(6), row(7), row(8))
	})
}

// What an epoch delivered and nobody took up is the next epoch's to deliver.
func TestQueueOfALostEpoch(t *testing.T) {
	text := strings.Replace(source(wide, toReadings+ignore+general), "RELAY readings SCHEMA reading UNBRANCHED CAPACITY 4", "RELAY readings SCHEMA reading UNBRANCHED CAPACITY 1", 1)
	run(t, text, goods(2), func(b *bench) {
		r := b.Reader("readings")
		r.Stall()
		b.src.Size = 1
		b.start()
		for i := range 10 {
			b.src.Add(good(i + 3))
			b.pass(time.Millisecond)
		}
		took := int(b.in.Observe().Read)
		if took == b.src.Sent() {
			b.T.Fatal("nothing is queued")
		}
		b.src.Lose("gone")
		b.pass(0)
		r.Go()
		b.pass(time.Second)
		if n := int(b.in.Observe().Read); n != took || b.at.Line() != 0 {
			b.T.Fatalf("took up %d lines of an epoch that is over; durable line %d", n-took, b.at.Line())
		}
		b.src.Open()
		b.pass(time.Second)
		b.want(12, 0, ingestor.Running)
	})
}

// A write that was under way when the epoch ended gives the next epoch no places.
func TestWriteOfALostEpoch(t *testing.T) {
	run(t, source("ACK PARALLEL MAX 4 ACK TIMEOUT 5s", toReadings+ignore+general), goods(20), func(b *bench) {
		r := b.Reader("readings")
		b.at.Hold()
		b.start()
		if b.at.Held() != 1 {
			b.T.Fatalf("%d writes", b.at.Held())
		}
		b.src.Lose("gone")
		b.pass(0)
		b.at.Release() // grants of a dead epoch are counted by the source
		b.pass(0)
		if b.at.Line() != 4 || !slices.Equal(b.src.Acks(), []int{4}) {
			b.T.Fatalf("line %d, acknowledged %v", b.at.Line(), b.src.Acks())
		}
		b.src.Open()
		b.pass(time.Second)
		b.want(20, 0, ingestor.Running)
		if b.src.Most() > 4 {
			b.T.Fatalf("%d lines beyond the durable position", b.src.Most())
		}
		wantRows(b.T, "rows", r.Rows(), goodRows(20)...) // nothing twice: the next epoch began after what had become durable
	})
}

func TestRejectionIsKept(t *testing.T) {
	// req: P-023 half: a rejection the source never serves holds the position; the session's part is in plugins/supervise
	run(t, source(wide, toReadings+log+general), []string{good(1), "?", good(3)}, func(b *bench) {
		b.Reader("readings")
		b.src.Do(func() { b.src.Mute = true })
		b.start()
		b.pass(time.Hour)
		b.want(1, 1, ingestor.Running)
		if got := b.src.Rejects(); !slices.Equal(got, []int{2}) {
			b.T.Fatalf("asked %v times", got)
		}
		b.src.Do(func() { b.src.Mute = false })
		b.src.Mend(2, good(2))
		b.src.Lose("cannot seek")
		b.pass(0)
		b.src.Open()
		b.pass(time.Millisecond)
		b.want(3, 0, ingestor.Running)
	})
}

func TestFullRelayParksTheIngestor(t *testing.T) {
	text := strings.Replace(source(wide, toReadings+ignore+general), "RELAY readings SCHEMA reading UNBRANCHED CAPACITY 4", "RELAY readings SCHEMA reading UNBRANCHED CAPACITY 1", 1)
	run(t, text, goods(2), func(b *bench) {
		r := b.Reader("readings")
		r.Stall()
		b.src.Size = 1
		b.start()
		for i := range 398 { // a line a millisecond, each a batch of its own
			b.src.Add(good(i + 3))
			b.pass(time.Millisecond)
		}
		held := b.src.Sent()
		// One batch in the relay, one that waits for it, and the source's credit of four.
		if o := b.Relays["readings"].Observe(); o.Depth != 1 || o.Waiting != 1 || held != 7 || !b.in.Busy() {
			b.T.Fatalf("depth %d, waiting %d, %d lines sent", o.Depth, o.Waiting, held)
		}
		b.pass(time.Minute)
		if b.src.Sent() != held || b.in.Observe().Status != ingestor.Running {
			b.T.Fatalf("a parked ingestor took %d more lines", b.src.Sent()-held)
		}
		r.Go()
		b.pass(time.Second)
		wantRows(b.T, "rows", r.Rows(), goodRows(400)...)
		b.want(400, 0, ingestor.Running)
	})
}

func TestSourceThatIsQuickerThanItsSession(t *testing.T) {
	run(t, source("ACK PARALLEL MAX 16 ACK TIMEOUT 5s", toReadings+ignore+general), goods(64), func(b *bench) {
		r := b.Reader("readings")
		b.src.End = true
		b.src.Opening = func(context.Context) {
			// Everything the first credit allows has been sent, and the session is not handed over yet.
			time.Sleep(time.Second)
			if o := b.in.Observe(); o.Status != ingestor.Running {
				t.Errorf("%s although nothing was taken up", o.Status)
			}
		}
		b.start()
		b.pass(time.Second)
		if n := b.src.BatchCredit(); n != 4 || len(r.Rows()) != 64 {
			b.T.Fatalf("%d of 4 credits came back, %d rows", n, len(r.Rows()))
		}
		b.want(64, 0, ingestor.Finished)
	})
}

func TestFinishedMeansTakenUp(t *testing.T) {
	text := strings.Replace(source(wide, toReadings+ignore+general), "RELAY readings SCHEMA reading UNBRANCHED CAPACITY 4", "RELAY readings SCHEMA reading UNBRANCHED CAPACITY 1", 1)
	run(t, text, goods(8), func(b *bench) {
		r := b.Reader("readings")
		r.Stall()
		b.start()
		b.src.Add(goods(4)...)
		b.pass(time.Millisecond)
		b.src.Do(func() { b.src.Size, b.src.End = 1, true })
		b.src.Add(goods(2)...)
		b.pass(time.Millisecond)
		if o := b.in.Observe(); b.src.Sent() != 14 || o.Read == 14 || o.Status != ingestor.Running {
			b.T.Fatalf("sent %d, took %d, %s", b.src.Sent(), o.Read, o.Status)
		}
		r.Go()
		b.pass(time.Second)
		b.want(14, 0, ingestor.Finished)
	})
}

func TestStartIsRefusedAndTriedAgain(t *testing.T) {
	run(t, source(wide, toReadings+ignore+general), goods(2), func(b *bench) {
		b.Reader("readings")
		b.src.Refuse = errors.New("/data/in.ndjson: no such file")
		err := b.in.Start(context.Background())
		if err == nil || !strings.Contains(err.Error(), "/data/in.ndjson") || !strings.Contains(err.Error(), "probes") {
			b.T.Fatal(err)
		}
		if o := b.in.Observe(); o.Ready || !strings.Contains(o.Transient, "no such file") {
			b.T.Fatalf("%+v", o)
		}
		b.src.Do(func() { b.src.Refuse = nil })
		b.start()
		b.want(2, 0, ingestor.Running)
		if o := b.in.Observe(); !o.Ready || o.Transient != "" {
			b.T.Fatalf("%+v", o)
		}
	})
}

// A source that opens after the ingestor was told to stop must not stay open.
func TestStopWhileTheSourceOpens(t *testing.T) {
	run(t, source(wide, toReadings+ignore+general), goods(2), func(b *bench) {
		r := b.Reader("readings")
		b.src.Opening = func(context.Context) {
			if err := b.in.StopIntake(context.Background()); err != nil {
				t.Error(err)
			}
		}
		if err := b.in.Start(context.Background()); err == nil {
			b.T.Fatal("a stopped ingestor started")
		}
		b.pass(time.Second)
		if b.src.Opened() != 0 || len(r.Rows()) != 0 || b.in.Observe().Status != ingestor.Stopped {
			b.T.Fatalf("%d sessions open, rows %q", b.src.Opened(), r.Rows())
		}
	})
}

func TestStopIntakeLetsAdmittedRowsFinish(t *testing.T) {
	text := source(wide, "TO readings INHERIT ALL UNBRANCHED FLUSH EACH 1h MAX BATCH SIZE 1MiB"+ignore+general)
	run(t, text, goods(6), func(b *bench) {
		r := b.Reader("readings")
		r.Stall()
		b.start()
		b.src.Do(func() { b.src.Closing = func() { b.src.Add("late") } }) // a connector may send until it is closed
		if err := b.in.StopIntake(context.Background()); err != nil {
			b.T.Fatal(err)
		}
		b.src.Do(func() { b.src.Closing = nil })
		if o := b.in.Observe(); o.Status != ingestor.Stopped || o.Read != 6 || !b.in.Busy() {
			b.T.Fatalf("%+v", o)
		}
		b.in.Flush()
		b.pass(0)
		if !b.in.Busy() {
			b.T.Fatal("rows in the relay are not settled")
		}
		r.Go()
		b.pass(0)
		wantRows(b.T, "rows", r.Rows(), row(1), row(2), row(3), row(4), row(5), row(6))
		b.want(6, 0, ingestor.Stopped)
		if b.in.Busy() {
			b.T.Fatal("busy after everything settled")
		}
	})
}

func TestCloseLeavesRowsUnacknowledged(t *testing.T) {
	text := source(wide, "TO readings INHERIT ALL UNBRANCHED FLUSH EACH 1h MAX BATCH SIZE 1MiB"+ignore+" TO beds INHERIT ALL BRANCHED BY by_bed SET bed = message.bed FLUSH IMMEDIATE "+ignore+general)
	run(t, text, goods(6), func(b *bench) {
		readings, beds := b.Reader("readings"), b.Reader("beds")
		beds.Keep()
		b.start()
		if err := b.in.StopIntake(context.Background()); err != nil {
			b.T.Fatal(err)
		}
		b.in.Close()
		beds.Let(nil)
		b.pass(time.Hour * 2) // no timer of the ended ingestor does anything
		if len(readings.Rows()) != 0 {
			b.T.Fatalf("an ended ingestor published %q", readings.Rows())
		}
		if b.at.Line() != 0 || len(b.src.Acks()) != 0 || b.in.Busy() || b.in.Observe().Status != ingestor.Stopped {
			b.T.Fatalf("line %d, acknowledged %v", b.at.Line(), b.src.Acks())
		}
	})
}

// While the domain clock cannot be read nothing is taken up and nothing is lost.
func TestMissingClock(t *testing.T) {
	run(t, source(wide, toReadings+ignore+general), goods(3), func(b *bench) {
		r := b.Reader("readings")
		b.Clock.End()
		b.start()
		b.pass(time.Second)
		if o := b.in.Observe(); len(r.Rows()) != 0 || o.Unresolved != 3 || b.at.Line() != 0 || o.Status != ingestor.Running {
			b.T.Fatalf("%+v", o)
		}
	})
}

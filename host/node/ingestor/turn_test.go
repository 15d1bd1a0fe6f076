// SPDX-License-Identifier: Apache-2.0

package ingestor_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/node/connector"
	"github.com/nervix-go/nervix/host/node/ingestor"
	"github.com/nervix-go/nervix/host/node/nodetest"
)

// followed is source with FOLLOW.
func followed(mode, clauses string) string {
	return strings.Replace(source(mode, clauses), "PATH 'in.ndjson'", "PATH 'in.ndjson' FOLLOW", 1)
}

// nextPart prepares what the source reads when it is opened next.
func (b *bench) nextPart(identity, why string, lines ...string) {
	b.src.Do(func() { b.src.Identity, b.src.Restarted, b.src.Detail = identity, true, why })
	b.src.Replace(lines...)
}

// wantPlan compares where the source was asked to go on.
func (b *bench) wantPlan(n int, identity string, line int) {
	b.T.Helper()
	var plans []connector.SourcePlan
	b.src.Do(func() { plans = slices.Clone(b.src.Plans) })
	if len(plans) != n {
		b.T.Fatalf("the source was opened %d times, want %d\n%s", len(plans), n, b.Logs)
	}
	if p := plans[n-1]; string(p.Identity) != identity || nodetest.LineAt(p.Position) != line || (line == 0) != (len(p.Position) == 0) || p.Options["follow"] != "true" {
		b.T.Fatalf("opened at %q line %d, want %q line %d: %v", p.Identity, nodetest.LineAt(p.Position), identity, line, p.Options)
	}
}

// TestNextPartWaitsForTheDurablePosition: the next part is opened when all of the one before is safe, and without a warning.
func TestNextPartWaitsForTheDurablePosition(t *testing.T) {
	// req: K02
	run(t, followed(wide, toReadings+ignore+general), nil, func(b *bench) {
		r := b.Reader("readings")
		b.start()
		b.at.Hold()
		b.src.Add(goods(8)...)
		b.pass(time.Millisecond)
		b.src.Finish(2)
		b.pass(time.Hour)
		if len(r.Rows()) != 8 || b.src.Sessions() != 1 {
			b.T.Fatalf("%d rows, %d sessions before anything is durable", len(r.Rows()), b.src.Sessions())
		}
		b.want(0, 0, ingestor.Running)
		b.nextPart("file-2", "", good(11), good(12), good(13))
		b.at.Release()
		b.pass(time.Millisecond)
		b.wantPlan(2, "file-1", 8)
		b.want(3, 0, ingestor.Running)
		wantRows(b.T, "rows", r.Rows()[8:], row(11), row(12), row(13))
		b.src.Finish(5)
		b.nextPart("file-2", "it was cut", good(21))
		b.pass(time.Second)
		b.wantPlan(3, "file-2", 3)
		b.want(1, 0, ingestor.Running)
		if o := b.in.Observe(); o.Skipped != 7 || !o.Ready || string(o.Identity) != "file-2" || b.src.Opened() != 1 {
			b.T.Fatalf("%+v, %d sessions open", o, b.src.Opened())
		}
		if n := strings.Count(b.Logs.String(), "the source is read from its beginning"); n != 1 || !strings.Contains(b.Logs.String(), "it was cut") {
			b.T.Fatalf("%d warnings\n%s", n, b.Logs)
		}
	})
}

// TestPartThatGoesOn: a part may be opened again where it was; its position stays even if nothing more of it came.
func TestPartThatGoesOn(t *testing.T) {
	run(t, followed(wide, toReadings+ignore+general), goods(4), func(b *bench) {
		b.Reader("readings")
		b.start()
		for n := range 3 {
			b.src.Finish(0)
			b.pass(time.Minute)
			b.wantPlan(n+2, []string{"file-1", "file-1+", "file-1+"}[n], 4)
			b.src.Do(func() { b.src.Identity = "file-1+" })
			if n == 0 {
				b.src.Lose("gone")
				b.src.Open()
				b.pass(time.Millisecond)
			}
		}
		b.src.Add(good(5))
		b.pass(time.Millisecond)
		b.want(5, 0, ingestor.Running)
	})
}

// TestHeldRowsAreHurried: the end of a part waits for no FLUSH EACH.
func TestHeldRowsAreHurried(t *testing.T) {
	run(t, followed(wide, " TO readings INHERIT ALL UNBRANCHED FLUSH EACH 1h MAX BATCH SIZE 1MiB "+ignore+general), goods(4), func(b *bench) {
		r := b.Reader("readings")
		b.start()
		b.want(0, 4, ingestor.Running)
		b.src.Finish(0)
		b.pass(time.Second)
		b.wantPlan(2, "file-1", 4)
		if len(r.Rows()) != 4 {
			b.T.Fatalf("%d rows", len(r.Rows()))
		}
	})
}

// TestPartsWithoutRowsDoNotSpin: parts that bring nothing are left in turn, with a pause that grows.
func TestPartsWithoutRowsDoNotSpin(t *testing.T) {
	run(t, followed(wide, toReadings+ignore+general), nil, func(b *bench) {
		b.Reader("readings")
		b.src.Opening = func(context.Context) { b.src.Finish(0) }
		b.start()
		b.when(time.Minute)
		if n := b.src.Sessions(); n < 55 || n > 70 {
			b.T.Fatalf("%d sessions within a minute", n)
		}
		b.src.Do(func() { b.src.Opening = nil })
		b.pass(2 * time.Second)
		n := b.src.Sessions()
		b.wantPlan(n, "file-1", 0)
		b.src.Add(good(1))
		b.pass(time.Millisecond)
		b.src.Finish(0)
		b.pass(time.Millisecond)
		b.wantPlan(n+1, "file-1", 1)
	})
}

// TestNextPartThatIsMissing: what would fail a START is tried again between two parts.
func TestNextPartThatIsMissing(t *testing.T) {
	run(t, followed(wide, toReadings+ignore+general), goods(4), func(b *bench) {
		b.Reader("readings")
		b.start()
		b.src.Do(func() { b.src.Refuse = errors.New("/data/in.ndjson: no such file") })
		b.src.Finish(0)
		b.pass(time.Minute)
		o := b.in.Observe()
		if !strings.Contains(o.Transient, "/data/in.ndjson") || o.Status != ingestor.Running || b.in.Busy() {
			b.T.Fatalf("%+v", o)
		}
		if n := strings.Count(b.Logs.String(), "cannot be opened again yet"); n != 1 {
			b.T.Fatalf("told %d times\n%s", n, b.Logs)
		}
		b.nextPart("file-2", "", good(11))
		b.src.Do(func() { b.src.Refuse = nil })
		b.pass(10 * time.Second)
		b.want(1, 0, ingestor.Running)
		if o := b.in.Observe(); o.Transient != "" {
			b.T.Fatalf("%+v", o)
		}
	})
}

// TestFailedPartIsOpenedAgain: a followed source has no end by failure either.
func TestFailedPartIsOpenedAgain(t *testing.T) {
	run(t, followed(wide, toReadings+ignore+general), goods(4), func(b *bench) {
		b.Reader("readings")
		b.start()
		b.at.Hold()
		b.src.Add(good(5))
		b.pass(time.Millisecond)
		b.src.Fail("permission denied")
		b.pass(time.Second)
		b.at.Release() // the write of the epoch that failed ends only now
		b.pass(time.Second)
		b.wantPlan(2, "file-1", 5)
		b.src.Add(good(6))
		b.pass(time.Millisecond)
		b.want(6, 0, ingestor.Running)
	})
}

// TestLostPartIsNotLeft: a part that was lost after its end is read again from the durable position before it is left.
func TestLostPartIsNotLeft(t *testing.T) {
	run(t, followed(wide, toReadings+ignore+general), nil, func(b *bench) {
		b.Reader("readings")
		b.start()
		b.at.Hold()
		b.src.Add(goods(4)...)
		b.pass(time.Millisecond)
		b.src.Finish(0)
		b.src.Lose("the connector ended")
		b.at.Release()
		b.pass(time.Minute)
		if n := b.src.Sessions(); n != 1 {
			b.T.Fatalf("%d sessions", n)
		}
		b.src.Open()
		b.pass(time.Millisecond)
		b.src.Finish(0)
		b.pass(time.Millisecond)
		b.wantPlan(2, "file-1", 4)
	})
}

// TestStopBetweenParts: STOP ends a turn wherever it is.
func TestStopBetweenParts(t *testing.T) {
	for what, between := range map[string]func(b *bench){
		"pause":   func(b *bench) { b.src.Do(func() { b.src.Refuse = errors.New("not now") }) },
		"opening": func(b *bench) { b.src.Do(func() { b.src.Opening = func(ctx context.Context) { <-ctx.Done() } }) },
	} {
		t.Run(what, func(t *testing.T) {
			run(t, followed(wide, toReadings+ignore+general), goods(4), func(b *bench) {
				b.Reader("readings")
				b.start()
				between(b)
				b.src.Finish(0)
				b.pass(time.Second)
				if err := b.in.StopIntake(b.T.Context()); err != nil {
					b.T.Fatal(err)
				}
				b.pass(time.Minute)
				b.want(4, 0, ingestor.Stopped)
				if b.src.Opened() != 0 {
					b.T.Fatalf("%d sessions are open", b.src.Opened())
				}
			})
		})
	}
}

// TestStartIsDurable: START of a followed source returns when the store knows which file it began, though nothing of it has settled. It knows of
// each further part before anything of that has settled.
func TestStartIsDurable(t *testing.T) {
	// req: K02
	run(t, followed(wide, toReadings+ignore+general), goods(3), func(b *bench) {
		b.at.Hold()
		started := make(chan error)
		go func() { started <- b.in.Start(context.Background()) }()
		b.pass(time.Minute)
		select {
		case err := <-started:
			b.T.Fatalf("started without a durable identity: %v", err)
		default:
		}
		b.at.Release()
		if err := <-started; err != nil {
			b.T.Fatal(err)
		}
		if identity, position, _ := b.at.Load(); string(identity) != "file-1" || len(position) != 0 {
			b.T.Fatalf("%q %v", identity, position)
		}
		b.Reader("readings")
		b.pass(time.Minute)
		b.want(3, 0, ingestor.Running)
		b.nextPart("file-2", "")
		b.src.Finish(0)
		b.pass(time.Second)
		if identity, position, _ := b.at.Load(); string(identity) != "file-2" || len(position) != 0 {
			b.T.Fatalf("%q %v", identity, position)
		}
	})
}

// TestStartEndsWithoutItsStore: a store that fails, or the end of the caller, ends START as well.
func TestStartEndsWithoutItsStore(t *testing.T) {
	run(t, followed(wide, toReadings+ignore+general), goods(3), func(b *bench) {
		b.at.Do(func() { b.at.Fail = errors.New("disk full") })
		b.start()
		if o := b.in.Observe(); !strings.Contains(o.Transient, "disk full") {
			b.T.Fatalf("%+v", o)
		}
	})
	run(t, followed(wide, toReadings+ignore+general), goods(3), func(b *bench) {
		b.at.Hold()
		ctx, cancel := context.WithCancel(context.Background())
		defer time.AfterFunc(time.Second, cancel).Stop()
		if err := b.in.Start(ctx); err != nil {
			b.T.Fatal(err)
		}
		b.at.Release()
	})
}

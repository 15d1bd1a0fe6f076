// SPDX-License-Identifier: Apache-2.0

package ingestor_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/nervix-go/nervix/host/node/ingestor"
	"github.com/nervix-go/nervix/host/node/nodetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const base = `
CREATE SCHEMA reading (bed STRING, seen DATETIME OPTIONAL, wet F64, n I64 OPTIONAL);
CREATE SCHEMA bed_key (bed STRING);
CREATE SCHEMA odd_key (n I64 OPTIONAL);
CREATE SCHEMA flaw (ref STRING, code STRING, op STRING, why STRING, line I64 OPTIONAL, bed STRING OPTIONAL, wet F64 OPTIONAL);
CREATE WIRE JSON SCHEMA reading_wire MODE LOOSE (bed STRING, seen STRING OPTIONAL, wet NUMBER, n INTEGER OPTIONAL);
CREATE CODEC reading_codec FROM WIRE JSON SCHEMA reading_wire TO SCHEMA reading ENCODE seen AS RFC3339;
CREATE BRANCH by_bed SCHEMA bed_key TTL 1h;
CREATE BRANCH by_n SCHEMA odd_key TTL 1h;
CREATE RELAY readings SCHEMA reading UNBRANCHED CAPACITY 4;
CREATE RELAY copies SCHEMA reading UNBRANCHED CAPACITY 4;
CREATE RELAY beds SCHEMA reading BRANCHED BY by_bed CAPACITY 4;
CREATE RELAY numbers SCHEMA reading BRANCHED BY by_n CAPACITY 4;
CREATE RELAY flaws SCHEMA flaw UNBRANCHED CAPACITY 4;
CREATE CLIENT files TYPE FILE CONFIG { 'root' = '/data' };
`

const (
	toReadings = " TO readings INHERIT ALL UNBRANCHED FLUSH IMMEDIATE "
	ignore     = " ON MESSAGE ERROR IGNORE "
	log        = " ON MESSAGE ERROR LOG "
	sendFlaws  = ` ON MESSAGE ERROR SEND TO flaws SET ref = error.reference, code = error.code, op = error.operation, why = error.message,
	  line = metadata.line, bed = input.bed, wet = partial_output.wet `
)

// source is the head of an ingestor: the mode, and what stands before the routes.
func source(mode, clauses string) string {
	return base + "CREATE INGESTOR probes FROM FILE files PATH 'in.ndjson' MODE " + mode +
		" RETRY POLICY BACKOFF 100ms MAX 300ms ON QUIESCE SUSPEND DECODE USING reading_codec " + clauses
}

const (
	wide    = "ACK PARALLEL MAX 10000 ACK TIMEOUT 5s"
	general = " ON GENERAL ERROR LOG;"
)

// bench is one running ingestor.
type bench struct {
	*nodetest.World
	src *nodetest.Source
	at  *nodetest.Positions
	in  *ingestor.Ingestor

	began time.Time
}

// run builds the ingestor of a text over lines and calls use in a bubble; the ingestor has not started.
func run(t *testing.T, text string, lines []string, use func(b *bench)) {
	t.Helper()
	runBy(t, func(w *nodetest.World) ingestor.Clock { return w.Clock }, text, lines, use)
}

// runBy is run with a clock of its own.
func runBy(t *testing.T, clock func(*nodetest.World) ingestor.Clock, text string, lines []string, use func(b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := nodetest.New(t, text, 2)
		b := &bench{World: w, src: nodetest.NewSource(w.Heap, lines...), at: &nodetest.Positions{}}
		plan := w.Graph.Ingestors[0]
		targets := make([]ingestor.Target, len(plan.Routes))
		for i, r := range plan.Routes {
			targets[i] = ingestor.Target{Relay: w.Target(r.Relay), Error: w.Target(r.Policy.Relay)}
		}
		b.in = ingestor.New(ingestor.Config{
			Plan: plan, Targets: targets, Sources: b.src, Positions: b.at, Clock: clock(w), Lanes: w.Exec, Benches: w.Benches, Alloc: w.Heap, Log: w.Log,
		})
		stop := w.Upkeep()
		defer b.end(stop)
		use(b)
	})
}

// end stops the ingestor and looks at what is left. It is deferred, so that a failed test leaves nothing running.
func (b *bench) end(stop func()) {
	t := b.T
	if err := b.in.StopIntake(context.Background()); err != nil {
		t.Error(err)
	}
	b.in.Close()
	stop()
	if n := b.src.Opened(); n != 0 {
		t.Errorf("%d sessions are left open", n)
	}
	if n := b.src.Wrong(); n != 0 {
		t.Errorf("%d grants named an epoch that was over", n)
	}
	b.Close()
}

func (b *bench) start() {
	b.T.Helper()
	if err := b.in.Start(context.Background()); err != nil {
		b.T.Fatal(err)
	}
	b.began = time.Now()
	b.when(time.Millisecond)
}

// when lets time go by until d after the start.
func (b *bench) when(d time.Duration) { b.pass(d - time.Since(b.began)) }

// pass lets time go by and everything happen that it brings.
func (b *bench) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// want compares rows, the durable line, unresolved deliveries and status.
func (b *bench) want(line, unresolved int, status ingestor.Status) {
	b.T.Helper()
	o := b.in.Observe()
	if b.at.Line() != line || o.Unresolved != unresolved || o.Status != status {
		b.T.Fatalf("durable line %d, %d unresolved, %s; want %d, %d, %s\n%+v\n%s", b.at.Line(), o.Unresolved, o.Status, line, unresolved, status, o, b.Logs)
	}
	if line > 0 && !slices.Equal(o.Position, nodetest.Position(line)) {
		b.T.Fatalf("DESCRIBE shows position %v", o.Position)
	}
}

func wantRows(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("%s: got\n  %s\nwant\n  %s", what, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

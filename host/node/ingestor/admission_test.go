// SPDX-License-Identifier: Apache-2.0

package ingestor_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/node/ingestor"
	"github.com/nervix-go/nervix/host/node/nodetest"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/timekeeper"
)

// origin is the domain time at which every paced domain of these tests starts.
var origin = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// paced is a clock that starts at origin when the ingestor is built, with a tick each second.
func paced(rate float64, skew time.Duration) func(*nodetest.World) ingestor.Clock {
	return func(w *nodetest.World) ingestor.Clock {
		k := timekeeper.New(timekeeper.Config{})
		k.Install([]clock.Lifecycle{generation(rate, skew)}, 1)
		h, err := k.Bind(nodetest.Domain, 3)
		if err != nil {
			w.T.Fatal(err)
		}
		return h
	}
}

// generation is a running generation that starts now.
func generation(rate float64, skew time.Duration) clock.Lifecycle {
	return clock.Lifecycle{
		Domain: nodetest.Domain, Created: 1, Generation: 3, Running: true, Paced: true, Pace: clock.Pace{Period: 1e9, Skew: uint64(skew)},
		Mapping: clock.Mapping{WallStartedAt: osclock.UTC(), LogicalStart: vtime.LogicalFromNS(origin.UnixNano()), Rate: rate},
		Fence:   clock.Fence{Revision: 1, Authority: clock.Authority{Node: 1}},
	}
}

// reader counts the reads of a clock.
type reader struct {
	ingestor.Clock
	windows, snapshots int
}

func (c *reader) Window() (vtime.Snapshot, clock.Window, bool, error) {
	c.windows++
	return c.Clock.Window()
}

func (c *reader) Snapshot() (vtime.Snapshot, error) {
	c.snapshots++
	return c.Clock.Snapshot()
}

// event is a line whose time lies d after the origin; wet is its number.
func event(n int, d time.Duration) string {
	return fmt.Sprintf(`{"bed":"%s","seen":"%s","wet":%d}`, secret, origin.Add(d).Format(time.RFC3339Nano), n)
}

// wets are the numbers of rows.
func wets(rows []string) (out []int) {
	for _, r := range rows {
		n, err := strconv.Atoi(strings.Split(r, "|")[2])
		if err != nil {
			panic(err)
		}
		out = append(out, n)
	}
	return out
}

// At domain time 10.5 s: centres at 0..10 s, each with 100 ms on both sides. The refused rows go through each route's policy by themselves, the others on.
func TestPacedAdmission(t *testing.T) {
	// req: C-125, C-127, C-130, C-131
	// req: C-126 half: the limit of 256 centres is proved with the window
	// req: I05, I07
	const skew = 100 * time.Millisecond
	lines := []string{
		event(1, -skew-1),                  // late
		event(2, -skew),                    // the earliest
		event(3, skew+1),                   // between
		`{"bed":"` + secret + `","wet":4}`, // null
		event(5, 10*time.Second+skew),      // the latest
		event(6, 10*time.Second+skew+1),    // early, although its tick is near
		event(7, 4900*time.Millisecond),
		event(8, -99*365*24*time.Hour),
		event(9, 200*365*24*time.Hour),
		event(10, 5*time.Second),
	}
	text := source(wide, "TIMESTAMP AT seen"+toReadings+sendFlaws+" TO copies INHERIT ALL UNBRANCHED FLUSH IMMEDIATE "+ignore+general)
	var reads *reader
	runBy(t, func(w *nodetest.World) ingestor.Clock { reads = &reader{Clock: paced(1, skew)(w)}; return reads }, text, lines, func(b *bench) {
		r, copies, flaws := b.Reader("readings"), b.Reader("copies"), b.Reader("flaws")
		b.src.Size = 10
		b.pass(10500 * time.Millisecond)
		b.start()
		b.when(150 * time.Millisecond)
		if got := wets(r.Rows()); !slices.Equal(got, []int{2, 5, 7, 10}) {
			b.T.Fatalf("admitted %v", got)
		}
		at := origin.UnixNano()
		seen := r.Seen()
		if want := []int64{at - 1e8, at + 101e8, at + 49e8, at + 5e9}; !slices.Equal(seen[0].Low, want) || !slices.Equal(seen[0].High, want) {
			b.T.Fatalf("event times %v, want %v", seen[0].Low, want)
		}
		wantRows(b.T, "the second route", copies.Rows(), r.Rows()...)
		words := map[string]string{
			"1": "lies before 2019-12-31T23:59:59.9Z, the earliest instant admitted", "3": "lies between two ticks", "4": "is null", "6": "lies after 2020-01-01T00:00:10.1Z, the latest instant admitted",
			"8": "lies before", "9": "lies after",
		}
		for _, row := range flaws.Rows() {
			f := strings.Split(row, "|")
			line := f[4]
			if f[1] != "validation" || f[2] != "admit" || words[line] == "" || !strings.Contains(f[3], words[line]) || strings.Contains(f[3], secret) || f[5] != secret {
				b.T.Fatalf("record %q", f)
			}
			delete(words, line)
		}
		if len(words) != 0 {
			b.T.Fatalf("no record of %v", words)
		}
		b.want(10, 0, ingestor.Running) // every row has its own acknowledgement, refused or not
		o := b.in.Observe()
		want := map[string]uint64{ingestor.ReasonLate: 2, ingestor.ReasonEarly: 2, ingestor.ReasonBetween: 1, ingestor.ReasonTimestamp: 1}
		if fmt.Sprint(o.Rejected) != fmt.Sprint(want) || o.Filtered != 0 || o.Batches != 1 {
			b.T.Fatalf("%+v", o)
		}
		if reads.windows != 1 {
			b.T.Fatalf("%d clock reads for one group", reads.windows)
		}
	})
}

// Under LOG the refused rows, and no others, are not acknowledged; they are tried again when domain time has come nearer.
func TestRefusedRowsAreTriedAgain(t *testing.T) {
	// req: C-131
	// req: I05
	lines := []string{event(1, 0), event(2, time.Second), event(3, 0)}
	runBy(t, paced(1, 100*time.Millisecond), source(wide, "TIMESTAMP AT seen"+toReadings+log+general), lines, func(b *bench) {
		r := b.Reader("readings")
		b.src.Size = 3
		b.start()
		b.want(1, 1, ingestor.Running) // the position waits for the second
		if got := wets(r.Rows()); !slices.Equal(got, []int{1, 3}) || b.Logs.Count("operation=admit", "not acknowledged", "2020-01-01T00:00:00.1Z") != 1 {
			b.T.Fatalf("rows %v\n%s", got, b.Logs)
		}
		b.when(2 * time.Second)
		if got := wets(r.Rows()); !slices.Equal(got, []int{1, 3, 2}) {
			b.T.Fatalf("rows %v\n%s", got, b.Logs)
		}
		b.want(3, 0, ingestor.Running)
		if o := b.in.Observe(); o.Rejected[ingestor.ReasonEarly] != 1 {
			b.T.Fatalf("reader again with each attempt: %v", o.Rejected)
		}
	})
}

// TIMESTAMP NOW is the reading of the window itself, so that one answer holds for the group. TIME RATE moves the frontier sooner and scales nothing else.
func TestTimestampNowInAPacedDomain(t *testing.T) {
	// req: C-129
	// req: C-018 half: what else it does not scale is shown where it is used
	for _, c := range []struct {
		rate     float64
		wait     time.Duration // physical
		at       time.Duration // domain time from the origin
		skew     time.Duration
		admitted bool
	}{
		{1, 10050 * time.Millisecond, 10050 * time.Millisecond, 50 * time.Millisecond, true},
		{1, 10051 * time.Millisecond, 10051 * time.Millisecond, 50 * time.Millisecond, false},
		{1, 10999 * time.Millisecond, 10999 * time.Millisecond, time.Second, true},
		{50, 201 * time.Millisecond, 10050 * time.Millisecond, 50 * time.Millisecond, true},
		{50, 202 * time.Millisecond, 10100 * time.Millisecond, 50 * time.Millisecond, false},
	} {
		runBy(t, paced(c.rate, c.skew), source(wide, "TIMESTAMP NOW"+toReadings+sendFlaws+general), goods(3), func(b *bench) {
			r, flaws := b.Reader("readings"), b.Reader("flaws")
			b.src.Size = 3
			b.pass(c.wait)
			b.start()
			now := origin.Add(c.at).UnixNano()
			switch seen := r.Seen(); {
			case c.admitted && (len(seen) != 1 || !slices.Equal(seen[0].Low, []int64{now, now, now})):
				b.T.Fatalf("%+v", seen)
			case !c.admitted && (len(seen) != 0 || len(flaws.Rows()) != 3 || !strings.Contains(flaws.Rows()[2], "SKEW of a whole PERIOD") || b.in.Observe().Rejected[ingestor.ReasonBetween] != 3):
				b.T.Fatalf("%+v %q", seen, flaws.Rows())
			}
			b.want(3, 0, ingestor.Running)
		})
	}
}

// While no node is the clock's authority nothing is judged and nothing is lost; UTC does not take its place.
func TestIngestionWaitsForItsClock(t *testing.T) {
	// req: C-075
	// req: C-043 half: who loses and assigns the authority is the control plane's
	k := timekeeper.New(timekeeper.Config{})
	var l clock.Lifecycle
	text := source(wide, "TIMESTAMP NOW"+toReadings+log+general)
	runBy(t, func(*nodetest.World) ingestor.Clock {
		l = generation(1, time.Second)
		l.Fence.Authority = clock.Authority{}
		k.Install([]clock.Lifecycle{l}, 1)
		return k.Retain(nodetest.Domain, 3)
	}, text, goods(3), func(b *bench) {
		r := b.Reader("readings")
		b.src.Size = 3
		b.start()
		b.when(700 * time.Millisecond)
		b.want(0, 3, b.in.Observe().Status)
		if o := b.in.Observe(); len(r.Rows()) != 0 || len(o.Rejected) != 0 || !strings.Contains(o.Transient, "no node is its clock's authority") {
			b.T.Fatalf("%q %+v", r.Rows(), o)
		}
		l.Fence = clock.Fence{Revision: 2, Authority: clock.Authority{Node: 1}}
		k.InstallFences([]clock.Lifecycle{l}, 2)
		b.when(1500 * time.Millisecond)
		if got := wets(r.Rows()); len(got) != 3 {
			b.T.Fatalf("rows %v", got)
		}
		for _, s := range r.Seen() {
			if s.Low[0] < origin.UnixNano() || s.Low[0] > origin.Add(2*time.Second).UnixNano() {
				b.T.Fatalf("an event time of %d", s.Low[0])
			}
		}
		b.want(3, 0, ingestor.Running)
		if o := b.in.Observe(); o.Transient != "" {
			b.T.Fatalf("%+v", o)
		}
	})
}

// An unpaced domain has no window: every timestamp of the range is admitted as it is.
func TestUnpacedAdmitsEveryTimestamp(t *testing.T) {
	// req: C-010, C-133
	// req: I07
	lines := []string{
		`{"bed":"a","seen":"1677-09-21T00:12:43.145224192Z","wet":1}`, `{"bed":"b","seen":"2262-04-11T23:47:16.854775807Z","wet":2}`,
		`{"bed":"c","seen":"1677-09-21T00:12:43.145224191Z","wet":3}`, `{"bed":"d","seen":"2262-04-11T23:47:16.854775808Z","wet":4}`, `{"bed":"e","seen":"1970-01-01T00:00:00Z","wet":5}`,
		`{"bed":"f","wet":6}`,
	}
	run(t, source(wide, "TIMESTAMP AT seen"+toReadings+sendFlaws+general), lines, func(b *bench) {
		r, flaws := b.Reader("readings"), b.Reader("flaws")
		b.src.Size = 6
		b.start()
		if seen := r.Seen(); len(seen) != 1 || !slices.Equal(seen[0].Low, []int64{-1 << 63, 1<<63 - 1, 0}) || !slices.Equal(wets(seen[0].Rows), []int{1, 2, 5}) {
			b.T.Fatalf("%+v", seen)
		}
		// What does not fit nanoseconds fails by itself, with the range; nothing wraps and the others go on.
		rows := flaws.Rows()
		far := 0
		for _, row := range rows {
			if strings.Contains(row, "|validation|decode|") && strings.Contains(row, "is a time outside 1677-09-21 .. 2262-04-11") {
				far++
			}
		}
		if len(rows) != 3 || far != 2 || b.in.Observe().Rejected[ingestor.ReasonTimestamp] != 1 {
			b.T.Fatalf("%q", rows)
		}
		b.want(6, 0, ingestor.Running)
	})
}

// A unit that was mistaken by a power of a thousand is named.
func TestMistakenUnits(t *testing.T) {
	// req: I07
	near := origin.Add(5 * time.Second).UnixNano()
	var lines []string
	for n, ns := range []int64{near / 1e3, near / 1e6, near / 1e9, 1e18} {
		lines = append(lines, fmt.Sprintf(`{"bed":"a","seen":"%s","wet":%d}`, time.Unix(0, ns).UTC().Format(time.RFC3339Nano), n+1))
	}
	runBy(t, paced(1, time.Second), source(wide, "TIMESTAMP AT seen"+toReadings+sendFlaws+general), lines, func(b *bench) {
		flaws := b.Reader("flaws")
		b.Reader("readings")
		b.src.Size = 4
		b.pass(10 * time.Second)
		b.start()
		rows := flaws.Rows()
		for n, want := range []string{"multiplied by 1,000 it", "multiplied by 1,000,000 it", "multiplied by 1,000,000,000 it"} {
			if !strings.Contains(rows[n], want) {
				b.T.Errorf("%q does not say %q", rows[n], want)
			}
		}
		if strings.Contains(rows[3], "multiplied") || strings.Contains(rows[3], "divided") {
			b.T.Errorf("%q guesses", rows[3])
		}
	})
}

// Against the scalar test, over groups of every shape: what passes is what the window admits, and rows, times and deliveries stay together.
func TestAdmissionKeepsRowsTogether(t *testing.T) {
	// req: C-130, C-131
	const rows = 2500
	rnd := rand.New(rand.NewPCG(4, 2))
	var lines []string
	times := make([]int64, rows)
	valid := make([]bool, rows)
	for n := range rows {
		if valid[n] = rnd.IntN(9) > 0; !valid[n] {
			lines = append(lines, fmt.Sprintf(`{"bed":"x","wet":%d}`, n))
			continue
		}
		d := time.Duration(rnd.Int64N(14e9)) - 2*time.Second
		times[n] = origin.Add(d).UnixNano()
		lines = append(lines, event(n, d))
	}
	text := source(wide, "TIMESTAMP AT seen FILTER WHERE input.wet >= 0.0 TO readings INHERIT ALL UNBRANCHED FLUSH EACH 1s MAX BATCH SIZE 1MiB"+sendFlaws+general)
	runBy(t, paced(1e-9, 300*time.Millisecond), text, lines, func(b *bench) {
		r, flaws := b.Reader("readings"), b.Reader("flaws")
		b.src.Size, b.src.End = rows, true
		b.start()
		b.in.Flush()
		b.pass(time.Second)
		w, err := clock.WindowAt(clock.Mapping{LogicalStart: vtime.LogicalFromNS(origin.UnixNano()), Rate: 1}, clock.Pace{Period: 1e9, Skew: 3e8}, vtime.LogicalFromNS(origin.UnixNano()))
		if err != nil {
			b.T.Fatal(err)
		}
		got := map[int]int64{}
		for _, s := range r.Seen() {
			for i, n := range wets(s.Rows) {
				got[n] = s.Low[i]
			}
		}
		refused := map[string]bool{}
		for _, row := range flaws.Rows() {
			refused[strings.Split(row, "|")[4]] = true
		}
		for n := range rows {
			at, passed := got[n]
			want := valid[n] && w.Admits(times[n])
			if passed != want || passed && at != times[n] || refused[strconv.Itoa(n+1)] == want {
				b.T.Fatalf("row %d: passed %v with time %d, want %v with %d", n, passed, at, want, times[n])
			}
		}
		if len(got)+len(refused) != rows || len(got) == 0 {
			b.T.Fatalf("%d passed, %d were refused", len(got), len(refused))
		}
		b.want(rows, 0, ingestor.Finished)
	})
}

// SPDX-License-Identifier: Apache-2.0

package ack

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/nervix-go/nervix/host/kernel/lineage"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

const (
	testTimeout    = 100 * time.Millisecond
	testBackoff    = 10 * time.Millisecond
	testMaxBackoff = 65 * time.Millisecond
)

// slow is the reference's opinion of one delivery: everything is written out, nothing is reused.
type slow struct {
	position  []byte
	attempt   int    // of this delivery, for messages
	token     uint64 // of the present attempt
	phase     string // filling, sealed, failed, awaiting, settled
	pending   int
	failures  int
	rowErrors int
	due       vtime.Mono
	reason    error
}

// flight is a block on its way and the attempts its members stand for.
type flight struct {
	block  *Block
	of     []*slow
	tokens []uint64
	failed map[int]bool // members whose failure the window was told about
	told   []int        // members failed and not told yet
	silent bool         // the window gave it up
}

func (f *flight) current(i int) bool { return f.of[i] != nil && f.of[i].token == f.tokens[i] }

// world drives a window and the reference side by side.
type world struct {
	w        *Window
	now      vtime.Mono
	queue    []*slow // deliveries beyond the handed-out position
	flights  []*flight
	volatile int
	next     int
	spent    []uint64 // tokens whose attempt is over
	lost     [][]byte // positions of the epoch that ended; they come again
}

type mute struct{}

func (mute) BlockSettled(*Block) {}
func (mute) BlockFailed(*Block)  {}

func (x *world) position(t *rapid.T) []byte {
	x.next++
	p := fmt.Appendf(nil, "%d-", x.next)
	return append(p, bytes.Repeat([]byte{'p'}, rapid.IntRange(0, MaxPositionBytes-len(p)).Draw(t, "width"))...)
}

func (x *world) check(t *rapid.T, d *slow) {
	if d.phase == "sealed" && d.pending == 0 {
		d.phase = "settled"
	}
}

func (x *world) fail(d *slow, reason error, row bool) {
	if d.phase != "filling" && d.phase != "sealed" {
		return
	}
	d.phase, d.reason = "failed", reason
	d.failures++
	if row {
		d.rowErrors++
	}
	wait := testBackoff
	for range d.failures - 1 {
		wait = min(2*wait, testMaxBackoff)
	}
	d.due = x.now.Add(wait)
}

func (x *world) begin(d *slow, token uint64) {
	d.token, d.phase, d.pending = token, "filling", 0
	d.attempt++
}

// arrive takes up a new delivery, or one that the source was asked for again.
func (x *world) arrive(t *rapid.T) {
	var awaited []*slow
	for _, d := range x.queue {
		if d.phase == "awaiting" {
			awaited = append(awaited, d)
		}
	}
	if len(awaited) > 0 && rapid.Bool().Draw(t, "redelivery") {
		d := rapid.SampledFrom(awaited).Draw(t, "delivery")
		token, again := x.w.Arrive(d.position)
		if !again || token == d.token {
			t.Fatalf("redelivery of %s: again %v, token %d after %d", d.position, again, token, d.token)
		}
		x.spent = append(x.spent, d.token)
		x.begin(d, token)
		return
	}
	for range rapid.SampledFrom([]int{1, 1, 1, 1, 300}).Draw(t, "deliveries") {
		d := &slow{position: x.position(t)}
		if len(x.lost) > 0 {
			d.position, x.lost = x.lost[0], x.lost[1:]
		}
		token, again := x.w.Arrive(d.position)
		if again {
			t.Fatalf("%s was never seen before", d.position)
		}
		x.begin(d, token)
		x.queue = append(x.queue, d)
		x.volatile++
	}
}

func (x *world) in(phases ...string) []*slow {
	var out []*slow
	for _, d := range x.queue {
		if slices.Contains(phases, d.phase) {
			out = append(out, d)
		}
	}
	return out
}

// send counts rows of deliveries that are being filled and puts them on their way in one block.
func (x *world) send(t *rapid.T) {
	filling := x.in("filling", "failed")
	if len(filling) == 0 {
		return
	}
	f := &flight{failed: map[int]bool{}}
	for range rapid.IntRange(1, 8).Draw(t, "rows") {
		d := rapid.SampledFrom(filling).Draw(t, "delivery")
		x.w.Expect(d.token)
		d.pending++
		f.of, f.tokens = append(f.of, d), append(f.tokens, d.token)
	}
	f.block = NewBlock(mute{}, f.tokens, x.now.NS())
	x.w.Begin(f.block)
	x.flights = append(x.flights, f)
}

func (x *world) seal(t *rapid.T) {
	for _, d := range x.in("filling", "failed") {
		if rapid.IntRange(0, 3).Draw(t, "seal") > 0 {
			x.w.Seal(d.token)
			if d.phase == "filling" {
				d.phase = "sealed"
			}
			x.check(t, d)
		}
	}
}

// report fails members of a block, named by a list, by a range, or as one member many times.
func (x *world) report(t *rapid.T) {
	if len(x.flights) == 0 {
		return
	}
	f := rapid.SampledFrom(x.flights).Draw(t, "flight")
	n := len(f.of)
	reason := fmt.Errorf("row error %d", x.next)
	first := rapid.IntRange(0, n-1).Draw(t, "first")
	m := lineage.Members{First: uint32(first)}
	switch rapid.SampledFrom([]string{"list", "range", "one"}).Draw(t, "shape") {
	case "list":
		m = lineage.Members{List: []uint32{}}
		for i := range n {
			if rapid.Bool().Draw(t, "member") {
				m.List = append(m.List, uint32(i))
			}
		}
	case "range":
		m.Step, m.Rows = 1, uint32(rapid.IntRange(1, n-first).Draw(t, "count"))
	case "one":
		m.Rows = uint32(rapid.IntRange(1, 5).Draw(t, "count"))
	}
	f.block.Fail(m, reason)
	for i := range m.Len() {
		f.told = append(f.told, int(m.At(i)))
	}
	if rapid.Bool().Draw(t, "told at once") {
		x.w.Failed(f.block, x.now)
		x.takeFailures(f)
	}
}

// takeFailures is the reference's view of Window.Failed. The newest report decides the reason of a delivery that two reports fail, so the
// reference only compares that a reason is there.
func (x *world) takeFailures(f *flight) {
	for _, i := range f.told {
		if f.current(i) {
			x.fail(f.of[i], errRow, true)
		}
	}
	f.told = nil
}

func (x *world) settle(t *rapid.T) {
	if len(x.flights) == 0 {
		return
	}
	at := rapid.IntRange(0, len(x.flights)-1).Draw(t, "flight")
	f := x.flights[at]
	x.flights = slices.Delete(x.flights, at, at+1)
	f.block.Release()
	x.w.Settled(f.block, x.now)
	x.takeFailures(f)
	for i, d := range f.of {
		if f.current(i) {
			d.pending--
			x.check(t, d)
		}
	}
}

func (x *world) silent(t *rapid.T) {
	got := x.w.Silent(x.now, func(silence time.Duration) error { return fmt.Errorf("silent for %v", silence) })
	want := 0
	for _, f := range x.flights {
		if f.silent || x.now.Sub(vtime.MonoFromNS(f.block.TouchedNS())) < testTimeout {
			continue
		}
		f.silent = true
		want++
		for i := range f.of {
			if f.current(i) {
				x.fail(f.of[i], errRow, false)
			}
		}
	}
	if got != want {
		t.Fatalf("%d silent blocks, want %d", got, want)
	}
}

func (x *world) due(t *rapid.T) {
	at, ok := x.w.NextDue()
	failed := x.in("failed")
	if ok != (len(failed) > 0) {
		t.Fatalf("next due %v although %d wait", ok, len(failed))
	}
	for _, d := range failed {
		if d.due.Before(at) {
			t.Fatalf("next due at %d, but %s is due at %d", at.NS(), d.position, d.due.NS())
		}
	}
	got := x.w.Due(x.now)
	var want [][]byte
	for _, d := range failed {
		if !x.now.Before(d.due) {
			d.phase = "awaiting"
			want = append(want, d.position)
		}
	}
	slices.SortFunc(got, bytes.Compare)
	slices.SortFunc(want, bytes.Compare)
	if !slices.EqualFunc(got, want, bytes.Equal) {
		t.Fatalf("due %q, want %q", got, want)
	}
}

func (x *world) advance(t *rapid.T) {
	got, count := x.w.Advance()
	want := 0
	var last []byte
	for want < len(x.queue) && x.queue[want].phase == "settled" {
		last = x.queue[want].position
		x.spent = append(x.spent, x.queue[want].token)
		want++
	}
	if count != want || !bytes.Equal(got, last) {
		t.Fatalf("advanced by %d to %q, want %d to %q", count, got, want, last)
	}
	x.queue = x.queue[want:]
	if rapid.Bool().Draw(t, "durable") {
		x.w.Durable(count)
		x.volatile -= count
	}
}

// stale uses tokens of attempts that are over: nothing may come of it.
func (x *world) stale(t *rapid.T) {
	if len(x.spent) == 0 {
		return
	}
	token := rapid.SampledFrom(x.spent).Draw(t, "token")
	x.w.Fail(token, errors.New("late"), true, x.now)
	x.w.Expect(token)
	x.w.Seal(token)
}

func (x *world) reset() {
	for _, d := range x.queue {
		x.spent = append(x.spent, d.token)
	}
	x.lost = nil
	for _, d := range x.queue {
		x.lost = append(x.lost, d.position)
	}
	for _, f := range x.flights {
		clear(f.of)
		f.silent = true
	}
	x.queue, x.volatile = nil, 0
	x.w.Reset()
}

func (x *world) compare(t *rapid.T) {
	if len(x.w.trouble) > len(x.queue) {
		t.Fatalf("%d troubles are kept for %d deliveries", len(x.w.trouble), len(x.queue))
	}
	open, blocks := 0, 0
	for _, d := range x.queue {
		if d.phase != "settled" {
			open++
		}
	}
	for _, f := range x.flights {
		if !f.silent {
			blocks++
		}
	}
	if x.w.Unresolved() != open || x.w.Volatile() != x.volatile || x.w.InFlight() != blocks {
		t.Fatalf("unresolved %d volatile %d blocks %d, want %d %d %d", x.w.Unresolved(), x.w.Volatile(), x.w.InFlight(), open, x.volatile, blocks)
	}
	o, ok := x.w.Oldest()
	if ok != (open > 0) {
		t.Fatalf("oldest %v with %d unresolved", ok, open)
	}
	for _, d := range x.queue {
		if d.phase == "settled" {
			continue
		}
		if d.failures == 0 {
			if o.Position != nil || o.Attempts != 0 || o.Blocked {
				t.Fatalf("the oldest never failed: %+v", o)
			}
		} else if !bytes.Equal(o.Position, d.position) || o.Attempts != d.failures || o.Blocked != (d.rowErrors >= BlockedAfter) || o.Reason == nil {
			t.Fatalf("oldest %+v, want %+v", o, d)
		}
		return
	}
}

func TestWindowAgreesWithReference(t *testing.T) {
	// req: K02 half: the window's part; that nothing but a durable emission settles a block is shown by the node tests
	// req: K07 half: a failed row never moves the position; the policies are tested in the nodes
	rapid.Check(t, func(t *rapid.T) {
		x := &world{w: NewWindow(testTimeout, testBackoff, testMaxBackoff), now: vtime.MonoFromNS(rapid.Int64Range(-1e18, 1e18).Draw(t, "start"))}
		ops := map[string]func(*rapid.T){
			"arrive": x.arrive, "send": x.send, "seal": x.seal, "report": x.report, "settle": x.settle, "silent": x.silent, "due": x.due,
			"advance": x.advance, "stale": x.stale,
			"touch": func(t *rapid.T) {
				if len(x.flights) > 0 {
					rapid.SampledFrom(x.flights).Draw(t, "flight").block.Touch(x.now.NS())
				}
			},
			"pass": func(t *rapid.T) {
				x.now = x.now.Add(time.Duration(rapid.IntRange(1, 70).Draw(t, "ms")) * time.Millisecond)
			},
			"refuse": func(t *rapid.T) {
				if open := x.in("filling"); len(open) > 0 {
					d := rapid.SampledFrom(open).Draw(t, "delivery")
					x.w.Fail(d.token, errRow, true, x.now)
					x.fail(d, errRow, true)
				}
			},
			"reset": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "really") == 0 {
					x.reset()
				}
			},
			"": x.compare,
		}
		t.Repeat(ops)
	})
}

// A whole life of one bad line: its attempts, the doubling of the backoff, and when it blocks the source.
func TestBackoffDoublesAndBlocks(t *testing.T) {
	w := NewWindow(testTimeout, testBackoff, testMaxBackoff)
	now := vtime.MonoFromNS(-5)
	bad, _ := w.Arrive([]byte("bad"))
	good, _ := w.Arrive([]byte("good"))
	w.Seal(good)
	// A timeout counts as an attempt, not as a row error.
	kinds := []bool{true, false, true, true, true}
	waits := []time.Duration{10, 20, 40, 65, 65}
	rows := 0
	for i, row := range kinds {
		w.Fail(bad, fmt.Errorf("failure %d", i), row, now)
		w.Fail(bad, errors.New("the same attempt again"), row, now)
		if row {
			rows++
		}
		o, _ := w.Oldest()
		if o.Attempts != i+1 || o.Blocked != (rows >= BlockedAfter) || o.Reason.Error() != fmt.Sprintf("failure %d", i) {
			t.Fatalf("after failure %d: %+v", i, o)
		}
		wait := waits[i] * time.Millisecond
		if at, ok := w.NextDue(); !ok || at.Sub(now) != wait {
			t.Fatalf("failure %d: due after %v, want %v", i, at.Sub(now), wait)
		}
		if got := w.Due(now.Add(wait - 1)); got != nil {
			t.Fatalf("due too early: %q", got)
		}
		now = now.Add(wait)
		if got := w.Due(now); len(got) != 1 || string(got[0]) != "bad" {
			t.Fatalf("due %q", got)
		}
		if got := w.Due(now.Add(time.Hour)); got != nil {
			t.Fatalf("asked for twice: %q", got)
		}
		if _, count := w.Advance(); count != 0 {
			t.Fatal("the position passed a delivery that failed")
		}
		bad, _ = w.Arrive([]byte("bad"))
	}
	w.Seal(bad)
	if p, count := w.Advance(); count != 2 || string(p) != "good" {
		t.Fatalf("advanced by %d to %q", count, p)
	}
	if _, ok := w.Oldest(); ok || w.Volatile() != 2 || len(w.trouble) != 0 {
		t.Fatalf("volatile %d, %d troubles left", w.Volatile(), len(w.trouble))
	}
}

// A token of the first attempt must stay dead however often the delivery was tried since.
func TestTokensOutliveManyAttempts(t *testing.T) {
	w := NewWindow(testTimeout, 0, 0)
	first, _ := w.Arrive([]byte("p"))
	token := first
	for i := range 1000 {
		w.Fail(token, errRow, true, vtime.Mono{})
		w.Due(vtime.Mono{})
		var again bool
		if token, again = w.Arrive([]byte("p")); !again || token == first {
			t.Fatalf("attempt %d has token %d of the first one", i+2, token)
		}
	}
	w.Seal(first)
	if _, count := w.Advance(); count != 0 {
		t.Fatal("a token of the first attempt settled the delivery")
	}
}

// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/nervix-go/nervix/host/kernel/vtime"
)

var self = Authority{2, 3}

func producing(rate float64, period uint64) Lifecycle {
	l := paced(4, Fence{7, self})
	l.Mapping = Mapping{vtime.UTCFromNS(1000), vtime.LogicalFromNS(-50), rate}
	l.Pace.Period = period
	return l
}

func newProducer(t interface{ Fatal(...any) }, l Lifecycle) *Producer {
	p, ok := NewProducer(l, self)
	if !ok {
		t.Fatal("no producer")
	}
	return p
}

func utc(ns int64) vtime.UTC   { return vtime.UTCFromNS(ns) }
func mono(ns int64) vtime.Mono { return vtime.MonoFromNS(ns) }

func TestProducerEmitsTheFirstTickAtTheOrigin(t *testing.T) {
	// req: C-053
	// req: C-056 half: the wire is the link's
	l := producing(2, 100)
	p := newProducer(t, l)
	e, err := p.Step(utc(1000), mono(7))
	want := Progress{Domain: "d", Generation: 4, Fence: l.Fence, Tick: Tick{1, vtime.LogicalFromNS(-50)}, AuthorityUTC: utc(1000), Period: 100}
	if err != nil || !e.Emitted || e.Report != want || e.Wait != 50 || e.Done {
		t.Fatalf("%+v, %v", e, err)
	}
	if e, err = p.Step(utc(1049), mono(56)); err != nil || e.Emitted || e.Wait != 1 {
		t.Fatalf("early: %+v, %v", e, err)
	}
	if e, err = p.Step(utc(1050), mono(57)); err != nil || !e.Emitted || e.Report.Tick != (Tick{2, vtime.LogicalFromNS(50)}) || e.Wait != 50 {
		t.Fatalf("due: %+v, %v", e, err)
	}
}

func TestProducerCoalescesWhatItMissed(t *testing.T) {
	// req: C-054
	p := newProducer(t, producing(1, 100))
	if e, _ := p.Step(utc(1000), mono(0)); e.Report.Tick.ID != 1 {
		t.Fatalf("%+v", e)
	}
	e, err := p.Step(utc(1000+100*100+30), mono(10_030))
	if err != nil || !e.Emitted || e.Report.Tick != (Tick{101, vtime.LogicalFromNS(9950)}) {
		t.Fatalf("after 100 periods: %+v, %v", e, err)
	}
	// The next boundary is 70 ns away, but a gap of 100 ns is due (C-055).
	if e.Wait != 100 {
		t.Fatalf("wait %s", e.Wait)
	}
}

func TestProducerKeepsTheGapAfterALateTick(t *testing.T) {
	// req: C-055
	p := newProducer(t, producing(1, 100))
	e, err := p.Step(utc(1090), mono(90)) // tick 1 is 90 ns late
	if err != nil || e.Report.Tick.ID != 1 || e.Wait != 100 {
		t.Fatalf("%+v, %v", e, err)
	}
	if e, err = p.Step(utc(1100), mono(100)); err != nil || e.Emitted || e.Wait != 90 {
		t.Fatalf("tick 2 within the gap: %+v, %v", e, err)
	}
	if e, err = p.Step(utc(1190), mono(190)); err != nil || e.Report.Tick.ID != 2 || e.Wait != 100 {
		t.Fatalf("%+v, %v", e, err)
	}
}

func TestProducerWithoutAPastEmitsTheLatestDueTick(t *testing.T) {
	// req: C-052
	// req: C-146 half: recovery of the mapping is the registry's
	p := newProducer(t, producing(1e6, 1e9))
	e, err := p.Step(utc(1000+123_456_789), mono(0))
	if err != nil || !e.Emitted || e.Report.Tick.ID != 123_457 {
		t.Fatalf("%+v, %v", e, err)
	}
}

func TestProducerAndSteppedUTC(t *testing.T) {
	// req: C-054, I04
	p := newProducer(t, producing(1, 100))
	step := func(u, m int64) Emission {
		t.Helper()
		e, err := p.Step(utc(u), mono(m))
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	if e := step(1510, 0); e.Report.Tick.ID != 6 {
		t.Fatalf("%+v", e)
	}
	if e := step(1210, 200); e.Emitted || e.Wait != 390 { // UTC went back 500: tick 7 is at 1600
		t.Fatalf("%+v", e)
	}
	if e := step(500, 300); e.Emitted || e.Wait != 600 { // before the anchor: the projection stands at the origin
		t.Fatalf("%+v", e)
	}
	if e := step(1600, 310); !e.Emitted || e.Report.Tick.ID != 7 {
		t.Fatalf("%+v", e)
	}
	if e := step(9_001_000, 320); e.Emitted || e.Wait != 90 { // forward, but within the gap
		t.Fatalf("%+v", e)
	}
	if e := step(9_001_090, 410); !e.Emitted || e.Report.Tick.ID != 90_001 {
		t.Fatalf("%+v", e)
	}
}

func TestProducerAtTheEndOfTheRange(t *testing.T) {
	// req: C-017
	// req: C-147 half: event and log are the drivers'
	// Tick 2 lies beyond the range; tick 1 still goes out.
	p := newProducer(t, producing(1, 1<<63+100))
	e, err := p.Step(utc(1000), mono(0))
	if !e.Emitted || e.Report.Tick.ID != 1 || !e.Done || e.Wait != 0 || !errors.Is(err, ErrRange) && !errors.Is(err, ErrUnschedulable) {
		t.Fatalf("%+v, %v", e, err)
	}
	if e, err = p.Step(utc(2000), mono(1000)); e.Emitted || !e.Done || err == nil {
		t.Fatalf("%+v, %v", e, err)
	}
	// The projection leaves the range while UTC runs, and returns with UTC.
	p = newProducer(t, producing(1e9, 1e18))
	if e, err = p.Step(utc(1000), mono(0)); err != nil || !e.Emitted || e.Wait != 1e9 {
		t.Fatalf("%+v, %v", e, err)
	}
	if e, err = p.Step(utc(1000+1e10), mono(1e10)); e.Emitted || e.Done || e.Wait <= 0 || !errors.Is(err, ErrRange) || !errors.Is(err, vtime.ErrRange) {
		t.Fatalf("%+v, %v", e, err)
	}
	if e, err = p.Step(utc(1000+1e9), mono(2e10)); err != nil || e.Report.Tick.ID != 2 {
		t.Fatalf("%+v, %v", e, err)
	}
	// A gap beyond every timer: one tick, and the reason.
	p = newProducer(t, producing(math.SmallestNonzeroFloat64, 1))
	if e, err = p.Step(utc(1000), mono(0)); !e.Emitted || !e.Done || !errors.Is(err, ErrUnschedulable) {
		t.Fatalf("%+v, %v", e, err)
	}
}

func TestProducerBelongsToOneInstallation(t *testing.T) {
	// req: C-047
	// req: C-048 half: order of retirement is the driver's
	l := producing(1, 100)
	p := newProducer(t, l)
	if !p.Serves(l, self) || p.Lifecycle() != l {
		t.Fatal("a producer does not serve what it was made for")
	}
	change := func(f func(*Lifecycle)) Lifecycle { n := l; f(&n); return n }
	for name, n := range map[string]Lifecycle{
		"domain":      change(func(n *Lifecycle) { n.Domain = "e" }),
		"recreated":   change(func(n *Lifecycle) { n.Created++ }),
		"generation":  change(func(n *Lifecycle) { n.Generation++ }),
		"mapping":     change(func(n *Lifecycle) { n.Mapping.Rate = 2 }),
		"period":      change(func(n *Lifecycle) { n.Pace.Period++ }),
		"revision":    change(func(n *Lifecycle) { n.Fence.Revision++ }),
		"node":        change(func(n *Lifecycle) { n.Fence.Authority.Node = 1 }),
		"incarnation": change(func(n *Lifecycle) { n.Fence.Authority.Incarnation++ }),
		"stopped":     Stop(l),
		"missing":     {},
	} {
		if p.Serves(n, self) {
			t.Errorf("%s: the producer goes on", name)
		}
	}
	for name, n := range map[string]Lifecycle{
		"stopped": Stop(l), "missing": {}, "unpaced": change(func(n *Lifecycle) { n.Paced = false }), "unmapped": change(func(n *Lifecycle) { n.Mapping = Mapping{} }),
		"unassigned": change(func(n *Lifecycle) { n.Fence.Authority = Authority{} }), "another": change(func(n *Lifecycle) { n.Fence.Authority.Node = 1 }),
		"restarted": change(func(n *Lifecycle) { n.Fence.Authority.Incarnation++ }),
	} {
		if _, ok := NewProducer(n, self); ok {
			t.Errorf("%s: it has a producer", name)
		}
	}
}

// TestProducerUnderAnyClocks drives a producer by readings that jump, and by waits that end late.
func TestProducerUnderAnyClocks(t *testing.T) {
	// req: C-053, C-054, C-055
	rapid.Check(t, func(t *rapid.T) {
		l := producing(rapid.SampledFrom([]float64{1e-6, 0.3, 1, 60, 1e6}).Draw(t, "rate"), rapid.Uint64Range(1, 1e12).Draw(t, "period"))
		gap := ceil(over(rat(bigOfU(l.Pace.Period)), ratOf(l.Mapping.Rate))).Int64()
		p := newProducer(t, l)
		var last Progress
		u, m, emittedAt := l.Mapping.WallStartedAt.NS(), int64(0), int64(0)
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			e, err := p.Step(utc(u), mono(m))
			if err != nil || e.Done || e.Wait < 1 {
				t.Fatalf("%+v, %v", e, err)
			}
			now, err := l.Mapping.At(utc(u))
			if err != nil {
				t.Fatal(err)
			}
			due, _, _ := LatestDue(l.Mapping, l.Pace, now)
			switch {
			case e.Emitted && (e.Report.Tick != due || e.Report.AuthorityUTC != utc(u)):
				t.Fatalf("emitted %+v, due is %v", e.Report, due)
			case e.Emitted && last.Tick.ID != 0 && m-emittedAt < gap:
				t.Fatalf("%d ns after the last tick, the gap is %d", m-emittedAt, gap)
			case e.Emitted && !e.Report.Supersedes(last):
				t.Fatalf("receivers would ignore %+v after %+v", e.Report, last)
			case !e.Emitted && due.ID > last.Tick.ID && m-emittedAt >= gap:
				t.Fatalf("tick %d is due and was not emitted", due.ID)
			}
			if e.Emitted {
				last, emittedAt = e.Report, m
			}
			// Waiting as told, with both clocks in step, makes the next tick due.
			passed := int64(e.Wait)
			// Before the anchor the projection stands, so that a wait may end early.
			if rapid.Bool().Draw(t, "as told") && passed < 1e18 && u >= l.Mapping.WallStartedAt.NS() {
				next, err := l.Mapping.At(utc(u + passed))
				if err != nil {
					t.Skip()
				}
				if due, _, _ := LatestDue(l.Mapping, l.Pace, next); due.ID <= last.Tick.ID {
					t.Fatalf("after %s nothing is due", e.Wait)
				}
			} else {
				passed = rapid.Int64Range(0, min(passed, 1e15)).Draw(t, "early")
			}
			m += passed
			u += passed + rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(-1e12, 1e12)).Draw(t, "step of UTC")
			if u > 1e18 || m > 1e18 {
				return
			}
		}
	})
}

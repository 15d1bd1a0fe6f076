// SPDX-License-Identifier: Apache-2.0

package timekeeper

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/osclock"
)

// waiting is a keeper whose UTC is the bubble's clock and an offset that the test steps.
type waiting struct {
	t      *testing.T
	k      *Keeper
	offset atomic.Int64 // ns
	l      clock.Lifecycle
	h      *Handle
	began  time.Time
}

func newWaiting(t *testing.T, rate float64) *waiting {
	w := &waiting{t: t, began: time.Now()}
	w.k = New(Config{UTC: func() vtime.UTC { return vtime.UTCFromNS(osclock.UTC().NS() + w.offset.Load()) }})
	w.l = paced("farm", 1, 1, self)
	w.l.Mapping.WallStartedAt, w.l.Mapping.Rate = osclock.UTC(), rate
	w.k.Install(all(w.l), 1)
	w.h = w.k.Retain("farm", 1)
	return w
}

type waited struct {
	s   vtime.Snapshot
	err error
	at  time.Duration
}

// wait waits for an instant after the origin in the background.
func (w *waiting) wait(ctx context.Context, after time.Duration) <-chan waited {
	out := make(chan waited, 1)
	d := w.h.Deadline(vtime.LogicalFromNS(origin + int64(after)))
	go func() {
		s, err := w.h.Wait(ctx, d)
		out <- waited{s, err, time.Since(w.began)}
	}()
	synctest.Wait()
	return out
}

func (w *waiting) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// due says that a wait has ended well, at a physical moment and with a reading.
func (w *waiting) due(c <-chan waited, at time.Duration, reads int64) {
	w.t.Helper()
	select {
	case g := <-c:
		if g.err != nil || g.at != at || g.s.Now.NS() != reads || g.s.Generation != 1 || g.s.Domain != "farm" {
			w.t.Fatalf("%+v, want %v and a reading of %d", g, at, reads)
		}
	default:
		w.t.Fatalf("still waiting after %v", time.Since(w.began))
	}
}

func (w *waiting) open(c <-chan waited) {
	w.t.Helper()
	select {
	case g := <-c:
		w.t.Fatalf("ended early: %+v", g)
	default:
	}
}

func failed(t *testing.T, c <-chan waited, outer, inner fault.Code) {
	t.Helper()
	select {
	case g := <-c:
		if fault.CodeOf(g.err) != outer || inner != "" && !fault.Has(g.err, inner) || g.s != (vtime.Snapshot{}) {
			t.Fatalf("%+v, want %s because of %s", g, outer, inner)
		}
	default:
		t.Fatal("still waiting")
	}
}

func TestLogicalDeadlineAtItsRate(t *testing.T) {
	// req: C-135, C-143, C-208
	synctest.Test(t, func(t *testing.T) {
		w := newWaiting(t, 10)
		c := w.wait(t.Context(), 10*time.Second)
		w.pass(time.Second - 1)
		w.open(c)
		w.pass(1)
		w.due(c, time.Second, origin+10e9)
		w.due(w.wait(t.Context(), 5*time.Second), time.Second, origin+10e9) // over already: a fresh snapshot at once
	})
}

// UTC is stepped while somebody waits: back, and it waits on; forward, and the next look finds it due. No wake ends a wait early.
func TestStepsOfUTCWhileWaiting(t *testing.T) {
	// req: C-135
	synctest.Test(t, func(t *testing.T) {
		w := newWaiting(t, 1)
		c := w.wait(t.Context(), 10*time.Second)
		w.pass(4 * time.Second)
		w.offset.Store(-3e9)
		w.pass(6 * time.Second) // its timer fires, three seconds early
		w.open(c)
		w.pass(3*time.Second - 1)
		w.open(c)
		w.pass(1)
		w.due(c, 13*time.Second, origin+10e9)

		c = w.wait(t.Context(), 30*time.Second)
		w.offset.Store(60e9)
		w.k.InstallFences(all(func() clock.Lifecycle { l := w.l; l.Fence.Revision++; return l }()), 2) // any notice makes it look
		synctest.Wait()
		w.due(c, 13*time.Second, origin+73e9)
	})
}

func TestNoticesWakeWithoutEnding(t *testing.T) {
	// req: C-030, C-074, C-135
	// req: C-207 half: that no other package arms timers is checked over the repository
	synctest.Test(t, func(t *testing.T) {
		w := newWaiting(t, 1)
		c := w.wait(t.Context(), 10*time.Second)
		for n := range 5 {
			w.pass(time.Second)
			w.l.Fence.Revision++
			w.k.InstallFences(all(w.l), ident.Revision(2+n))
			w.k.Pause("farm", 1, n%2 == 0) // the pause of an alteration: waits go on
			synctest.Wait()
			w.open(c)
		}
		w.pass(5 * time.Second)
		w.due(c, 10*time.Second, origin+10e9)
	})
}

// A waiter on an hour ends at once, with the reason, when its clock ends.
func TestWaitsEndWithTheirClock(t *testing.T) {
	// req: C-028, C-136
	synctest.Test(t, func(t *testing.T) {
		next := paced("farm", 2, 9, self)
		for _, c := range []struct {
			what  string
			do    func(w *waiting)
			cause fault.Code
		}{
			{"STOP", func(w *waiting) { w.k.Install(all(stopped(w.l)), 2) }, fault.DomainStopped},
			{"a later START", func(w *waiting) { w.k.Install(all(next), 2) }, fault.ClockStale},
			{"no authority", func(w *waiting) {
				l := w.l
				l.Fence.Authority = clock.Authority{}
				l.Fence.Revision++
				w.k.InstallFences(all(l), 2)
			}, fault.ClockUninstalled},
			{"DROP", func(w *waiting) { w.k.Install(nil, 2) }, fault.ClockMissing},
			{"the end of the execution", func(w *waiting) { w.h.End(); w.h.End() }, fault.DomainStopped},
		} {
			w := newWaiting(t, 1)
			wait := w.wait(t.Context(), time.Hour)
			w.open(wait)
			c.do(w)
			synctest.Wait()
			failed(t, wait, fault.ClockUnavailable, c.cause)
			failed(t, w.wait(t.Context(), time.Hour), fault.ClockUnavailable, c.cause)
		}
	})
}

func TestOtherEndsOfAWait(t *testing.T) {
	// req: C-136
	synctest.Test(t, func(t *testing.T) {
		w := newWaiting(t, 1)
		ctx, cancel := context.WithCancelCause(t.Context())
		c := w.wait(ctx, time.Hour)
		cancel(context.DeadlineExceeded)
		synctest.Wait()
		g := <-c
		if fault.CodeOf(g.err) != fault.ClockCancelled || !errors.Is(g.err, context.DeadlineExceeded) || fault.Has(g.err, fault.ClockUnavailable) {
			t.Fatal(g.err)
		}
		w.due(w.wait(ctx, 0), 0, origin) // what is due is due

		slow := newWaiting(t, 1e-9)
		failed(t, slow.wait(t.Context(), 1000*time.Second), fault.ClockUnschedulable, "")

		foreign := newWaiting(t, 1)
		d := foreign.h.Deadline(vtime.LogicalFromNS(origin))
		for _, h := range []*Handle{w.h, foreign.k.Retain("farm", 2), foreign.k.Current("farm")} {
			if _, err := h.Wait(t.Context(), d); fault.CodeOf(err) != fault.ClockUnavailable || !fault.Has(err, fault.ClockStale) {
				t.Fatal(err)
			}
		}
		if d.Domain() != "farm" || d.Generation() != 1 || d.Target().NS() != origin {
			t.Fatalf("%+v", d)
		}
	})
}

// Every wakeup of a waiter races every other: whatever comes first, it ends once, and never early.
func TestWaitersRaceEverything(t *testing.T) {
	// req: C-135
	// req: C-213 half: one of its checks
	for n := range 60 {
		synctest.Test(t, func(t *testing.T) {
			w := newWaiting(t, 1)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var all []<-chan waited
			for i := range 8 {
				all = append(all, w.wait(ctx, time.Duration(1+i/2)*time.Millisecond))
			}
			go func() {
				time.Sleep(time.Millisecond)
				w.k.InstallFences([]clock.Lifecycle{func() clock.Lifecycle { l := w.l; l.Fence.Revision++; return l }()}, 2)
				time.Sleep(time.Millisecond)
				if n%2 == 0 {
					cancel()
				}
				w.k.Install([]clock.Lifecycle{stopped(w.l)}, 3)
			}()
			time.Sleep(time.Second)
			synctest.Wait()
			for i, c := range all {
				g := <-c
				at := time.Duration(1+i/2) * time.Millisecond
				switch {
				case g.err == nil && (g.at != at || g.s.Now.NS() != origin+int64(at) || at > 2*time.Millisecond):
					t.Fatalf("waiter %d: %+v", i, g)
				case g.err != nil && (at < 2*time.Millisecond || fault.CodeOf(g.err) != fault.ClockUnavailable && fault.CodeOf(g.err) != fault.ClockCancelled):
					t.Fatalf("waiter %d: %+v", i, g)
				}
			}
		})
	}
}

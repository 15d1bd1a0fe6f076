// SPDX-License-Identifier: Apache-2.0

package timekeeper

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// Handle is the clock of one generation of one domain. It ends with its generation and never attaches to a successor; an unpaced domain's time is
// actual UTC through the same handle (C-010). Reads take no lock and allocate nothing. They fail with clock.missing, domain.stopped,
// clock.uninstalled or clock.stale, and with clock.range when the projection leaves its range.
type Handle struct {
	cell       *cell
	domain     ident.Domain
	generation ident.Generation
	any        bool // reads whatever generation is installed
	ended      atomic.Bool
	end        chan struct{} // closed with ended
}

func newHandle(c *cell, domain ident.Domain, generation ident.Generation) *Handle {
	return &Handle{cell: c, domain: domain, generation: generation, end: make(chan struct{})}
}

// Unpaced makes the handle of an unpaced domain that no keeper holds, for tests.
func Unpaced(domain ident.Domain, generation ident.Generation) *Handle {
	c := newCell(nil)
	c.install(clock.Lifecycle{Domain: domain, Generation: generation, Running: true}, 0)
	return newHandle(c, domain, generation)
}

// End makes every later read and wait fail; it is final.
func (h *Handle) End() {
	if h.ended.CompareAndSwap(false, true) {
		close(h.end)
	}
}

// Snapshot reads domain time. Wall time never takes the place of a clock that cannot be read.
func (h *Handle) Snapshot() (vtime.Snapshot, error) {
	in := h.cell.current.Load()
	if !h.may(in) {
		return vtime.Snapshot{}, h.refuse("clock.Snapshot", in)
	}
	now, err := in.read(h.cell.now())
	if err != nil {
		return vtime.Snapshot{}, err
	}
	return vtime.Snapshot{Domain: h.domain, Generation: in.lifecycle.Generation, Now: now}, nil
}

// Now is the reading alone; ok is false when it failed.
func (h *Handle) Now() (now vtime.Logical, ok bool) {
	in := h.cell.current.Load()
	if !h.may(in) {
		return vtime.Logical{}, false
	}
	now, err := in.read(h.cell.now())
	return now, err == nil
}

// Window is one read that gives the execution time of an ingest group and the window that admits its rows (C-125). paced is false in unpaced domains,
// which have no window and admit every timestamp (C-133).
func (h *Handle) Window() (s vtime.Snapshot, w clock.Window, paced bool, err error) {
	s, w, paced, _, err = h.Intake()
	return s, w, paced, err
}

// Intake is Window and whether the domain's intake is paused, all from one publication (C-071).
func (h *Handle) Intake() (s vtime.Snapshot, w clock.Window, paced, paused bool, err error) {
	in := h.cell.current.Load()
	if !h.may(in) {
		return s, w, false, false, h.refuse("clock.Window", in)
	}
	now, err := in.read(h.cell.now())
	if err != nil {
		return s, w, false, false, err
	}
	if in.state == clock.Paced {
		if w, err = clock.WindowAt(in.lifecycle.Mapping, in.lifecycle.Pace, now); err != nil {
			return s, w, false, false, err
		}
	}
	s = vtime.Snapshot{Domain: h.domain, Generation: in.lifecycle.Generation, Now: now}
	return s, w, in.state == clock.Paced, in.paused, nil
}

// Until is the physical time until domain time reaches target: at least 1 ns while it lies ahead, zero once it is due. What lies beyond the longest
// timer counts as the longest timer, after which the caller looks again. Whoever arms a timer with it re-evaluates when that fires, because UTC may have
// been stepped, and when Notify tells that the clock changed.
func (h *Handle) Until(target vtime.Logical) (time.Duration, error) {
	in := h.cell.current.Load()
	if !h.may(in) {
		return 0, h.refuse("clock.Until", in)
	}
	now, err := in.read(h.cell.now())
	if err != nil {
		return 0, err
	}
	d, err := in.mapping().Wait(now, target)
	if err != nil && fault.Has(err, fault.ClockUnschedulable) {
		return 1<<63 - 1, nil
	}
	return d, err
}

// Notify calls f after every change of the installation, until stop is called, so that timers armed through Until can be looked at again. f is called by
// the installer: it must be short, must not block and must not use the handle; posting a task to a lane is what it is for. A pause is no change.
func (h *Handle) Notify(f func()) (stop func()) { return h.cell.notify(f) }

// may says whether the handle can read an installation.
func (h *Handle) may(in *installation) bool {
	return (in.lifecycle.Generation == h.generation || h.any) && readable(in.state) && !h.ended.Load()
}

// refuse says why it cannot.
func (h *Handle) refuse(op string, in *installation) error {
	subject := ident.Ref{Kind: ident.KindDomain, Name: ident.Name(h.domain)}
	switch {
	case h.ended.Load():
		return fault.New(fault.DomainStopped, op, subject, "this generation of the domain has ended", nil)
	case in.state != clock.Missing && in.lifecycle.Generation != h.generation && !h.any:
		return fault.New(fault.ClockStale, op, subject,
			fmt.Sprintf("the work belongs to generation %d; %d is installed", h.generation, in.lifecycle.Generation), nil)
	default:
		return in.state.Readable(op, h.domain)
	}
}

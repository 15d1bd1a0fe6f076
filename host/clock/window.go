// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"math"
	"math/bits"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// Centers is how many reached centres admit events (C-126).
const Centers = 256

// Pace is the cadence of a paced domain, in nanoseconds of logical time. The time rate does not scale it (C-018).
type Pace struct {
	// Period separates ticks and admission centres; at least 1.
	Period uint64
	// Skew is how far an event may lie from a centre, inclusive.
	Skew uint64
}

// Window is the admission test of one reading of a paced clock (C-125..C-128): the newest Centers centres at or before the reading, each with its skew on
// both sides, both ends included. It is a value of constant size that depends on mapping, pace and reading alone, not on received progress.
// The zero Window admits nothing.
type Window struct {
	now          vtime.Logical
	frontier     uint64
	first, last  int64 // the oldest and the newest centre
	low, high    int64 // the ends of the admitted range, cut to what an int64 can hold
	period, skew uint64
	kernel       kernel
}

// WindowAt is the window at a reading now of the mapping. The reading is a watermarked one: it, too, lies at or after the origin (ErrReading
// otherwise). ErrPace if the period is zero.
func WindowAt(m Mapping, p Pace, now vtime.Logical) (Window, error) {
	const op = "clock.WindowAt"
	if p.Period == 0 {
		return Window{}, paceFailure(op)
	}
	if now.Before(m.LogicalStart) {
		return Window{}, failure(fault.ClockReading, op, nil, "the reading %s lies before the start of the generation, %s", instant(now.NS()), instant(m.LogicalStart.NS()))
	}
	w := Window{now: now, period: p.Period, skew: p.Skew}
	origin := uint64(m.LogicalStart.NS())
	w.frontier = (uint64(now.NS()) - origin) / p.Period
	w.first = int64(origin + w.oldest()*p.Period) // centres lie between origin and now, so that none wraps
	w.last = int64(origin + w.frontier*p.Period)
	w.low, w.high = lower(w.first, p.Skew), higher(w.last, p.Skew)
	w.kernel = w.prepare()
	return w, nil
}

func (w *Window) oldest() uint64 {
	if w.frontier < Centers {
		return 0
	}
	return w.frontier - (Centers - 1)
}

// Now is the reading the window was made from; TIMESTAMP NOW takes it (C-129).
func (w Window) Now() vtime.Logical { return w.now }

// Frontier is the position of the newest centre, counted from 0 at the origin.
func (w Window) Frontier() uint64 { return w.frontier }

// Period is the distance of neighbouring centres.
func (w Window) Period() uint64 { return w.period }

// First is the oldest retained centre.
func (w Window) First() vtime.Logical { return vtime.LogicalFromNS(w.first) }

// Last is the newest reached centre.
func (w Window) Last() vtime.Logical { return vtime.LogicalFromNS(w.last) }

// Bounds are the earliest and the latest timestamp that the window admits. Between them lie gaps if the period exceeds twice the skew
// plus one.
func (w Window) Bounds() (low, high vtime.Logical) {
	return vtime.LogicalFromNS(w.low), vtime.LogicalFromNS(w.high)
}

// Admits tests one timestamp in nanoseconds from the Unix epoch (C-127). It is the definition that Select reproduces for columns.
func (w Window) Admits(ns int64) bool { return w.admits(ns) }

func (w *Window) admits(ns int64) bool {
	switch {
	case w.period == 0 || ns < w.low || ns > w.high:
		return false
	case w.covered() || ns <= w.first:
		return true
	}
	r := (uint64(ns) - uint64(w.first)) % w.period // distance to the centre at or before ns
	return r <= w.skew || w.period-r <= w.skew
}

// covered says that no timestamp between the bounds is refused: neighbours touch if 2*skew+1 >= period, and one centre alone has no gap.
func (w *Window) covered() bool { return w.first == w.last || w.skew >= w.period/2 }

// lower is at - d, cut to int64.
func lower(at int64, d uint64) int64 {
	if d > uint64(at)-1<<63 { // the distance from the smallest int64
		return math.MinInt64
	}
	return int64(uint64(at) - d)
}

// higher is at + d, cut to int64.
func higher(at int64, d uint64) int64 {
	sum, carry := bits.Add64(uint64(at)^1<<63, d, 0) // biased, so that the order is the unsigned one
	if carry != 0 {
		return math.MaxInt64
	}
	return int64(sum ^ 1<<63)
}

// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"math"
	"math/bits"
	"time"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// Tick is one boundary of a paced domain: number ID, counted from 1, lies at the origin plus (ID-1) periods (C-053).
type Tick struct {
	ID       uint64
	Boundary vtime.Logical
}

// Boundary is tick id. ErrTick if id is zero, ErrPace if the period is, ErrRange if the boundary leaves signed 64-bit nanoseconds (C-017).
func Boundary(m Mapping, p Pace, id uint64) (Tick, error) {
	const op = "clock.Boundary"
	switch {
	case p.Period == 0:
		return Tick{}, paceFailure(op)
	case id == 0:
		return Tick{}, failure(fault.ClockTick, op, nil, "tick 0 was asked for; ticks count from 1")
	}
	hi, offset := bits.Mul64(id-1, p.Period)
	if hi != 0 || offset > uint64(math.MaxInt64)-uint64(m.LogicalStart.NS()) {
		return Tick{}, failure(fault.ClockRange, op, vtime.ErrRange, "tick %d passes %s, the last instant of domain time: ticks began at %s with PERIOD %s",
			id, instant(math.MaxInt64), instant(m.LogicalStart.NS()), length(p.Period))
	}
	return Tick{ID: id, Boundary: vtime.LogicalFromNS(int64(uint64(m.LogicalStart.NS()) + offset))}, nil
}

// LatestDue is the newest tick at or before now, by one division whatever number of ticks lies between (C-054). It is false while now lies before
// the origin. ErrRange if the number of the tick exceeds 64 bits, which takes a period of 1 ns over the whole range.
func LatestDue(m Mapping, p Pace, now vtime.Logical) (Tick, bool, error) {
	const op = "clock.LatestDue"
	if p.Period == 0 {
		return Tick{}, false, paceFailure(op)
	}
	if now.Before(m.LogicalStart) {
		return Tick{}, false, nil
	}
	passed := (uint64(now.NS()) - uint64(m.LogicalStart.NS())) / p.Period
	if passed == math.MaxUint64 {
		return Tick{}, false, failure(fault.ClockRange, op, vtime.ErrRange, "the number of the tick at %s exceeds 64 bits", instant(now.NS()))
	}
	boundary := uint64(m.LogicalStart.NS()) + passed*p.Period
	return Tick{ID: passed + 1, Boundary: vtime.LogicalFromNS(int64(boundary))}, true, nil
}

// Next is the first tick after now: tick 1 while now lies before the origin. ErrRange if no further tick exists.
func Next(m Mapping, p Pace, now vtime.Logical) (Tick, error) {
	due, ok, err := LatestDue(m, p, now)
	switch {
	case err != nil:
		return Tick{}, err
	case !ok:
		return Boundary(m, p, 1)
	case due.ID == math.MaxUint64:
		return Tick{}, failure(fault.ClockRange, "clock.Next", vtime.ErrRange, "no tick has a number above %d", due.ID)
	}
	return Boundary(m, p, due.ID+1)
}

// Gap is the physical time that at least separates two emissions of an authority: a period divided by the rate, rounded up (C-055). ErrUnschedulable
// if it does not fit a duration.
func Gap(m Mapping, p Pace) (time.Duration, error) {
	if p.Period == 0 {
		return 0, paceFailure("clock.Gap")
	}
	return m.physical("clock.Gap", p.Period)
}

func paceFailure(op string) error {
	return failure(fault.ClockPace, op, nil, "PERIOD is zero; it is at least 1ns")
}

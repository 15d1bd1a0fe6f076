// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"math"
	"time"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// Mapping is the committed projection of one generation of a paced domain (C-012): logical time is LogicalStart plus the floor of the UTC that
// passed since WallStartedAt times Rate (C-013).
type Mapping struct {
	WallStartedAt vtime.UTC
	LogicalStart  vtime.Logical
	// Rate is logical nanoseconds a nanosecond of UTC, positive and finite.
	Rate float64
}

// NewMapping anchors logical time origin at the observation wall. A rate that is not positive and finite is ErrRate (C-012).
func NewMapping(wall vtime.UTC, origin vtime.Logical, rate float64) (Mapping, error) {
	if _, ok := fractionOf(rate); !ok {
		return Mapping{}, rateFailure("clock.NewMapping", rate)
	}
	return Mapping{WallStartedAt: wall, LogicalStart: origin, Rate: rate}, nil
}

// IsZero says that there is no mapping. No valid mapping is zero, because its rate is not.
func (m Mapping) IsZero() bool { return m == Mapping{} }

// At projects an observation (C-013). An observation before the anchor gives the origin (C-014). A result beyond signed 64-bit nanoseconds is
// ErrRange, a rate that NewMapping refuses ErrRate (C-017). Watermarks are the caller's.
func (m Mapping) At(wall vtime.UTC) (vtime.Logical, error) {
	f, ok := fractionOf(m.Rate)
	if !ok {
		return vtime.Logical{}, rateFailure("clock.At", m.Rate)
	}
	now, anchor, origin := wall.NS(), m.WallStartedAt.NS(), m.LogicalStart.NS()
	if now <= anchor {
		return m.LogicalStart, nil
	}
	// Differences and sums of int64 are taken modulo 2^64; they are right because the true value lies in the range of uint64.
	passed, fits := f.floorTimes(uint64(now) - uint64(anchor))
	if !fits || passed > uint64(math.MaxInt64)-uint64(origin) {
		return vtime.Logical{}, m.projectionFailure(wall)
	}
	return vtime.LogicalFromNS(int64(uint64(origin) + passed)), nil
}

// Wait is the physical time from current until target: zero if target is due, else the distance divided by the rate, rounded up, and
// so at least 1 ns (C-016). A wait beyond time.Duration is ErrUnschedulable.
func (m Mapping) Wait(current, target vtime.Logical) (time.Duration, error) {
	if target.NS() <= current.NS() {
		return 0, nil
	}
	d := uint64(target.NS()) - uint64(current.NS())
	w, err := m.physical("clock.Wait", d)
	if err == nil {
		return w, nil
	}
	return 0, err
}

// physical is how long logical time takes to pass d nanoseconds, rounded up.
func (m Mapping) physical(op string, d uint64) (time.Duration, error) {
	f, ok := fractionOf(m.Rate)
	if !ok {
		return 0, rateFailure(op, m.Rate)
	}
	w, fits := f.ceilDivide(d)
	if !fits || w > math.MaxInt64 {
		return 0, failure(fault.ClockUnschedulable, op, vtime.ErrRange, "%s of domain time at TIME RATE %g take more than the longest timer of %s", length(d), m.Rate, time.Duration(math.MaxInt64))
	}
	return time.Duration(w), nil
}

func (m Mapping) projectionFailure(wall vtime.UTC) error {
	return failure(fault.ClockRange, "clock.At", vtime.ErrRange, "domain time at %s passes %s, its last instant: it started at %s from %s with TIME RATE %g",
		instant(wall.NS()), instant(math.MaxInt64), instant(m.WallStartedAt.NS()), instant(m.LogicalStart.NS()), m.Rate)
}

func rateFailure(op string, rate float64) error {
	return failure(fault.ClockRate, op, nil, "TIME RATE %g is not a positive finite number", rate)
}

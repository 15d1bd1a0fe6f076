// SPDX-License-Identifier: Apache-2.0

// Package vtime holds the time classes of Nervix as types that do not convert into each other (architecture page, section 4).
// Domain time, observations of UTC and physical deadlines have differently named fields, so neither conversion nor assignment mixes
// them. The package reads no clock. All arithmetic is checked.
package vtime

import (
	"errors"
	"math"
	"time"
)

// ErrRange is returned when a result does not fit signed 64-bit nanoseconds.
var ErrRange = errors.New("time out of range")

// Logical is domain time in nanoseconds from the Unix epoch: UTC projected through a committed mapping. It may be stored and
// replicated.
type Logical struct{ logicalNS int64 }

// UTC is an observation of actual UTC in nanoseconds from the Unix epoch. It may jump in both directions.
type UTC struct{ utcNS int64 }

// Mono is nanoseconds since the start of the process. Deadlines and latencies use it; it is never stored or sent.
type Mono struct{ monoNS int64 }

// LogicalFromNS reads stored domain time.
func LogicalFromNS(ns int64) Logical { return Logical{ns} }

// NS is the value for storage and for Arrow columns.
func (l Logical) NS() int64 { return l.logicalNS }

// Before orders domain time.
func (l Logical) Before(m Logical) bool { return l.logicalNS < m.logicalNS }

// Add moves domain time by d, which may be negative.
func (l Logical) Add(d time.Duration) (Logical, error) {
	s, err := add(l.logicalNS, int64(d))
	return Logical{s}, err
}

// Sub is the distance from m to l.
func (l Logical) Sub(m Logical) (time.Duration, error) {
	d, err := sub(l.logicalNS, m.logicalNS)
	return time.Duration(d), err
}

// UTCFromNS is for the reader of the OS clock and for tests.
func UTCFromNS(ns int64) UTC { return UTC{ns} }

// NS is the observation as nanoseconds.
func (u UTC) NS() int64 { return u.utcNS }

// UnixMilli is the observation in milliseconds, rounded down, as UUIDv7 wants it.
func (u UTC) UnixMilli() int64 { return time.Unix(0, u.utcNS).UnixMilli() }

// MonoFromNS is for the reader of the OS clock and for tests.
func MonoFromNS(ns int64) Mono { return Mono{ns} }

// NS is the reading as nanoseconds since process start.
func (m Mono) NS() int64 { return m.monoNS }

// Before orders readings.
func (m Mono) Before(o Mono) bool { return m.monoNS < o.monoNS }

// Add moves a deadline; it saturates, because a deadline beyond the range never comes.
func (m Mono) Add(d time.Duration) Mono {
	s, err := add(m.monoNS, int64(d))
	if err != nil {
		if d > 0 {
			return Mono{math.MaxInt64}
		}
		return Mono{math.MinInt64}
	}
	return Mono{s}
}

// Sub is the physical time that passed from o to m.
func (m Mono) Sub(o Mono) time.Duration { return time.Duration(m.monoNS - o.monoNS) }

// UnpacedNow is domain time of an unpaced domain: actual UTC through the same capability (nspl 11.5).
func UnpacedNow(u UTC) Logical { return Logical{u.utcNS} }

func add(a, b int64) (int64, error) {
	s := a + b
	if (a > 0 && b > 0 && s < 0) || (a < 0 && b < 0 && s >= 0) {
		return 0, ErrRange
	}
	return s, nil
}

func sub(a, b int64) (int64, error) {
	d := a - b
	if (a >= 0 && b < 0 && d < 0) || (a < 0 && b > 0 && d >= 0) {
		return 0, ErrRange
	}
	return d, nil
}

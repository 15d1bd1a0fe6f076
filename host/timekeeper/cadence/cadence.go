// SPDX-License-Identifier: Apache-2.0

// Package cadence is the recurring schedule of pollers and generators in domain time (C-140). It is pure: its user waits for Next with a bound
// clock, and asks Due with the reading it got. The scheduled instant and the snapshot in which the work runs stay two things (C-142).
package cadence

import (
	"fmt"
	"time"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// First says when the first occurrence is due (C-141).
type First uint8

// HTTP polling and generators begin Immediately; Prometheus polling begins AfterInterval.
const (
	Immediately First = iota
	AfterInterval
)

// Cadence is a schedule whose occurrences lie at its anchor plus whole intervals, however late the work runs. Copies are independent.
type Cadence struct {
	interval time.Duration
	next     vtime.Logical
	ended    bool
}

// New anchors a schedule at domain time start, the reading with which its user began. clock.cadence if the interval is not positive, or if the first
// occurrence lies beyond the range of domain time.
func New(start vtime.Logical, interval time.Duration, first First) (Cadence, error) {
	if interval <= 0 {
		return Cadence{}, failure("an interval of "+interval.String()+" is not positive", nil)
	}
	c := Cadence{interval: interval, next: start}
	if first == AfterInterval {
		var err error
		if c.next, err = start.Add(interval); err != nil {
			return Cadence{}, failure(fmt.Sprintf("the first instant, %s after the start, lies beyond the range", interval), err)
		}
	}
	return c, nil
}

// Next is the first occurrence that Due has not returned; false once the range of domain time holds no further one.
func (c *Cadence) Next() (vtime.Logical, bool) { return c.next, !c.ended }

// Due is the newest occurrence at or before now that was not returned before; false if there is none. Whatever was missed before it is gone: the
// schedule goes on with the first instant after now. An occurrence that was due is returned even if none can follow.
func (c *Cadence) Due(now vtime.Logical) (scheduled vtime.Logical, due bool) {
	if c.ended || now.Before(c.next) {
		return vtime.Logical{}, false
	}
	// Differences of int64 are taken modulo 2^64; they are right because the true value lies in the range of uint64.
	interval := uint64(c.interval)
	missed := (uint64(now.NS()) - uint64(c.next.NS())) / interval
	newest := uint64(c.next.NS()) + missed*interval
	scheduled = vtime.LogicalFromNS(int64(newest))
	next, err := scheduled.Add(c.interval)
	if c.ended = err != nil; !c.ended {
		c.next = next
	}
	return scheduled, true
}

func failure(detail string, cause error) error {
	return fault.New(fault.ClockCadence, "cadence.New", ident.Ref{}, detail, cause)
}

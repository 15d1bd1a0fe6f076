// SPDX-License-Identifier: Apache-2.0

package clocks

import (
	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/wire"
)

// states maps what is installed to what is sent; Missing is never sent.
var states = [...]wire.ClockState{clock.Stopped: wire.ClockStopped, clock.Uninstalled: wire.ClockUninstalled, clock.Unpaced: wire.ClockUnpaced,
	clock.Paced: wire.ClockPaced}

// observed is a clock as a frame carries it. It has neither authority nor fence (C-086, X-177).
func observed(o clock.Observed) wire.ObservedClock {
	c := wire.ObservedClock{State: states[o.State], Generation: uint64(o.Generation)}
	if o.State == clock.Paced {
		c.PeriodNS, c.SkewNS = o.Pace.Period, o.Pace.Skew
		c.LogicalStartNS, c.WallStartedAtNS, c.TimeRate = o.Mapping.LogicalStart.NS(), o.Mapping.WallStartedAt.NS(), o.Mapping.Rate
	}
	return c
}

// ticked is a tick with the node's own reading.
func ticked(domain ident.Domain, p clock.Progress, now vtime.Logical) wire.DomainClockTicked {
	return wire.DomainClockTicked{Domain: string(domain), Generation: uint64(p.Generation), ID: p.Tick.ID, BoundaryNS: p.Tick.Boundary.NS(),
		AuthorityUTCNS: p.AuthorityUTC.NS(), NodeLogicalNS: now.NS()}
}

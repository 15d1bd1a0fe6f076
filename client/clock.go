// SPDX-License-Identifier: Apache-2.0

package client

import (
	"time"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/wire"
)

// ClockTick is a boundary that the authority of a paced domain has reached, as the node that serves the session accepted it.
type ClockTick struct {
	Generation ident.Generation
	// Tick is its number, from 1, and its logical instant.
	clock.Tick
	// AuthorityUTC is the authority's own observation when it emitted the tick.
	AuthorityUTC vtime.UTC
	// NodeLogical is the serving node's own reading when it built the frame. It carries that host's offset from UTC times the rate, it is
	// older than its arrival, and it may lie before the boundary (C-110).
	NodeLogical vtime.Logical
}

// DomainClock is what the client knows of a followed clock: the newest state, and the newest tick of its generation. It is a value and does
// not change.
//
// The node's state may be newer, and other nodes may be ahead of it or behind. A client whose UTC is off by some offset computes logical
// instants and centres shifted by the offset times the rate, and waits that are off by the offset (C-110); FromReading does without.
type DomainClock struct {
	Domain string
	clock.Observed
	// Tick is nil when none of this generation is known.
	Tick *ClockTick
	// Interrupted says that no session holds the attachment at present: the clock is the last one told, and may be old.
	Interrupted bool
}

// At, Wait and Window are those of clock.Observed: the server's own arithmetic (C-111). A stopped or uninstalled clock and what leaves the range of an
// instant are typed errors: clock.ErrStopped, clock.ErrUninstalled, clock.ErrRange, clock.ErrUnschedulable.

// Admits says whether the admission window at an observation of UTC takes an event with this timestamp. An unpaced domain takes every one
// (C-133). Errors as in Window.
func (c DomainClock) Admits(utc vtime.UTC, timestamp vtime.Logical) (bool, error) {
	if c.State == clock.Unpaced {
		return true, nil
	}
	w, err := c.Window(utc)
	if err != nil {
		return false, err
	}
	return w.Admits(timestamp.NS()), nil
}

// FromReading is domain time on the serving node, without this host's UTC: the reading of the newest tick, and what passed since it arrived by
// this host's monotonic clock, times the rate. It lags by the time the tick travelled. False says that there is no tick.
func (c DomainClock) FromReading(sinceArrival time.Duration) (now vtime.Logical, known bool, err error) {
	if c.Tick == nil {
		return vtime.Logical{}, false, nil
	}
	if err := c.State.Readable("client.DomainClock.FromReading", ident.Domain(c.Domain)); err != nil {
		return vtime.Logical{}, true, err
	}
	anchored := clock.Mapping{LogicalStart: c.Tick.NodeLogical, Rate: c.Mapping.Rate}
	now, err = anchored.At(vtime.UTCFromNS(int64(max(0, sinceArrival))))
	return now, true, err
}

// statesFrom maps what is sent to what was installed.
var statesFrom = [...]clock.State{wire.ClockStopped: clock.Stopped, wire.ClockUninstalled: clock.Uninstalled, wire.ClockUnpaced: clock.Unpaced,
	wire.ClockPaced: clock.Paced}

func observedOf(c wire.ObservedClock) clock.Observed {
	o := clock.Observed{Generation: ident.Generation(c.Generation), State: statesFrom[c.State]}
	if c.State == wire.ClockPaced {
		o.Pace = clock.Pace{Period: c.PeriodNS, Skew: c.SkewNS}
		o.Mapping = clock.Mapping{WallStartedAt: vtime.UTCFromNS(c.WallStartedAtNS), LogicalStart: vtime.LogicalFromNS(c.LogicalStartNS), Rate: c.TimeRate}
	}
	return o
}

func tickOf(t wire.DomainClockTicked) *ClockTick {
	return &ClockTick{Generation: ident.Generation(t.Generation), Tick: clock.Tick{ID: t.ID, Boundary: vtime.LogicalFromNS(t.BoundaryNS)},
		AuthorityUTC: vtime.UTCFromNS(t.AuthorityUTCNS), NodeLogical: vtime.LogicalFromNS(t.NodeLogicalNS)}
}

// SPDX-License-Identifier: Apache-2.0

package timekeeper

import (
	"math"
	"sync/atomic"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// installation is everything a cell publishes at once: lifecycle, pause and the watermark of its readings. It is immutable but for the
// watermark.
type installation struct {
	lifecycle clock.Lifecycle
	state     clock.State
	paused    bool
	mark      *watermark
	// changed is closed when the installation is replaced, unless the two differ in nothing but the pause: those share the channel (C-074).
	changed chan struct{}
}

// missing is the installation of a domain that is not, or no more, on this node.
func missing() *installation {
	return &installation{state: clock.Missing, changed: make(chan struct{})}
}

// succeed is the installation that follows in for a lifecycle.
func (in *installation) succeed(l clock.Lifecycle) *installation {
	next := &installation{lifecycle: l, state: l.State(), changed: make(chan struct{})}
	same := l.Created == in.lifecycle.Created && l.Generation == in.lifecycle.Generation
	next.paused = in.paused && same && l.Running
	switch {
	case !readable(next.state):
	case same && readable(in.state):
		next.mark = in.mark // one uninterrupted installation of the generation (C-080)
	default:
		next.mark = newWatermark()
	}
	return next
}

// pause is the installation with another pause flag.
func (in *installation) pause(on bool) *installation {
	next := *in
	next.paused = on
	return &next
}

func readable(s clock.State) bool { return s >= clock.Unpaced }

// read is domain time at an observation, raised to the watermark. The installation must be readable.
func (in *installation) read(utc vtime.UTC) (vtime.Logical, error) {
	now := vtime.UnpacedNow(utc)
	if in.state == clock.Paced {
		var err error
		if now, err = in.lifecycle.Mapping.At(utc); err != nil {
			return vtime.Logical{}, err
		}
	}
	return in.mark.raise(now), nil
}

// mapping is how readings pass; an unpaced domain's pass like UTC.
func (in *installation) mapping() clock.Mapping {
	if in.state == clock.Paced {
		return in.lifecycle.Mapping
	}
	return clock.Mapping{Rate: 1}
}

// watermark is the highest reading of one uninterrupted installation of a generation on this node (C-015). It has a cache line of its own: every
// read of the domain writes it.
type watermark struct {
	_  [64]byte
	ns atomic.Int64
	_  [56]byte
}

func newWatermark() *watermark {
	m := &watermark{}
	m.ns.Store(math.MinInt64)
	return m
}

// raise is the higher of now and every reading before it.
func (m *watermark) raise(now vtime.Logical) vtime.Logical {
	for {
		seen := m.ns.Load()
		if now.NS() <= seen {
			return vtime.LogicalFromNS(seen)
		}
		if m.ns.CompareAndSwap(seen, now.NS()) {
			return now
		}
	}
}

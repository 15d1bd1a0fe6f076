// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"errors"
	"time"

	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// Producer emits the ticks of one generation under one fence. It is a machine without timers: its driver steps it with readings of the two
// clocks, delivers what it emits, and steps it again no later than it is told. Stepping it early or often is harmless, so that a driver may wake
// at any time, above all after UTC was stepped, which no monotonic timer notices.
type Producer struct {
	lifecycle Lifecycle
	last      uint64 // number of the newest emitted tick, 0 before the first
	emittedAt vtime.Mono
	gap       time.Duration
	gapErr    error // the gap exceeds every timer: one tick is all there will be
}

// Emission is what one step gave. Wait is physical time until the next step is due, at least 1 ns. Done says that no further tick will ever come, and
// Wait is zero.
type Emission struct {
	Report  Progress
	Emitted bool
	Wait    time.Duration
	Done    bool
}

// NewProducer makes the producer of l on the process self; false unless l runs, is paced, has a mapping and names self as its
// authority (C-047). It begins without a past: the first step emits the latest due tick of the mapping (C-052, C-146).
func NewProducer(l Lifecycle, self Authority) (*Producer, bool) {
	if l.State() != Paced || l.Fence.Authority != self || self.IsZero() {
		return nil, false
	}
	p := &Producer{lifecycle: l}
	p.gap, p.gapErr = Gap(l.Mapping, l.Pace)
	return p, true
}

// Serves says whether p is still the producer that l asks for on self: domain, generation, mapping, pace, revision and identity agree
// (C-047). If not, it is to be retired before a successor starts (C-048); what it emitted keeps its old fence.
func (p *Producer) Serves(l Lifecycle, self Authority) bool {
	return l.State() == Paced && l.Fence.Authority == self && l == p.lifecycle
}

// Lifecycle is what the producer was made for.
func (p *Producer) Lifecycle() Lifecycle { return p.lifecycle }

// Step emits the latest due tick if it is newer than the last emitted one and a gap has passed since (C-054, C-055), and says when to step again.
//
// An error is typed and does not stop the producer from having emitted: an already due tick goes out even if the next one lies beyond the range
// (gaps 2.5). With Done the error is final for this generation; otherwise the projection of this reading failed, and a later reading of UTC that was
// stepped back may succeed.
func (p *Producer) Step(utc vtime.UTC, mono vtime.Mono) (Emission, error) {
	now, err := p.lifecycle.Mapping.At(utc)
	if err != nil {
		return Emission{Wait: retryProjection}, err
	}
	due, ok, err := LatestDue(p.lifecycle.Mapping, p.lifecycle.Pace, now)
	if err != nil {
		return Emission{Done: true}, err
	}
	var e Emission
	rest := p.rest(mono)
	if ok && due.ID > p.last {
		if rest > 0 {
			return Emission{Wait: rest}, nil
		}
		if p.last != 0 && p.gapErr != nil {
			return Emission{Done: true}, p.gapErr
		}
		p.last, p.emittedAt = due.ID, mono
		e.Report, e.Emitted = p.report(due, utc), true
		rest = p.gap
	}
	if p.gapErr != nil && p.last != 0 {
		e.Done = true
		return e, p.gapErr
	}
	return p.schedule(e, now, rest)
}

// retryProjection is the pause before a projection that failed is tried again.
const retryProjection = time.Second

// schedule adds the wait for the tick after the newest one that was emitted.
func (p *Producer) schedule(e Emission, now vtime.Logical, rest time.Duration) (Emission, error) {
	next, err := Boundary(p.lifecycle.Mapping, p.lifecycle.Pace, p.last+1)
	if p.last+1 == 0 || err != nil {
		e.Done = true
		return e, err
	}
	wait, err := p.lifecycle.Mapping.Wait(now, next.Boundary)
	switch {
	case errors.Is(err, ErrUnschedulable):
		// Farther than any timer, and yet a tick: the driver looks again after a while that a timer can hold.
		wait = 1<<63 - 1
	case err != nil:
		e.Done = true
		return e, err
	}
	e.Wait = max(wait, rest, 1)
	return e, nil
}

// rest is what remains of the gap after the last emission.
func (p *Producer) rest(mono vtime.Mono) time.Duration {
	if p.last == 0 || p.gapErr != nil {
		return 0
	}
	return max(0, p.gap-mono.Sub(p.emittedAt))
}

func (p *Producer) report(t Tick, utc vtime.UTC) Progress {
	l := p.lifecycle
	return Progress{Domain: l.Domain, Generation: l.Generation, Fence: l.Fence, Tick: t, AuthorityUTC: utc, Period: l.Pace.Period}
}

// SPDX-License-Identifier: Apache-2.0

package clocks

import "github.com/nervix-go/nervix/host/clock"

// reading is what a task read of its watch in one go: first the clock, then the tick.
type reading struct {
	observed clock.Observed
	there    bool // false: the domain is missing
	tick     clock.Progress
	ticked   bool // there is a tick
}

// action is what a task does next.
type action uint8

const (
	// rest: wait for the next change.
	rest action = iota
	// tellState: withdraw the waiting tick, then queue reading.observed.
	tellState
	// tellTick: put reading.tick into the tick's place.
	tellTick
	// tellEnd: withdraw the waiting tick, queue the end, and be done.
	tellEnd
)

// delivery decides what one attachment sends (C-092 to C-098). It is pure: the task tells it what became of each action, with the methods
// named in the past tense, and asks again with a fresh reading.
//
// Invariant: a tick is in its place, or was taken from it, only after told was Paced and of its generation, and with a greater id than all
// before it in that generation.
type delivery struct {
	// told is the clock the client knows: that of the reply or of the newest state frame.
	told clock.Observed
	// taken is the greatest tick id of told.Generation that the transport took; waiting is the id in the tick's place, zero for none.
	taken, waiting uint64
	// unfit is a clock, and unfitTick a tick id of told.Generation, that could not be sent: they are not tried again (C-098).
	unfit     *clock.Observed
	unfitTick uint64
}

func newDelivery(replied clock.Observed) *delivery { return &delivery{told: replied} }

// next decides on a reading.
func (d *delivery) next(r reading) action {
	switch {
	case !r.there:
		return tellEnd
	case r.observed != d.told:
		if d.unfit != nil && *d.unfit == r.observed {
			return rest
		}
		return tellState
	case d.told.State == clock.Paced && r.ticked && r.tick.Generation == d.told.Generation && r.tick.Tick.ID > max(d.taken, d.waiting, d.unfitTick):
		return tellTick
	}
	return rest
}

// withdrawn: the tick's place was cleared; there says that a tick still waited in it.
func (d *delivery) withdrawn(there bool) {
	if !there {
		d.taken = max(d.taken, d.waiting)
	}
	d.waiting = 0
}

// stateQueued: the clock is on its way.
func (d *delivery) stateQueued(o clock.Observed) {
	if o.Generation != d.told.Generation {
		d.taken, d.unfitTick = 0, 0
	}
	d.told, d.unfit = o, nil
}

// stateUnfit: the clock does not fit a frame. Nothing is sent until another change.
func (d *delivery) stateUnfit(o clock.Observed) { d.unfit = &o }

// tickOffered: the tick is in its place; replaced says that one before it was still there.
func (d *delivery) tickOffered(id uint64, replaced bool) {
	if !replaced {
		d.taken = max(d.taken, d.waiting)
	}
	d.waiting = id
}

// tickUnfit: the tick cannot be sent.
func (d *delivery) tickUnfit(id uint64) { d.unfitTick = id }

// SPDX-License-Identifier: Apache-2.0

// Package order checks the delivery order of clock frames, for tests of sessions and clients.
package order

import (
	"fmt"

	"github.com/nervix-go/nervix/host/wire"
)

// Checker checks what a client receives about one domain against the delivery order (C-102), frame by frame as it arrives: replies and
// unsolicited frames. The zero value is a session that follows nothing.
type Checker struct {
	attached bool
	clock    wire.ObservedClock
	// tick is the greatest id of the clock's generation.
	tick uint64
	// States, Ticks and Ends count the frames about attachments.
	States, Ticks, Ends int
}

// See takes the next frame; the error says which guarantee it breaks.
func (o *Checker) See(body wire.ServerBody) error {
	switch b := body.(type) {
	case wire.DomainClockAttachOutcome:
		return o.attach(b)
	case wire.DomainClockDetachOutcome:
		switch {
		case b.Disposition == wire.ClockDetached && !o.attached:
			return fmt.Errorf("detached without an attachment")
		case b.Disposition == wire.ClockNotAttached && o.attached:
			return fmt.Errorf("not attached, and no end frame came before")
		case b.Disposition != wire.ClockDetachFailed:
			o.attached = false
		}
	case wire.DomainClockObserved:
		o.States++
		switch {
		case !o.attached:
			return fmt.Errorf("a state without an attachment")
		case b.Clock == o.clock:
			return fmt.Errorf("a state equal to the one before: %+v", b.Clock)
		case b.Clock.Generation < o.clock.Generation:
			return fmt.Errorf("a state of generation %d after one of %d", b.Clock.Generation, o.clock.Generation)
		}
		o.observe(b.Clock)
	case wire.DomainClockTicked:
		o.Ticks++
		switch {
		case !o.attached:
			return fmt.Errorf("a tick without an attachment")
		case o.clock.State != wire.ClockPaced || o.clock.Generation != b.Generation:
			return fmt.Errorf("a tick of generation %d, and the last state is %v of generation %d", b.Generation, o.clock.State, o.clock.Generation)
		case b.ID <= o.tick:
			return fmt.Errorf("tick %d after tick %d", b.ID, o.tick)
		}
		o.tick = b.ID
	case wire.DomainClockAttachmentEnded:
		o.Ends++
		if !o.attached {
			return fmt.Errorf("an end without an attachment")
		}
		o.attached = false
	}
	return nil
}

func (o *Checker) attach(b wire.DomainClockAttachOutcome) error {
	switch b.Disposition {
	case wire.ClockAttached:
		if o.attached {
			return fmt.Errorf("attached twice")
		}
		o.attached, o.clock, o.tick = true, b.Clock, 0
	case wire.ClockAlreadyAttached:
		if !o.attached {
			return fmt.Errorf("already attached, and it is not")
		}
	case wire.ClockDomainNotFound:
		if o.attached {
			return fmt.Errorf("not found, and it is attached")
		}
	}
	return nil
}

func (o *Checker) observe(c wire.ObservedClock) {
	if c.Generation != o.clock.Generation {
		o.tick = 0
	}
	o.clock = c
}

// Clock is what the client knows, if it follows the domain.
func (o *Checker) Clock() (wire.ObservedClock, bool) { return o.clock, o.attached }

// Tick is the newest id of the clock's generation.
func (o *Checker) Tick() uint64 { return o.tick }

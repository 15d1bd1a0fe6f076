// SPDX-License-Identifier: Apache-2.0

package client

import (
	"time"

	"github.com/nervix-go/nervix/host/clock"
)

// ClockEventKind says what a ClockEvent tells.
type ClockEventKind string

// The kinds of clock events.
const (
	// ClockObserved: the state changed, or a restored attachment is told. Clock is set.
	ClockObserved ClockEventKind = "state"
	// ClockTicked: a newer tick of the generation. Tick is set.
	ClockTicked ClockEventKind = "tick"
	// ClockInterrupted: the session that held the attachment is lost. The client attaches the clock again on its next session.
	ClockInterrupted ClockEventKind = "interrupted"
	// ClockRefused: the node refused to attach the clock again. Refusal and RetryIn are set.
	ClockRefused ClockEventKind = "refused"
	// ClockEnded: the attachment is over and is not restored. Reason is set.
	ClockEnded ClockEventKind = "ended"
)

// EndDomainRemoved is the reason of an attachment that ended because its domain is gone.
const EndDomainRemoved = "domain removed"

// ClockEvent is news of a followed clock.
type ClockEvent struct {
	Kind   ClockEventKind
	Domain string
	Clock  clock.Observed
	Tick   ClockTick
	// Refusal is the node's text, and RetryIn the wait before the next try.
	Refusal string
	RetryIn time.Duration
	Reason  string
}

// unread are the events of one domain that nobody has taken: at most one of each kind (C-111). The fields are in the order in which they are
// told.
type unread struct {
	interrupted, refused, state, tick, ended *ClockEvent
	// queued says that the domain stands in the line of domains with news.
	queued bool
}

// add takes an event. The newest state and tick replace older ones; an interruption or an end replaces the observations before it.
func (u *unread) add(e *ClockEvent) {
	switch e.Kind {
	case ClockObserved:
		if u.tick != nil && (u.tick.Tick.Generation != e.Clock.Generation || e.Clock.State != clock.Paced) {
			u.tick = nil // told after this state it would be out of order
		}
		u.state = e
	case ClockTicked:
		u.tick = e
	case ClockInterrupted:
		*u = unread{interrupted: e, queued: u.queued}
	case ClockRefused:
		u.refused = e
	case ClockEnded:
		*u = unread{interrupted: u.interrupted, ended: e, queued: u.queued}
	}
}

// take gives the next event; more says that there are others.
func (u *unread) take() (e *ClockEvent, more bool) {
	places := []**ClockEvent{&u.interrupted, &u.refused, &u.state, &u.tick, &u.ended}
	for _, place := range places {
		switch {
		case *place == nil:
		case e == nil:
			e, *place = *place, nil
		default:
			return e, true
		}
	}
	return e, false
}

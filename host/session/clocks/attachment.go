// SPDX-License-Identifier: Apache-2.0

package clocks

import (
	"context"
	"log/slog"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/wire"
)

// attachment is the following of one domain. Its task is the only one to touch watch, slot and delivery once it runs.
type attachment struct {
	domain   ident.Domain
	watch    ClockWatch
	lane     Lane
	slot     Slot
	delivery *delivery
	log      *slog.Logger
	// turn is held by whoever queues a frame that says whether the attachment exists: the task for the end frame, the ordered lane for the
	// reply that the domain is attached already. So that reply never comes behind the end frame (C-100).
	turn chan struct{}
	// ending is set in turn before the end frame is queued: who has read the frame finds it set (C-100).
	ending bool
	// ended says that the end frame was queued, or could not be built. Read it after done.
	ended bool
	stop  context.CancelFunc
	done  chan struct{}
}

// stays takes the turn and tells whether the end frame is still to come. If so the caller gives the turn back with <-a.turn once its own
// frame is queued; if not it does not have it.
func (a *attachment) stays() bool {
	a.turn <- struct{}{}
	if a.ending {
		<-a.turn
		return false
	}
	return true
}

// start runs the task.
func (a *attachment) start(ctx context.Context) {
	go func() {
		defer close(a.done)
		defer a.watch.Close()
		a.run(ctx)
	}()
}

// run delivers until the domain is gone or ctx ends. It never leaves a tick in its place.
func (a *attachment) run(ctx context.Context) {
	defer a.slot.Withdraw()
	for {
		// 1. Subscribe, then read: what is published after the reading wakes the wait below (C-085).
		changed := a.watch.Changed()
		r := a.read()
		// 2. Act on it, and read again before the next act (C-096).
		switch a.delivery.next(r) {
		case tellState:
			a.delivery.withdrawn(a.slot.Withdraw())
			if !a.state(ctx, r.observed) {
				return
			}
		case tellTick:
			a.tick(r)
		case tellEnd:
			a.slot.Withdraw()
			select {
			case a.turn <- struct{}{}:
			case <-ctx.Done():
				return
			}
			a.ending = ctx.Err() == nil
			<-a.turn
			if a.ending {
				a.end(ctx)
			}
			return
		default:
			// 3. Nothing to say: wait for a change.
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}
}

func (a *attachment) read() (r reading) {
	r.observed, r.there = a.watch.Observed()
	r.tick, r.ticked = a.watch.Tick()
	return r
}

// state queues a state frame as built; what is published while it waits for room is read after it. False says that ctx ended.
func (a *attachment) state(ctx context.Context, o clock.Observed) bool {
	err := a.lane.Queue(ctx, wire.DomainClockObserved{Domain: string(a.domain), Clock: observed(o)})
	switch {
	case err == nil:
		a.delivery.stateQueued(o)
	case ctx.Err() != nil:
		return false
	default:
		a.warn("a clock state was left out: its frame cannot be sent", err)
		a.delivery.stateUnfit(o)
	}
	return true
}

// tick puts the reading's tick into its place, with the node's own logical reading taken now.
func (a *attachment) tick(r reading) {
	id := r.tick.Tick.ID
	now, err := a.watch.Logical(r.tick.Generation)
	if err != nil {
		if o, there := a.watch.Observed(); !there || o != r.observed {
			return // the installation was replaced: read again
		}
		a.warn("a tick was left out: the clock cannot be read", err)
		a.delivery.tickUnfit(id)
		return
	}
	replaced, err := a.slot.Offer(ticked(a.domain, r.tick, now))
	if err != nil {
		a.warn("a tick was left out: its frame cannot be sent", err)
		a.delivery.tickUnfit(id)
		return
	}
	a.delivery.tickOffered(id, replaced)
}

func (a *attachment) end(ctx context.Context) {
	err := a.lane.Queue(ctx, wire.DomainClockAttachmentEnded{Domain: string(a.domain), Reason: wire.EndDomainRemoved})
	if a.ended = err == nil || ctx.Err() == nil; a.ended && err != nil {
		a.warn("an attachment ended without its frame, which cannot be sent", err)
	}
}

func (a *attachment) warn(text string, err error) {
	a.log.Warn(text, "domain", string(a.domain), "code", string(fault.CodeOf(err)), "error", err.Error())
}

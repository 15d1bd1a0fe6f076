// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"

	"github.com/nervix-go/nervix/host/session/clocks"
	"github.com/nervix-go/nervix/host/session/lanes"
	"github.com/nervix-go/nervix/host/wire"
)

// clockLane is the outbound queue of the ordered lane as clock attachments see it: their frames have to come in order with the replies of
// attach and detach, which travel there.
type clockLane struct{ session *session }

// Queue implements clocks.Lane.
func (l clockLane) Queue(ctx context.Context, body wire.ServerBody) error {
	frame, err := l.encode(body)
	if err != nil {
		return err
	}
	if !l.session.queues[lanes.Ordered].put(ctx, l.session.stopped.Done(), frame) {
		if ctx.Err() == nil { // the session ends; the task hears of it in a moment
			<-ctx.Done()
		}
		return context.Cause(ctx)
	}
	return nil
}

// NewSlot implements clocks.Lane.
func (l clockLane) NewSlot() clocks.Slot {
	return clockSlot{lane: l, slot: &slot{box: l.session.queues[lanes.Ordered]}}
}

func (l clockLane) encode(body wire.ServerBody) ([]byte, error) {
	return wire.EncodeServer(wire.ServerFrame{Body: body}, l.session.server.config.FrameLimit)
}

type clockSlot struct {
	lane clockLane
	slot *slot
}

// Offer implements clocks.Slot.
func (s clockSlot) Offer(body wire.ServerBody) (replaced bool, err error) {
	frame, err := s.lane.encode(body)
	if err != nil {
		return false, err
	}
	return s.slot.offer(frame), nil
}

// Withdraw implements clocks.Slot.
func (s clockSlot) Withdraw() (waiting bool) { return s.slot.withdraw() }

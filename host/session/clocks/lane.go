// SPDX-License-Identifier: Apache-2.0

package clocks

import (
	"context"

	"github.com/nervix-go/nervix/host/wire"
)

// Lane is the outbound queue of the lane that carries replies of attach and detach; the transport provides it.
type Lane interface {
	// Queue waits for room and puts an unsolicited frame behind what is queued. It fails with wire.too_large or wire.unencodable, and
	// with the cause of ctx, which also ends the wait; the frame is then not queued.
	Queue(ctx context.Context, body wire.ServerBody) error
	// NewSlot makes a place for one replaceable frame.
	NewSlot() Slot
}

// Slot is a place in a lane whose content may be replaced until the transport takes it, also while the lane is full.
type Slot interface {
	// Offer puts a frame into the place, and the place behind what is queued unless it waits in the lane already. replaced says that a
	// frame was still there. Errors as in Queue; what was there stays.
	Offer(body wire.ServerBody) (replaced bool, err error)
	// Withdraw takes the frame back; waiting says that there was one, which the transport then never takes.
	Withdraw() (waiting bool)
}

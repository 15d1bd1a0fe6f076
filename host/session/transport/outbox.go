// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"slices"
	"sync"
)

// outboundFrames is the length of a lane's outbound queue (X, limits table). Places of ticks do not count: there is one for each attached
// clock.
const outboundFrames = 16

// outbox is the outbound queue of one lane: frames in order, and among them slots, whose content can still be replaced. Any goroutine puts,
// the lane's writer takes.
type outbox struct {
	// room has one element for each queued frame, so a full queue blocks; who waits longest comes first.
	room chan struct{}
	// ready has capacity 1: something was put.
	ready chan struct{}
	mu    struct {
		sync.Mutex
		items []item
	}
}

// item is a frame, or a slot that has a frame.
type item struct {
	frame []byte
	slot  *slot
}

func newOutbox() *outbox {
	return &outbox{room: make(chan struct{}, outboundFrames), ready: make(chan struct{}, 1)}
}

// put queues a frame. It waits for room until ctx or the session ends; false says that one did, and that nothing was queued.
func (o *outbox) put(ctx context.Context, stopped <-chan struct{}, frame []byte) bool {
	select {
	case o.room <- struct{}{}:
	case <-ctx.Done():
		return false
	case <-stopped:
		return false
	}
	o.mu.Lock()
	o.mu.items = append(o.mu.items, item{frame: frame})
	o.mu.Unlock()
	o.signal()
	return true
}

func (o *outbox) signal() {
	select {
	case o.ready <- struct{}{}:
	default:
	}
}

// next takes the oldest frame; nil when there is none.
func (o *outbox) next() []byte {
	o.mu.Lock()
	if len(o.mu.items) == 0 {
		o.mu.items = nil // its array may have been long
		o.mu.Unlock()
		return nil
	}
	first := o.mu.items[0]
	o.mu.items[0] = item{}
	o.mu.items = o.mu.items[1:]
	if first.slot != nil {
		frame := first.slot.frame
		first.slot.frame = nil
		o.mu.Unlock()
		return frame
	}
	o.mu.Unlock()
	<-o.room
	return first.frame
}

// take waits for the oldest frame until the session ends; nil says that it did, and that nothing is left. At the end ticks that still wait
// are dropped.
func (o *outbox) take(stopped <-chan struct{}) []byte {
	for {
		select {
		case <-stopped:
			o.dropSlots()
		default:
		}
		if frame := o.next(); frame != nil {
			return frame
		}
		select {
		case <-o.ready:
		case <-stopped:
			return nil
		}
	}
}

func (o *outbox) dropSlots() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.mu.items = slices.DeleteFunc(o.mu.items, func(i item) bool {
		if i.slot != nil {
			i.slot.frame = nil
		}
		return i.slot != nil
	})
}

// slot is a place in an outbox. Its frame is guarded by the outbox; nil is an empty place.
type slot struct {
	box   *outbox
	frame []byte
}

// offer fills the place; replaced says that it was full.
func (s *slot) offer(frame []byte) (replaced bool) {
	s.box.mu.Lock()
	replaced = s.frame != nil
	s.frame = frame
	if !replaced {
		s.box.mu.items = append(s.box.mu.items, item{slot: s})
	}
	s.box.mu.Unlock()
	s.box.signal()
	return replaced
}

// withdraw empties the place; waiting says that it was full.
func (s *slot) withdraw() (waiting bool) {
	s.box.mu.Lock()
	defer s.box.mu.Unlock()
	if s.frame == nil {
		return false
	}
	s.frame = nil
	s.box.mu.items = slices.DeleteFunc(s.box.mu.items, func(i item) bool { return i.slot == s })
	return true
}

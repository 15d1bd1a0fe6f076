// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"github.com/nervix-go/nervix/host/kernel/batch"
)

// Subscription is a consumer's place at a relay: a cursor into the buffer.
type Subscription struct {
	owner    *Owner
	consumer Consumer
	attached bool

	// Guarded by owner.mu.
	cursor  uint64 // sequence number of the next batch to offer
	pumping bool   // one goroutine is offering
	resumed bool   // Resume came while an offer was under way
	stalled bool   // the consumer refused the batch at the cursor
	left    bool
	reason  error
}

// Attach adds a consumer; it sees what is admitted from now on. A detached consumer is answered upstream at fan-out (nspl 10.6).
func (o *Owner) Attach(c Consumer, attached bool) *Subscription {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := &Subscription{owner: o, consumer: c, attached: attached, cursor: o.mu.base + uint64(len(o.mu.buffer))}
	o.mu.subs = append(append([]*Subscription(nil), o.mu.subs...), s)
	return s
}

// Started tells that work on the batch of this sequence number has begun. The batch leaves CAPACITY with the last consumer that
// starts it.
func (s *Subscription) Started(seq uint64) {
	o := s.owner
	o.mu.Lock()
	o.startedLocked(seq)
	wake := len(o.mu.waiting) > 0 && o.mu.depth < o.mu.capacity
	o.mu.Unlock()
	if wake {
		o.admitWaiting()
	}
}

func (o *Owner) startedLocked(seq uint64) {
	e := &o.mu.buffer[seq-o.mu.base]
	e.pending--
	if e.pending > 0 {
		return
	}
	e.batch = nil
	o.mu.depth--
	n := 0
	for n < len(o.mu.buffer) && o.mu.buffer[n].pending == 0 {
		n++
	}
	if n == 0 {
		return
	}
	o.mu.base += uint64(n)
	if n == len(o.mu.buffer) {
		o.mu.buffer = o.mu.buffer[:0]
		return
	}
	o.mu.buffer = o.mu.buffer[n:]
}

// Resume says that the consumer can take again what it refused. It may come before the refusal is known here; one critical section decides
// which of the two was first.
func (s *Subscription) Resume() {
	s.owner.mu.Lock()
	s.stalled = false
	s.resumed = s.pumping
	s.pumpAndUnlock()
}

// pump offers batches in order until the consumer refuses or nothing is left.
func (s *Subscription) pump() {
	s.owner.mu.Lock()
	s.pumpAndUnlock()
}

// pumpAndUnlock is pump with owner.mu held; it gives the lock back. One goroutine pumps at a time; it looks at the buffer once more before
// it stops, so others need not leave it a note.
func (s *Subscription) pumpAndUnlock() {
	o := s.owner
	defer o.mu.Unlock()
	if s.pumping {
		return
	}
	s.pumping = true
	for !s.left && !s.stalled && s.cursor < o.mu.base+uint64(len(o.mu.buffer)) {
		seq := s.cursor
		b := o.mu.buffer[seq-o.mu.base].batch
		s.cursor++
		s.resumed = false
		o.mu.Unlock()
		if !s.attached {
			b = &batch.Batch{Record: b.Record, Key: b.Key, Low: b.Low, High: b.High}
		}
		taken := s.consumer.Offer(b, seq)
		o.mu.Lock()
		switch {
		case taken:
		case s.left:
			o.startedLocked(seq)
			o.mu.Unlock()
			b.Fail(s.reason)
			o.admitWaiting()
			o.mu.Lock()
		default:
			s.cursor--
			s.stalled = !s.resumed
		}
	}
	s.pumping = false
}

// Leave ends the subscription: its share of every batch it has not taken fails, so that the source sends those rows again over the
// routes then in force. Deliveries taken before stay the consumer's.
func (s *Subscription) Leave(reason error) {
	o := s.owner
	o.mu.Lock()
	if s.left {
		o.mu.Unlock()
		return
	}
	s.left, s.reason = true, reason
	var dropped []*batch.Batch
	for seq := s.cursor; seq < o.mu.base+uint64(len(o.mu.buffer)); seq++ {
		dropped = append(dropped, o.mu.buffer[seq-o.mu.base].batch)
	}
	for seq := s.cursor; len(dropped) > 0 && seq < s.cursor+uint64(len(dropped)); seq++ {
		o.startedLocked(seq)
	}
	kept := make([]*Subscription, 0, len(o.mu.subs))
	for _, other := range o.mu.subs {
		if other != s {
			kept = append(kept, other)
		}
	}
	o.mu.subs = kept
	o.mu.Unlock()
	for _, b := range dropped {
		if s.attached {
			b.Fail(reason)
		} else {
			b.Record.Release()
		}
	}
	o.admitWaiting()
}

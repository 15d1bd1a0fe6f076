// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"github.com/nervix-go/nervix/host/kernel/batch"
)

// Publish moves the batch into the relay. It returns true if the batch was admitted (or ended, when nothing reads the relay); otherwise the
// publication waits in order of arrival and Admitted is called later. There is no inbound queue besides: a waiting batch stays the
// producer's.
func (o *Owner) Publish(p *batch.Publication) bool {
	o.mu.Lock()
	if o.mu.closed {
		o.mu.Unlock()
		p.Batch.Fail(o.errClosed())
		return true
	}
	if len(o.mu.waiting) > 0 || o.mu.depth >= o.mu.capacity {
		o.mu.waiting = append(o.mu.waiting, p)
		o.mu.Unlock()
		return false
	}
	after := o.admitLocked(p.Batch)
	o.mu.Unlock()
	o.finish(after)
	return true
}

// admission is what remains to be done with an admitted batch once the lock is free.
type admission struct {
	batch  *batch.Batch
	subs   []*Subscription
	refuse bool // nothing consumes the relay
	settle bool // consumers are detached: upstream is answered now
}

// admitLocked appends the batch to the buffer, reserves the consumers' shares from the snapshot that will get it, and records presence:
// a new branch is visible before its first batch fans out.
func (o *Owner) admitLocked(b *batch.Batch) admission {
	o.batches.Add(1)
	o.rows.Add(uint64(b.Rows()))
	o.acceptLocked(b.Key)
	if len(o.mu.subs) == 0 {
		return admission{batch: b, refuse: true}
	}
	attached := 0
	for _, s := range o.mu.subs {
		if s.attached {
			attached++
		}
	}
	a := admission{batch: b, subs: o.mu.subs, settle: attached == 0}
	if attached > 1 {
		b.Lineage.Share(attached - 1)
	}
	for range len(o.mu.subs) - 1 {
		b.Record.Retain()
	}
	o.mu.buffer = append(o.mu.buffer, entry{batch: b, pending: len(o.mu.subs)})
	o.mu.depth++
	o.mu.depths.Observe(o.mu.depth)
	return a
}

func (o *Owner) finish(a admission) {
	if a.refuse {
		a.batch.Fail(o.errNoConsumer())
		return
	}
	if a.settle {
		a.batch.Lineage.Settle()
	}
	for _, s := range a.subs {
		s.pump()
	}
}

// admitWaiting admits publications in order while there is room.
func (o *Owner) admitWaiting() {
	for {
		o.mu.Lock()
		if len(o.mu.waiting) == 0 || (o.mu.depth >= o.mu.capacity && !o.mu.closed) {
			o.mu.Unlock()
			return
		}
		p := o.mu.waiting[0]
		o.mu.waiting[0] = nil
		o.mu.waiting = o.mu.waiting[1:]
		admitted, b := p.Admitted, p.Batch
		if o.mu.closed {
			o.mu.Unlock()
			b.Fail(o.errClosed())
			admitted()
			continue
		}
		after := o.admitLocked(b)
		o.mu.Unlock()
		o.finish(after)
		admitted()
	}
}

// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"github.com/nervix-go/nervix/host/branch"
	"github.com/nervix-go/nervix/host/kernel/batch"
)

// acceptLocked records the input of a branch; the limit evicts the least recently used one.
func (o *Owner) acceptLocked(key *batch.Key) {
	if key == nil {
		return
	}
	now, ok := o.now()
	if !ok {
		return
	}
	if _, _, evicted := o.mu.branches.Accept(key, now); evicted != nil {
		o.mu.evictions[branch.Evicted]++
	}
}

// Scan releases the branches whose TTL is over. The engine calls it on a physical interval; domain time decides.
func (o *Owner) Scan() {
	now, ok := o.now()
	if !ok {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.mu.evictions[branch.Expired] += uint64(len(o.mu.branches.Expire(now)))
}

// Exists says whether the concrete branch with this canonical key text is live.
func (o *Owner) Exists(keyText string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.mu.branches.FindText(keyText) != nil
}

// Touch reports every buffered row as alive, for ACK TIMEOUT (data-plane 6.7).
func (o *Owner) Touch(monoNS int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range o.mu.buffer {
		if b := o.mu.buffer[i].batch; b != nil {
			b.Lineage.Touch(monoNS)
		}
	}
	for _, p := range o.mu.waiting {
		p.Batch.Lineage.Touch(monoNS)
	}
}

// Observation is the state of a relay for inspection and metrics. It holds no branch key.
type Observation struct {
	Capacity  uint64
	Depth     uint64
	Waiting   int
	Branches  int
	Consumers int
	Batches   uint64
	Rows      uint64
	Evictions map[branch.Reason]uint64
	Depths    Depths
}

// Observe copies the state.
func (o *Owner) Observe() Observation {
	o.mu.Lock()
	defer o.mu.Unlock()
	ev := make(map[branch.Reason]uint64, len(o.mu.evictions))
	for k, v := range o.mu.evictions {
		ev[k] = v
	}
	return Observation{
		Capacity: o.mu.capacity, Depth: o.mu.depth, Waiting: len(o.mu.waiting), Branches: o.mu.branches.Len(), Consumers: len(o.mu.subs),
		Batches: o.batches.Load(), Rows: o.rows.Load(), Evictions: ev, Depths: o.mu.depths,
	}
}

// Close ends the relay: waiting publications fail, and every subscription has left before.
func (o *Owner) Close() {
	o.mu.Lock()
	o.mu.closed = true
	o.mu.Unlock()
	o.admitWaiting()
}

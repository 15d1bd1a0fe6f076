// SPDX-License-Identifier: Apache-2.0

// Package owner is the owner of one relay: it admits batches into CAPACITY, keeps the presence of branches, and fans out to the consumers
// on this node (R-001, R-036..R-043). A relay has one buffer, in which batches of different branches alternate.
//
// A batch counts in CAPACITY from its admission until the last consumer has started it. Each consumer takes batches in the order of
// admission; when the slot a batch's branch has in a consumer is occupied, that consumer takes nothing more from the relay until it
// frees (head of line, by declaration). A consumer holds references to counted batches, never a second buffer.
//
// Locks: mu guards the buffer, the waiters and the presence table. Nothing is called under it: consumers and publishers are told after
// it was released. Lock order: an owner's mu is never held while another lock is taken.
package owner

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/nervix-go/nervix/host/branch"
	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// Consumer is a runtime node on this host that reads the relay.
type Consumer interface {
	// Offer hands over a batch if its branch has a free place, or returns false. A consumer that took it owns its references, and calls
	// Subscription.Started with the sequence number when work on it begins. After false it calls Subscription.Resume once a place is
	// free. One goroutine at a time calls it for each subscription.
	Offer(b *batch.Batch, seq uint64) bool
}

// Config describes a relay; everything but Capacity is fixed.
type Config struct {
	Ref      ident.Ref
	Capacity uint64
	// TTL and MaxInstances come from the branch declaration; both are 0 for an unbranched relay.
	TTL          time.Duration
	MaxInstances uint64
	// Now is domain time, for presence. ok is false while the clock is not usable.
	Now func() (now vtime.Logical, ok bool)
}

// Owner owns a relay.
type Owner struct {
	ref ident.Ref
	now func() (vtime.Logical, bool)

	batches atomic.Uint64
	rows    atomic.Uint64

	mu struct {
		sync.Mutex
		capacity  uint64
		depth     uint64 // batches that some consumer has not started
		base      uint64 // sequence number of buffer[0]
		buffer    []entry
		waiting   []*batch.Publication
		subs      []*Subscription
		branches  *branch.Table[struct{}]
		evictions map[branch.Reason]uint64
		depths    Depths
		closed    bool
	}
}

type entry struct {
	batch   *batch.Batch
	pending int // consumers that have not started it
}

// New makes a relay without consumers.
func New(c Config) *Owner {
	o := &Owner{ref: c.Ref, now: c.Now}
	o.mu.capacity = c.Capacity
	o.mu.branches = branch.NewTable[struct{}](c.TTL, c.MaxInstances)
	o.mu.evictions = map[branch.Reason]uint64{branch.Expired: 0, branch.Evicted: 0}
	return o
}

// Ref names the relay.
func (o *Owner) Ref() ident.Ref { return o.ref }

// SetCapacity changes the bound at once and drops nothing: growth admits waiting publications, a shrink lets the buffer drain below the
// new bound first.
func (o *Owner) SetCapacity(n uint64) {
	o.mu.Lock()
	o.mu.capacity = n
	o.mu.Unlock()
	o.admitWaiting()
}

// errNoConsumer is the reason rows fail with at a relay that nothing reads.
func (o *Owner) errNoConsumer() error {
	return fault.New(fault.RelayNoConsumer, "relay.Publish", o.ref, "no runtime node reads this relay", nil)
}

// errClosed is the reason of publications that come after the relay ended.
func (o *Owner) errClosed() error {
	return fault.New(fault.RelayClosed, "relay.Publish", o.ref, "the relay has ended", nil)
}

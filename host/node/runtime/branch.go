// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/host/lanes"
)

// turns bounds how many batches of one branch a lane works before other branches get their turn.
const turns = 8

// Branch is the isolated execution of one concrete key in one node. Its lane alone touches it, apart from the arrivals.
type Branch struct {
	// Key is the concrete branch; nil in unbranched nodes.
	Key *batch.Key
	// State belongs to the node kind.
	State any

	node *Node
	lane *lanes.Lane

	// Guarded by node.mu.
	arrivals []arrival
	waiting  []bool // per input: a batch waits
	queued   bool   // a task is posted, running, or the branch is parked with work left

	// Lane only.
	opened bool
	parked int // publications that wait for a place
	idle   bool
}

type arrival struct {
	batch *batch.Batch
	seq   uint64
	input int
}

// Lane is where the branch is worked.
func (b *Branch) Lane() *lanes.Lane { return b.lane }

// Run works what has arrived. It implements lanes.Task.
func (b *Branch) Run(l *lanes.Lane) {
	if !b.opened {
		b.opened = true
		b.node.handler.Open(l, b)
	}
	for range turns {
		if b.parked > 0 {
			b.idle = true // unpark posts again
			return
		}
		a, more := b.next()
		if !more {
			return
		}
		b.node.handler.Handle(l, b, a.input, a.batch)
	}
	l.Post(b)
}

// next takes the oldest arrival and tells its relay that work begins. more is false when nothing is left; the branch is unqueued then.
func (b *Branch) next() (a arrival, more bool) {
	n := b.node
	n.mu.Lock()
	if len(b.arrivals) == 0 {
		b.queued = false
		n.mu.working--
		n.mu.Unlock()
		return arrival{}, false
	}
	a = b.arrivals[0]
	copy(b.arrivals, b.arrivals[1:])
	b.arrivals[len(b.arrivals)-1] = arrival{}
	b.arrivals = b.arrivals[:len(b.arrivals)-1]
	b.waiting[a.input] = false
	in := n.inputs[a.input]
	resume := in.refused == b
	if resume {
		in.refused = nil
	}
	up := in.up
	n.mu.Unlock()
	up.Started(a.seq)
	if resume {
		up.Resume()
	}
	return a, true
}

// park stops the branch from taking work until unpark; it is called on the lane.
func (b *Branch) park() { b.parked++ }

// unpark is called on the lane.
func (b *Branch) unpark(l *lanes.Lane) {
	b.parked--
	if b.parked == 0 && b.idle {
		b.idle = false
		l.Post(b)
	}
}

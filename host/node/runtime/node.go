// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"sync"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/nervix-go/nervix/host/branch"
	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/lanes"
)

// Handler is the work of a node kind.
type Handler interface {
	// Open prepares the state of a new branch; it is called on the branch's lane before its first batch.
	Open(l *lanes.Lane, b *Branch)
	// Handle works one batch; the branch owns it from here on.
	Handle(l *lanes.Lane, b *Branch, input int, in *batch.Batch)
	// Quiet says whether the branch holds nothing, so that it may be forgotten when its TTL is over.
	Quiet(b *Branch) bool
}

// Evictor is a Handler whose branches hold something that has to be let go of when they are forgotten.
type Evictor interface {
	// Evicted ends a branch whose TTL is over, or that gave way to others; Quiet has said yes. It is called on the branch's lane. Its key may come
	// back at once, as a new branch on the same lane.
	Evicted(l *lanes.Lane, b *Branch)
}

// Node is a runtime node that consumes relays.
type Node struct {
	ref     ident.Ref
	exec    *lanes.Executor
	handler Handler
	inputs  []*Input
	merged  bool
	seed    uint64
	now     func() (vtime.Logical, bool)
	alive   []Alive // one a lane

	mu struct {
		sync.Mutex
		branches *branch.Table[*Branch]
		leaving  map[string]*Branch // gave way to newer branches and are not evicted yet, by key text
		closed   bool
		working  int // branches with a task posted or running, or parked with work
	}
}

// Config describes a node.
type Config struct {
	Ref    ident.Ref
	Lanes  *lanes.Executor
	Inputs int
	// TTL is the branch declaration's; 0 in unbranched nodes.
	TTL time.Duration
	// MaxInstances bounds the live branches; the least recently used ones give way. 0 means no bound: nodes whose branches hold next to nothing
	// leave it to the relay owners.
	MaxInstances uint64
	// Now is domain time, for TTL; it may be nil when TTL is 0.
	Now func() (vtime.Logical, bool)
	// Merged makes all branches one unit of work: emitters consume a relay as a whole.
	Merged bool
}

// NewNode makes a node without work.
func NewNode(c Config, handler Handler) *Node {
	n := &Node{ref: c.Ref, exec: c.Lanes, handler: handler, seed: xxh3.HashString(c.Ref.String()), merged: c.Merged, now: c.Now, alive: make([]Alive, c.Lanes.Len())}
	n.mu.branches = branch.NewTable[*Branch](c.TTL, c.MaxInstances)
	n.mu.leaving = make(map[string]*Branch)
	for i := range c.Inputs {
		n.inputs = append(n.inputs, &Input{node: n, index: i})
	}
	if c.TTL == 0 {
		n.now = nil
	}
	return n
}

// Ref names the node.
func (n *Node) Ref() ident.Ref { return n.ref }

// Input gives the i-th input, to be attached to its relay.
func (n *Node) Input(i int) *Input { return n.inputs[i] }

// Connect gives the input its place at the relay. It is called once, before the relay's first offer can be refused.
func (in *Input) Connect(up Upstream) {
	in.node.mu.Lock()
	in.up = up
	in.node.mu.Unlock()
}

// Input is where batches of one relay arrive.
type Input struct {
	node  *Node
	index int
	up    Upstream

	// Guarded by node.mu.
	refused *Branch // the branch whose place the relay waits for
}

// Offer takes a batch if its branch has a free place. It implements the consumer port of relays.
func (in *Input) Offer(b *batch.Batch, seq uint64) bool {
	n := in.node
	n.mu.Lock()
	if n.mu.closed {
		n.mu.Unlock()
		return false
	}
	key := b.Key
	if n.merged {
		key = nil
	}
	br := n.branchLocked(key)
	if br.waiting[in.index] {
		in.refused = br
		n.mu.Unlock()
		return false
	}
	br.waiting[in.index] = true
	br.arrivals = append(br.arrivals, arrival{batch: b, seq: seq, input: in.index})
	post := !br.queued
	if post {
		br.queued = true
		n.mu.working++
	}
	n.mu.Unlock()
	if post {
		br.lane.Post(br)
	}
	return true
}

// branchLocked finds or makes the branch of a key and records the input.
func (n *Node) branchLocked(key *batch.Key) *Branch {
	e := n.mu.branches.Find(key)
	if e != nil && n.now == nil {
		return e.Value
	}
	var now vtime.Logical
	if n.now != nil {
		now, _ = n.now()
	}
	e, created, evicted := n.mu.branches.Accept(key, now)
	if created {
		e.Value = n.comeLocked(key)
	}
	if evicted != nil {
		n.mu.leaving[evicted.Key.Text] = evicted.Value
		evicted.Value.lane.Post(lanes.Func(func(l *lanes.Lane) { n.leave(l, evicted.Value) }))
	}
	return e.Value
}

// comeLocked makes a branch, or finds the one of the same key that has not left yet.
func (n *Node) comeLocked(key *batch.Key) *Branch {
	if key != nil {
		if b := n.mu.leaving[key.Text]; b != nil {
			delete(n.mu.leaving, key.Text)
			return b
		}
	}
	return &Branch{Key: key, node: n, lane: n.laneOf(key), waiting: make([]bool, len(n.inputs))}
}

// Home is the lane of unbranched work; it differs between nodes so that unbranched graphs use more than one lane.
func (n *Node) Home() *lanes.Lane { return n.exec.For(n.seed) }

func (n *Node) laneOf(key *batch.Key) *lanes.Lane {
	if key == nil {
		return n.Home()
	}
	return n.exec.For(key.Hash)
}

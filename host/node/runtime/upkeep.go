// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"maps"
	"slices"

	"github.com/nervix-go/nervix/host/branch"
	"github.com/nervix-go/nervix/host/lanes"
)

// Alive is the list of outlets of this node that hold rows on a lane.
func (n *Node) Alive(l *lanes.Lane) *Alive { return &n.alive[l.Index()] }

// Touch reports every buffered row as alive. The engine calls it on a physical interval.
func (n *Node) Touch(monoNS int64) {
	n.onBusyLanes(func(a *Alive, _ *lanes.Lane) { a.Touch(monoNS) })
}

// ForceFlush publishes what routes hold without waiting for size or deadline (nspl 10.5).
func (n *Node) ForceFlush() {
	n.onBusyLanes(func(a *Alive, l *lanes.Lane) { a.Each(func(o *Outlet) { o.Flush(l) }) })
}

func (n *Node) onBusyLanes(visit func(*Alive, *lanes.Lane)) {
	for i := range n.alive {
		a := &n.alive[i]
		if a.Len() > 0 {
			n.exec.At(i).Post(lanes.Func(func(l *lanes.Lane) { visit(a, l) }))
		}
	}
}

// Busy says whether the node holds rows: a batch waits or is worked, or an outlet holds rows. Counts are raised before the work moves on, so a
// false answer is never too early.
func (n *Node) Busy() bool {
	n.mu.Lock()
	working := n.mu.working
	n.mu.Unlock()
	if working > 0 {
		return true
	}
	for i := range n.alive {
		if n.alive[i].Len() > 0 {
			return true
		}
	}
	return false
}

// Branches is the number of branches the node knows.
func (n *Node) Branches() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.mu.branches.Len()
}

// Scan forgets branches whose TTL is over and that hold nothing. A branch that still holds rows stays until the next scan.
func (n *Node) Scan() {
	if n.now == nil {
		return
	}
	now, ok := n.now()
	if !ok {
		return
	}
	n.mu.Lock()
	overdue := n.mu.branches.Overdue(now)
	leaving := slices.Collect(maps.Values(n.mu.leaving))
	n.mu.Unlock()
	for _, e := range overdue {
		b := e.Value
		b.lane.Post(lanes.Func(func(l *lanes.Lane) {
			if !n.handler.Quiet(b) {
				return
			}
			n.mu.Lock()
			over := !b.queued && n.mu.branches.Over(e, now)
			if over {
				n.mu.branches.Remove(e)
			}
			n.mu.Unlock()
			if over {
				n.evicted(l, b)
			}
		}))
	}
	for _, b := range leaving {
		b.lane.Post(lanes.Func(func(l *lanes.Lane) { n.leave(l, b) }))
	}
}

// leave ends a branch that gave way, unless it came back or is at work; then the next scan tries again.
func (n *Node) leave(l *lanes.Lane, b *Branch) {
	if !n.handler.Quiet(b) {
		return
	}
	n.mu.Lock()
	gone := !b.queued && n.mu.leaving[b.Key.Text] == b
	if gone {
		delete(n.mu.leaving, b.Key.Text)
	}
	n.mu.Unlock()
	if gone {
		n.evicted(l, b)
	}
}

func (n *Node) evicted(l *lanes.Lane, b *Branch) {
	if h, ok := n.handler.(Evictor); ok && b.opened {
		h.Evicted(l, b)
	}
}

// Close refuses further offers; what was taken before is worked on.
func (n *Node) Close(reason error) {
	n.mu.Lock()
	n.mu.closed = true
	ups := make([]Upstream, 0, len(n.inputs))
	for _, in := range n.inputs {
		if in.up != nil {
			ups = append(ups, in.up)
		}
	}
	n.mu.Unlock()
	for _, up := range ups {
		up.Leave(reason)
	}
}

// Abandon fails everything the node still holds: its drain ran out of time, or its domain stops at once. The node must be closed.
func (n *Node) Abandon(reason error) {
	n.mu.Lock()
	var dropped []arrival
	drop := func(b *Branch) {
		dropped = append(dropped, b.arrivals...)
		b.arrivals = nil
	}
	n.mu.branches.All(func(e *branch.Entry[*Branch]) { drop(e.Value) })
	for _, b := range n.mu.leaving {
		drop(b)
	}
	n.mu.Unlock()
	for _, a := range dropped {
		a.batch.Fail(reason)
	}
	// Last, and on every lane: a batch that is being worked now may still reach an outlet.
	for i := range n.alive {
		a := &n.alive[i]
		n.exec.At(i).Post(lanes.Func(func(l *lanes.Lane) { a.Each(func(o *Outlet) { o.Drop(l, reason, nil) }) }))
	}
}

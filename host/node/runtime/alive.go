// SPDX-License-Identifier: Apache-2.0

package runtime

import "sync/atomic"

// Alive lists the outlets of one node on one lane that hold rows. It belongs to the lane.
type Alive struct {
	first *Outlet
	len   atomic.Int64
}

// Len is the number of outlets that hold rows; it may be read from anywhere.
func (a *Alive) Len() int { return int(a.len.Load()) }

// Touch reports every buffered row as alive, so that waiting for a flush does not count towards ACK TIMEOUT (data-plane 6.7).
func (a *Alive) Touch(monoNS int64) {
	for o := a.first; o != nil; o = o.next {
		o.lineage.Touch(monoNS)
	}
}

// Each calls visit with every outlet that holds rows; visit may empty it.
func (a *Alive) Each(visit func(*Outlet)) {
	for o := a.first; o != nil; {
		next := o.next
		visit(o)
		o = next
	}
}

func (a *Alive) linked(o *Outlet) bool { return o.prev != nil || a.first == o }

func (a *Alive) link(o *Outlet) {
	if a.linked(o) {
		return
	}
	o.prev, o.next = nil, a.first
	if a.first != nil {
		a.first.prev = o
	}
	a.first = o
	a.len.Add(1)
}

func (a *Alive) unlink(o *Outlet) {
	if !a.linked(o) {
		return
	}
	if o.prev != nil {
		o.prev.next = o.next
	} else {
		a.first = o.next
	}
	if o.next != nil {
		o.next.prev = o.prev
	}
	o.prev, o.next = nil, nil
	a.len.Add(-1)
}

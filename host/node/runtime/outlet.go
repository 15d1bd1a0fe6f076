// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"time"

	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/host/kernel/lineage"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/lanes"
)

// clockRetry is the pause before a flush deadline is tried again while the domain clock cannot be read.
const clockRetry = 50 * time.Millisecond

// Holder is what stands still while a publication waits for a place: the branch of a node, or an ingestor.
type Holder interface {
	Park()
	Unpark(l *lanes.Lane)
}

// Park stops the branch from taking work.
func (b *Branch) Park() { b.park() }

// Unpark lets the branch go on.
func (b *Branch) Unpark(l *lanes.Lane) { b.unpark(l) }

// maxColumnBytes is where a route buffer flushes whatever its MAX BATCH SIZE says: the offsets of a text column count 2 GiB at most.
const maxColumnBytes = 1 << 30

// Outlet is the buffer of one route in one concrete branch (nspl 10.5). It lives on one lane.
type Outlet struct {
	route  *Route
	key    *batch.Key
	lane   *lanes.Lane
	holder Holder
	alive  *Alive

	pieces     []batch.Piece
	lineage    lineage.Lineage
	deliveries []uint64
	rows       int
	bytes      int64

	due        vtime.Logical
	timer      lanes.Timer
	pub        batch.Publication
	publishing bool // the publication waits for a place
	again      bool // a flush came meanwhile

	prev, next *Outlet // in alive
}

// NewOutlet makes the empty buffer of a route. alive lists it while it holds rows.
func NewOutlet(route *Route, key *batch.Key, lane *lanes.Lane, holder Holder, alive *Alive) *Outlet {
	o := &Outlet{route: route, key: key, lane: lane, holder: holder, alive: alive}
	o.pub.Admitted = func() { lane.Post(lanes.Func(o.admitted)) }
	return o
}

// Add buffers rows with the lineage that names them; both pass to the outlet. now is the execution snapshot of the rows. A piece
// without rows ends at once.
func (o *Outlet) Add(l *lanes.Lane, p batch.Piece, lin lineage.Lineage, now vtime.Logical) {
	if p.Len() == 0 { // nothing to wait for; buffered, it would never be flushed
		p.Release()
		lin.Settle()
		return
	}
	if o.rows == 0 {
		o.lineage = lin
	} else {
		o.lineage = o.lineage.Append(lin, o.rows, p.Len())
	}
	o.add(l, p, now)
}

// AddDeliveries buffers ingested rows; row i of the piece belongs to deliveries[i]. The slice is copied.
func (o *Outlet) AddDeliveries(l *lanes.Lane, p batch.Piece, deliveries []uint64, now vtime.Logical) {
	if p.Len() == 0 {
		p.Release()
		return
	}
	o.deliveries = append(o.deliveries, deliveries...)
	o.add(l, p, now)
}

func (o *Outlet) add(l *lanes.Lane, p batch.Piece, now vtime.Logical) {
	if o.rows == 0 {
		o.alive.link(o)
		o.arm(l, now)
	}
	o.pieces = append(o.pieces, p)
	o.rows += p.Len()
	if f := o.route.Flush; !f.Immediate {
		if o.bytes += p.Bytes(); o.bytes >= min(f.MaxBytes, maxColumnBytes) {
			o.Flush(l)
		}
	}
}

// arm sets the deadline of the first row. Domain time may run at another rate than the timer, and now may be some time ago.
func (o *Outlet) arm(l *lanes.Lane, now vtime.Logical) {
	if o.route.Flush.Immediate {
		l.Arm(&o.timer, ImmediateWindow, lanes.Func(o.expired))
		return
	}
	due, err := now.Add(o.route.Flush.Each)
	if err != nil {
		due = vtime.LogicalFromNS(1<<63 - 1)
	}
	o.due = due
	left, err := o.route.Clock.Until(due)
	if err != nil {
		left = o.route.Flush.Each // expired will ask again
	}
	l.Arm(&o.timer, max(0, left), lanes.Func(o.expired))
}

// expired flushes if domain time has really come to the deadline; timers only guess at it.
func (o *Outlet) expired(l *lanes.Lane) {
	if !o.route.Flush.Immediate {
		left, err := o.route.Clock.Until(o.due)
		if err != nil {
			left = clockRetry
		}
		if left > 0 {
			l.Arm(&o.timer, left, lanes.Func(o.expired))
			return
		}
	}
	o.Flush(l)
}

// Flush publishes what is buffered. If the relay has no place, the holder is parked until it has.
func (o *Outlet) Flush(l *lanes.Lane) {
	if o.rows == 0 {
		return
	}
	if o.publishing {
		o.again = true
		return
	}
	l.Disarm(&o.timer)
	lin := o.lineage
	if o.route.Track != nil {
		lin = o.route.Track(o.deliveries)
		o.deliveries = nil
	}
	record, low, high := batch.Gather(o.route.Schema, o.pieces, o.route.Alloc)
	b := batch.New(record, o.key, lin, low, high)
	clear(o.pieces)
	o.pieces, o.lineage, o.bytes = o.pieces[:0], lineage.Lineage{}, 0
	o.route.Sent.Count(o.rows)
	o.rows = 0
	o.pub.Batch = b
	if o.route.Target.Publish(&o.pub) {
		o.pub.Batch = nil
		o.alive.unlink(o)
		return
	}
	o.publishing = true
	o.holder.Park()
}

// admitted goes on after a wait; it runs on the outlet's lane.
func (o *Outlet) admitted(l *lanes.Lane) {
	o.publishing = false
	o.pub.Batch = nil
	if o.rows == 0 {
		o.alive.unlink(o)
	}
	if o.again {
		o.again = false
		o.Flush(l)
	}
	o.holder.Unpark(l)
}

// Empty says that the outlet holds nothing and nothing of it waits for a place.
func (o *Outlet) Empty() bool { return o.rows == 0 && !o.publishing }

// Drop fails what is buffered: the node ends and cannot deliver it. fail is told the deliveries of an ingest outlet.
func (o *Outlet) Drop(l *lanes.Lane, reason error, fail func(deliveries []uint64)) {
	if o.rows == 0 {
		return
	}
	l.Disarm(&o.timer)
	for _, p := range o.pieces {
		p.Release()
	}
	if fail != nil {
		fail(o.deliveries)
	}
	o.lineage.Fail(reason)
	o.pieces, o.lineage, o.deliveries, o.rows, o.bytes = nil, lineage.Lineage{}, nil, 0, 0
	if !o.publishing {
		o.alive.unlink(o)
	}
}

// SPDX-License-Identifier: Apache-2.0

package wasmproc

import (
	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/host/lanes"
)

// sender publishes the batches of one route of one branch, at once and in order (nspl 10.5: WASM routes have no flush). While one waits for a place
// in the relay the branch stands still, so what queues behind it is the rest of one callback's output.
type sender struct {
	s       *state
	route   *route
	pub     batch.Publication
	queue   []*batch.Batch
	waiting bool
}

func newSender(s *state, r *route) *sender {
	x := &sender{s: s, route: r}
	x.pub.Admitted = func() { s.lane.Post(lanes.Func(x.admitted)) }
	return x
}

// send publishes b, which passes to the relay, or queues it.
func (x *sender) send(b *batch.Batch) {
	x.route.relay.Sent.Count(b.Rows())
	if x.waiting {
		x.queue = append(x.queue, b)
		return
	}
	if !x.publish(b) {
		x.waiting = true
		x.s.Park()
	}
}

func (x *sender) publish(b *batch.Batch) bool {
	x.pub.Batch = b
	if !x.route.relay.Target.Publish(&x.pub) {
		return false
	}
	x.pub.Batch = nil
	return true
}

// admitted goes on after a wait; it runs on the branch's lane.
func (x *sender) admitted(l *lanes.Lane) {
	x.pub.Batch = nil
	for len(x.queue) > 0 {
		b := x.queue[0]
		x.queue[0] = nil
		x.queue = x.queue[1:]
		if !x.publish(b) {
			return
		}
	}
	x.queue = nil
	x.waiting = false
	x.s.Unpark(l)
}

// touch reports the rows that wait as alive; the relay does so for the batch it was handed.
func (x *sender) touch(monoNS int64) {
	for _, b := range x.queue {
		b.Lineage.Touch(monoNS)
	}
}

// drop fails what waits behind the batch that the relay has.
func (x *sender) drop(reason error) {
	for _, b := range x.queue {
		b.Fail(reason)
	}
	x.queue = nil
}

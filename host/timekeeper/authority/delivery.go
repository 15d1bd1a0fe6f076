// SPDX-License-Identifier: Apache-2.0

package authority

import "slices"

// peer is another node.
type peer struct {
	Peer
	gone bool // forgotten
}

// pair is the delivery of one producer's reports to one peer. What waits is always the newest report of the producer, so nothing is stored but how
// far the peer is (C-058).
type pair struct {
	of        *producer
	to        *peer
	delivered uint64   // the newest tick the peer has answered
	under     *attempt // nil while none is under way
	queued    bool     // waits for quota
	pause     timer    // armed between a failure and its retry
}

// attempt is one request under way.
type attempt struct {
	number    Attempt
	pair      *pair
	tick      uint64
	timeout   timer
	cancelled bool
	stale     bool // its outcome says nothing about the peer that is there now
}

// offer considers whether p has something to send to a peer, and queues it.
func (m *Machine) offer(p *producer, to *peer) {
	if p.newest.Tick.ID == 0 || !to.Live || to.Revision < p.from {
		return
	}
	d := p.pairs[to.Node]
	if d == nil {
		d = &pair{of: p, to: to}
		p.pairs[to.Node] = d
	}
	d.to = to // a forgotten peer may have come back
	if d.under != nil || d.queued || d.pause.index > 0 || d.delivered >= p.newest.Tick.ID {
		return
	}
	d.queued = true
	m.queue = append(m.queue, d)
}

// pump begins attempts while the quota lasts.
func (m *Machine) pump(now Now) {
	for len(m.queue) > 0 && len(m.attempts) < m.quota {
		d := m.queue[0]
		m.queue[0] = nil
		m.queue = m.queue[1:]
		d.queued = false
		m.begin(now, d)
	}
}

func (m *Machine) begin(now Now, d *pair) {
	m.numbers++
	a := &attempt{number: m.numbers, pair: d, tick: d.of.newest.Tick.ID}
	d.under = a
	d.of.under++
	m.attempts[a.number] = a
	m.timers.arm(&a.timeout, now.Mono.Add(AttemptTimeout), func(Now) { m.cancel(a) })
	m.out = append(m.out, Send{Attempt: a.number, To: d.to.Node, Report: d.of.newest})
}

// cancel asks the driver to end an attempt. It stays under way until the driver says that it has ended.
func (m *Machine) cancel(a *attempt) {
	m.timers.disarm(&a.timeout)
	if a.cancelled {
		return
	}
	a.cancelled = true
	m.out = append(m.out, Cancel{a.number})
}

// restart forgets what a peer that went away has answered.
func (m *Machine) restart(d *pair) {
	if d == nil {
		return
	}
	d.delivered = 0
	m.timers.disarm(&d.pause)
	if d.queued {
		d.queued = false
		m.queue = slices.DeleteFunc(m.queue, func(q *pair) bool { return q == d })
	}
	if d.under != nil {
		d.under.stale = true
		m.cancel(d.under)
	}
}

func (m *Machine) ended(now Now, a *attempt, answered bool) {
	m.timers.disarm(&a.timeout)
	d := a.pair
	d.under = nil
	d.of.under--
	if d.of.retired {
		m.succeed(now, d.of.seat)
		return
	}
	switch {
	case d.to.gone:
		delete(d.of.pairs, d.to.Node)
		return
	case a.stale:
	case answered:
		d.delivered = max(d.delivered, a.tick)
	default:
		m.timers.arm(&d.pause, now.Mono.Add(RetryPause), func(Now) { m.offer(d.of, d.to) })
		return
	}
	m.offer(d.of, d.to)
}

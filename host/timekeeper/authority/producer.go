// SPDX-License-Identifier: Apache-2.0

package authority

import (
	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
)

// seat is the place of a domain's producer on this node. It exists while there is one, or one that has not retired.
type seat struct {
	domain   ident.Domain
	now      *producer
	retiring *producer // cancelled, with attempts that have not ended
	// next is what is to be served once the retiring producer is gone; from is the revision that holds it.
	next clock.Lifecycle
	from ident.Revision
}

// producer is one producer with its deliveries. It keeps its fence until its last attempt has ended (C-048).
type producer struct {
	*clock.Producer
	seat    *seat
	from    ident.Revision // a target must have installed at least this revision (C-060)
	newest  clock.Progress // tick number 0 before the first
	pairs   map[ident.Node]*pair
	under   int // attempts under way
	retired bool
	due     timer
	failed  fault.Code // of the failure told last, so that one that repeats is told once
}

// owns says whether this process is the authority that a lifecycle names.
func (m *Machine) owns(l clock.Lifecycle) bool {
	return l.State() == clock.Paced && l.Fence.Authority == m.self
}

// seat brings a domain to a lifecycle: the producer that no longer serves it retires, and then its successor starts.
func (m *Machine) seat(now Now, s *seat, l clock.Lifecycle, from ident.Revision) {
	if s.now != nil {
		if s.now.Serves(l, m.self) {
			return
		}
		m.retire(s)
	}
	s.next, s.from = l, from
	m.succeed(now, s)
}

// retire ends the producer of a seat: nothing more is emitted, and what is under way is cancelled.
func (m *Machine) retire(s *seat) {
	p := s.now
	s.now = nil
	p.retired = true
	m.timers.disarm(&p.due)
	for _, to := range m.peers {
		if d := p.pairs[to.Node]; d != nil {
			m.restart(d)
		}
	}
	if p.under > 0 {
		s.retiring = p
	}
}

// succeed starts what a seat is to serve, unless its predecessor has attempts that have not ended.
func (m *Machine) succeed(now Now, s *seat) {
	if s.retiring != nil {
		if s.retiring.under > 0 {
			return
		}
		s.retiring = nil
	}
	p, ok := clock.NewProducer(s.next, m.self)
	if !ok {
		delete(m.domains, s.domain)
		return
	}
	s.now = &producer{Producer: p, seat: s, from: s.from, pairs: make(map[ident.Node]*pair)}
	m.step(now, s.now)
}

// step lets a producer emit, and arms its next step.
func (m *Machine) step(now Now, p *producer) {
	e, err := p.Step(now.UTC, now.Mono)
	if e.Emitted {
		m.out = append(m.out, Report{e.Report})
		p.newest = e.Report
		for _, to := range m.peers {
			m.offer(p, to)
		}
	}
	switch {
	case err == nil:
		p.failed = ""
	case fault.CodeOf(err) != p.failed || e.Done:
		p.failed = fault.CodeOf(err)
		m.out = append(m.out, Failure{Domain: p.Lifecycle().Domain, Err: err, Final: e.Done})
	}
	if !e.Done {
		wait := max(e.Wait, 1)
		if e.Emitted {
			wait = max(wait, m.rest)
		}
		m.timers.arm(&p.due, now.Mono.Add(wait), func(now Now) { m.step(now, p) })
	}
}

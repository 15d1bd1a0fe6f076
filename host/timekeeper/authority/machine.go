// SPDX-License-Identifier: Apache-2.0

package authority

import (
	"slices"
	"time"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// The physical bounds of a delivery (C-063).
const (
	AttemptTimeout = 2 * time.Second
	RetryPause     = 200 * time.Millisecond
)

// DefaultQuota is how many attempts are under way at once unless the configuration says otherwise.
const DefaultQuota = 16

// Now is one observation of both clocks.
type Now struct {
	UTC  vtime.UTC
	Mono vtime.Mono
}

// Config is what a machine is built from.
type Config struct {
	// Self is this process; a producer exists only where the committed authority equals it, incarnation included (C-047).
	Self clock.Authority
	// Quota bounds the attempts under way at once over all peers and domains; 0 means DefaultQuota.
	Quota int
	// Rest is the least pause behind an emission, also where a period passes sooner: the boundaries within it coalesce like those of any delay, and a
	// domain with a tick a nanosecond takes no processor for itself. 0 means none; a period and rate of people are far above it.
	Rest time.Duration
}

// Peer is what is known about another node.
type Peer struct {
	Node        ident.Node
	Incarnation ident.Incarnation
	// Revision is the clock revision the node advertises (C-060); 0 before it has advertised one.
	Revision ident.Revision
	// Live says whether the node can be reached.
	Live bool
}

// Machine decides for one node. See the package comment.
type Machine struct {
	self     clock.Authority
	quota    int
	rest     time.Duration
	domains  map[ident.Domain]*seat
	peers    []*peer // ascending by node
	attempts map[Attempt]*attempt
	numbers  Attempt
	queue    []*pair // wait for quota, the oldest first
	timers   timers
	out      []Effect
}

// New makes a machine that knows no domain and no peer.
func New(c Config) *Machine {
	if c.Quota <= 0 {
		c.Quota = DefaultQuota
	}
	return &Machine{self: c.Self, quota: c.Quota, rest: c.Rest, domains: make(map[ident.Domain]*seat), attempts: make(map[Attempt]*attempt)}
}

// Install tells what this node has just installed for a domain, and the committed revision that holds it. The machine must hear of an installation
// after it was published, never before: a producer produces only what its own node can read (C-025).
func (m *Machine) Install(now Now, l clock.Lifecycle, from ident.Revision) {
	s := m.domains[l.Domain]
	if s == nil {
		if !m.owns(l) {
			return // most domains of most nodes
		}
		s = &seat{domain: l.Domain}
		m.domains[l.Domain] = s
	}
	m.seat(now, s, l, from)
	m.pump(now)
}

// Remove tells that the node holds the domain no more.
func (m *Machine) Remove(now Now, d ident.Domain) {
	if s := m.domains[d]; s != nil {
		m.seat(now, s, clock.Lifecycle{Domain: d}, 0)
		m.pump(now)
	}
}

// Peer tells what is known about a peer now. A peer that was away, or comes back as another process, gets the newest report again (C-062).
func (m *Machine) Peer(now Now, p Peer) {
	if p.Node == m.self.Node {
		return
	}
	at, known := m.find(p.Node)
	if !known {
		m.peers = slices.Insert(m.peers, at, &peer{Peer: p})
	}
	to := m.peers[at]
	again := !p.Live || to.Incarnation != p.Incarnation
	to.Peer = p
	for _, s := range m.seats() {
		if s.now == nil {
			continue
		}
		if again {
			m.restart(s.now.pairs[p.Node])
		}
		m.offer(s.now, to)
	}
	m.pump(now)
}

// Forget drops a peer that is no longer a member.
func (m *Machine) Forget(now Now, node ident.Node) {
	at, known := m.find(node)
	if !known {
		return
	}
	m.peers[at].Live, m.peers[at].gone = false, true
	m.peers = slices.Delete(m.peers, at, at+1)
	for _, s := range m.seats() {
		if s.now == nil || s.now.pairs[node] == nil {
			continue
		}
		d := s.now.pairs[node]
		if m.restart(d); d.under == nil {
			delete(s.now.pairs, node)
		}
	}
	m.pump(now)
}

// Ended tells that a request has ended, and whether the peer answered it. Unknown attempts are ignored.
func (m *Machine) Ended(now Now, number Attempt, answered bool) {
	a := m.attempts[number]
	if a == nil {
		return
	}
	delete(m.attempts, number)
	m.ended(now, a, answered)
	m.pump(now)
}

// Wake does what has become due. It may be called at any time; Next says when it has to be.
func (m *Machine) Wake(now Now) {
	m.timers.run(now)
	m.pump(now)
}

// Next is the moment by which Wake must be called; false while nothing is armed.
func (m *Machine) Next() (vtime.Mono, bool) { return m.timers.next() }

// Take hands over the effects since the last call.
func (m *Machine) Take() []Effect {
	out := m.out
	m.out = nil
	return out
}

// Producing lists the domains that have a producer here, for inspection and tests.
func (m *Machine) Producing() []ident.Domain {
	var out []ident.Domain
	for d, s := range m.domains {
		if s.now != nil {
			out = append(out, d)
		}
	}
	slices.Sort(out)
	return out
}

// UnderWay is the number of attempts that have not ended.
func (m *Machine) UnderWay() int { return len(m.attempts) }

func (m *Machine) find(node ident.Node) (int, bool) {
	return slices.BinarySearchFunc(m.peers, node, func(p *peer, n ident.Node) int {
		switch {
		case p.Node < n:
			return -1
		case p.Node > n:
			return 1
		default:
			return 0
		}
	})
}

// seats are the domains in the order of their names, so that the same events give the same effects.
func (m *Machine) seats() []*seat {
	names := make([]ident.Domain, 0, len(m.domains))
	for d := range m.domains {
		names = append(names, d)
	}
	slices.Sort(names)
	out := make([]*seat, len(names))
	for i, d := range names {
		out[i] = m.domains[d]
	}
	return out
}

// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"maps"
	"slices"
	"time"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// clocks is the committed state of one revision. It is never changed.
type clocks map[ident.Domain]clock.Lifecycle

func (c clocks) names() []ident.Domain { return slices.Sorted(maps.Keys(c)) }

func (c clocks) all() []clock.Lifecycle {
	out := make([]clock.Lifecycle, 0, len(c))
	for _, d := range c.names() {
		out = append(out, c[d])
	}
	return out
}

// The timing of the control plane.
const (
	electionPause = 300 * time.Millisecond
	proposalPause = 200 * time.Millisecond // C-044
	silence       = 1600 * time.Millisecond
	heartbeat     = 500 * time.Millisecond
)

// plane is the control plane: a log of committed states, and who leads. Revision r is log[r].
type plane struct {
	cluster *Cluster
	log     []clocks
	voters  map[ident.Node]bool
	// leader is nil while there is none; term counts leaders. Writes are refused before readyAt (C-045).
	leader  *process
	term    int
	readyAt int64
}

func (p *plane) newest() ident.Revision { return ident.Revision(len(p.log) - 1) }

func (p *plane) committed() clocks { return p.log[p.newest()] }

// quorum says whether a process reaches most voters.
func (p *plane) quorum(of *process) bool {
	if of.dead {
		return false
	}
	reached := 0
	for _, n := range p.cluster.nodes {
		if p.voters[n.id] && n.process != nil && p.cluster.network.open(of.node.id, n.id) {
			reached++
		}
	}
	return 2*reached > len(p.voters)
}

// watch replaces a leader that died or lost its quorum.
func (p *plane) watch() {
	s := p.cluster
	s.after(s.between(electionPause/2, electionPause), "election timer", func() {
		if p.leader == nil || !p.quorum(p.leader) || !p.voters[p.leader.node.id] {
			p.replace()
		}
		p.watch()
	})
}

// replace elects one of the voters that reach a quorum.
func (p *plane) replace() {
	p.leader = nil
	var able []*node
	for _, n := range p.cluster.nodes {
		if n.process != nil && p.voters[n.id] && p.quorum(n.process) {
			able = append(able, n)
		}
	}
	if len(able) > 0 {
		p.elect(able[p.cluster.random.IntN(len(able))])
	}
}

func (p *plane) elect(n *node) {
	s := p.cluster
	p.leader = n.process
	p.term++
	p.readyAt = s.now + int64(s.between(0, electionPause))
	n.process.follow(p.newest()) // whoever is elected has the whole log
	n.process.reconcile(s.breaks(LeaderMoves))
}

// propose brings a change to the log, which takes a while. change runs on the newest committed state; false refuses it. A proposal fails if its
// process is no longer connected to a quorum, and perhaps if it no longer leads: a predecessor's entry may still be committed.
func (p *plane) propose(by *process, what string, change func(clocks) (clocks, bool), done func(committed bool)) {
	s := p.cluster
	s.after(s.between(time.Millisecond, 80*time.Millisecond), what, func() {
		ok := p.quorum(by) && s.now >= p.readyAt && (p.leader == by || s.chance(0.5))
		if ok {
			var next clocks
			if next, ok = change(p.committed()); ok {
				p.append(next)
			} else {
				s.judged.Stale++
			}
		}
		if !by.dead {
			done(ok)
		}
	})
}

func (p *plane) append(next clocks) {
	s := p.cluster
	s.checkTransition(p.committed(), next)
	p.log = append(p.log, next)
	s.judged.Commits++
	for _, n := range s.nodes {
		p.tell(n)
	}
}

// tell lets a node learn of the newest revision, in time.
func (p *plane) tell(n *node) {
	s := p.cluster
	s.after(s.between(time.Millisecond, 60*time.Millisecond), "learn", func() { p.learn(n) })
}

// learn brings a node one revision further, or to the newest at once, if it reaches the leader. It is also tried by heartbeats.
func (p *plane) learn(n *node) {
	if n.process == nil || n.process.followed >= p.newest() || p.leader == nil || p.leader.dead || !p.cluster.network.open(n.id, p.leader.node.id) {
		return
	}
	if p.cluster.chance(0.3) {
		n.process.follow(p.newest())
		return
	}
	n.process.follow(n.process.followed + 1)
	if n.process.followed < p.newest() {
		p.tell(n)
	}
}

// with is the state with one domain changed.
func (c clocks) with(l clock.Lifecycle) clocks {
	next := maps.Clone(c)
	next[l.Domain] = l
	return next
}

// change proposes a change of one domain, decided on what the leader holds. It is refused if the domain is no longer that at the commit.
func (s *Cluster) change(what string, d ident.Domain, decide func(at *process, l clock.Lifecycle) (clock.Lifecycle, bool)) {
	leader := s.plane.leader
	if leader == nil || leader.dead {
		return
	}
	before := s.plane.log[leader.followed][d]
	next, ok := decide(leader, before)
	if !ok {
		return
	}
	s.plane.propose(leader, what, func(now clocks) (clocks, bool) {
		if now[d] != before {
			return nil, false
		}
		if next.Domain == "" {
			without := maps.Clone(now)
			delete(without, d)
			return without, true
		}
		if next.Created == 0 {
			next.Created = s.plane.newest() + 1
		}
		return now.with(next), true
	}, func(bool) {})
}

// Create makes a domain, paced if its pace has a period.
func (s *Cluster) Create(d ident.Domain, pace clock.Pace) {
	s.change("commit create", d, func(_ *process, l clock.Lifecycle) (clock.Lifecycle, bool) {
		return clock.Lifecycle{Domain: d, Paced: pace.Period > 0, Pace: pace}, l.Domain == ""
	})
}

// Drop removes a stopped domain.
func (s *Cluster) Drop(d ident.Domain) {
	s.change("commit drop", d, func(_ *process, l clock.Lifecycle) (clock.Lifecycle, bool) {
		return clock.Lifecycle{}, l.Domain != "" && !l.Running
	})
}

// Start starts a domain. The leader samples its UTC once, and takes the candidates that it sees.
func (s *Cluster) Start(d ident.Domain, r clock.StartRequest) {
	s.change("commit start", d, func(at *process, l clock.Lifecycle) (clock.Lifecycle, bool) {
		if l.Domain == "" {
			return l, false
		}
		if !l.Paced {
			r = clock.StartRequest{}
		}
		next, err := clock.Start(l, r, clock.StartInputs{UTC: at.node.utc(), Candidates: at.candidates()})
		return next, err == nil
	})
}

// Stop stops a domain.
func (s *Cluster) Stop(d ident.Domain) {
	s.change("commit stop", d, func(_ *process, l clock.Lifecycle) (clock.Lifecycle, bool) { return clock.Stop(l), l.Running })
}

// candidates are the voters that a process takes for live.
func (p *process) candidates() []clock.Authority {
	var out []clock.Authority
	for _, n := range p.node.cluster.nodes {
		switch v := p.peers[n.id]; {
		case !p.node.cluster.plane.voters[n.id]:
		case n.id == p.node.id:
			out = append(out, p.self)
		case v != nil && v.live:
			out = append(out, clock.Authority{Node: n.id, Incarnation: v.incarnation})
		}
	}
	return out
}

// reconcile proposes what clock.Reconcile asks for, if the process leads (C-035). again chooses every authority anew, which no leader may.
func (p *process) reconcile(again bool) {
	s := p.node.cluster
	if s.plane.leader != p {
		return
	}
	state, candidates := s.plane.log[p.followed], p.candidates()
	for _, d := range state.names() {
		l := state[d]
		next, needed := clock.Reconcile(l, candidates)
		if again && l.Running && l.Paced {
			a, _ := clock.Select(d, slices.DeleteFunc(slices.Clone(candidates), func(c clock.Authority) bool { return c == l.Fence.Authority }))
			next, needed = clock.Fence{Revision: l.Fence.Revision + 1, Authority: a}, true
		}
		if !needed || p.proposing[d] {
			continue
		}
		if slices.Contains(candidates, l.Fence.Authority) {
			s.violate("moved an eligible authority", "%s of %s is a candidate, %s takes over", l.Fence.Authority, d, next.Authority)
		}
		p.proposing[d] = true
		s.plane.propose(p, "commit authority", func(now clocks) (clocks, bool) { return s.reassign(now, l, next) }, func(committed bool) {
			delete(p.proposing, d)
			if !committed {
				s.after(proposalPause, "propose again", func() { p.reconcile(false) })
			}
		})
	}
}

// reassign commits a new fence by comparing.
func (s *Cluster) reassign(now clocks, seen clock.Lifecycle, next clock.Fence) (clocks, bool) {
	l, ok := clock.Reassign(now[seen.Domain], seen.Generation, seen.Fence, next)
	switch {
	case s.breaks(BlindCommit) && now[seen.Domain].Domain != "":
		l, ok = now[seen.Domain], true
		l.Fence = next
	case s.breaks(Reanchor) && ok:
		origin, err := l.Mapping.At(vtime.UTCFromNS(epoch + s.now))
		if err != nil {
			return nil, false
		}
		l.Mapping.WallStartedAt, l.Mapping.LogicalStart = vtime.UTCFromNS(epoch+s.now), origin
	}
	if !ok {
		return nil, false
	}
	s.judged.Takeovers++
	return now.with(l), true
}

// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"time"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/timekeeper"
	"github.com/nervix-go/nervix/host/timekeeper/authority"
)

// process is one start of a node: its keeper, its authority machine, and the driver between them.
type process struct {
	node   *node
	self   clock.Authority
	booted int64
	dead   bool
	// touched says that the event at work may have changed what the process holds.
	touched bool

	keeper  *timekeeper.Keeper
	machine *authority.Machine
	flights map[authority.Attempt]*flight
	// wakeAt is the moment for which the machine's timer is armed; 0 when it is not.
	wakeAt int64

	// followed is the newest revision that the process has learned of, graph the newest whose graph is installed.
	followed, graph ident.Revision
	// begun is the newest revision whose graph installation has begun, installing how many have not ended.
	begun      ident.Revision
	installing int
	// following says that the fences of a revision are being installed.
	following bool
	proposing map[ident.Domain]bool
	peers     map[ident.Node]*peer

	domains map[ident.Domain]*seat
}

// peer is what a process knows about another node.
type peer struct {
	incarnation ident.Incarnation
	revision    ident.Revision
	heard       int64
	live        bool
	// answered are the reports that the peer has answered since it was heard of last after a silence.
	answered map[ident.Domain]clock.Progress
}

// flight is a request under way.
type flight struct {
	send      authority.Send
	cancelled bool
}

func newProcess(n *node) *process {
	p := &process{
		node: n, self: clock.Authority{Node: n.id, Incarnation: n.incarnation}, booted: n.cluster.now, flights: map[authority.Attempt]*flight{},
		proposing: map[ident.Domain]bool{}, peers: map[ident.Node]*peer{}, domains: map[ident.Domain]*seat{},
	}
	p.keeper = timekeeper.New(timekeeper.Config{UTC: n.utc})
	p.machine = authority.New(authority.Config{Self: p.self, Quota: 4})
	return p
}

func (p *process) start() {
	p.keeper.Observe(p)
	p.node.cluster.plane.learn(p.node)
	p.beat()
}

// now reads both clocks of the host once.
func (p *process) now() authority.Now {
	return authority.Now{UTC: p.node.utc(), Mono: vtime.MonoFromNS(p.node.cluster.now - p.booted)}
}

// follow learns of a revision: fences at once, everything else with the graph (C-049, C-050).
func (p *process) follow(r ident.Revision) {
	if r < p.followed {
		return
	}
	s := p.node.cluster
	p.followed, p.touched = r, true
	if !s.breaks(FencesWithGraph) {
		p.following = true
		p.keeper.InstallFences(s.plane.log[r].all(), r)
		p.following = false
		p.settle()
	}
	p.install()
	p.reconcile(false)
}

// install begins the graph installation of the newest revision: one at a time, or at times beside another one, so that they end in any order.
func (p *process) install() {
	s := p.node.cluster
	if p.begun == p.followed || p.installing > 0 && !s.chance(0.1) {
		return
	}
	p.installing++
	p.begun = p.followed
	r := p.followed
	took := s.between(time.Millisecond, 80*time.Millisecond)
	if !s.calm && s.chance(0.1) {
		took = s.between(100*time.Millisecond, 3*time.Second)
	}
	s.after(took, "graph", func() { p.installed(r) })
}

// installed ends a graph installation, unless the node hangs: then it is tried again.
func (p *process) installed(r ident.Revision) {
	s := p.node.cluster
	switch {
	case p.dead:
		return
	case p.node.hangs:
		s.after(50*time.Millisecond, "graph hangs", func() { p.installed(r) })
		return
	}
	p.installing--
	p.graph = max(p.graph, r)
	label := r
	if s.breaks(LateGraphWins) {
		label = p.followed
	}
	p.keeper.Install(s.plane.log[r].all(), label)
	p.settle()
	p.install()
}

// Installed implements timekeeper.Observer.
func (p *process) Installed(l clock.Lifecycle, revision ident.Revision) {
	p.checkInstalled(l, revision)
	p.hold(l, revision)
	p.machine.Install(p.now(), l, revision)
}

// Removed implements timekeeper.Observer.
func (p *process) Removed(d ident.Domain) {
	if p.following {
		p.node.cluster.violate("installation order", "%s: %s was removed ahead of the graph", p.self, d)
	}
	delete(p.domains, d)
	p.machine.Remove(p.now(), d)
}

// Advertised implements timekeeper.Observer.
func (p *process) Advertised(revision ident.Revision) {
	p.checkAdvertised(revision)
	p.hello()
}

// beat repeats what peers should know, and notices who fell silent.
func (p *process) beat() {
	s := p.node.cluster
	if p.dead {
		return
	}
	p.hello()
	for _, n := range s.nodes {
		if v := p.peers[n.id]; v != nil && v.live && s.now-v.heard > int64(silence) {
			v.live = false
			p.tell(n.id, v)
		}
	}
	s.plane.learn(p.node)
	s.after(s.between(heartbeat-50*time.Millisecond, heartbeat), "heartbeat", p.beat)
}

// hello tells every peer who runs here and which clock revision is installed.
func (p *process) hello() {
	s := p.node.cluster
	incarnation, revision := p.self.Incarnation, p.keeper.Advertised()
	for _, n := range s.nodes {
		if n != p.node {
			s.network.send("hello", p.node.id, n.id, func(at *process) { at.heard(p.node.id, incarnation, revision) })
		}
	}
}

// heard takes a peer's message; what older processes of the peer said counts no more.
func (p *process) heard(from ident.Node, incarnation ident.Incarnation, revision ident.Revision) {
	v := p.peers[from]
	switch {
	case v == nil || incarnation > v.incarnation:
		v = &peer{incarnation: incarnation, revision: revision, answered: map[ident.Domain]clock.Progress{}}
		p.peers[from] = v
	case incarnation < v.incarnation:
		return
	}
	news := !v.live || revision > v.revision || v.heard == 0
	v.revision, v.heard, v.live = max(v.revision, revision), p.node.cluster.now, true
	if news {
		p.tell(from, v)
	}
}

// tell passes on what is known about a peer.
func (p *process) tell(id ident.Node, v *peer) {
	known := authority.Peer{Node: id, Incarnation: v.incarnation, Revision: v.revision, Live: v.live}
	if p.node.cluster.breaks(UnaskedReports) {
		known.Revision = 1 << 40
	}
	if !v.live {
		clear(v.answered)
	}
	p.machine.Peer(p.now(), known)
	p.settle()
	p.reconcile(false)
}

// settle carries out what the machine wants, and arms its timer.
func (p *process) settle() {
	for effects := p.machine.Take(); len(effects) > 0; effects = p.machine.Take() {
		for _, e := range effects {
			p.carryOut(e)
		}
	}
	p.touched = true
	p.checkProducers()
	s := p.node.cluster
	at, armed := p.machine.Next()
	if !armed {
		return
	}
	due := max(p.booted+at.NS(), s.now)
	if p.wakeAt != 0 && p.wakeAt <= due {
		return
	}
	p.wakeAt = due
	late := s.between(0, time.Millisecond)
	if !s.calm && s.chance(0.02) {
		late = s.between(0, 2*time.Second)
	}
	s.queue.add(max(due+int64(late), p.node.stalled), "timer", func() { p.wake(due) })
}

func (p *process) wake(armed int64) {
	if p.dead || p.wakeAt != armed {
		return
	}
	p.wakeAt = 0
	p.machine.Wake(p.now())
	p.settle()
}

func (p *process) carryOut(e authority.Effect) {
	switch e := e.(type) {
	case authority.Report:
		p.emit(e.Progress)
	case authority.Send:
		p.send(e)
	case authority.Cancel:
		p.cancel(e.Attempt)
	case authority.Failure:
		p.checkFailure(e)
	}
}

// emit takes an own tick, without the network.
func (p *process) emit(report clock.Progress) {
	s := p.node.cluster
	if held := p.domains[report.Domain]; s.breaks(EveryTick) && held != nil && held.last.Tick.ID != 0 && report.Tick.ID > held.last.Tick.ID+1 {
		missed := report
		missed.Tick.ID = held.last.Tick.ID + 1
		p.checkEmitted(missed)
	}
	p.checkEmitted(report)
	s.emitted = append(s.emitted, emission{s.now, report})
	s.judged.Emitted++
	p.receive(p.node.id, report)
	if s.breaks(SeveralReports) {
		for _, n := range s.nodes {
			if v := p.peers[n.id]; v != nil && v.live && v.revision >= p.domains[report.Domain].revision {
				p.send(authority.Send{Attempt: authority.Attempt(1<<40 + s.judged.Sent), To: n.id, Report: report})
			}
		}
	}
}

// send begins a request. It ends by an answer, by a refused connection, or when the machine cancels it.
func (p *process) send(e authority.Send) {
	s := p.node.cluster
	p.checkSend(e)
	s.judged.Sent++
	p.flights[e.Attempt] = &flight{send: e}
	if to := s.nodes[e.To-1]; (to.process == nil || !s.network.open(p.node.id, e.To)) && s.chance(0.5) {
		s.after(s.between(time.Millisecond, 20*time.Millisecond), "connection refused", func() { p.end(e.Attempt, false) })
		return
	}
	if s.chance(s.network.progress) {
		return
	}
	s.network.send("progress", p.node.id, e.To, func(at *process) {
		at.receive(p.node.id, e.Report)
		s.network.send("answer", e.To, p.node.id, func(back *process) {
			if back == p {
				p.end(e.Attempt, true)
			}
		})
	})
}

func (p *process) cancel(a authority.Attempt) {
	s := p.node.cluster
	if f := p.flights[a]; f != nil {
		f.cancelled = true
		s.after(s.between(0, 20*time.Millisecond), "cancelled", func() { p.end(a, false) })
	}
}

func (p *process) end(a authority.Attempt, answered bool) {
	if p.dead || p.flights[a] == nil {
		return
	}
	f := p.flights[a]
	delete(p.flights, a)
	if v := p.peers[f.send.To]; v != nil && answered && !f.cancelled {
		v.answered[f.send.Report.Domain] = f.send.Report
	}
	p.machine.Ended(p.now(), a, answered)
	p.settle()
}

// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"errors"
	"math/big"
	"slices"
	"time"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/timekeeper"
	"github.com/nervix-go/nervix/host/timekeeper/authority"
)

// seat is what a process holds of one domain, as the checks know it: what the keeper told, and what must follow from it.
type seat struct {
	lifecycle clock.Lifecycle
	state     clock.State
	revision  ident.Revision
	current   *timekeeper.Handle // of the installed generation
	former    *timekeeper.Handle // of the generation before it
	watch     *timekeeper.Watch
	// mark is the highest reading of this uninterrupted installation of the generation, if marked.
	mark   vtime.Logical
	marked bool
	// kept is the newest acceptable report of the generation.
	kept clock.Progress
	// last and lastAt are the newest tick that this process emitted under the installed fence.
	last   clock.Progress
	lastAt int64
	stray  clock.Progress // what a broken run shows in place of kept
}

// hold takes over what the keeper has published.
func (p *process) hold(l clock.Lifecycle, revision ident.Revision) {
	s := p.domains[l.Domain]
	if s == nil || s.lifecycle.Created != l.Created {
		s = &seat{}
		p.domains[l.Domain] = s
		s.watch, _ = p.keeper.Watch(l.Domain)
	}
	before := s.lifecycle
	s.lifecycle, s.state, s.revision = l, l.State(), revision
	p.touched = true
	if l.Generation != before.Generation || s.current == nil {
		s.former, s.current = s.current, p.keeper.Retain(l.Domain, l.Generation)
	}
	if l.Generation != before.Generation || l.State() != before.State() {
		s.marked = false
	}
	if l.Generation != before.Generation || !l.Running {
		if p.node.cluster.breaks(KeptTicks) && s.kept.Tick.ID != 0 {
			s.stray = s.kept
		}
		s.kept = clock.Progress{}
	}
	if l != before {
		s.last = clock.Progress{}
	}
}

// checkTransition sees that one revision follows from another by exactly one kind of step (C-023, C-028, C-008).
func (s *Cluster) checkTransition(before, after clocks) {
	for d, l := range before {
		next, there := after[d]
		if next == l {
			continue
		}
		fence := l
		fence.Fence = next.Fence
		newer := next.Fence.Revision == l.Fence.Revision+1
		start := !l.Running && next.Running && next.Generation == l.Generation+1 &&
			(!l.Paced || newer && !next.Fence.Authority.IsZero() && !next.Mapping.IsZero())
		stop := l.Running && !next.Running && next.Generation == l.Generation && next.Mapping.IsZero() && next.Fence.Authority.IsZero() && (!l.Paced || newer)
		switch {
		case !there && !l.Running, start, stop:
		case there && next == fence && newer && l.Running && l.Paced:
		default:
			s.violate("illegal commit", "%+v became %+v", l, next)
		}
	}
}

// checkInstalled sees that an installation is a whole committed lifecycle, not older than the one it replaces, and that nothing but a fence goes ahead of
// the graph (C-049..C-051, C-206).
func (p *process) checkInstalled(l clock.Lifecycle, revision ident.Revision) {
	s := p.node.cluster
	if int(revision) >= len(s.plane.log) || s.plane.log[revision][l.Domain] != l {
		s.violate("uncommitted installation", "%s: %+v is not what revision %d says", p.self, l, revision)
		return
	}
	held := p.domains[l.Domain]
	if held == nil {
		if p.following {
			s.violate("installation order", "%s: %s was added ahead of the graph", p.self, l.Domain)
		}
		return
	}
	b := held.lifecycle
	if b.Created == l.Created && (l.Generation < b.Generation || l.Fence.Revision < b.Fence.Revision || revision < held.revision) {
		s.violate("older installation", "%s: %+v of revision %d replaced %+v of %d", p.self, l, revision, b, held.revision)
	}
	if b.Fence = l.Fence; p.following && b != l {
		s.violate("installation order", "%s: %+v was installed ahead of the graph over %+v", p.self, l, held.lifecycle)
	}
}

// checkAdvertised sees that all clocks equal those of the advertised revision (C-061).
func (p *process) checkAdvertised(revision ident.Revision) {
	s := p.node.cluster
	state := s.plane.log[revision]
	for d, l := range state {
		if held := p.domains[d]; held == nil || held.lifecycle != l {
			s.violate("false advertisement", "%s advertises revision %d, but does not hold %+v", p.self, revision, l)
		}
	}
	if len(state) != len(p.domains) {
		s.violate("false advertisement", "%s advertises revision %d of %d domains and holds %d", p.self, revision, len(state), len(p.domains))
	}
}

// acceptable is C-065 and C-066, written down again.
func acceptable(held clock.Lifecycle, from ident.Node, r clock.Progress) bool {
	return held.Domain != "" && held.Running && held.Paced && r.Generation == held.Generation && r.Fence.Revision == held.Fence.Revision &&
		r.Fence.Authority.Node == held.Fence.Authority.Node && r.Fence.Authority.Incarnation == held.Fence.Authority.Incarnation &&
		held.Fence.Authority.Node == from && from != 0 && r.Tick.ID != 0
}

// receive gives a report to the keeper, and checks its verdict.
func (p *process) receive(from ident.Node, r clock.Progress) {
	s := p.node.cluster
	p.touched = true
	accepted := p.keeper.Receive(from, r) == nil || p.believes(from, r)
	held := p.domains[r.Domain]
	if held == nil {
		if accepted {
			s.violate("foreign report", "%s accepted %+v for a domain it does not hold", p.self, r)
		}
		return
	}
	if may := acceptable(held.lifecycle, from, r); may != accepted {
		s.violate("foreign report", "%s holds %+v; report %+v from %s: accepted %v", p.self, held.lifecycle, r, from, accepted)
		return
	}
	if !accepted {
		s.judged.Refused++
		return
	}
	s.judged.Accepted++
	switch k := held.kept; {
	case k.Tick.ID == 0, r.Tick.ID > k.Tick.ID && r.AuthorityUTC.NS() >= k.AuthorityUTC.NS():
		held.kept = r
	case s.breaks(OlderTicks):
		held.stray = r
	}
}

// believes is what a broken receiver accepts beyond the rest.
func (p *process) believes(from ident.Node, r clock.Progress) bool {
	held := p.domains[r.Domain]
	if held == nil {
		return false
	}
	l := held.lifecycle
	switch p.node.cluster.config.Break {
	case AnyGeneration:
		r.Generation = l.Generation
		r.Fence = l.Fence
	case AnyRevision:
		r.Fence.Revision = l.Fence.Revision
	case AnyIncarnation:
		r.Fence.Authority.Incarnation = l.Fence.Authority.Incarnation
		r.Fence.Revision = l.Fence.Revision
	case AnySender:
		from = r.Fence.Authority.Node
	default:
		return false
	}
	return acceptable(l, from, r)
}

// checkEmitted sees that a tick is the latest due one, of the installed fence, newer than the last one and a gap after it (C-052..C-055, C-048).
func (p *process) checkEmitted(r clock.Progress) {
	s := p.node.cluster
	held := p.domains[r.Domain]
	if held == nil || r.Fence != held.lifecycle.Fence || r.Generation != held.lifecycle.Generation || r.Fence.Authority != p.self {
		s.violate("foreign tick", "%s emitted %+v and holds %+v", p.self, r, held)
		return
	}
	due := dueTick(held.lifecycle, p.node.utc())
	if due.ID != r.Tick.ID || due.Boundary != r.Tick.Boundary || r.Tick.ID <= held.last.Tick.ID {
		s.violate("wrong tick", "%s emitted %+v after %d; due is %+v", p.self, r, held.last.Tick.ID, due)
	}
	if held.last.Tick.ID != 0 {
		gap := rational(held.lifecycle.Pace.Period)
		gap.Quo(gap, new(big.Rat).SetFloat64(held.lifecycle.Mapping.Rate))
		if new(big.Rat).SetInt64(s.now-held.lastAt).Cmp(gap) < 0 {
			s.violate("gap", "%s emitted %d %s after %d", p.self, r.Tick.ID, time.Duration(s.now-held.lastAt), held.last.Tick.ID)
		}
		if r.Tick.ID > held.last.Tick.ID+1 {
			s.judged.Coalesced++
		}
	}
	held.last, held.lastAt = r, s.now
}

// dueTick is C-013 and C-053 in rationals.
func dueTick(l clock.Lifecycle, utc vtime.UTC) clock.Tick {
	passed := rational(uint64(max(0, utc.NS()-l.Mapping.WallStartedAt.NS()))) // all UTC of a run lies within centuries
	passed.Mul(passed, new(big.Rat).SetFloat64(l.Mapping.Rate))
	logical := new(big.Int).Div(passed.Num(), passed.Denom())
	period := new(big.Int).SetUint64(l.Pace.Period)
	number := new(big.Int).Div(logical, period)
	at := new(big.Int).Mul(number, period)
	at.Add(at, big.NewInt(l.Mapping.LogicalStart.NS()))
	return clock.Tick{ID: number.Uint64() + 1, Boundary: vtime.LogicalFromNS(at.Int64())}
}

func rational(n uint64) *big.Rat { return new(big.Rat).SetInt(new(big.Int).SetUint64(n)) }

// checkSend sees that one request a peer and domain is under way, that it carries the newest tick, and that the peer has asked for it (C-058, C-060).
func (p *process) checkSend(e authority.Send) {
	s := p.node.cluster
	for _, f := range p.flights {
		if f.send.Report.Domain != e.Report.Domain {
			continue
		}
		if f.send.To == e.To {
			s.violate("several reports", "%s sends %+v to %s beside %+v", p.self, e.Report, e.To, f.send.Report)
		}
		if f.send.Report.Fence != e.Report.Fence {
			s.violate("two producers", "%s sends %+v while %+v has not ended", p.self, e.Report, f.send.Report)
		}
	}
	held, to := p.domains[e.Report.Domain], p.peers[e.To]
	if to != nil && to.answered[e.Report.Domain] == e.Report {
		s.violate("repeated report", "%s sends %+v to %s, which has answered it", p.self, e.Report, e.To)
	}
	switch {
	case held == nil || e.Report != held.last:
		s.violate("old report", "%s sends %+v to %s", p.self, e.Report, e.To)
	case to == nil || !to.live || to.revision < held.revision:
		s.violate("unasked report", "%s sends %+v of revision %d to %s, of which it knows %+v", p.self, e.Report, held.revision, e.To, to)
	}
}

// checkFailure sees that only arithmetic at the end of the range keeps a producer from its ticks.
func (p *process) checkFailure(f authority.Failure) {
	if !errors.Is(f.Err, clock.ErrRange) && !errors.Is(f.Err, clock.ErrUnschedulable) || !errors.Is(f.Err, vtime.ErrRange) {
		p.node.cluster.violate("producer failed", "%s: %s: %v", p.self, f.Domain, f.Err)
	}
}

// check runs after every event: over all that the processes hold which it touched, and over the readings of all others every few events, since those
// change by nothing but the time that passes.
func (s *Cluster) check() {
	everywhere := s.count%elsewhere == 0
	for _, n := range s.nodes {
		p := n.process
		if p == nil || !p.touched && !everywhere {
			continue
		}
		for d, held := range p.domains {
			p.checkReading(d, held)
			if p.touched {
				p.checkFences(d, held)
				p.checkTick(d, held)
			}
		}
		p.touched = false
	}
}

// elsewhere is after how many events the readings of untouched processes are checked, refusals after how many events the reasons of refused readings
// are; their texts cost.
const (
	elsewhere = 4
	refusals  = 8
)

// checkFences sees that no change of authority waits for the graph (C-049).
func (p *process) checkFences(d ident.Domain, held *seat) {
	committed, there := p.node.cluster.plane.log[p.followed][d]
	if !there || held.lifecycle == committed {
		return
	}
	fence := held.lifecycle
	if fence.Fence = committed.Fence; fence == committed {
		p.node.cluster.violate("takeover waits", "%s holds %+v and has learned of %+v", p.self, held.lifecycle.Fence, committed.Fence)
	}
}

// checkProducers sees that producers exist exactly where the installation says, unless a predecessor's request has not ended (C-047, C-048).
func (p *process) checkProducers() {
	s := p.node.cluster
	producing := p.machine.Producing()
	for d, held := range p.domains {
		should := held.lifecycle.State() == clock.Paced && held.lifecycle.Fence.Authority == p.self
		does := slices.Contains(producing, d)
		waits := false
		for _, f := range p.flights {
			waits = waits || f.send.Report.Domain == d && f.send.Report.Fence != held.lifecycle.Fence
		}
		if should != does && !waits || does && !should {
			s.violate("producer", "%s holds %+v; it produces: %v", p.self, held.lifecycle, does)
		}
	}
	for _, d := range producing {
		if p.domains[d] == nil {
			s.violate("producer", "%s produces %s and does not hold it", p.self, d)
		}
	}
}

// checkReading sees that domain time is the projection raised to the watermark, whatever was received, and that there is none where there can be none
// (C-013, C-015, C-004, C-075, C-080).
func (p *process) checkReading(d ident.Domain, held *seat) {
	s := p.node.cluster
	s.judged.Reads++
	now, ok := p.read(held)
	var want vtime.Logical
	var out error
	switch held.state {
	case clock.Stopped:
		out = clock.ErrStopped
	case clock.Uninstalled:
		out = clock.ErrUninstalled
	case clock.Unpaced:
		want = vtime.UnpacedNow(p.node.utc())
	default:
		var err error // exactness is shown in host/clock
		if want, err = held.lifecycle.Mapping.At(p.node.utc()); err != nil {
			out = clock.ErrRange
		}
	}
	if (out == nil) != ok {
		s.violate("reading", "%s: %s can be read: %v; that should be %v", p.self, d, ok, out)
	}
	if s.count%refusals == 0 {
		p.checkRefusals(d, held, out)
	}
	if out != nil {
		return
	}
	if held.marked && want.Before(held.mark) {
		want = held.mark
	}
	if held.marked && now.Before(held.mark) {
		s.violate("reads decrease", "%s: %s read %d after %d", p.self, d, now.NS(), held.mark.NS())
	} else if now != want {
		s.violate("reading", "%s: %s reads %d, want %d", p.self, d, now.NS(), want.NS())
	}
	held.mark, held.marked = want, true
}

// checkRefusals sees that a reading which cannot be says why, and that the handle of the generation before is stale.
func (p *process) checkRefusals(d ident.Domain, held *seat, want error) {
	s := p.node.cluster
	if _, err := held.current.Snapshot(); want != nil && !errors.Is(err, want) || want == nil && err != nil {
		s.violate("reading", "%s: reading %s fails with %v, want %v", p.self, d, err, want)
	}
	if held.former != nil {
		if _, err := held.former.Snapshot(); !errors.Is(err, clock.ErrStale) {
			s.violate("former generation", "%s: a former generation of %s: %v", p.self, d, err)
		}
	}
}

// read is a reading of the installed generation.
func (p *process) read(held *seat) (vtime.Logical, bool) {
	now, ok := held.current.Now()
	switch {
	case !ok:
	case p.node.cluster.breaks(RawReads) && held.state == clock.Paced:
		now, _ = held.lifecycle.Mapping.At(p.node.utc())
	case p.node.cluster.breaks(TimeFromTicks) && now.Before(held.kept.Tick.Boundary):
		now = held.kept.Tick.Boundary
	}
	return now, ok
}

// checkTick sees that the newest acceptable report of the installed generation is shown, and nothing else (C-067, C-068).
func (p *process) checkTick(d ident.Domain, held *seat) {
	s := p.node.cluster
	shown, ok := held.watch.Tick()
	if held.stray.Tick.ID != 0 {
		shown, ok = held.stray, true
	}
	want := held.kept
	if held.lifecycle.State() != clock.Paced {
		want = clock.Progress{}
	}
	if ok != (want.Tick.ID != 0) || ok && shown != want {
		s.violate("shown tick", "%s: %s shows %+v (%v), want %+v", p.self, d, shown, ok, want)
	}
}

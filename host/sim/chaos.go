// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"math"
	"slices"
	"time"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// names are the domains of a chaotic run; the last one is unpaced.
var names = []ident.Domain{"a", "b", "u"}

// Chaos lets d of simulated time pass in which all sorts of things happen, then heals everything and gives the cluster time to settle, and
// checks that it has. Its error is the first Violation.
func (s *Cluster) Chaos(d time.Duration) error {
	for end := s.now + int64(d); s.now < end; {
		if err := s.Do("operator", s.run); err != nil {
			return err
		}
		if err := s.Advance(s.between(50*time.Millisecond, 700*time.Millisecond)); err != nil {
			return err
		}
		what, do := s.disturbance()
		if err := s.Do(what, do); err != nil {
			return err
		}
	}
	return s.Heal()
}

// run creates and starts what does not run.
func (s *Cluster) run() {
	for _, d := range names {
		switch l, there := s.plane.committed()[d]; {
		case !there:
			s.create(d)
		case !l.Running:
			s.startAnyhow(d)
		}
	}
}

// disturbance draws what happens next.
func (s *Cluster) disturbance() (string, func()) {
	n := s.nodes[s.random.IntN(len(s.nodes))]
	d := names[s.random.IntN(len(names))]
	switch s.random.IntN(18) {
	case 0, 1:
		return "crash of the authority", func() { s.CrashAuthority(d) }
	case 2:
		return "crash", n.crash
	case 3, 4, 5:
		return "boot of all that are down", s.bootAll
	case 6:
		return "restart under the same name", func() {
			n.crash()
			n.boot()
			s.plane.voters[n.id] = true
		}
	case 7:
		return "partition", s.partition
	case 8, 9:
		return "the network heals", func() { clear(s.network.blocked) }
	case 10:
		return "leader change", s.plane.replace
	case 11:
		return "graph installations hang", func() { n.hangs = !n.hangs }
	case 12, 13:
		return "UTC is stepped", func() { s.step(n) }
	case 14:
		return "timers stall", func() { n.stalled = s.now + int64(s.between(0, 5*time.Second)) }
	case 15:
		return "operator stops or drops", func() { s.operate(d) }
	default:
		return "forged report", s.forge
	}
}

// CrashAuthority ends the process that produces the ticks of a domain.
func (s *Cluster) CrashAuthority(d ident.Domain) {
	a := s.plane.committed()[d].Fence.Authority
	if a.Node == 0 {
		return
	}
	if n := s.nodes[a.Node-1]; n.process != nil && n.process.self == a {
		n.crash()
	}
}

func (s *Cluster) bootAll() {
	for _, n := range s.nodes {
		if n.process == nil {
			n.boot()
			s.plane.voters[n.id] = true
		}
	}
}

// partition cuts the cluster in two, anywhere.
func (s *Cluster) partition() {
	clear(s.network.blocked)
	side := s.random.Uint64()
	for i, a := range s.nodes {
		for j, b := range s.nodes[:i] {
			if side>>i&1 != side>>j&1 {
				s.network.blocked[linkOf(a.id, b.id)] = true
			}
		}
	}
}

// step moves the UTC of a host: often by little, at times by an hour, in both directions.
func (s *Cluster) step(n *node) {
	size := []time.Duration{time.Millisecond, time.Second, time.Minute, time.Hour}[s.random.IntN(4)]
	n.offset += s.between(-size, size)
	if n.process != nil {
		n.process.touched = true
	}
	s.judged.Steps++
}

func (s *Cluster) operate(d ident.Domain) {
	if l := s.plane.committed()[d]; l.Running {
		s.Stop(d)
	} else {
		s.Drop(d)
	}
}

func (s *Cluster) create(d ident.Domain) {
	pace := clock.Pace{}
	if d != names[len(names)-1] {
		pace.Period = 1 + s.random.Uint64N(1e12)
	}
	s.Create(d, pace)
}

// startAnyhow draws a START whose ticks lie between 50 ms and 3 s apart, at a rate from 1e-6 to 1e6.
func (s *Cluster) startAnyhow(d ident.Domain) {
	leader := s.plane.leader
	if leader == nil || s.plane.committed()[d].Running {
		return
	}
	rate := math.Pow(10, s.random.Float64()*12-6)
	if pace := s.plane.committed()[d].Pace; pace.Period > 0 {
		rate = max(1e-6, min(1e6, float64(pace.Period)/float64(s.between(50*time.Millisecond, 3*time.Second))))
	}
	r := clock.StartRequest{Form: clock.StartForm(s.random.IntN(3)), Origin: vtime.LogicalFromNS(s.random.Int64N(4e18) - 2e18), Rate: rate, RateStated: true}
	switch {
	case r.Form == clock.StartResume:
		r.Rate, r.RateStated = 0, false
	case s.chance(0.1):
		r.Form, r.Origin = clock.StartAt, vtime.LogicalFromNS(math.MaxInt64-s.random.Int64N(1e12)) // the range ends soon
	}
	s.Start(d, r)
}

// forge brings an old report to some process again, perhaps with a lie in it.
func (s *Cluster) forge() {
	if len(s.emitted) == 0 {
		return
	}
	r := s.emitted[len(s.emitted)-1-s.random.IntN(min(len(s.emitted), 30))].progress
	from := r.Fence.Authority.Node
	switch s.random.IntN(8) {
	case 0:
		r.Generation += ident.Generation(s.random.Uint64N(3)) - 1
	case 1:
		r.Fence.Revision += s.random.Uint64N(3) - 1
	case 2:
		r.Fence.Authority.Incarnation += ident.Incarnation(s.random.Uint64N(3)) - 1
	case 3:
		from = ident.Node(1 + s.random.IntN(len(s.nodes)))
	case 4:
		r.Tick.ID = 0
	case 5:
		r.Domain = names[s.random.IntN(len(names))]
	default: // a boundary and a period that are wrong establish nothing
		r.Tick.Boundary, r.Period = vtime.LogicalFromNS(s.random.Int64()), s.random.Uint64()
	}
	for _, n := range s.nodes {
		if n.process != nil && n.id != r.Fence.Authority.Node && s.chance(0.7) {
			n.process.receive(from, r)
		}
	}
}

// settling is how long a healed cluster gets; delivery is how long a tick may take to arrive everywhere in it.
const (
	settling = 6 * time.Second
	delivery = 2 * time.Second
)

// Heal ends all disturbances and checks, after a while, that every process holds what is committed and has the newest tick.
func (s *Cluster) Heal() error {
	err := s.Do("all heals", func() {
		s.calm = true
		clear(s.network.blocked)
		s.network.drop, s.network.duplicate, s.network.slow, s.network.progress = 0, 0, 0, 0
		for _, n := range s.nodes {
			n.hangs, n.stalled, n.offset = false, 0, 0
		}
		s.bootAll()
	})
	if err == nil {
		err = s.Advance(settling)
	}
	if err == nil {
		err = s.Do("has it settled", s.checkSettled)
	}
	return err
}

// checkSettled sees that the cluster has agreed (C-026, C-043, C-049, C-062, C-202).
func (s *Cluster) checkSettled() {
	newest := s.plane.newest()
	for _, n := range s.nodes {
		p := n.process
		if p.followed != newest || p.keeper.Advertised() != newest {
			s.violate("not settled", "%s knows revision %d and advertises %d of %d", p.self, p.followed, p.keeper.Advertised(), newest)
			return
		}
		for d, l := range s.plane.committed() {
			if held := p.domains[d]; held == nil || held.lifecycle != l {
				s.violate("not settled", "%s does not hold %+v", p.self, l)
			} else if l.State() == clock.Paced {
				s.checkArrived(p, held)
			}
		}
	}
	for _, l := range s.plane.committed() {
		alive := slices.ContainsFunc(s.nodes, func(n *node) bool { return n.process.self == l.Fence.Authority })
		if l.Running && l.Paced && !alive {
			s.violate("not settled", "the authority of %+v does not run", l)
		}
	}
}

// checkArrived sees that a process has the newest tick that the present authority emitted a while ago.
func (s *Cluster) checkArrived(p *process, held *seat) {
	for _, e := range slices.Backward(s.emitted) {
		if r := e.progress; r.Domain == held.lifecycle.Domain && r.Fence == held.lifecycle.Fence && e.at < s.now-int64(delivery) {
			if held.kept.Tick.ID < r.Tick.ID {
				s.violate("not settled", "%s has tick %d of %+v, %d was emitted", p.self, held.kept.Tick.ID, held.lifecycle, r.Tick.ID)
			}
			return
		}
	}
}

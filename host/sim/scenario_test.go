// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"slices"
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

const domain = ident.Domain("farm")

// scene is a cluster without disturbances that runs one paced domain: a tick a second of domain time, at a rate of 10.
type scene struct {
	*Cluster
	t *testing.T
}

func newScene(t *testing.T, nodes, late int) scene {
	s := scene{New(Config{Seed: 7, Nodes: nodes, Late: late}), t}
	s.network.drop, s.network.duplicate, s.network.slow, s.calm = 0, 0, 0, true
	s.pass(time.Second)
	s.Create(domain, clock.Pace{Period: uint64(time.Second)})
	s.pass(200 * time.Millisecond)
	s.Start(domain, clock.StartRequest{Form: clock.StartAt, Origin: vtime.LogicalFromNS(1e18), Rate: 10, RateStated: true})
	s.pass(time.Second)
	if !s.committed().Running {
		t.Fatal("the domain does not run")
	}
	return s
}

func (s scene) pass(d time.Duration) {
	s.t.Helper()
	if err := s.Advance(d); err != nil {
		s.t.Fatal(err)
	}
}

func (s scene) does(what string, f func()) {
	s.t.Helper()
	if err := s.Do(what, f); err != nil {
		s.t.Fatal(err)
	}
}

func (s scene) committed() clock.Lifecycle { return s.plane.committed()[domain] }

// owner is the node of the committed authority.
func (s scene) owner() *node { return s.nodes[s.committed().Fence.Authority.Node-1] }

// others are the other nodes that run.
func (s scene) others() (out []*node) {
	for _, n := range s.nodes {
		if n != s.owner() && n.process != nil {
			out = append(out, n)
		}
	}
	return out
}

// held is what the process of a node holds of the domain.
func (s scene) held(n *node) *seat {
	s.t.Helper()
	h := n.process.domains[domain]
	if h == nil {
		s.t.Fatalf("%s does not hold the domain", n.process.self)
	}
	return h
}

// reads is what a node reads now.
func (s scene) reads(n *node) vtime.Logical {
	s.t.Helper()
	s.does("read", func() { n.process.touched = true })
	h := s.held(n)
	if !h.marked {
		s.t.Fatalf("%s reads nothing", n.process.self)
	}
	return h.mark // the checks have just read
}

// ticks asks that processes have a tick of the committed fence that is at most 200 ms old.
func (s scene) ticks(nodes ...*node) {
	s.t.Helper()
	for _, n := range nodes {
		k := s.held(n).kept
		if k.Fence != s.committed().Fence || epoch+s.now-k.AuthorityUTC.NS() > int64(200*time.Millisecond) {
			s.t.Errorf("%s has %+v, %d ns old; committed is %+v", n.process.self, k, epoch+s.now-k.AuthorityUTC.NS(), s.committed().Fence)
		}
	}
}

func TestTimeNeedsNoTicks(t *testing.T) {
	// req: C-003, C-128 half: simulated nodes
	s := newScene(t, 3, 0)
	s.does("reports are lost, and nodes that never had one start", func() {
		s.network.progress = 1
		for _, n := range s.others() {
			n.crash()
			n.boot()
		}
	})
	s.pass(10 * time.Second)
	for _, n := range s.others() {
		now := s.reads(n)
		want, _ := s.committed().Mapping.At(n.utc())
		if now != want || now.NS() < 1e18+int64(100*time.Second) || s.held(n).kept.Tick.ID != 0 {
			t.Errorf("%s reads %v, want %v, and has %+v", n.process.self, now, want, s.held(n).kept)
		}
	}
}

func TestTakeoverDoesNotWaitForGraphs(t *testing.T) {
	// req: C-008, C-043, C-049, C-052 half: simulated nodes
	s := newScene(t, 5, 0)
	before := s.committed()
	s.does("graphs hang, the authority dies", func() {
		for _, n := range s.nodes {
			n.hangs = true
		}
		s.CrashAuthority(domain)
	})
	s.pass(4 * time.Second)
	after := s.committed()
	if after.Fence.Revision != before.Fence.Revision+1 || after.Fence.Authority == before.Fence.Authority || after.Generation != before.Generation || after.Mapping != before.Mapping {
		t.Fatalf("%+v became %+v", before, after)
	}
	s.ticks(append(s.others(), s.owner())...)
	for _, n := range s.others() {
		if n.process.graph == s.plane.newest() {
			t.Errorf("the graph of %s did not hang", n.process.self)
		}
	}
}

func TestTicksNeedNoGraph(t *testing.T) {
	// req: C-025, C-060, C-061 half: simulated nodes
	s := newScene(t, 3, 0)
	late := s.others()[0]
	s.does("a graph hangs", func() { late.hangs = true })
	s.does("another domain is created", func() { s.Create("other", clock.Pace{Period: 5}) })
	s.pass(2 * time.Second)
	if late.process.keeper.Advertised() >= s.plane.newest() {
		t.Fatal("the node advertises a domain that it has not installed")
	}
	s.ticks(late) // it had advertised the revision of the fence before
	s.does("the graph goes on", func() { late.hangs = false })
	s.pass(2 * time.Second)
	if late.process.keeper.Advertised() != s.plane.newest() {
		t.Error("the node does not advertise what it has installed")
	}
}

func TestOneThatHoldsBackHoldsNobodyBack(t *testing.T) {
	// req: C-202 half: simulated nodes
	s := newScene(t, 5, 0)
	away := s.others()[0]
	s.does("one node is cut off, the authority dies", func() {
		for _, n := range s.nodes {
			if n != away {
				s.network.blocked[linkOf(away.id, n.id)] = true
			}
		}
		s.CrashAuthority(domain)
	})
	s.pass(4 * time.Second)
	with := slices.DeleteFunc(s.others(), func(n *node) bool { return n == away })
	s.ticks(with...)
	if s.held(away).lifecycle.Fence == s.committed().Fence {
		t.Fatal("the node that was cut off has the new fence")
	}
	s.does("it comes back", func() { clear(s.network.blocked) })
	s.pass(2 * time.Second)
	s.ticks(away)
}

func TestLeadersMoveNothing(t *testing.T) {
	// req: C-035, C-042 half: simulated nodes
	s := newScene(t, 5, 1)
	before, commits := s.committed(), s.judged.Commits
	for i := range 20 {
		s.does("leader change", s.plane.replace)
		s.pass(300 * time.Millisecond)
		if i == 10 {
			s.does("a voter is added", s.bootAll)
		}
	}
	if s.plane.term < 20 || s.committed() != before || s.judged.Commits != commits {
		t.Errorf("%d leaders: %+v became %+v", s.plane.term, before, s.committed())
	}
	s.ticks(s.others()...)
}

func TestARestartedAuthorityIsAnother(t *testing.T) {
	// req: C-009, C-043, C-066 half: simulated nodes
	s := newScene(t, 3, 0)
	before, old := s.committed(), s.held(s.owner()).last
	s.does("restart under the same name", func() {
		n := s.owner()
		n.crash()
		n.boot()
	})
	s.pass(4 * time.Second)
	if f := s.committed().Fence; f.Revision != before.Fence.Revision+1 || f.Authority == before.Fence.Authority {
		t.Fatalf("%+v became %+v", before.Fence, f)
	}
	refused := s.judged.Refused
	old.Tick.ID += 1 << 40
	s.does("an old report arrives", func() {
		for _, n := range s.nodes {
			n.process.receive(old.Fence.Authority.Node, old)
		}
	})
	if s.judged.Refused != refused+3 {
		t.Error("a report of the former incarnation was accepted")
	}
	s.ticks(s.others()...)
}

func TestALateJoinerReadsWhatOthersRead(t *testing.T) {
	// req: C-026, C-062 half: simulated nodes
	s := newScene(t, 5, 1)
	s.pass(30 * time.Second)
	s.does("it joins", s.bootAll)
	s.pass(2 * time.Second)
	var reads []vtime.Logical
	for _, n := range s.nodes {
		if s.held(n).lifecycle != s.committed() {
			t.Fatalf("%s holds %+v", n.process.self, s.held(n).lifecycle)
		}
		reads = append(reads, s.reads(n))
	}
	if slices.ContainsFunc(reads, func(r vtime.Logical) bool { return r != reads[0] }) {
		t.Errorf("hosts of one UTC read %v", reads)
	}
	s.ticks(s.others()...)
}

func TestAClusterThatRestartsGoesOn(t *testing.T) {
	// req: C-146 half: simulated nodes and a simulated log
	s := newScene(t, 3, 0)
	before := s.committed()
	last := s.held(s.owner()).last.Tick.ID
	s.does("all nodes crash", func() {
		for _, n := range s.nodes {
			n.crash()
		}
	})
	s.pass(20 * time.Second)
	emitted := len(s.emitted)
	s.does("all nodes start", s.bootAll)
	s.pass(4 * time.Second)
	after := s.committed()
	if after.Mapping != before.Mapping || after.Generation != before.Generation || after.Fence.Revision <= before.Fence.Revision {
		t.Fatalf("%+v became %+v", before, after)
	}
	if len(s.emitted) == emitted {
		t.Fatal("no tick after the restart")
	}
	// 20 s at a rate of 10 are 200 periods: the first tick is the latest due one (the checks compare it), and none of those between was emitted.
	if id := s.emitted[emitted].progress.Tick.ID; id < last+200 {
		t.Errorf("the first tick after the restart is %d, the last before it %d", id, last)
	}
	s.ticks(s.others()...)
}

func TestASlowPeerGetsTheNewestTick(t *testing.T) {
	// req: C-058, C-062 half: simulated nodes
	s := newScene(t, 3, 0)
	peer := s.others()[0]
	s.does("the peer is cut off", func() { s.network.blocked[linkOf(peer.id, s.owner().id)] = true })
	s.pass(10 * time.Second)
	old, sent := s.held(peer).kept.Tick.ID, s.judged.Sent
	s.does("the link heals", func() { clear(s.network.blocked) })
	s.pass(time.Second)
	if now := s.held(peer).kept.Tick.ID; now < old+90 {
		t.Errorf("the peer had tick %d and has %d", old, now)
	}
	if more := s.judged.Sent - sent; more > 25 { // a tick each 100 ms to two peers, and no backlog of a hundred
		t.Errorf("%d reports were sent in a second", more)
	}
}

func TestUTCThatGoesBackHoldsReadings(t *testing.T) {
	// req: C-015, C-148 half: simulated nodes
	s := newScene(t, 3, 0)
	n := s.others()[0]
	before := s.reads(n)
	s.does("UTC goes back", func() { n.offset = -5 * time.Second })
	s.pass(4 * time.Second)
	if now := s.reads(n); now != before {
		t.Errorf("read %v, then %v, while UTC catches up", before, now)
	}
	s.pass(3 * time.Second)
	behind, ahead := s.reads(n), s.reads(s.owner())
	if off, _ := ahead.Sub(behind); !before.Before(behind) || off != 50*time.Second {
		t.Errorf("5 s behind at a rate of 10 read %s less", off)
	}
}

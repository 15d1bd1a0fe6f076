// SPDX-License-Identifier: Apache-2.0

package authority

import (
	"math"
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

func TestTicksGoToThisNodeAndToEveryPeer(t *testing.T) {
	// req: C-053, C-056
	// req: C-057 half: the wire of the request comes with the link
	r := newRig(t, 0)
	r.peer(2, 9, true)
	r.peer(3, 9, true)
	r.peer(self.Node, 9, true) // no peer of itself
	r.install(lifecycle("farm", 1, 1, 1), 9)
	r.expect("farm tick 1", "farm 1 to n2", "farm 1 to n3")
	r.end(3, true)
	r.wake(time.Second)
	r.expect("farm tick 2", "farm 2 to n3")
	r.end(2, true)
	r.expect("farm 2 to n2")
	l := lifecycle("farm", 1, 1, 1)
	want := clock.Progress{
		Domain: "farm", Generation: 1, Fence: l.Fence, Tick: clock.Tick{ID: 2, Boundary: vtime.LogicalFromNS(1e15 + 1e9)},
		AuthorityUTC: vtime.UTCFromNS(start + 1e9), Period: 1e9,
	}
	if r.reports[1] != want {
		t.Fatalf("report %+v, want %+v", r.reports[1], want)
	}
}

// Nobody is paid for reports that nobody waits for: with a peer that does not answer there is one request, and after it the newest report.
func TestSlowPeerGetsTheNewest(t *testing.T) {
	// req: C-054, C-058
	r := newRig(t, 0)
	r.peer(2, 1, true)
	r.install(lifecycle("farm", 1, 1, 1e6), 1) // a tick a microsecond
	r.expect("farm tick 1", "farm 1 to n2")
	for range 50 {
		r.wake(time.Microsecond)
	}
	if len(r.reports) != 51 || len(r.under) != 1 {
		t.Fatalf("%d reports, %d requests under way", len(r.reports), len(r.under))
	}
	r.told = nil
	r.end(2, true)
	r.expect("farm 51 to n2")
	r.wake(100 * time.Microsecond) // the driver slept through 100 ticks
	r.expect("farm tick 151")
}

func TestTicksAreAtLeastAGapApart(t *testing.T) {
	// req: C-055
	r := newRig(t, 0)
	r.pass(900 * time.Millisecond) // tick 1 is late
	r.install(lifecycle("farm", 1, 1, 1), 1)
	r.expect("farm tick 1")
	r.wake(999 * time.Millisecond)
	r.expect()
	if at, ok := r.m.Next(); !ok || at != r.now.Mono.Add(time.Millisecond) {
		t.Fatalf("next at %v (%v), now %v", at, ok, r.now.Mono)
	}
	r.wake(time.Millisecond)
	r.expect("farm tick 2")
}

// A tick a nanosecond would keep a processor busy: with a rest the machine sleeps between two emissions, and each is the latest due.
func TestARestBetweenTicks(t *testing.T) {
	// req: C-054
	// req: C-055 half: more than a gap
	r := newRig(t, 0)
	r.m = New(Config{Self: self, Rest: time.Millisecond})
	r.install(lifecycle("farm", 1, 1, 1e9), 1)
	r.expect("farm tick 1")
	if at, ok := r.m.Next(); !ok || at != r.now.Mono.Add(time.Millisecond) {
		t.Fatalf("next at %v (%v), now %v", at, ok, r.now.Mono)
	}
	r.wake(999 * time.Microsecond)
	r.expect()
	r.wake(time.Microsecond)
	r.expect("farm tick 1000001")
	r.install(lifecycle("slow", 1, 1, 1), 1)
	r.expect("slow tick 1")
	r.wake(999 * time.Millisecond)
	r.expect("farm tick 1000000001")
	r.wake(time.Millisecond)
	r.expect("slow tick 2", "farm tick 1001000001")
}

func TestTargetsHaveInstalledTheRevision(t *testing.T) {
	// req: C-025, C-060, C-062
	r := newRig(t, 0)
	r.peer(2, 7, true)
	r.peer(3, 8, false)
	r.install(lifecycle("farm", 1, 1, 1), 8)
	r.expect("farm tick 1")
	r.wake(time.Second)
	r.expect("farm tick 2")
	r.peer(2, 8, true) // its graph may hang; its clocks are there
	r.expect("farm 2 to n2")
	r.end(2, true)
	r.peer(3, 8, true)
	r.expect("farm 2 to n3")
	r.end(3, true)
	r.peer(3, 11, true)
	r.expect() // it has the newest
	r.peer(3, 11, false)
	r.peer(3, 11, true)
	r.expect("farm 2 to n3") // back again: the newest once more
	r.m.Peer(r.now, Peer{Node: 3, Incarnation: 2, Revision: 11, Live: true})
	r.take()
	r.expect("cancel farm to n3") // another process: what is under way goes to the old one
	r.end(3, true)
	r.expect("farm 2 to n3")
	// A later revision of the same clock does not raise the demand.
	r.peer(4, 8, true)
	r.install(lifecycle("farm", 1, 1, 1), 12)
	r.expect("farm 2 to n4")
}

func TestAttemptsHaveABoundAndAPause(t *testing.T) {
	// req: C-063
	r := newRig(t, 0)
	r.peer(2, 1, true)
	r.install(lifecycle("farm", 1, 1, 1e-3), 1)
	r.expect("farm tick 1", "farm 1 to n2")
	r.wake(AttemptTimeout - 1)
	r.expect()
	r.wake(1)
	r.expect("cancel farm to n2")
	r.end(2, false)
	r.wake(RetryPause - 1)
	r.expect()
	r.wake(1)
	r.expect("farm 1 to n2")
	r.end(2, false)
	r.expect()
	r.install(stopped(lifecycle("farm", 1, 1, 1)), 2) // the end of the authority ends the pause too
	r.wake(time.Hour)
	r.expect()
	if _, armed := r.m.Next(); armed || len(r.m.Producing()) != 0 {
		t.Fatal("something is armed for a domain that has stopped")
	}
}

func stopped(l clock.Lifecycle) clock.Lifecycle { return clock.Stop(l) }

// An obsolete producer is cancelled; its successor begins when nothing of it is under way, with the newest due tick and the new fence.
func TestSuccessorWaitsForItsPredecessor(t *testing.T) {
	// req: C-047, C-048, C-052
	r := newRig(t, 0)
	r.peer(2, 1, true)
	r.install(lifecycle("farm", 1, 1, 1), 1)
	r.expect("farm tick 1", "farm 1 to n2")
	r.pass(3500 * time.Millisecond)
	r.peer(2, 2, true)
	r.install(lifecycle("farm", 1, 3, 1), 2)
	r.expect("cancel farm to n2")
	r.wake(time.Second)
	r.expect() // neither ticks
	r.install(lifecycle("farm", 1, 5, 1), 2)
	r.expect() // the fence moved on while it waited
	r.end(2, true)
	r.expect("farm tick 5", "farm 5 to n2")
	if f := r.reports[1].Fence.Revision; f != 5 {
		t.Fatalf("the successor reports revision %d", f)
	}
	r.m.Remove(r.now, "farm")
	r.take()
	r.expect("cancel farm to n2")
	r.end(2, false)
	r.wake(time.Hour)
	r.expect()
	if r.m.UnderWay() != 0 || len(r.m.domains) != 0 {
		t.Fatal("a removed domain is remembered")
	}
}

// Whatever of the committed state changes, the producer retires.
func TestProducerServesExactlyItsLifecycle(t *testing.T) {
	// req: C-009, C-047
	base := lifecycle("farm", 2, 7, 1)
	for name, change := range map[string]func(*clock.Lifecycle){
		"generation":  func(l *clock.Lifecycle) { l.Generation++ },
		"period":      func(l *clock.Lifecycle) { l.Pace.Period++ },
		"anchor":      func(l *clock.Lifecycle) { l.Mapping.WallStartedAt = vtime.UTCFromNS(start + 1) },
		"origin":      func(l *clock.Lifecycle) { l.Mapping.LogicalStart = vtime.LogicalFromNS(1) },
		"rate":        func(l *clock.Lifecycle) { l.Mapping.Rate = 2 },
		"revision":    func(l *clock.Lifecycle) { l.Fence.Revision++ },
		"node":        func(l *clock.Lifecycle) { l.Fence.Authority.Node++ },
		"incarnation": func(l *clock.Lifecycle) { l.Fence.Authority.Incarnation++ },
		"unassigned":  func(l *clock.Lifecycle) { l.Fence.Authority = clock.Authority{} },
		"mapping":     func(l *clock.Lifecycle) { l.Mapping = clock.Mapping{} },
		"stop":        func(l *clock.Lifecycle) { l.Running = false },
		"created":     func(l *clock.Lifecycle) { l.Created++ },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 0)
			r.peer(2, 1, true)
			r.install(base, 1)
			r.expect("farm tick 1", "farm 1 to n2")
			l := base
			change(&l)
			r.install(l, 2)
			r.expect("cancel farm to n2")
			r.install(base, 1)
		})
	}
	r := newRig(t, 0)
	other := base
	other.Fence.Authority.Incarnation-- // this node, in an earlier life
	r.install(other, 1)
	r.wake(time.Minute)
	r.expect()
}

func TestQuotaIsSharedInTurn(t *testing.T) {
	// req: C-059 half: the other request classes come with the link
	r := newRig(t, 2)
	for n := ident.Node(2); n < 5; n++ {
		r.peer(n, 1, true)
	}
	r.install(lifecycle("a", 1, 1, 1e-9), 1)
	r.install(lifecycle("b", 1, 1, 1e-9), 1)
	r.expect("a tick 1", "a 1 to n2", "a 1 to n3", "b tick 1")
	r.end(2, true)
	r.expect("a 1 to n4")
	r.end(4, false)
	r.expect("b 1 to n2")
	r.peer(3, 1, false) // withdraws what waits, and the request under way
	r.expect("cancel a to n3")
	r.end(3, false)
	r.expect("b 1 to n4")
	r.end(2, true)
	r.end(4, true)
	r.wake(RetryPause)
	r.expect("a 1 to n4")
	if r.most != 2 {
		t.Fatalf("%d requests at once", r.most)
	}
}

// A tick beyond the range is a typed failure, told once; the due one before it has gone out.
func TestEndOfTime(t *testing.T) {
	// req: C-017
	// req: C-147 half: log and event are the driver's
	r := newRig(t, 0)
	l := lifecycle("farm", 1, 1, 1)
	l.Mapping.LogicalStart = vtime.LogicalFromNS(math.MaxInt64 - 5)
	r.install(l, 1)
	r.expect("farm tick 1", "farm failed, final true")
	r.wake(time.Hour)
	r.expect()

	r = newRig(t, 0)
	l.Pace.Period, l.Mapping.LogicalStart = 1, vtime.LogicalFromNS(math.MaxInt64-10)
	r.pass(20)
	r.install(l, 1)
	r.expect("farm failed, final false") // the projection overflows, and would not if UTC were stepped back
	r.wake(time.Second)
	r.expect()
	r.now.UTC = vtime.UTCFromNS(start + 3)
	r.wake(0)
	r.now.Mono = r.now.Mono.Add(time.Second)
	r.wake(0)
	r.expect("farm tick 4")
}

func TestForgottenPeers(t *testing.T) {
	r := newRig(t, 0)
	r.peer(2, 1, true)
	r.install(lifecycle("farm", 1, 1, 1), 1)
	r.expect("farm tick 1", "farm 1 to n2")
	r.m.Forget(r.now, 2)
	r.m.Forget(r.now, 2)
	r.take()
	r.expect("cancel farm to n2")
	r.peer(2, 1, true) // admitted again while the old request is under way
	r.expect()
	r.end(2, true)
	r.expect("farm 1 to n2")
	r.end(2, true)
	r.m.Forget(r.now, 2)
	r.wake(time.Second)
	r.expect("farm tick 2")
	if len(r.m.domains["farm"].now.pairs) != 0 {
		t.Fatal("a forgotten peer is remembered")
	}
	r.m.Ended(r.now, 999, true) // unknown
}

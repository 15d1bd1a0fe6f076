// SPDX-License-Identifier: Apache-2.0

package clocks_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/session/clocks"
	"github.com/nervix-go/nervix/host/session/clocks/clockstest"
	"github.com/nervix-go/nervix/host/session/clocks/clockstest/order"
	"github.com/nervix-go/nervix/host/wire"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lane is an outbound queue in memory. Frames above its size do not fit.
type lane struct {
	room  chan struct{}
	mu    sync.Mutex
	items []*entry
	// unfit says which bodies no frame holds.
	unfit func(wire.ServerBody) bool
	// pause is called around the queueing of a frame.
	pause func()
}

type entry struct {
	body wire.ServerBody
	slot bool
}

func newLane(room int) *lane {
	return &lane{room: make(chan struct{}, room), unfit: func(wire.ServerBody) bool { return false }, pause: func() {}}
}

var errUnfit = fault.New(fault.WireTooLarge, "test", ident.Ref{}, "", nil)

func (l *lane) Queue(ctx context.Context, body wire.ServerBody) error {
	if l.unfit(body) {
		return errUnfit
	}
	select {
	case l.room <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	l.mu.Lock()
	l.items = append(l.items, &entry{body: body})
	l.mu.Unlock()
	l.pause()
	return nil
}

// take is what the transport does; nil when the lane is empty.
func (l *lane) take() wire.ServerBody {
	l.mu.Lock()
	if len(l.items) == 0 {
		l.mu.Unlock()
		return nil
	}
	first := l.items[0]
	l.items = l.items[1:]
	body := first.body
	first.body = nil
	l.mu.Unlock()
	if !first.slot {
		<-l.room
	}
	return body
}

// length is the number of frames in the lane, ticks included.
func (l *lane) length() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.items)
}

func (l *lane) NewSlot() clocks.Slot { return &place{lane: l} }

type place struct {
	lane  *lane
	entry *entry
}

func (p *place) Offer(body wire.ServerBody) (bool, error) {
	if p.lane.unfit(body) {
		return false, errUnfit
	}
	p.lane.pause()
	p.lane.mu.Lock()
	defer p.lane.mu.Unlock()
	if p.entry != nil && p.entry.body != nil {
		p.entry.body = body
		return true, nil
	}
	p.entry = &entry{body: body, slot: true}
	p.lane.items = append(p.lane.items, p.entry)
	return false, nil
}

func (p *place) Withdraw() bool {
	p.lane.mu.Lock()
	defer p.lane.mu.Unlock()
	if p.entry == nil || p.entry.body == nil {
		return false
	}
	p.entry.body = nil
	for i, one := range p.lane.items {
		if one == p.entry {
			p.lane.items = append(p.lane.items[:i:i], p.lane.items[i+1:]...)
			break
		}
	}
	return true
}

func paced(generation ident.Generation, origin int64) clock.Observed {
	return clock.Observed{Generation: generation, State: clock.Paced, Pace: clock.Pace{Period: 10, Skew: 3},
		Mapping: clock.Mapping{WallStartedAt: vtime.UTCFromNS(5), LogicalStart: vtime.LogicalFromNS(origin), Rate: 2}}
}

func stopped(generation ident.Generation) clock.Observed {
	return clock.Observed{Generation: generation, State: clock.Stopped}
}

// session follows clocks as the ordered lane does.
type session struct {
	t      *testing.T
	node   *clockstest.Node
	lane   *lane
	all    *clocks.Attachments
	life   context.Context
	end    context.CancelFunc
	order  map[string]*order.Checker
	frames []wire.ServerBody // those received, in order
}

func open(t *testing.T, node *clockstest.Node, room int, log *slog.Logger) *session {
	l := newLane(room)
	s := &session{t: t, node: node, lane: l, all: clocks.New(node, l, log), order: map[string]*order.Checker{}}
	s.life, s.end = context.WithCancel(t.Context())
	return s
}

func (s *session) attach(domain ident.Domain) wire.DomainClockAttachOutcome {
	did := s.all.Attach(s.life, s.life, domain, false)
	out := did.AttachOutcome()
	did.Queued(s.lane.Queue(s.life, out) == nil)
	return out
}

func (s *session) detach(domain ident.Domain) wire.DomainClockDetachOutcome {
	out := s.all.Detach(domain, false).DetachOutcome()
	_ = s.lane.Queue(s.life, out)
	return out
}

func (s *session) close() {
	s.end()
	s.all.End()
	if n := s.node.Watches(); n != 0 {
		s.t.Errorf("%d watches are open after the end", n)
	}
}

func domainOf(body wire.ServerBody) string {
	switch b := body.(type) {
	case wire.DomainClockAttachOutcome:
		return b.Domain
	case wire.DomainClockDetachOutcome:
		return b.Domain
	case wire.DomainClockObserved:
		return b.Domain
	case wire.DomainClockTicked:
		return b.Domain
	case wire.DomainClockAttachmentEnded:
		return b.Domain
	}
	return ""
}

// read takes one frame and checks the order; nil when there is none.
func (s *session) read() wire.ServerBody {
	body := s.lane.take()
	if body == nil {
		return nil
	}
	s.frames = append(s.frames, body)
	domain := domainOf(body)
	if s.order[domain] == nil {
		s.order[domain] = &order.Checker{}
	}
	if err := s.order[domain].See(body); err != nil {
		s.t.Errorf("domain %s: %v", domain, err)
	}
	return body
}

// all the frames that come until nothing moves.
func (s *session) readAll() (got []wire.ServerBody) {
	for {
		synctest.Wait()
		body := s.read()
		if body == nil {
			return got
		}
		got = append(got, body)
	}
}

// TestAttachAndDetachAreAnswered has every disposition.
func TestAttachAndDetachAreAnswered(t *testing.T) {
	// req: C-083
	// req: C-088
	// req: C-089 half: that the session knows its transaction is shown in lanes
	// req: C-091
	// req: X-174
	// req: X-124 half: clocks only
	synctest.Test(t, func(t *testing.T) {
		n := clockstest.Ready()
		n.Publish("weather", paced(1, 0))
		n.Publish("other", stopped(0))
		s := open(t, n, 16, nil)
		want := wire.DomainClockAttachOutcome{Disposition: wire.ClockAttached, Domain: "weather", Clock: wire.ObservedClock{State: wire.ClockPaced,
			Generation: 1, PeriodNS: 10, SkewNS: 3, WallStartedAtNS: 5, TimeRate: 2}}
		if diff := cmp.Diff(want, s.attach("weather")); diff != "" {
			t.Error(diff)
		}
		if got := s.attach("other"); got.Disposition != wire.ClockAttached || got.Clock != (wire.ObservedClock{State: wire.ClockStopped}) {
			t.Errorf("a second domain: %+v", got)
		}
		if got := s.attach("weather"); got.Disposition != wire.ClockAlreadyAttached || got.Code != string(fault.SessionClockAttached) {
			t.Errorf("again: %+v", got)
		}
		if got := s.attach("nowhere"); got.Disposition != wire.ClockDomainNotFound || got.Hint == "" || !strings.Contains(got.Text, "nowhere") {
			t.Errorf("an unknown domain: %+v", got)
		}
		if got := s.detach("nowhere"); got.Disposition != wire.ClockNotAttached {
			t.Errorf("detach of what is not attached: %+v", got)
		}
		if got := s.all.Attach(s.life, s.life, "weather", true).AttachOutcome(); got.Disposition != wire.ClockAttachFailed ||
			got.Code != string(fault.SessionInTransaction) {
			t.Errorf("attach in a transaction: %+v", got)
		}
		if got := s.all.Detach("weather", true).DetachOutcome(); got.Disposition != wire.ClockDetachFailed {
			t.Errorf("detach in a transaction: %+v", got)
		}
		n.Tick("weather", 1)
		if got := s.readAll(); len(got) == 0 || got[len(got)-1].(wire.DomainClockTicked).ID != 1 {
			t.Errorf("the first attachment does not deliver: %v", got)
		}
		if got := s.detach("weather"); got != (wire.DomainClockDetachOutcome{Disposition: wire.ClockDetached, Domain: "weather"}) {
			t.Errorf("detach: %+v", got)
		}
		if got := s.detach("weather"); got.Disposition != wire.ClockNotAttached {
			t.Errorf("detach again: %+v", got)
		}
		s.close()
	})
}

// TestAnAttachWaitsForTheFirstInstallation: a starting node does not call a committed domain unknown. Only the session's end ends the wait.
func TestAnAttachWaitsForTheFirstInstallation(t *testing.T) {
	// req: C-090 half: the lane behind it is shown in lanes
	// req: X-173 half: the same
	// req: C-213 half: the attach that waits for the first installation; the other checks are in delivery_test.go, host/clock and host/timekeeper
	synctest.Test(t, func(t *testing.T) {
		n := clockstest.New()
		s := open(t, n, 16, nil)
		got := make(chan wire.DomainClockAttachOutcome, 1)
		go func() { got <- s.attach("weather") }()
		_ = osclock.Wait(t.Context(), 24*time.Hour)
		if len(got) != 0 {
			t.Fatalf("answered before the installation: %+v", <-got)
		}
		n.Publish("weather", paced(1, 0))
		n.Install()
		if out := <-got; out.Disposition != wire.ClockAttached {
			t.Errorf("%+v", out)
		}
		s.close()

		s = open(t, clockstest.New(), 16, nil)
		go func() { got <- s.attach("weather") }()
		synctest.Wait()
		s.end()
		if out := <-got; out.Disposition != wire.ClockAttachFailed || out.Code != string(fault.SessionOver) {
			t.Errorf("the session ended: %+v", out)
		}
		s.close()
	})
}

// TestNothingFollowsAReplyThatWasNotQueued.
func TestNothingFollowsAReplyThatWasNotQueued(t *testing.T) {
	// req: C-092 half: cancelled and ended sessions are shown in lanes
	// req: X-175
	synctest.Test(t, func(t *testing.T) {
		n := clockstest.Ready()
		n.Publish("weather", paced(1, 0))
		n.Tick("weather", 1)
		s := open(t, n, 16, nil)
		did := s.all.Attach(s.life, s.life, "weather", false)
		n.Publish("weather", paced(2, 0))
		synctest.Wait()
		if s.lane.length() != 0 {
			t.Fatal("a frame before the reply")
		}
		did.Queued(false)
		n.Publish("weather", paced(3, 0))
		n.Tick("weather", 1)
		if got := s.readAll(); len(got) > 0 || n.Watches() != 0 {
			t.Fatalf("%v, %d watches", got, n.Watches())
		}
		if out := s.attach("weather"); out.Disposition != wire.ClockAttached || out.Clock.Generation != 3 {
			t.Fatalf("an attach after it: %+v", out)
		}
		s.close()
	})
}

// TestAClockThroughItsGenerations is gaps 2.3 frame by frame.
func TestAClockThroughItsGenerations(t *testing.T) {
	// req: C-086
	// req: C-087
	// req: C-093
	// req: C-100
	// req: X-176
	// req: X-177
	// req: X-182
	// req: X-183
	synctest.Test(t, func(t *testing.T) {
		n := clockstest.Ready()
		n.SetUTC(vtime.UTCFromNS(10)) // 5 after the anchor: logical origin + 10
		n.Publish("weather", paced(1, 100))
		n.Tick("weather", 2)
		s := open(t, n, 16, nil)
		s.attach("weather")
		expect := func(what string, want ...wire.ServerBody) {
			t.Helper()
			if diff := cmp.Diff(want, s.readAll()); diff != "" {
				t.Errorf("%s: %s", what, diff)
			}
		}
		state := func(o clock.Observed) wire.DomainClockObserved {
			c := wire.ObservedClock{State: wire.ClockState(o.State), Generation: uint64(o.Generation)}
			if o.State == clock.Paced {
				c.PeriodNS, c.SkewNS, c.LogicalStartNS, c.WallStartedAtNS, c.TimeRate = 10, 3, o.Mapping.LogicalStart.NS(), 5, 2
			}
			return wire.DomainClockObserved{Domain: "weather", Clock: c}
		}
		tick := func(generation, id uint64, boundary, utc, logical int64) wire.DomainClockTicked {
			return wire.DomainClockTicked{Domain: "weather", Generation: generation, ID: id, BoundaryNS: boundary, AuthorityUTCNS: utc, NodeLogicalNS: logical}
		}
		first := s.readAll()
		if diff := cmp.Diff([]wire.ServerBody{wire.DomainClockAttachOutcome{Disposition: wire.ClockAttached, Domain: "weather", Clock: state(paced(1, 100)).Clock},
			tick(1, 2, 110, 10, 110)}, first); diff != "" {
			t.Error(diff)
		}
		n.Publish("weather", paced(1, 100))
		expect("the authority moved")
		n.SetUTC(vtime.UTCFromNS(1)) // the node's UTC steps back: its reading does not, and lags behind the boundary
		n.Tick("weather", 4)
		expect("a tick", tick(1, 4, 130, 1, 110))
		n.Publish("weather", stopped(1))
		expect("STOP", state(stopped(1)))
		n.Publish("weather", clock.Observed{Generation: 2, State: clock.Uninstalled})
		expect("START, not yet assigned", state(clock.Observed{Generation: 2, State: clock.Uninstalled}))
		n.Publish("weather", paced(2, -50))
		n.Tick("weather", 1)
		expect("START", state(paced(2, -50)), tick(2, 1, -50, 1, -50))
		n.Publish("weather", clock.Observed{Generation: 3, State: clock.Unpaced})
		expect("an unpaced generation", state(clock.Observed{Generation: 3, State: clock.Unpaced}))
		n.Remove("weather")
		expect("DROP", wire.DomainClockAttachmentEnded{Domain: "weather", Reason: wire.EndDomainRemoved})
		n.Publish("weather", paced(1, 0))
		n.Tick("weather", 1)
		expect("another domain of the name")
		if out := s.detach("weather"); out.Disposition != wire.ClockNotAttached {
			t.Errorf("detach after the end: %+v", out)
		}
		if out := s.attach("weather"); out.Disposition != wire.ClockAttached {
			t.Errorf("attach after the end: %+v", out)
		}
		if got := s.readAll(); len(got) != 3 {
			t.Errorf("the new attachment: %v", got)
		}
		s.close()
	})
}

// TestTheEndOfASessionSaysNothing.
func TestTheEndOfASessionSaysNothing(t *testing.T) {
	// req: C-101
	synctest.Test(t, func(t *testing.T) {
		n := clockstest.Ready()
		n.Publish("weather", paced(1, 0))
		s := open(t, n, 1, nil)
		s.attach("weather")
		n.Publish("weather", paced(2, 0)) // waits for room
		synctest.Wait()
		s.close()
		n.Publish("weather", paced(3, 0))
		n.Remove("weather")
		if got := s.readAll(); len(got) != 1 {
			t.Errorf("after the reply: %v", got[1:])
		}
	})
}

// TestFramesThatDoNotFit: the log says so, delivery waits for the next change, and an attachment ends without its end frame.
func TestFramesThatDoNotFit(t *testing.T) {
	// req: C-098
	// req: X-184
	synctest.Test(t, func(t *testing.T) {
		var logged bytes.Buffer
		n := clockstest.Ready()
		n.Publish("weather", paced(1, 0))
		s := open(t, n, 16, slog.New(slog.NewTextHandler(&logged, nil)))
		s.lane.unfit = func(b wire.ServerBody) bool {
			switch b := b.(type) {
			case wire.DomainClockObserved:
				return b.Clock.Generation == 2
			case wire.DomainClockTicked:
				return b.ID == 1
			case wire.DomainClockAttachmentEnded:
				return true
			}
			return false
		}
		s.attach("weather")
		n.Tick("weather", 1)
		synctest.Wait()
		n.Tick("weather", 2)
		all := s.readAll()
		n.Publish("weather", paced(2, 0))
		n.Tick("weather", 2)
		synctest.Wait()
		n.Publish("weather", paced(3, 0))
		synctest.Wait()
		n.Remove("weather")
		var got []string
		for _, body := range append(all, s.readAll()...) {
			got = append(got, strings.TrimPrefix(fmt.Sprintf("%T", body), "wire.DomainClock"))
		}
		if diff := cmp.Diff([]string{"AttachOutcome", "Ticked", "Observed"}, got); diff != "" {
			t.Error(diff)
		}
		for _, text := range []string{"a tick was left out", "a clock state was left out", "ended without its frame"} {
			if n := strings.Count(logged.String(), text); n != 1 {
				t.Errorf("%q is logged %d times:\n%s", text, n, &logged)
			}
		}
		if out := s.detach("weather"); out.Disposition != wire.ClockNotAttached {
			t.Errorf("detach: %+v", out)
		}
		s.close()
	})
}

// TestRandomSchedules runs the real tasks in virtual time against random publications, a client of random speed, attaches and detaches.
func TestRandomSchedules(t *testing.T) {
	// req: C-102
	// req: C-205
	// req: C-206
	// req: C-095
	// req: C-096
	// req: C-099
	// req: X-181
	for seed := range uint64(120) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { schedule(t, rand.New(rand.NewPCG(seed, 7))) })
		})
	}
}

func schedule(t *testing.T, r *rand.Rand) {
	n := clockstest.Ready()
	domains := []ident.Domain{"a", "b"}
	for _, d := range domains {
		n.Publish(d, stopped(0))
	}
	s := open(t, n, 1+r.IntN(3), nil)
	pause := func(r *rand.Rand) { _ = osclock.Wait(t.Context(), time.Duration(r.IntN(4))*time.Millisecond) }
	if r.IntN(2) == 0 { // publications fall between the task's steps
		var mu sync.Mutex
		inner := rand.New(rand.NewPCG(r.Uint64(), 4))
		n.Pause = func() {
			mu.Lock()
			d := time.Duration(inner.IntN(3)) * time.Millisecond
			mu.Unlock()
			_ = osclock.Wait(t.Context(), d)
		}
		s.lane.pause = n.Pause
	}
	var work sync.WaitGroup
	work.Add(3)
	publisher, reader, caller := rand.New(rand.NewPCG(r.Uint64(), 1)), rand.New(rand.NewPCG(r.Uint64(), 2)), rand.New(rand.NewPCG(r.Uint64(), 3))
	done := make(chan struct{})
	removed := false
	go func() {
		defer work.Done()
		generation := map[ident.Domain]ident.Generation{}
		tick := map[ident.Domain]uint64{}
		for range 150 {
			pause(publisher)
			d := domains[publisher.IntN(2)]
			switch publisher.IntN(12) {
			case 0:
				n.Publish(d, stopped(generation[d]))
			case 1, 2:
				generation[d]++
				tick[d] = 0
				n.Publish(d, paced(generation[d], publisher.Int64N(1000)))
			case 3:
				n.Publish(d, clock.Observed{Generation: generation[d], State: clock.Uninstalled})
			case 4:
				if publisher.IntN(10) == 0 && d == "b" {
					n.Remove(d)
					removed = true
					domains = domains[:1:1]
					return
				}
			default:
				tick[d] += 1 + publisher.Uint64N(3)
				n.Tick(d, tick[d])
			}
		}
	}()
	go func() { // the ordered lane
		defer work.Done()
		defer close(done)
		for range 40 {
			pause(caller)
			pause(caller)
			d := []ident.Domain{"a", "b"}[caller.IntN(2)]
			if caller.IntN(2) == 0 {
				s.attach(d)
			} else {
				s.detach(d)
			}
		}
	}()
	go func() { // the client
		defer work.Done()
		for {
			pause(reader)
			if reader.IntN(20) == 0 {
				_ = osclock.Wait(t.Context(), 40*time.Millisecond)
			}
			body := s.read()
			if state, ok := body.(wire.DomainClockObserved); ok {
				if c := state.Clock; !published(n, state.Domain, c) {
					t.Errorf("a clock that was never published: %+v", c)
				}
			}
			if body == nil {
				select {
				case <-done:
					return
				default:
				}
			}
		}
	}()
	work.Wait()
	s.readAll()
	out := s.attach("a") // whatever it says, the client follows it now
	s.readAll()
	final := clocksOf(t, n, "a")
	if known, follows := s.order["a"].Clock(); !follows || known != final {
		t.Errorf("the client has %+v (%v, %v), the node %+v", known, follows, out.Disposition, final)
	}
	if removed {
		if _, follows := s.order["b"].Clock(); follows {
			t.Error("b was removed, and the client was not told")
		}
	}
	s.close()
}

// published says whether a sent clock equals a published one as a whole.
func published(n *clockstest.Node, domain string, c wire.ObservedClock) bool {
	o := clock.Observed{Generation: ident.Generation(c.Generation), State: clock.State(c.State)}
	if c.State == wire.ClockPaced {
		o.Pace = clock.Pace{Period: c.PeriodNS, Skew: c.SkewNS}
		o.Mapping = clock.Mapping{WallStartedAt: vtime.UTCFromNS(c.WallStartedAtNS), LogicalStart: vtime.LogicalFromNS(c.LogicalStartNS), Rate: c.TimeRate}
	}
	return n.Published(ident.Domain(domain), o)
}

// clocksOf is the installed clock of a domain as a fresh session is told.
func clocksOf(t *testing.T, n *clockstest.Node, domain ident.Domain) wire.ObservedClock {
	t.Helper()
	s := open(t, n, 16, nil)
	defer s.end()
	did := s.all.Attach(s.life, s.life, domain, false)
	did.Queued(false)
	return did.AttachOutcome().Clock
}

// TestAPublicationAtEveryPointIsTold puts one publication, the last, before each call that the task makes of its watch.
func TestAPublicationAtEveryPointIsTold(t *testing.T) {
	// req: C-085
	// req: C-205
	// req: C-082 half: the removal of node-local state is the node's
	for _, c := range []struct {
		name    string
		publish func(n *clockstest.Node)
		want    func(s *session) bool
	}{
		{"a state", func(n *clockstest.Node) { n.Publish("weather", paced(2, 0)) }, func(s *session) bool {
			c, follows := s.order["weather"].Clock()
			return follows && c.Generation == 2
		}},
		{"a tick", func(n *clockstest.Node) { n.Tick("weather", 7) }, func(s *session) bool { return s.order["weather"].Tick() == 7 }},
		{"the removal", func(n *clockstest.Node) { n.Remove("weather") }, func(s *session) bool { return s.order["weather"].Ends == 1 }},
	} {
		for at := 1; at <= 20; at++ {
			synctest.Test(t, func(t *testing.T) {
				n := clockstest.Ready()
				n.Publish("weather", paced(1, 0))
				s := open(t, n, 16, nil)
				calls := 0
				s.attach("weather")
				synctest.Wait() // the task rests
				n.Pause = func() {
					if calls++; calls == at {
						c.publish(n)
					}
				}
				n.Tick("weather", 1)
				s.readAll()
				for calls < at { // it rests again before the point; another change takes it there
					n.Publish("weather", paced(1, 0))
					s.readAll()
				}
				if s.readAll(); !c.want(s) {
					t.Errorf("%s before call %d is not told: %v", c.name, at, s.frames)
				}
				s.close()
			})
		}
	}
}

func TestClocksThatCannotBeWatched(t *testing.T) {
	l := newLane(1)
	all := clocks.New(broken{}, l, nil)
	out := all.Attach(t.Context(), t.Context(), "weather", false).AttachOutcome()
	if out.Disposition != wire.ClockAttachFailed || !strings.Contains(out.Text, "disk") {
		t.Errorf("%+v", out)
	}
	all.End()
}

// broken is a node that cannot say whether a domain exists.
type broken struct{}

func (broken) Installed(context.Context) error { return nil }

func (broken) Watch(ident.Domain) (clocks.ClockWatch, error) { return nil, errors.New("disk on fire") }

// TestStatements: only the two statements alone are the session's.
func TestStatements(t *testing.T) {
	for text, want := range map[string]clocks.Verb{
		"ATTACH DOMAIN CLOCK": clocks.Attach, "attach domain  clock ;": clocks.Attach, "-- follow\nATTACH DOMAIN CLOCK;": clocks.Attach,
		"DETACH DOMAIN CLOCK;": clocks.Detach, "ATTACH DOMAIN CLOCK; SHOW INGESTORS": clocks.None, "ATTACH DOMAIN": clocks.None,
		"ATTACH DOMAIN CLOCK weather": clocks.None, "": clocks.None, ";ATTACH DOMAIN CLOCK": clocks.None, "ATTACH DOMAIN 'CLOCK'": clocks.None,
		"ATTACH DOMAIN CLOCK;;": clocks.Attach, "SHOW INGESTORS": clocks.None, "`ATTACH` DOMAIN CLOCK": clocks.None,
	} {
		if got := clocks.Statement(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/wire"
)

// desk is a session whose node answers clock requests in order, after a delay, as a script says.
type desk struct {
	name   string
	f      *following
	delay  func() time.Duration
	answer func(d *desk, body wire.ClientBody) wire.ServerBody
	over   chan struct{}
	once   sync.Once     // closes over
	tail   chan struct{} // the ordered lane: closed when the last request was answered
	mu     sync.Mutex
	held   map[string]bool
	log    []string
}

func newDesk(f *following, name string) *desk {
	return &desk{name: name, f: f, delay: func() time.Duration { return 0 }, answer: (*desk).node, over: make(chan struct{}),
		held: map[string]bool{}}
}

var unpaced = wire.ObservedClock{State: wire.ClockUnpaced, Generation: 1}

func pacedClock(generation uint64) wire.ObservedClock {
	return wire.ObservedClock{State: wire.ClockPaced, Generation: generation, PeriodNS: 10, LogicalStartNS: int64(generation), TimeRate: 1}
}

// node answers as a good node does.
func (d *desk) node(body wire.ClientBody) wire.ServerBody {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch b := body.(type) {
	case wire.AttachDomainClockRequest:
		if d.held[b.Domain] {
			return wire.DomainClockAttachOutcome{Disposition: wire.ClockAlreadyAttached, Domain: b.Domain}
		}
		d.held[b.Domain] = true
		return wire.DomainClockAttachOutcome{Disposition: wire.ClockAttached, Domain: b.Domain, Clock: unpaced}
	case wire.DetachDomainClockRequest:
		if !d.held[b.Domain] {
			return wire.DomainClockDetachOutcome{Disposition: wire.ClockNotAttached, Domain: b.Domain}
		}
		delete(d.held, b.Domain)
		return wire.DomainClockDetachOutcome{Disposition: wire.ClockDetached, Domain: b.Domain}
	}
	return nil
}

func (d *desk) holds(domain string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.held[domain] && !over(d.over)
}

// requests are what the node was asked so far, when nothing moves.
func (d *desk) requests() []string {
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.log)
}

func (d *desk) ask(ctx context.Context, body wire.ClientBody) result {
	lost := result{failed: failure(ErrConnect, "connection lost", nil), doubt: true}
	if over(d.over) {
		return result{failed: lost.failed}
	}
	reply := make(chan wire.ServerBody, 1)
	d.mu.Lock()
	before, mine := d.tail, make(chan struct{})
	d.tail = mine
	d.mu.Unlock()
	go func() { // the node and the reader
		defer close(mine)
		_ = osclock.Wait(context.Background(), d.delay())
		if before != nil {
			<-before
		}
		_ = osclock.Wait(context.Background(), d.delay())
		if over(d.over) {
			return
		}
		d.mu.Lock()
		d.log = append(d.log, fmt.Sprintf("%T", body)[len("wire."):])
		d.mu.Unlock()
		got := d.answer(d, body)
		if got == nil {
			return
		}
		_ = osclock.Wait(context.Background(), d.delay())
		if !d.f.heard(d, got) {
			reply <- got
		}
	}()
	select {
	case got := <-reply:
		return result{reply: got}
	case <-d.over:
		return lost
	case <-ctx.Done():
		return result{failed: failure(ErrUncertain, "given up", nil), doubt: true}
	}
}

func (d *desk) takesClocks() *Error    { return nil }
func (d *desk) ended() <-chan struct{} { return d.over }

func (d *desk) lose() {
	d.once.Do(func() {
		close(d.over)
		d.f.lost(d)
	})
}

// attach is what Client.attach does with a session that is there.
func attach(f *following, s carrier, domain string) *Error {
	f.gates.enter(context.Background(), domain, nil)
	if f.follows(domain) {
		f.gates.leave(domain)
		return failure(ErrClockAttached, "", nil)
	}
	_, failed, _ := f.attach(context.Background(), s, domain)
	return failed
}

func detach(f *following, domain string) *Error {
	f.gates.enter(context.Background(), domain, nil)
	return f.detach(domain)
}

// all takes the events that are there.
func (f *following) all() (list []ClockEvent) {
	for {
		e, _, _ := f.next()
		if e == nil {
			return list
		}
		list = append(list, *e)
	}
}

// TestDetachAndRestorationNeverCross: callers attach and detach two clocks while their sessions are lost and restored at any moment. When a
// detach is answered no session holds the clock, and none does until the caller attaches it again.
func TestDetachAndRestorationNeverCross(t *testing.T) {
	// req: C-109
	// req: X-190
	const seeds, rounds = 125, 40 // of two clocks: 10,000 detaches
	for seed := range uint64(seeds) {
		synctest.Test(t, func(t *testing.T) { crossings(t, rand.New(rand.NewPCG(seed, 1)), rounds) })
		if t.Failed() {
			t.Fatal("seed", seed)
		}
	}
}

func crossings(t *testing.T, r *rand.Rand, rounds int) {
	f := newFollowing()
	var mu sync.Mutex // guards r, sessions
	var sessions []*desk
	delay := func() time.Duration {
		mu.Lock()
		defer mu.Unlock()
		return time.Duration(r.IntN(5)) * time.Millisecond
	}
	pause := func() { _ = osclock.Wait(t.Context(), delay()) }
	open := func() *desk {
		s := newDesk(f, "")
		s.delay = delay
		return s
	}
	publish := func(s *desk) {
		mu.Lock()
		defer mu.Unlock()
		sessions = append(sessions, s)
	}
	current := func() *desk {
		mu.Lock()
		defer mu.Unlock()
		return sessions[len(sessions)-1]
	}
	publish(open())
	var restoring []*desk
	nobodyHolds := func(domain string) {
		mu.Lock()
		all := append(append([]*desk(nil), sessions...), restoring...)
		mu.Unlock()
		for _, s := range all {
			if s.holds(domain) {
				t.Errorf("a session holds %s after its detach", domain)
			}
		}
	}
	done := make(chan struct{})
	var callers, others sync.WaitGroup
	for _, domain := range []string{"a", "b"} {
		callers.Add(1)
		go func() {
			defer callers.Done()
			for range rounds {
				pause()
				if failed := attach(f, current(), domain); failed != nil {
					continue // the session was lost
				}
				pause()
				pause()
				if failed := detach(f, domain); failed != nil {
					t.Errorf("detach: %v", failed)
				}
				nobodyHolds(domain)
				pause()
				nobodyHolds(domain)
			}
		}()
	}
	others.Add(1)
	go func() { // sessions are lost, and replaced as Client.replace does
		defer others.Done()
		for !over(done) {
			pause()
			pause()
			current().lose()
			for {
				s := open()
				mu.Lock()
				restoring = append(restoring, s)
				mu.Unlock()
				if delay() == 0 { // this one is lost while it restores
					others.Add(1)
					go func() {
						defer others.Done()
						pause()
						s.lose()
					}()
				}
				if failed := f.restore(s); failed == nil {
					publish(s)
					break
				}
			}
		}
	}()
	callers.Wait()
	close(done)
	others.Wait()
	f.close()
	_ = osclock.Wait(t.Context(), time.Second) // nodes of lost sessions
	if left := f.domains(); len(left) > 0 || len(f.gates.open) > 0 {
		t.Errorf("followed %v, %d gates in use", left, len(f.gates.open))
	}
}

// TestOrderOfDetachAndRestoration has both orders of C-109 with the frames on the wire.
func TestOrderOfDetachAndRestoration(t *testing.T) {
	// req: C-109
	// req: X-190
	slow := func() time.Duration { return time.Second }
	t.Run("a detach in flight holds back a restoration", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := newFollowing()
			one, two := newDesk(f, "one"), newDesk(f, "two")
			one.delay = slow
			if failed := attach(f, one, "d"); failed != nil {
				t.Fatal(failed)
			}
			detached := make(chan *Error)
			go func() { detached <- detach(f, "d") }()
			synctest.Wait()
			// The new session answers while the old one still holds the clock.
			restored := make(chan *Error)
			go func() { restored <- f.restore(two) }()
			if failed := <-detached; failed != nil {
				t.Error(failed)
			}
			if failed := <-restored; failed != nil {
				t.Error(failed)
			}
			if one.holds("d") || two.holds("d") || len(two.requests()) > 0 {
				t.Errorf("frames of the second session: %v", two.requests())
			}
		})
	})
	t.Run("a restoration in flight is awaited by a detach", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := newFollowing()
			one, two := newDesk(f, "one"), newDesk(f, "two")
			two.delay = slow
			if failed := attach(f, one, "d"); failed != nil {
				t.Fatal(failed)
			}
			one.lose()
			restored := make(chan *Error)
			go func() { restored <- f.restore(two) }()
			synctest.Wait()
			if failed := detach(f, "d"); failed != nil {
				t.Error(failed)
			}
			<-restored
			if diff := cmp.Diff([]string{"AttachDomainClockRequest", "DetachDomainClockRequest"}, two.requests()); diff != "" || two.holds("d") {
				t.Errorf("frames of the second session:\n%s", diff)
			}
		})
	})
	t.Run("a lost session holds nothing", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := newFollowing()
			one := newDesk(f, "one")
			if failed := attach(f, one, "d"); failed != nil {
				t.Fatal(failed)
			}
			one.delay = slow
			detached := make(chan *Error)
			go func() { detached <- detach(f, "d") }()
			synctest.Wait()
			one.lose()
			if failed := <-detached; failed != nil || f.follows("d") {
				t.Error(failed)
			}
			if failed := detach(f, "d"); !errors.Is(failed, ErrClockNotAttached) {
				t.Error(failed)
			}
			_ = osclock.Wait(t.Context(), time.Minute) // the node
		})
	})
}

// TestAClockMovesWithoutAnInterruption: a new session answers while the old one still holds the attachment.
func TestAClockMovesWithoutAnInterruption(t *testing.T) {
	// req: C-105 half: there is no redirect yet that would bring it about
	// req: X-188
	// req: X-104
	synctest.Test(t, func(t *testing.T) {
		answering := func(c wire.ObservedClock) func(*desk, wire.ClientBody) wire.ServerBody {
			return func(_ *desk, b wire.ClientBody) wire.ServerBody {
				return wire.DomainClockAttachOutcome{Disposition: wire.ClockAttached, Domain: b.(wire.AttachDomainClockRequest).Domain, Clock: c}
			}
		}
		f := newFollowing()
		one, two, three := newDesk(f, "one"), newDesk(f, "two"), newDesk(f, "three")
		one.answer, two.answer, three.answer = answering(pacedClock(1)), answering(pacedClock(1)), answering(pacedClock(2))
		if failed := attach(f, one, "d"); failed != nil {
			t.Fatal(failed)
		}
		tick := func(s *desk, generation, id uint64) {
			f.heard(s, wire.DomainClockTicked{Domain: "d", Generation: generation, ID: id, BoundaryNS: int64(id)})
		}
		tick(one, 1, 5)
		f.all()
		if failed := f.restore(two); failed != nil {
			t.Fatal(failed)
		}
		tick(one, 1, 9) // the old session no longer counts
		f.heard(one, wire.DomainClockObserved{Domain: "d", Clock: pacedClock(9)})
		f.heard(one, wire.DomainClockAttachmentEnded{Domain: "d", Reason: wire.EndDomainRemoved})
		tick(two, 1, 4)
		tick(two, 1, 5)
		if events := f.all(); len(events) > 0 {
			t.Errorf("moved within a generation: %v", events)
		}
		if c, _ := f.clock("d"); c.Tick == nil || c.Tick.ID != 5 || c.Interrupted {
			t.Errorf("the clock: %+v", c)
		}
		tick(two, 1, 6)
		if events := f.all(); len(events) != 1 || events[0].Kind != ClockTicked || events[0].Tick.ID != 6 {
			t.Errorf("a newer tick: %v", events)
		}
		one.lose()
		if events := f.all(); len(events) > 0 {
			t.Errorf("the end of the session that held it before: %v", events)
		}
		if failed := f.restore(three); failed != nil {
			t.Fatal(failed)
		}
		if events := f.all(); len(events) != 1 || events[0].Kind != ClockObserved || events[0].Clock.Generation != 2 {
			t.Errorf("moved to another generation: %v", events)
		}
		if c, _ := f.clock("d"); c.Tick != nil {
			t.Errorf("the tick of the old generation is kept: %+v", c)
		}
		two.lose()
		f.heard(three, wire.DomainClockTicked{Domain: "d", Generation: 2, ID: 1})
		f.all()
		three.lose()
		if c, _ := f.clock("d"); c.Tick != nil || !c.Interrupted || c.Generation != 2 || c.State != clock.Paced {
			t.Errorf("an interrupted clock keeps its state and not its tick: %+v", c)
		}
		if events := f.all(); len(events) != 1 || events[0].Kind != ClockInterrupted {
			t.Errorf("the end of the holder: %v", events)
		}
		f.close()
	})
}

// TestRefusedRestorationsAreTriedAgain: after 1, 2, 4, 8, 16, 30, 30 s on one session, from 1 s on the next; no more after a detach or the end of
// the session; and an answer of not found ends the attachment.
func TestRefusedRestorationsAreTriedAgain(t *testing.T) {
	// req: C-106
	// req: C-108
	// req: X-106
	// req: X-189 half: the unanswered one is in clocks_test.go
	synctest.Test(t, func(t *testing.T) {
		f := newFollowing()
		one := newDesk(f, "one")
		for _, domain := range []string{"d", "e"} {
			if failed := attach(f, one, domain); failed != nil {
				t.Fatal(failed)
			}
		}
		one.lose()
		f.all()
		two := newDesk(f, "two")
		var answer atomic.Pointer[wire.DomainClockAttachOutcome]
		answer.Store(&wire.DomainClockAttachOutcome{Disposition: wire.ClockAttachFailed, Code: "x", Text: "not now"})
		two.answer = func(_ *desk, b wire.ClientBody) wire.ServerBody {
			out := *answer.Load()
			out.Domain = b.(wire.AttachDomainClockRequest).Domain
			return out
		}
		if failed := f.restore(two); failed != nil {
			t.Fatal(failed)
		}
		begin := osclock.Mono()
		var waits, at []time.Duration
		for range 8 {
			for _, e := range f.all() {
				if e.Domain != "d" {
					continue
				}
				if e.Kind != ClockRefused || e.Refusal != "not now" {
					t.Fatalf("event: %+v", e)
				}
				waits, at = append(waits, e.RetryIn), append(at, osclock.Mono().Sub(begin))
			}
			_ = osclock.Wait(t.Context(), waits[len(waits)-1])
			synctest.Wait()
		}
		second := time.Second
		if diff := cmp.Diff([]time.Duration{second, 2 * second, 4 * second, 8 * second, 16 * second, 30 * second, 30 * second, 30 * second}, waits); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]time.Duration{0, second, 3 * second, 7 * second, 15 * second, 31 * second, 61 * second, 91 * second}, at); diff != "" {
			t.Error(diff)
		}
		// Nobody wants d any more.
		if failed := detach(f, "d"); failed != nil {
			t.Error(failed)
		}
		asked := len(two.requests())
		_ = osclock.Wait(t.Context(), 31*second)
		if got := len(two.requests()) - asked; got != 1 { // e
			t.Errorf("%d requests after the detach of one of two clocks", got)
		}
		// The session ends, and with it the tries.
		two.lose()
		asked = len(two.requests())
		_ = osclock.Wait(t.Context(), time.Minute)
		if len(two.requests()) != asked {
			t.Error("tried again on a session that is over")
		}
		f.all()
		three := newDesk(f, "three")
		three.answer = two.answer
		if failed := f.restore(three); failed != nil {
			t.Fatal(failed)
		}
		if events := f.all(); len(events) != 1 || events[0].RetryIn != second {
			t.Errorf("the next session begins with %v", events)
		}
		answer.Store(&wire.DomainClockAttachOutcome{Disposition: wire.ClockDomainNotFound})
		_ = osclock.Wait(t.Context(), second)
		synctest.Wait()
		if events := f.all(); len(events) != 1 || events[0].Kind != ClockEnded || events[0].Reason != EndDomainRemoved || f.follows("e") {
			t.Errorf("not found: %v", events)
		}
		three.lose()
		f.close()
	})
}

// TestWhatALostSessionStillBringsDoesNotCount: an attach reply that its reader has read, but not taken in, when the session ends.
func TestWhatALostSessionStillBringsDoesNotCount(t *testing.T) {
	// req: X-104
	f := newFollowing()
	one := newDesk(f, "one")
	f.expect("d", &asked{on: one})
	one.lose()
	f.heard(one, wire.DomainClockAttachOutcome{Disposition: wire.ClockAttached, Domain: "d", Clock: unpaced})
	if f.follows("d") {
		t.Error("the clock of a session that is over is followed, and nothing will ever interrupt it")
	}
}

// TestANewAttachmentHasNoOldNews: the end of the one before is not told as its own.
func TestANewAttachmentHasNoOldNews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFollowing()
		one := newDesk(f, "one")
		for range 2 {
			if failed := attach(f, one, "d"); failed != nil {
				t.Fatal(failed)
			}
			if events := f.all(); len(events) > 0 {
				t.Errorf("after an attach: %v", events)
			}
			one.held = map[string]bool{}
			f.heard(one, wire.DomainClockAttachmentEnded{Domain: "d", Reason: wire.EndDomainRemoved})
		}
		if events := f.all(); len(events) != 1 || events[0].Kind != ClockEnded {
			t.Errorf("%v", events)
		}
	})
}

// TestAnAlreadyAttachedRestoration: the session holds the clock, whoever asked for it.
func TestAnAlreadyAttachedRestoration(t *testing.T) {
	// req: X-188
	synctest.Test(t, func(t *testing.T) {
		f := newFollowing()
		one, two := newDesk(f, "one"), newDesk(f, "two")
		if failed := attach(f, one, "d"); failed != nil {
			t.Fatal(failed)
		}
		one.lose()
		f.all()
		two.held["d"] = true
		if failed := f.restore(two); failed != nil {
			t.Fatal(failed)
		}
		if events := f.all(); len(events) != 1 || events[0].Kind != ClockObserved {
			t.Errorf("%v", events)
		}
		f.heard(two, wire.DomainClockObserved{Domain: "d", Clock: pacedClock(7)})
		if c, _ := f.clock("d"); c.Generation != 7 || c.Interrupted {
			t.Errorf("%+v", c)
		}
		two.lose()
		f.close()
	})
}

// TestUnreadEventsCoalesce feeds one domain and takes nothing, then reads.
func TestUnreadEventsCoalesce(t *testing.T) {
	// req: X-186 half: that the session is not held up is in clocks_test.go
	// req: C-104 half: what happened while away is in clocks_test.go
	// req: C-111 half: the arithmetic is in clock_test.go
	state := func(g uint64) *ClockEvent {
		return &ClockEvent{Kind: ClockObserved, Clock: observedOf(pacedClock(g))}
	}
	stopped := func(g uint64) *ClockEvent {
		return &ClockEvent{Kind: ClockObserved, Clock: observedOf(wire.ObservedClock{State: wire.ClockStopped, Generation: g})}
	}
	tick := func(g, id uint64) *ClockEvent {
		return &ClockEvent{Kind: ClockTicked, Tick: *tickOf(wire.DomainClockTicked{Generation: g, ID: id})}
	}
	interrupted, refused, ended := &ClockEvent{Kind: ClockInterrupted}, &ClockEvent{Kind: ClockRefused}, &ClockEvent{Kind: ClockEnded}
	for _, c := range []struct {
		name string
		in   []*ClockEvent
		want []*ClockEvent
	}{
		{"ten generations", []*ClockEvent{state(1), tick(1, 1), state(2), tick(2, 1), tick(2, 7), stopped(2), state(3), tick(3, 2), tick(3, 9)},
			[]*ClockEvent{state(3), tick(3, 9)}},
		{"a tick of a generation that is over", []*ClockEvent{tick(1, 1), state(2)}, []*ClockEvent{state(2)}},
		{"a tick and then no pace", []*ClockEvent{tick(1, 1), stopped(1)}, []*ClockEvent{stopped(1)}},
		{"an interruption", []*ClockEvent{state(1), tick(1, 1), refused, interrupted}, []*ClockEvent{interrupted}},
		{"after an interruption", []*ClockEvent{state(1), interrupted, refused, refused, state(2), tick(2, 1), state(3)}, []*ClockEvent{interrupted, refused, state(3)}},
		{"two interruptions", []*ClockEvent{interrupted, state(1), interrupted}, []*ClockEvent{interrupted}},
		{"an end", []*ClockEvent{interrupted, refused, state(1), tick(1, 1), ended}, []*ClockEvent{interrupted, ended}},
		{"an end without more", []*ClockEvent{state(1), tick(1, 1), ended}, []*ClockEvent{ended}},
	} {
		u := &unread{}
		for _, e := range c.in {
			u.add(e)
		}
		var got []*ClockEvent
		for more := true; more; {
			var e *ClockEvent
			e, more = u.take()
			got = append(got, e)
		}
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(vtime.Logical{}, vtime.UTC{})); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// TestAReadIsNeverOlderThanAnEvent: whatever frames come, the clock that can be read after an event was taken is that of the event or newer.
func TestAReadIsNeverOlderThanAnEvent(t *testing.T) {
	// req: X-192
	r := rand.New(rand.NewPCG(3, 3))
	f := newFollowing()
	one := newDesk(f, "one")
	one.answer = func(*desk, wire.ClientBody) wire.ServerBody {
		return wire.DomainClockAttachOutcome{Disposition: wire.ClockAttached, Domain: "d", Clock: pacedClock(1)}
	}
	if failed := attach(f, one, "d"); failed != nil {
		t.Fatal(failed)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		generation, id := uint64(1), uint64(0)
		for range 3_000 {
			if r.IntN(10) == 0 {
				generation, id = generation+1, 0
				f.heard(one, wire.DomainClockObserved{Domain: "d", Clock: pacedClock(generation)})
			}
			id++
			f.heard(one, wire.DomainClockTicked{Domain: "d", Generation: generation, ID: id})
		}
	}()
	for running := true; running; {
		running = !over(done)
		e, _, _ := f.next()
		if e == nil {
			continue
		}
		c, _ := f.clock("d")
		switch {
		case e.Kind == ClockObserved && c.Generation < e.Clock.Generation:
			t.Fatalf("a clock of generation %d after the event of %d", c.Generation, e.Clock.Generation)
		case e.Kind == ClockTicked && c.Generation == e.Tick.Generation && (c.Tick == nil || c.Tick.ID < e.Tick.ID):
			t.Fatalf("tick %+v after the event of %d", c.Tick, e.Tick.ID)
		case e.Kind == ClockTicked && c.Generation < e.Tick.Generation:
			t.Fatalf("a clock of generation %d after a tick of %d", c.Generation, e.Tick.Generation)
		}
	}
}

// TestACallThatEndsTakesItsAttachBack: the reply comes too late, and nothing is followed.
func TestACallThatEndsTakesItsAttachBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFollowing()
		one := newDesk(f, "one")
		var delay atomic.Int64
		delay.Store(int64(time.Second))
		one.delay = func() time.Duration { return time.Duration(delay.Load()) }
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		f.gates.enter(ctx, "d", nil)
		if _, failed, again := f.attach(ctx, one, "d"); failed == nil || again {
			t.Errorf("%v, again %v", failed, again)
		}
		delay.Store(0)
		if failed := attach(f, one, "d"); failed != nil { // waits for what is taken back
			t.Error(failed)
		}
		if diff := cmp.Diff([]string{"AttachDomainClockRequest", "DetachDomainClockRequest", "AttachDomainClockRequest"}, one.requests()); diff != "" {
			t.Error(diff)
		}
		if c, ok := f.clock("d"); !ok || c.State != clock.Unpaced || !one.holds("d") {
			t.Errorf("%+v", c)
		}
		if events := f.all(); len(events) > 0 {
			t.Errorf("%v", events)
		}
		one.lose()
		f.close()
	})
}

// SPDX-License-Identifier: Apache-2.0

package client

import (
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/session/clocks/clockstest"
	"github.com/nervix-go/nervix/host/wire"
)

func installed(generation ident.Generation) clock.Observed {
	return observedOf(pacedClock(uint64(generation)))
}

// TestAClockIsFollowed: the reply's clock first, then what changes, then nothing after a detach.
func TestAClockIsFollowed(t *testing.T) {
	// req: C-083
	// req: X-172 half: several domains; USE is a statement and changes nothing here
	virtual(t, nil, func(t *testing.T, n *realNode, c *Client) {
		n.clocks.Publish("history", installed(1))
		n.clocks.Publish("other", clock.Observed{State: clock.Stopped})
		got, err := c.AttachDomainClock(t.Context(), "history")
		if diff := cmp.Diff(DomainClock{Domain: "history", Observed: installed(1)}, got, cmp.AllowUnexported(vtime.Logical{}, vtime.UTC{})); err != nil || diff != "" {
			t.Fatal(err, diff)
		}
		if _, err := c.AttachDomainClock(t.Context(), "history"); !errors.Is(err, ErrClockAttached) {
			t.Errorf("again: %v", err)
		}
		if _, err := c.AttachDomainClock(t.Context(), "nowhere"); !errors.Is(err, ErrDomainUnknown) {
			t.Errorf("unknown: %v", err)
		}
		if _, err := c.AttachDomainClock(t.Context(), "other"); err != nil {
			t.Errorf("a second domain: %v", err)
		}
		n.clocks.Tick("history", 2)
		if e := event(t, c, ClockTicked); e.Domain != "history" || e.Tick.ID != 2 || e.Tick.Boundary.NS() != 11 {
			t.Errorf("%+v", e)
		}
		n.clocks.Publish("history", installed(2))
		event(t, c, ClockObserved)
		if known, follows := c.DomainClock("history"); !follows || known.Generation != 2 || known.Tick != nil {
			t.Errorf("%+v", known)
		}
		if err := c.DetachDomainClock(t.Context(), "history"); err != nil {
			t.Error(err)
		}
		n.clocks.Publish("history", installed(3))
		quiet(t, c)
		if err := c.DetachDomainClock(t.Context(), "history"); !errors.Is(err, ErrClockNotAttached) {
			t.Errorf("detach again: %v", err)
		}
		n.clocks.Remove("other")
		if e := event(t, c, ClockEnded); e.Domain != "other" || e.Reason != EndDomainRemoved {
			t.Errorf("%+v", e)
		}
		if list := c.FollowedClocks(); len(list) > 0 {
			t.Errorf("followed: %v", list)
		}
	})
}

// TestTransactionsAndClocks: the node's refusal comes with its reason.
func TestTransactionsAndClocks(t *testing.T) {
	// req: C-089
	virtual(t, nil, func(t *testing.T, n *realNode, c *Client) {
		n.clocks.Publish("history", installed(1))
		n.clocks.Publish("other", installed(1))
		if _, err := c.AttachDomainClock(t.Context(), "other"); err != nil {
			t.Fatal(err)
		}
		execute := func(text string) {
			if _, err := c.Execute(t.Context(), Command{Text: text}); err != nil {
				t.Error(err)
			}
		}
		execute("BEGIN")
		if _, err := c.AttachDomainClock(t.Context(), "history"); !errors.Is(err, ErrClockRefused) {
			t.Errorf("attach: %v", err)
		}
		if err := c.DetachDomainClock(t.Context(), "other"); !errors.Is(err, ErrClockRefused) {
			t.Errorf("detach: %v", err)
		}
		n.clocks.Publish("other", installed(2))
		event(t, c, ClockObserved) // it is still followed
		execute("REVERT")
		if err := c.DetachDomainClock(t.Context(), "other"); err != nil {
			t.Error(err)
		}
	})
}

// TestAnAwayClientIsToldOnce: the node restarts and the clock goes through three generations meanwhile; the client reports an interruption and one
// observation, and keeps the state between them.
func TestAnAwayClientIsToldOnce(t *testing.T) {
	// req: C-103 half: the order of frames is TestRestorationComesFirst
	// req: C-104
	// req: X-105
	// req: X-187
	// req: X-108 half: clock events only
	virtual(t, nil, func(t *testing.T, n *realNode, c *Client) {
		n.clocks.Publish("history", installed(1))
		n.clocks.Tick("history", 4)
		if _, err := c.AttachDomainClock(t.Context(), "history"); err != nil {
			t.Fatal(err)
		}
		event(t, c, ClockTicked)
		n.stop()
		event(t, c, ClockInterrupted)
		if known, _ := c.DomainClock("history"); !known.Interrupted || known.Generation != 1 || known.Tick != nil {
			t.Errorf("while away: %+v", known)
		}
		for g := ident.Generation(2); g < 5; g++ {
			n.clocks.Publish("history", clock.Observed{Generation: g - 1, State: clock.Stopped})
			n.clocks.Publish("history", installed(g))
		}
		n.clocks.Tick("history", 1)
		n.start()
		if e := event(t, c, ClockObserved); e.Clock.Generation != 4 {
			t.Errorf("%+v", e)
		}
		event(t, c, ClockTicked)
		quiet(t, c)
		// Nothing changed while away: it is told all the same, because it was interrupted.
		n.stop()
		event(t, c, ClockInterrupted)
		n.start()
		if e := event(t, c, ClockObserved); e.Clock.Generation != 4 {
			t.Errorf("%+v", e)
		}
		event(t, c, ClockTicked)
		if n.clocks.Watches() != 1 {
			t.Errorf("%d watches", n.clocks.Watches())
		}
	})
}

// TestSilenceIsNoticedWithoutARequest: packets vanish, the client has nothing to say, and it is back in less than 20 s after they flow again.
func TestSilenceIsNoticedWithoutARequest(t *testing.T) {
	// req: X-011
	virtual(t, nil, func(t *testing.T, n *realNode, c *Client) {
		n.clocks.Publish("history", installed(1))
		if _, err := c.AttachDomainClock(t.Context(), "history"); err != nil {
			t.Fatal(err)
		}
		_ = osclock.Wait(t.Context(), time.Hour) // keepalives hold the session
		if n.sessions() != 1 {
			t.Fatalf("%d sessions after an idle hour", n.sessions())
		}
		n.network.cut.Store(true)
		begin := osclock.Mono()
		event(t, c, ClockInterrupted)
		if took := osclock.Mono().Sub(begin); took > 20*time.Second {
			t.Errorf("noticed after %v", took)
		}
		// A reopening that fails is returned, and the next read tries again.
		ctx, stop := osclock.WithTimeout(t.Context(), time.Hour)
		defer stop()
		for range 3 {
			if _, err := c.NextClockEvent(ctx); !errors.Is(err, ErrConnect) {
				t.Errorf("without a network: %v", err)
			}
		}
		n.network.cut.Store(false)
		event(t, c, ClockObserved)
	})
}

// TestARestartIsNoticedByTheNextKeepalive: a node that was killed says nothing, and its successor answers the next sign of life.
func TestARestartIsNoticedByTheNextKeepalive(t *testing.T) {
	// req: X-011
	virtual(t, nil, func(t *testing.T, n *realNode, c *Client) {
		n.clocks.Publish("history", installed(1))
		if _, err := c.AttachDomainClock(t.Context(), "history"); err != nil {
			t.Fatal(err)
		}
		_ = osclock.Wait(t.Context(), time.Minute)
		n.network.cut.Store(true)
		n.stop()
		n.start()
		n.network.cut.Store(false)
		begin := osclock.Mono()
		event(t, c, ClockInterrupted)
		if took := osclock.Mono().Sub(begin); took > 6*time.Second {
			t.Errorf("noticed after %v", took)
		}
		event(t, c, ClockObserved)
	})
}

// TestAReaderIsWokenAndReopens: a caller that waits for the next event opens the new session.
func TestAReaderIsWokenAndReopens(t *testing.T) {
	// req: X-108
	// req: X-109
	// req: C-107 half: the lost session; the unanswered restoration is TestAnUnansweredRestorationEndsItsSession
	virtual(t, nil, func(t *testing.T, n *realNode, c *Client) {
		n.clocks.Publish("history", installed(1))
		if _, err := c.AttachDomainClock(t.Context(), "history"); err != nil {
			t.Fatal(err)
		}
		events := make(chan ClockEvent, 10)
		go func() {
			for got := 0; got < 2; {
				e, err := c.NextClockEvent(t.Context())
				if errors.Is(err, ErrConnect) {
					continue // it asked between the node's end and its return
				}
				if err != nil {
					t.Error(err)
				}
				events <- e
				got++
			}
		}()
		synctest.Wait()
		n.stop()
		n.start()
		if first, second := <-events, <-events; first.Kind != ClockInterrupted || second.Kind != ClockObserved || n.sessions() != 2 {
			t.Errorf("%+v, %+v, %d sessions", first, second, n.sessions())
		}
		// Close ends a reader that waits.
		over := make(chan error, 1)
		go func() {
			_, err := c.NextClockEvent(t.Context())
			over <- err
		}()
		synctest.Wait()
		_ = c.Close()
		if err := <-over; !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
		if _, err := c.AttachDomainClock(t.Context(), "x"); !errors.Is(err, ErrClosed) {
			t.Errorf("attach after Close: %v", err)
		}
		if err := c.DetachDomainClock(t.Context(), "history"); err != nil && !errors.Is(err, ErrClosed) {
			t.Errorf("detach after Close: %v", err)
		}
	})
}

// TestASlowReaderHoldsUpNothing: nobody reads events for ten generations, and replies come.
func TestASlowReaderHoldsUpNothing(t *testing.T) {
	// req: X-186
	// req: C-111 half: the arithmetic is in clock_test.go
	// req: X-052 half: clock frames
	virtual(t, nil, func(t *testing.T, n *realNode, c *Client) {
		n.clocks.Publish("history", installed(1))
		if _, err := c.AttachDomainClock(t.Context(), "history"); err != nil {
			t.Fatal(err)
		}
		for g := ident.Generation(2); g < 12; g++ {
			n.clocks.Publish("history", installed(g))
			for id := uint64(1); id < 50; id++ {
				n.clocks.Tick("history", id)
				_ = osclock.Wait(t.Context(), time.Millisecond)
			}
			if _, err := c.Status(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if e := event(t, c, ClockObserved); e.Clock.Generation != 11 {
			t.Errorf("%+v", e)
		}
		if e := event(t, c, ClockTicked); e.Tick.ID != 49 {
			t.Errorf("%+v", e)
		}
		quiet(t, c)
	})
}

// TestACommandReopensAndTheClockIsBackFirst: a command on a new session finds the clock attached already, with no one reading events.
func TestACommandReopensAndTheClockIsBackFirst(t *testing.T) {
	// req: C-103 half: one node; the order of frames is TestRestorationComesFirst
	virtual(t, nil, func(t *testing.T, n *realNode, c *Client) {
		n.clocks.Publish("history", installed(1))
		if _, err := c.AttachDomainClock(t.Context(), "history"); err != nil {
			t.Fatal(err)
		}
		n.stop()
		n.start()
		if _, err := c.Execute(t.Context(), Command{Text: "BEGIN"}); err != nil {
			t.Fatal(err)
		}
		if known, _ := c.DomainClock("history"); known.Interrupted || n.clocks.Watches() != 1 {
			t.Errorf("%+v, %d watches", known, n.clocks.Watches())
		}
		event(t, c, ClockInterrupted)
		event(t, c, ClockObserved)
	})
}

// TestSeedsAreTried: the client moves to a node that is there, and when none is, the error has all reasons.
func TestSeedsAreTried(t *testing.T) {
	// req: X-012 half: there are no learned endpoints yet
	dead := []string{Scheme + "://10.0.0.7:1", Scheme + "://10.0.0.8:1", Scheme + "://10.0.0.9:1"}
	virtual(t, nil, func(t *testing.T, n *realNode, _ *Client) {
		c, err := Dial(t.Context(), n.config(func(c *Config) { c.Seeds = append([]string{c.Server}, dead...) }))
		if err != nil {
			t.Fatal(err)
		}
		n.clocks.Publish("history", installed(1))
		if _, err := c.AttachDomainClock(t.Context(), "history"); err != nil {
			t.Fatal(err)
		}
		// The first node dies, and one of the seeds comes to life.
		n.stop()
		event(t, c, ClockInterrupted)
		first := n.address
		n.address = &net.UDPAddr{IP: net.IP{10, 0, 0, 8}, Port: 1}
		n.start()
		event(t, c, ClockObserved)
		_ = c.Close()

		n.stop()
		_, err = Dial(t.Context(), n.config(func(c *Config) {
			c.Server, c.Seeds = dead[0], append([]string{Scheme + "://" + first.String()}, dead[1:]...)
		}))
		if !errors.Is(err, ErrConnect) {
			t.Errorf("nobody there: %v", err)
		}
		for _, server := range append(dead, Scheme+"://"+first.String()) {
			if err == nil || !strings.Contains(err.Error(), server) {
				t.Errorf("%s is missing in: %v", server, err)
			}
		}
		n.start()
	})
}

// TestLittlePatienceGetsASession: callers whose context ends before a connection is made leave it to be made.
func TestLittlePatienceGetsASession(t *testing.T) {
	virtual(t, nil, func(t *testing.T, n *realNode, c *Client) {
		n.clocks.Publish("history", installed(1))
		if _, err := c.AttachDomainClock(t.Context(), "history"); err != nil {
			t.Fatal(err)
		}
		n.stop()
		event(t, c, ClockInterrupted)
		begin, started := osclock.Mono(), false
		for kind := ClockEventKind(""); kind != ClockObserved; {
			ctx, stop := osclock.WithTimeout(t.Context(), 100*time.Millisecond)
			e, err := c.NextClockEvent(ctx)
			stop()
			if err == nil {
				kind = e.Kind
			}
			if !started && osclock.Mono().Sub(begin) > 2*time.Second {
				started = true
				n.start()
			}
			if osclock.Mono().Sub(begin) > time.Hour {
				t.Fatal("never")
			}
		}
	})
}

// TestAnUnansweredRestorationEndsItsSession: the node takes the session and says nothing to the attach; a reader that waits opens the next one.
func TestAnUnansweredRestorationEndsItsSession(t *testing.T) {
	// req: C-107
	// req: X-107
	// req: X-189
	virtual(t, func(c *Config) { c.RequestTimeout = 20 * time.Second }, func(t *testing.T, n *realNode, c *Client) {
		n.clocks.Publish("history", installed(1))
		if _, err := c.AttachDomainClock(t.Context(), "history"); err != nil {
			t.Fatal(err)
		}
		n.stop()
		event(t, c, ClockInterrupted)
		ready := n.clocks
		n.clocks = clockstest.New() // it has not installed anything, so it does not answer
		n.start()
		begin := osclock.Mono()
		if _, err := c.NextClockEvent(t.Context()); !errors.Is(err, ErrConnect) {
			t.Errorf("the restoration has no answer: %v", err)
		}
		if took := osclock.Mono().Sub(begin); took < 20*time.Second || took > 40*time.Second {
			t.Errorf("given up after %v", took)
		}
		n.stop()
		n.clocks = ready
		n.start()
		event(t, c, ClockObserved)
	})
}

// TestOldNodesAreNotAsked: a node of protocol 1 would end the session over a request it does not know.
func TestOldNodesAreNotAsked(t *testing.T) {
	// req: X-036 half: the client's half
	n := fake(t, func(s *fakeSession) {
		for {
			f, ok := s.next()
			if !ok {
				return
			}
			s.complete(f)
		}
	})
	c := n.dial(t, nil)
	if _, err := c.AttachDomainClock(t.Context(), "d"); !errors.Is(err, ErrClocksUnsupported) {
		t.Errorf("got %v", err)
	}
	if out, err := c.Execute(t.Context(), Command{Text: "x"}); err != nil || out.Disposition != Completed {
		t.Errorf("a command after it: %v, %v", out, err)
	}
}

// TestEveryEndInterruptsAlike: an ending with its reason, a connection that closes, and a bad frame.
func TestEveryEndInterruptsAlike(t *testing.T) {
	// req: X-110
	// req: X-032
	for name, end := range map[string]func(s *fakeSession){
		"an ending": func(s *fakeSession) {
			s.send(orderedLane, wire.ServerFrame{Body: wire.SessionEnding{Reason: wire.EndingShuttingDown, Text: "the node stops"}})
			_ = s.lanes[orderedLane].Close()
			s.linger()
		},
		"the transport": func(s *fakeSession) { _ = s.conn.CloseWithError(7, "") },
		"a violation": func(s *fakeSession) {
			_, _ = s.lanes[orderedLane].Write(wire.AppendFrame(nil, []byte("no frame of any kind")))
			s.linger()
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := fakeWith(t, 2, func(s *fakeSession) {
				for {
					f, ok := s.next()
					if !ok {
						return
					}
					switch b := f.Body.(type) {
					case wire.AttachDomainClockRequest:
						s.send(orderedLane, wire.ServerFrame{RequestID: f.RequestID, Body: wire.DomainClockAttachOutcome{Disposition: wire.ClockAttached,
							Domain: b.Domain, Clock: unpaced}})
					case wire.CommandRequest: // in flight at the end
						if s.number == 1 {
							end(s)
							return
						}
						s.complete(f)
					}
				}
			})
			c := n.dial(t, nil)
			if _, err := c.AttachDomainClock(t.Context(), "d"); err != nil {
				t.Fatal(err)
			}
			out, err := c.Execute(t.Context(), Command{Text: "x"})
			if !errors.Is(err, ErrUncertain) && out.Disposition != Completed { // a violation is not repeated for the caller, the others are
				t.Errorf("the command: %+v, %v", out, err)
			}
			for _, want := range []ClockEventKind{ClockInterrupted, ClockObserved} {
				if e, err := c.NextClockEvent(t.Context()); err != nil || e.Kind != want {
					t.Errorf("got %+v, %v; want %s", e, err, want)
				}
			}
		})
	}
}

// TestRestorationComesFirst has the frames of a new session in their order: the clocks, then the commands and the control lane's requests.
func TestRestorationComesFirst(t *testing.T) {
	// req: C-103
	// req: X-102 half: clocks and commands; there are no subscriptions, and a transaction is not restored
	// req: X-103 half: clocks
	second := make(chan []string, 1)
	n := fakeWith(t, 2, func(s *fakeSession) {
		var got []string
		for {
			f, ok := s.next()
			if !ok {
				return
			}
			switch b := f.Body.(type) {
			case wire.AttachDomainClockRequest:
				got = append(got, "attach "+b.Domain)
				s.send(orderedLane, wire.ServerFrame{RequestID: f.RequestID, Body: wire.DomainClockAttachOutcome{Disposition: wire.ClockAttached,
					Domain: b.Domain, Clock: unpaced}})
			case wire.CommandRequest:
				got = append(got, "command")
				if s.number == 1 {
					_ = s.conn.CloseWithError(0, "")
					return
				}
				s.complete(f)
				second <- got
			}
		}
	})
	c := n.dial(t, nil)
	for _, domain := range []string{"b", "a"} {
		if _, err := c.AttachDomainClock(t.Context(), domain); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Execute(t.Context(), Command{Text: "x"}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"attach a", "attach b", "command"}, <-second); diff != "" {
		t.Error(diff)
	}
}

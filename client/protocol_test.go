// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/wire"
)

// TestRepliesAreRoutedByIdentity answers in reverse, with replies to abandoned and never used identities in between.
func TestRepliesAreRoutedByIdentity(t *testing.T) {
	// req: X-040
	n := fake(t, func(s *fakeSession) {
		a, _ := s.next()
		b, _ := s.next()
		s.send(controlLane, wire.ServerFrame{RequestID: 999, Body: wire.DomainList{Domains: []wire.DomainEntry{{Name: "stray"}}}})
		for _, f := range []wire.ClientFrame{b, a, b, a} { // the second pair is for nobody
			switch f.Body.(type) {
			case wire.ListDomainsRequest:
				s.send(controlLane, wire.ServerFrame{RequestID: f.RequestID, Body: wire.DomainList{Domains: []wire.DomainEntry{{Name: "d"}}}})
			case wire.StatusRequest:
				s.send(controlLane, wire.ServerFrame{RequestID: f.RequestID, Body: wire.StatusReport{Node: "n", Role: "leader"}})
			}
		}
		f, ok := s.next()
		if ok {
			s.complete(f)
		}
		s.linger()
	})
	c := n.dial(t, nil)
	domains := make(chan []Domain, 1)
	go func() {
		list, err := c.ListDomains(t.Context())
		if err != nil {
			t.Error(err)
		}
		domains <- list
	}()
	status, err := c.Status(t.Context())
	if err != nil || status.Node != "n" {
		t.Error(status, err)
	}
	if list := <-domains; len(list) != 1 || list[0].Name != "d" {
		t.Error(list)
	}
	if out, err := c.Execute(t.Context(), Command{Text: "x"}); err != nil || out.Disposition != Completed {
		t.Error(out, err)
	}
}

// TestABadFrameEndsTheSession: three requests wait; the inspections are asked again on a new session, the command is uncertain.
func TestABadFrameEndsTheSession(t *testing.T) {
	// req: X-032
	for name, bad := range map[string][]byte{
		"garbage":          wire.AppendFrame(nil, []byte("no frame of any kind")),
		"oversized length": {255, 255, 255, 255},
		"client frame":     clientFrame(t),
	} {
		t.Run(name, func(t *testing.T) {
			n := fake(t, func(s *fakeSession) {
				if s.number == 1 {
					for range 3 {
						s.next()
					}
					_, _ = s.lanes[controlLane].Write(bad)
					s.linger()
					return
				}
				for {
					f, ok := s.next()
					if !ok {
						return
					}
					switch f.Body.(type) {
					case wire.ListDomainsRequest:
						s.send(controlLane, wire.ServerFrame{RequestID: f.RequestID, Body: wire.DomainList{}})
					case wire.StatusRequest:
						s.send(controlLane, wire.ServerFrame{RequestID: f.RequestID, Body: wire.StatusReport{Node: "n", Role: "leader"}})
					default:
						s.complete(f)
					}
				}
			})
			c := n.dial(t, nil)
			errs := make(chan error, 2)
			go func() { _, err := c.ListDomains(t.Context()); errs <- err }()
			go func() { _, err := c.Status(t.Context()); errs <- err }()
			_, err := c.Execute(t.Context(), Command{Text: "x"})
			if !errors.Is(err, ErrUncertain) || !errors.Is(err, ErrProtocol) {
				t.Errorf("command: %v", err)
			}
			for range 2 {
				if err := <-errs; err != nil {
					t.Errorf("inspection: %v", err)
				}
			}
			if out, err := c.Execute(t.Context(), Command{Text: "x"}); err != nil || out.Disposition != Completed {
				t.Errorf("after it: %v, %v", out, err)
			}
		})
	}
}

func clientFrame(t *testing.T) []byte {
	t.Helper()
	frame, err := wire.EncodeClient(wire.ClientFrame{Body: wire.Keepalive{}}, wire.DefaultFrameLimit)
	if err != nil {
		t.Fatal(err)
	}
	return wire.AppendFrame(nil, frame)
}

func TestAForeignReferenceIsAViolation(t *testing.T) {
	// req: X-078 half: the client's side
	n := fake(t, func(s *fakeSession) {
		f, _ := s.next()
		s.send(orderedLane, wire.ServerFrame{RequestID: f.RequestID, Body: wire.CommandOutcome{Disposition: wire.DispositionCompleted, Reference: "other"}})
		s.linger()
	})
	c := n.dial(t, nil)
	if _, err := c.Execute(t.Context(), Command{Text: "x"}); !errors.Is(err, ErrUncertain) || !errors.Is(err, ErrProtocol) {
		t.Fatalf("got %v", err)
	}
}

// TestEndingsOfTheNode: what a node says at the end decides the kind of error, and replies before the ending still count.
func TestEndingsOfTheNode(t *testing.T) {
	n := fake(t, func(s *fakeSession) {
		if s.number > 1 {
			f, ok := s.next()
			if ok {
				s.complete(f)
			}
			s.linger()
			return
		}
		f, _ := s.next()
		s.send(controlLane, wire.ServerFrame{Body: wire.SessionEnding{Reason: wire.EndingShuttingDown, Text: "the node stops"}})
		s.complete(f)
		s.send(orderedLane, wire.ServerFrame{Body: wire.SessionEnding{Reason: wire.EndingShuttingDown, Text: "the node stops"}})
		s.linger()
	})
	c := n.dial(t, nil)
	first := c.mu.current
	if out, err := c.Execute(t.Context(), Command{Text: "x"}); err != nil || out.Disposition != Completed {
		t.Fatal(out, err)
	}
	if why := first.reason(); !errors.Is(why, ErrConnect) {
		t.Errorf("the session ended with %v", why)
	}
	if out, err := c.Execute(t.Context(), Command{Text: "y"}); err != nil || out.Disposition != Completed {
		t.Fatal(out, err)
	}
}

// TestAResultThatIsThereIsNotGivenUp: with a context that is over, a reply already received is returned.
func TestAResultThatIsThereIsNotGivenUp(t *testing.T) {
	// req: X-062
	n := fake(t, func(s *fakeSession) { s.linger() })
	c := n.dial(t, nil)
	s := c.mu.current
	over, stop := context.WithCancel(t.Context())
	stop()
	for range 100 {
		id, waiter := s.register()
		waiter <- wire.DomainList{}
		if got := s.giveUp(over, orderedLane, id, waiter); got.reply == nil {
			t.Fatal("a received reply was given up")
		}
	}
}

func TestCloseEndsCallsAndIsRepeatable(t *testing.T) {
	n := fake(t, func(s *fakeSession) { s.linger() })
	c := n.dial(t, nil)
	result := make(chan error, 1)
	go func() {
		_, err := c.Execute(t.Context(), Command{Text: "x"})
		result <- err
	}()
	for len(n.firstSession().received) == 0 { // the command has arrived
		pause, stop := context.WithTimeout(t.Context(), time.Millisecond)
		<-pause.Done()
		stop()
	}
	_ = c.Close()
	if err := <-result; !errors.Is(err, ErrUncertain) {
		t.Errorf("a sent command: %v", err)
	}
	if _, err := c.Execute(t.Context(), Command{Text: "x"}); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func (n *fakeNode) firstSession() *fakeSession {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.sessions[0]
}

// TestARepeatedReplyDoesNotStopTheReader: the second and third reply to one request find nobody, also while the first is not taken yet.
func TestARepeatedReplyDoesNotStopTheReader(t *testing.T) {
	// req: X-040
	// req: X-052 half: there are no unsolicited frames to queue yet
	s := newSession(nil, nil, nil, Config{FrameLimit: wire.DefaultFrameLimit}, newFollowing())
	id, waiter := s.register()
	for _, name := range []string{"first", "second", "third"} {
		s.route(wire.ServerFrame{RequestID: id, Body: wire.StatusReport{Node: name, Role: "leader"}})
	}
	if got := (<-waiter).(wire.StatusReport).Node; got != "first" || len(waiter) != 0 {
		t.Fatalf("got %s, %d more", got, len(waiter))
	}
}

// TestAFrameAboveTheNodesLimitIsNotSent: it would only end the session, and be sent again on the next one.
func TestAFrameAboveTheNodesLimitIsNotSent(t *testing.T) {
	// req: X-009 half: the client's part, no WebSocket
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
	first := c.mu.current
	for size, want := range map[int]error{fakeFrameLimit: ErrRejected, fakeFrameLimit - 1024: nil, 5 << 20: ErrRejected} {
		_, err := c.Execute(t.Context(), Command{Text: strings.Repeat("x", size)})
		if !errors.Is(err, want) || errors.Is(err, ErrUncertain) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	if c.mu.current != first {
		t.Error("the session was lost")
	}
}

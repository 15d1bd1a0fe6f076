// SPDX-License-Identifier: Apache-2.0

package client

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/nervix-go/nervix/host/wire"
)

// TestACommandKeepsItsReferenceOverSessions loses the session twice while the command is under way, and once the node does not know.
func TestACommandKeepsItsReferenceOverSessions(t *testing.T) {
	// req: X-064 half: no expected position and preview yet
	// req: X-039 half: no exhaustion
	type sent struct {
		session int
		frame   wire.ClientFrame
	}
	seen := make(chan sent, 10)
	n := fake(t, func(s *fakeSession) {
		f, ok := s.next()
		if !ok {
			return
		}
		seen <- sent{s.number, f}
		if s.number < 3 {
			return // the connection is closed
		}
		s.send(orderedLane, wire.ServerFrame{RequestID: f.RequestID, Body: wire.CommandOutcome{Disposition: wire.DispositionUnknown,
			Reference: f.Body.(wire.CommandRequest).Reference, UnknownCause: wire.CauseLeadershipLost}})
		f, _ = s.next()
		seen <- sent{s.number, f}
		s.send(orderedLane, wire.ServerFrame{RequestID: f.RequestID, Body: wire.CommandOutcome{Disposition: wire.DispositionCompleted,
			Reference: f.Body.(wire.CommandRequest).Reference, Recovered: true}})
		s.linger()
	})
	c := n.dial(t, nil)
	out, err := c.Execute(t.Context(), Command{Text: "CREATE RELAY ö;", JSON: true})
	if err != nil || out.Disposition != Completed || !out.Recovered {
		t.Fatal(out, err)
	}
	if id, err := uuid.Parse(out.Reference); err != nil || id.Version() != 7 {
		t.Fatalf("reference %s", out.Reference)
	}
	body := wire.CommandRequest{Reference: out.Reference, Domain: "weather", Text: "CREATE RELAY ö;", Format: wire.FormatJSON}
	for _, want := range []sent{{1, wire.ClientFrame{RequestID: 1, Body: body}}, {2, wire.ClientFrame{RequestID: 1, Body: body}},
		{3, wire.ClientFrame{RequestID: 1, Body: body}}, {3, wire.ClientFrame{RequestID: 2, Body: body}}} {
		if got := <-seen; !cmp.Equal(got, want, cmp.AllowUnexported(sent{})) {
			t.Fatal(cmp.Diff(want, got, cmp.AllowUnexported(sent{})))
		}
	}
}

// TestAnUnansweredCommandIsUncertain: the node has executed it, and the call's time is over before a reply comes.
func TestAnUnansweredCommandIsUncertain(t *testing.T) {
	// req: X-060
	virtual(t, func(c *Config) { c.CallTimeout = 200 * time.Millisecond }, func(t *testing.T, _ *realNode, c *Client) {
		const reference = "0192f6a0-7c00-7abc-8def-0123456789ab"
		_, err := c.Execute(t.Context(), Command{Text: "CUT", Reference: reference})
		var failed *Error
		if !errors.Is(err, ErrUncertain) || !errors.As(err, &failed) || failed.Reference != reference {
			t.Fatalf("got %v", err)
		}
	})
}

// TestALostNodeLeavesASentCommandUncertain: the node is gone with the command, with and without a farewell, and nobody answers at its address.
func TestALostNodeLeavesASentCommandUncertain(t *testing.T) {
	// req: X-060
	for _, how := range []string{"CUT", "DIE"} {
		t.Run(how, func(t *testing.T) {
			virtual(t, nil, func(t *testing.T, _ *realNode, c *Client) {
				_, err := c.Execute(t.Context(), Command{Text: how})
				if !errors.Is(err, ErrUncertain) || !errors.Is(err, ErrConnect) {
					t.Fatalf("got %v", err)
				}
				// Nothing of the next command is sent, so it is not uncertain.
				_, err = c.Execute(t.Context(), Command{Text: "START;"})
				if !errors.Is(err, ErrConnect) || errors.Is(err, ErrUncertain) {
					t.Fatalf("got %v", err)
				}
			})
		})
	}
}

// TestARequestThatOutlivesItsBoundEndsTheSession: all that wait on it end, and the repetition is served by a new session.
func TestARequestThatOutlivesItsBoundEndsTheSession(t *testing.T) {
	// req: X-059 half: the bounds of request and call
	n := fake(t, func(s *fakeSession) {
		for s.number > 1 {
			f, ok := s.next()
			if !ok {
				return
			}
			s.complete(f)
		}
		s.linger()
	})
	c := n.dial(t, func(c *Config) { c.RequestTimeout = 300 * time.Millisecond })
	results := make(chan error, 3)
	for range 3 {
		go func() {
			_, err := c.Execute(t.Context(), Command{Text: "START;"})
			results <- err
		}()
	}
	for range 3 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
}

func TestRejectionsAndRepetition(t *testing.T) {
	// req: X-051
	for _, c := range []struct {
		kind  wire.RejectKind
		again bool
		want  error
	}{
		{wire.RejectInvalid, false, ErrRejected}, {wire.RejectUnsupportedRequest, false, ErrRejected},
		{wire.RejectUnsupportedValue, false, ErrRejected}, {wire.RejectDuplicateID, false, ErrRejected},
		{wire.RejectTooManyInFlight, true, nil}, {wire.RejectServerBusy, true, nil}, {wire.RejectReplyTooLarge, false, ErrReplyTooLarge},
	} {
		t.Run(c.kind.String(), func(t *testing.T) {
			var count int
			n := fake(t, func(s *fakeSession) {
				for {
					f, ok := s.next()
					if !ok {
						return
					}
					count++
					if count == 1 {
						s.send(orderedLane, wire.ServerFrame{RequestID: f.RequestID, Body: wire.RequestRejected{Kind: c.kind, Text: "why"}})
					} else {
						s.complete(f)
					}
				}
			})
			client := n.dial(t, nil)
			_, err := client.Execute(t.Context(), Command{Text: "x"})
			if !errors.Is(err, c.want) || errors.Is(err, ErrUncertain) {
				t.Fatalf("got %v", err)
			}
			_ = client.Close()
			n.stop()
			if (count == 2) != c.again {
				t.Fatalf("sent %d times", count)
			}
		})
	}
}

// TestAnOpenTransactionIsNotContinuedElsewhere: on a new session its statements would take effect at once.
func TestAnOpenTransactionIsNotContinuedElsewhere(t *testing.T) {
	begin := func(s *fakeSession) {
		f, ok := s.next()
		if !ok {
			return
		}
		s.send(orderedLane, wire.ServerFrame{RequestID: f.RequestID, Body: wire.CommandOutcome{Disposition: wire.DispositionCompleted,
			Reference: f.Body.(wire.CommandRequest).Reference, Transaction: wire.Transaction{State: wire.TransactionOpen, Reference: "t"}}})
	}
	sent := make(chan string, 10)
	cut := make(chan bool)
	n := fake(t, func(s *fakeSession) {
		if s.number > 2 {
			f, ok := s.next()
			if ok {
				sent <- f.Body.(wire.CommandRequest).Text
				s.complete(f)
				s.linger()
			}
			return
		}
		begin(s)
		if s.number == 2 {
			s.next() // the statement comes, then the session is lost
			return
		}
		<-cut
	})
	c := n.dial(t, nil)
	ctx := t.Context()
	if out, err := c.Execute(ctx, Command{Text: "BEGIN"}); err != nil || out.Transaction != (Transaction{"open", "t"}) {
		t.Fatal(out, err)
	}
	lost := c.mu.current
	cut <- true
	lost.reason() // the client has seen that the session is over
	if _, err := c.Execute(ctx, Command{Text: "CREATE 1"}); !errors.Is(err, ErrTransactionLost) {
		t.Fatalf("between statements: %v", err)
	}
	if _, err := c.Execute(ctx, Command{Text: "BEGIN"}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Execute(ctx, Command{Text: "CREATE 2"}); !errors.Is(err, ErrUncertain) {
		t.Fatalf("in a statement: %v", err)
	}
	if _, err := c.Execute(ctx, Command{Text: "SHOW"}); err != nil {
		t.Fatal(err)
	}
	if got := <-sent; got != "SHOW" {
		t.Fatalf("the new session was sent %s", got)
	}
}

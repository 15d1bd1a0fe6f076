// SPDX-License-Identifier: Apache-2.0

package lanes

import (
	"context"
	"errors"
	"sync"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/session/clocks"
	"github.com/nervix-go/nervix/host/wire"
)

// DefaultInFlight is the greatest number of requests of one session without a terminal reply. Cancellations do not count.
const DefaultInFlight = 64

// ErrCancelled is the cause of a request's context when the client gave the request up.
var ErrCancelled = errors.New("request cancelled by the client")

// ErrSessionEnded is the cause of a request's context when its session ended before it was admitted.
var ErrSessionEnded = errors.New("session ended")

// Session is the request side of one session. New starts its ordered lane; End or Abort stops it and Wait waits for it.
type Session struct {
	handler Handler
	send    Sender
	limit   int
	// clocks are nil when the session cannot follow any; domain is that of a clock statement whose command names none.
	clocks *clocks.Attachments
	domain ident.Domain
	// ctx is the lifetime of the session's work: it ends with Abort, not with End, so that admitted work is finished.
	ctx   context.Context
	abort context.CancelFunc
	// life ends with End: nothing is delivered any more. admitting ends with Drain already: an attach no longer waits for the node.
	life      context.Context
	endLife   context.CancelFunc
	admitting context.Context
	endAdmit  context.CancelFunc

	mu struct {
		sync.Mutex
		flight  map[uint64]*request
		waiting []*request // the ordered lane, oldest first
		draining,
		ended bool
	}
	wake chan struct{} // capacity 1: the waiting list or the state changed
	idle chan struct{} // closed when a draining session has answered everything
	once sync.Once     // closes idle
	work sync.WaitGroup
}

// Options of a session.
type Options struct {
	// InFlight is the limit of requests, DefaultInFlight if zero.
	InFlight int
	// Clocks are the clocks the session follows, none yet; nil refuses attach and detach. The session ends them.
	Clocks *clocks.Attachments
	// Domain is that of the session.
	Domain ident.Domain
}

// New makes a session and starts its ordered lane. parent bounds the work of every session of the server.
func New(parent context.Context, h Handler, send Sender, o Options) *Session {
	if o.InFlight <= 0 {
		o.InFlight = DefaultInFlight
	}
	s := &Session{handler: h, send: send, limit: o.InFlight, clocks: o.Clocks, domain: o.Domain, wake: make(chan struct{}, 1),
		idle: make(chan struct{})}
	s.ctx, s.abort = context.WithCancel(parent)
	s.life, s.endLife = context.WithCancel(s.ctx)
	s.admitting, s.endAdmit = context.WithCancel(s.life)
	s.mu.flight = make(map[uint64]*request)
	s.work.Add(1)
	go s.ordered()
	return s
}

// Receive takes one frame of one lane. It returns once the frame is registered, rejected or answered. An error is a violation of the
// protocol: the session must end.
func (s *Session) Receive(lane Lane, f wire.ClientFrame) error {
	switch body := f.Body.(type) {
	case wire.Keepalive:
		return nil
	case wire.Hello:
		return fault.New(fault.SessionViolated, "lanes.Receive", ident.Ref{}, "a second Hello", nil)
	case wire.CommandRequest:
		if lane != Ordered {
			s.reject(lane, f.RequestID, wire.RejectUnsupportedRequest, "commands travel on the ordered lane")
			return nil
		}
		s.enqueue(f.RequestID, body)
	case wire.AttachDomainClockRequest, wire.DetachDomainClockRequest:
		switch {
		case s.clocks == nil:
			s.reject(lane, f.RequestID, wire.RejectUnsupportedRequest, "domain clocks cannot be followed on this node")
		case lane != Ordered:
			s.reject(lane, f.RequestID, wire.RejectUnsupportedRequest, "attach and detach travel on the ordered lane")
		default:
			s.enqueue(f.RequestID, body)
		}
	case wire.CancelRequest:
		s.cancel(lane, f.RequestID, body.Target)
	default:
		if lane != Control {
			s.reject(lane, f.RequestID, wire.RejectUnsupportedRequest, "this request travels on the control lane")
			return nil
		}
		s.concurrent(f.RequestID, body)
	}
	return nil
}

// enqueue puts a request behind those of the ordered lane.
func (s *Session) enqueue(id uint64, body wire.ClientBody) {
	r := s.newRequest(id, Ordered)
	r.body = body
	if refusal := s.register(r); refusal != nil {
		r.release()
		s.send.Send(Ordered, wire.ServerFrame{RequestID: id, Body: *refusal})
		return
	}
	s.signal()
}

func (s *Session) concurrent(id uint64, body wire.ClientBody) {
	r := s.newRequest(id, Control)
	if refusal := s.register(r); refusal != nil {
		r.release()
		s.send.Send(Control, wire.ServerFrame{RequestID: id, Body: *refusal})
		return
	}
	go func() { // register counted it in work
		defer s.work.Done()
		var reply wire.ServerBody
		switch body.(type) {
		case wire.ListDomainsRequest:
			reply = s.handler.ListDomains(r.ctx)
		case wire.StatusRequest:
			reply = s.handler.Status(r.ctx)
		default:
			reply = wire.RequestRejected{Kind: wire.RejectUnsupportedRequest, Text: "request of an unknown kind"}
		}
		s.answer(r, reply)
	}()
}

// register puts a request in flight, or says why not. A request of the ordered lane joins the waiting list; one of the control lane is
// counted as work under the same lock, so that Wait cannot miss it.
func (s *Session) register(r *request) *wire.RequestRejected {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.mu.ended || s.mu.draining:
		return &wire.RequestRejected{Kind: wire.RejectServerBusy, Text: "the session ends; use another node or a new session"}
	case s.mu.flight[r.id] != nil:
		return &wire.RequestRejected{Kind: wire.RejectDuplicateID, Field: "request_id", Text: "this identity is in flight"}
	case len(s.mu.flight) >= s.limit:
		return &wire.RequestRejected{Kind: wire.RejectTooManyInFlight, Text: "wait for a reply before the next request"}
	}
	s.mu.flight[r.id] = r
	if r.lane == Ordered {
		s.mu.waiting = append(s.mu.waiting, r)
	} else {
		s.work.Add(1)
	}
	return nil
}

// answer sends the terminal reply of a request and takes it out of flight. After the session's end nothing is sent. True says that this
// very reply was queued.
func (s *Session) answer(r *request, body wire.ServerBody) bool {
	s.mu.Lock()
	if s.mu.flight[r.id] != r {
		s.mu.Unlock()
		return false // answered already
	}
	ended := s.mu.ended
	s.mu.Unlock()
	queued := !ended && s.send.Send(r.lane, wire.ServerFrame{RequestID: r.id, Body: body})
	s.mu.Lock()
	delete(s.mu.flight, r.id)
	s.settleLocked()
	s.mu.Unlock()
	r.release()
	return queued
}

// settleLocked reports a draining session without requests.
func (s *Session) settleLocked() {
	if (s.mu.draining || s.mu.ended) && len(s.mu.flight) == 0 {
		s.once.Do(func() { close(s.idle) })
	}
}

func (s *Session) reject(lane Lane, id uint64, kind wire.RejectKind, text string) {
	s.send.Send(lane, wire.ServerFrame{RequestID: id, Body: wire.RequestRejected{Kind: kind, Text: text}})
}

func (s *Session) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

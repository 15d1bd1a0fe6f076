// SPDX-License-Identifier: Apache-2.0

package lanes

import (
	"context"
	"time"

	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/session/clocks"
	"github.com/nervix-go/nervix/host/wire"
)

// endGrace bounds the release of what a session held.
const endGrace = 10 * time.Second

// ordered is the ordered lane: one command at a time, in written order, until the session ends. Then it releases what the session holds.
func (s *Session) ordered() {
	defer s.work.Done()
	for {
		r, more := s.next()
		if !more {
			break
		}
		if r == nil {
			<-s.wake
			continue
		}
		s.serve(r)
	}
	if s.clocks != nil {
		s.clocks.End()
	}
	// The revert is part of the session's end, so it also runs when the server is being aborted.
	ctx, stop := osclock.WithTimeout(context.WithoutCancel(s.ctx), endGrace)
	defer stop()
	s.handler.End(ctx)
	s.abort()
}

// serve runs one request of the ordered lane and answers it.
func (s *Session) serve(r *request) {
	switch body := r.body.(type) {
	case wire.AttachDomainClockRequest:
		s.attach(r, ident.Domain(body.Domain), func(did *clocks.Reply) wire.ServerBody { return did.AttachOutcome() })
	case wire.DetachDomainClockRequest:
		s.detach(r, ident.Domain(body.Domain), func(did *clocks.Reply) wire.ServerBody { return did.DetachOutcome() })
	case wire.CommandRequest:
		s.statement(r, body)
	}
}

// statement runs a command. The two statements about clocks belong to the session and do not reach the handler (nspl 21.5).
func (s *Session) statement(r *request, body wire.CommandRequest) {
	verb := clocks.None
	if _, err := ident.ParseReference(body.Reference); err == nil && s.clocks != nil {
		verb = clocks.Statement(body.Text)
	}
	domain := ident.Domain(body.Domain)
	if domain == "" {
		domain = s.domain
	}
	outcome := func(did *clocks.Reply) wire.ServerBody {
		return did.Outcome(body.Reference, body.Format == wire.FormatJSON)
	}
	switch verb {
	case clocks.Attach:
		s.attach(r, domain, outcome)
	case clocks.Detach:
		s.detach(r, domain, outcome)
	default:
		s.answer(r, s.handler.Command(r.ctx, body, func() bool { return s.admit(r) }))
	}
}

// attach admits the request before it waits for the node, so a cancellation does not end the wait; what follows on the lane waits behind
// it (C-090). Delivery starts when the reply is queued.
func (s *Session) attach(r *request, domain ident.Domain, reply func(*clocks.Reply) wire.ServerBody) {
	if !s.admit(r) {
		s.answer(r, wire.RequestCancelled{})
		return
	}
	did := s.clocks.Attach(s.admitting, s.life, domain, s.handler.InTransaction())
	did.Queued(s.answer(r, reply(did)))
}

func (s *Session) detach(r *request, domain ident.Domain, reply func(*clocks.Reply) wire.ServerBody) {
	if !s.admit(r) {
		s.answer(r, wire.RequestCancelled{})
		return
	}
	s.answer(r, reply(s.clocks.Detach(domain, s.handler.InTransaction())))
}

// next takes the oldest waiting command; nil says that there is none, false that the session ended.
func (s *Session) next() (*request, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.ended {
		return nil, false
	}
	if len(s.mu.waiting) == 0 {
		return nil, true
	}
	r := s.mu.waiting[0]
	s.mu.waiting = s.mu.waiting[1:]
	r.started = true
	return r, true
}

// Drain closes admission: later requests are refused, and requests that are not admitted are cancelled. Idle is closed when
// everything has its reply.
func (s *Session) Drain() {
	due := s.giveUpAll(func() { s.mu.draining = true })
	s.endAdmit()
	// Replies may have to wait for the client, so they are sent beside the caller.
	if len(due) == 0 {
		return
	}
	go func() { // giveUpAll counted it in work
		defer s.work.Done()
		for _, r := range due {
			s.answer(r, wire.RequestCancelled{})
		}
	}()
}

// Idle is closed when a draining or ended session has no request in flight.
func (s *Session) Idle() <-chan struct{} { return s.idle }

// End says that the connection is over: nothing is sent any more, what is not admitted never takes effect, and admitted work goes on to
// its end without a reply.
func (s *Session) End() {
	due := s.giveUpAll(func() { s.mu.ended = true })
	s.endLife()
	for _, r := range due {
		s.answer(r, wire.RequestCancelled{})
	}
	if len(due) > 0 {
		s.work.Done()
	}
	s.signal()
}

// Abort is End, and it also ends the context of admitted work.
func (s *Session) Abort() {
	s.abort()
	s.End()
}

// Wait returns when every goroutine of the session has ended, or with the cause of ctx.
func (s *Session) Wait(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		s.work.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// giveUpAll sets a state and cancels everything that is not admitted. It returns the requests whose reply is due; if there are any, the
// caller's sending of them is counted as work.
func (s *Session) giveUpAll(setLocked func()) []*request {
	s.mu.Lock()
	defer s.mu.Unlock()
	setLocked()
	var due []*request
	for _, r := range s.mu.flight {
		if s.giveUpLocked(r, ErrSessionEnded) {
			due = append(due, r)
		}
	}
	if len(due) > 0 {
		s.work.Add(1)
	}
	s.settleLocked()
	return due
}

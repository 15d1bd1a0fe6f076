// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"errors"

	"github.com/nervix-go/nervix/host/wire"
)

// AttachDomainClock follows the clock of a domain from now on: over reconnects, until DetachDomainClock, the removal of the domain, or Close. The
// result is the clock that the node's reply carried; news comes through NextClockEvent, and DomainClock has the newest.
//
// A node that is still starting answers when it has installed the committed domains, so the call can take long. When ctx ends, the call does, and
// what it asked for is taken back. Errors: ErrClockAttached when the client follows the clock already, ErrDomainUnknown, ErrClockRefused for every
// other refusal of the node, such as an open transaction, ErrClocksUnsupported, and those of a connection.
func (c *Client) AttachDomainClock(ctx context.Context, domain string) (DomainClock, error) {
	ctx, stop := context.WithTimeout(ctx, c.config.CallTimeout)
	defer stop()
	delay := backoff{}
	for {
		clock, failed, again := c.attach(ctx, domain)
		switch {
		case failed == nil:
			return clock, nil
		case !again || !delay.wait(ctx):
			return DomainClock{}, failed
		}
	}
}

// attach tries once; again says that another try may succeed.
func (c *Client) attach(ctx context.Context, domain string) (_ DomainClock, failed *Error, again bool) {
	if !c.following.gates.enter(ctx, domain, c.life.Done()) {
		return DomainClock{}, c.gaveUp(ctx), false
	}
	if _, follows := c.following.clock(domain); follows {
		c.following.gates.leave(domain)
		return DomainClock{}, failure(ErrClockAttached, "the client follows the clock of domain "+domain+" already", nil), false
	}
	s, failed := c.session(ctx)
	if failed != nil {
		c.following.gates.leave(domain)
		return DomainClock{}, failed, false
	}
	return c.following.attach(ctx, s, domain)
}

// attach asks a session; the caller has the domain's gate, which is left when the reply is known. Should the call end before, what it asked for
// is taken back.
func (f *following) attach(ctx context.Context, s carrier, domain string) (_ DomainClock, failed *Error, again bool) {
	if failed := s.takesClocks(); failed != nil {
		f.gates.leave(domain)
		return DomainClock{}, failed, false
	}
	a := f.expect(domain, &asked{on: s})
	got := s.ask(ctx, wire.AttachDomainClockRequest{Domain: domain})
	if got.doubt && !over(s.ended()) {
		f.takeBack(s, domain, a)
		return DomainClock{}, got.failed, false
	}
	f.settle(domain)
	clock, follows := f.clock(domain)
	f.gates.leave(domain)
	if follows {
		return clock, nil, false
	}
	failed, again = refusal(got)
	if _, cancelled := got.reply.(wire.RequestCancelled); cancelled && ctx.Err() != nil {
		failed = failure(ErrCancelled, "", context.Cause(ctx))
	}
	return DomainClock{}, failed, again && ctx.Err() == nil
}

// takeBack detaches what a call that has ended asked for. The detach runs behind the attach on the node's ordered lane, so its reply says that
// nothing is left of it.
func (f *following) takeBack(s carrier, domain string, a *asked) {
	f.mu.Lock()
	a.given = true
	f.forgetLocked(domain) // its reply may have come just now
	f.mu.Unlock()
	undo := func() {
		defer f.gates.leave(domain)
		defer f.settle(domain)
		s.ask(context.Background(), wire.DetachDomainClockRequest{Domain: domain})
	}
	if !f.start(undo) { // the client is closed, and the session with it
		f.settle(domain)
		f.gates.leave(domain)
	}
}

// expect tells the reader what to do with the reply to come; settle forgets it.
func (f *following) expect(domain string, a *asked) *asked {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mu.asked[domain] = a
	return a
}

func (f *following) settle(domain string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.mu.asked, domain)
}

// refusal explains an attach or detach that did nothing; again says that an unchanged repetition may be taken.
func refusal(got result) (failed *Error, again bool) {
	switch reply := got.reply.(type) {
	case wire.DomainClockAttachOutcome:
		switch reply.Disposition {
		case wire.ClockAttached: // and the session was lost in the same moment
			return failure(ErrConnect, "the session was lost", nil), true
		case wire.ClockDomainNotFound:
			return told(ErrDomainUnknown, reply.Domain, reply.Hint), false
		case wire.ClockAlreadyAttached:
			return told(ErrClockAttached, reply.Text, reply.Hint), false
		}
		return told(ErrClockRefused, reply.Text, reply.Hint), false
	case wire.DomainClockDetachOutcome:
		return told(ErrClockRefused, reply.Text, reply.Hint), false
	case wire.RequestRejected:
		failed = rejection(reply)
		return failed, repeatable(reply.Kind)
	case wire.RequestCancelled:
		return failure(ErrConnect, "the node stops", nil), true
	case nil:
		return got.failed, errors.Is(got.failed, ErrConnect)
	}
	return failure(ErrProtocol, "another reply than that of a clock request", nil), false
}

func told(kind error, text, hint string) *Error {
	if hint != "" {
		text += " (" + hint + ")"
	}
	return failure(kind, text, nil)
}

// DetachDomainClock ends the following of a clock. When it returns nil no session holds the clock on the client's behalf, and no event about it
// follows. It needs no connection: a session that is lost holds nothing. When ctx ends the call does, and the detach goes on. Errors:
// ErrClockNotAttached, ErrClockRefused (a transaction is open: the clock is still followed), and the cause of ctx.
func (c *Client) DetachDomainClock(ctx context.Context, domain string) error {
	if !c.following.gates.enter(ctx, domain, c.life.Done()) {
		return c.gaveUp(ctx)
	}
	failed := make(chan *Error, 1)
	if !c.following.start(func() { failed <- c.following.detach(domain) }) {
		c.following.gates.leave(domain)
		return failure(ErrClosed, "", nil)
	}
	select {
	case e := <-failed:
		if e != nil {
			return e
		}
		return nil
	case <-ctx.Done():
		return c.gaveUp(ctx)
	}
}

// detach runs with the domain's gate, and leaves it.
func (f *following) detach(domain string) *Error {
	defer f.gates.leave(domain)
	f.mu.Lock()
	one := f.mu.clocks[domain]
	if one == nil || one.holder == nil { // the node holds nothing, and the gate keeps a restoration away
		f.forgetLocked(domain)
		f.mu.Unlock()
		if one == nil {
			return failure(ErrClockNotAttached, "the client does not follow the clock of domain "+domain, nil)
		}
		return nil
	}
	s := one.holder
	f.mu.asked[domain] = &asked{on: s}
	f.mu.Unlock()
	got := s.ask(context.Background(), wire.DetachDomainClockRequest{Domain: domain})
	f.settle(domain)
	switch reply := got.reply.(type) {
	case wire.DomainClockDetachOutcome:
		if reply.Disposition != wire.ClockDetachFailed {
			f.forget(domain)
			return nil
		}
	case nil: // the session is lost, and with it the attachment
		f.forget(domain)
		return nil
	}
	failed, _ := refusal(got)
	return failed
}

func (f *following) forget(domain string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.forgetLocked(domain)
}

// DomainClock is the newest known clock of a followed domain; false says that the client does not follow it. It is never older than an event
// that NextClockEvent has returned.
func (c *Client) DomainClock(domain string) (DomainClock, bool) { return c.following.clock(domain) }

// FollowedClocks are the domains whose clocks the client follows, in order of their names.
func (c *Client) FollowedClocks() []string { return c.following.domains() }

// NextClockEvent waits for news of the followed clocks. What nobody takes is coalesced per domain: the newest state and the newest tick
// replace older ones, and an interruption or an end replaces the observations before it, so a slow reader loses no more than what is out of date,
// and never holds up the session.
//
// While a clock waits to be restored on a new session, the call opens one; its failure is returned, and the next call tries again. When ctx
// ends, the error is its cause. ErrClosed ends the stream.
func (c *Client) NextClockEvent(ctx context.Context) (ClockEvent, error) {
	for {
		e, changed, interrupted := c.following.next()
		switch {
		case c.life.Err() != nil:
			return ClockEvent{}, failure(ErrClosed, "", nil)
		case e != nil:
			return *e, nil
		case ctx.Err() != nil:
			return ClockEvent{}, context.Cause(ctx)
		case interrupted && c.lost():
			if _, failed := c.session(ctx); failed != nil {
				if ctx.Err() != nil {
					return ClockEvent{}, context.Cause(ctx)
				}
				return ClockEvent{}, failed
			}
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
		case <-c.life.Done():
		}
	}
}

// lost says whether the current session is over.
func (c *Client) lost() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.current.lostAlready()
}

// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"slices"
	"sync"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/wire"
)

// carrier is a session as the following of clocks sees it.
type carrier interface {
	// ask sends a request of the ordered lane and waits for its reply; see session.roundTrip.
	ask(ctx context.Context, body wire.ClientBody) result
	// takesClocks is nil if the node lets clocks be attached.
	takesClocks() *Error
	// ended is closed when the session is over.
	ended() <-chan struct{}
}

// followed is one clock that the client follows.
type followed struct {
	clock DomainClock
	// holder is the session that holds the attachment; nil while it is interrupted.
	holder carrier
	// trying is the session that was asked to restore it; a frame of it about the domain shows that it holds it.
	trying carrier
}

// following are the clocks that a client follows, over all its sessions. Frames and replies are taken in by the reader of a session, in the
// order in which they came, and never wait; the operations on one domain come one after the other, through its gate.
type following struct {
	gates gates
	mu    struct {
		sync.Mutex
		clocks map[string]*followed
		// asked are the attaches and detaches that wait for their replies.
		asked map[string]*asked
		// unread has the news of each domain, and line the domains that have some, in the order of their oldest.
		unread map[string]*unread
		line   []string
		// changed is closed and replaced when there is news, or a session is lost.
		changed chan struct{}
		closed  bool
	}
	work sync.WaitGroup // detaches, and retries
}

// asked is an attach or detach in flight: what to do with its reply.
type asked struct {
	on      carrier
	restore bool
	// given says that nobody wants the attachment any more.
	given bool
}

func newFollowing() *following {
	f := &following{}
	f.gates.init()
	f.mu.clocks, f.mu.asked, f.mu.unread = map[string]*followed{}, map[string]*asked{}, map[string]*unread{}
	f.mu.changed = make(chan struct{})
	return f
}

// start runs work that outlives its caller; false says that the client is closed.
func (f *following) start(work func()) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mu.closed {
		return false
	}
	f.work.Add(1)
	go func() {
		defer f.work.Done()
		work()
	}()
	return true
}

// close waits for what was started. The sessions are over by then, which ends it.
func (f *following) close() {
	f.mu.Lock()
	f.mu.closed = true
	f.mu.Unlock()
	f.work.Wait()
}

// heard takes a frame of a session; true says that it was about clocks and nobody waits for it.
func (f *following) heard(s carrier, body wire.ServerBody) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if over(s.ended()) {
		return false // lost says what became of its clocks
	}
	switch b := body.(type) {
	case wire.DomainClockAttachOutcome:
		f.attachedLocked(s, b)
		return false
	case wire.DomainClockDetachOutcome:
		if a := f.mu.asked[b.Domain]; a != nil && a.on == s && b.Disposition != wire.ClockDetachFailed {
			f.forgetLocked(b.Domain)
		}
		return false
	case wire.DomainClockObserved:
		f.observedLocked(s, b)
	case wire.DomainClockTicked:
		f.tickedLocked(s, b)
	case wire.DomainClockAttachmentEnded:
		if one := f.heldLocked(s, b.Domain); one != nil {
			f.endLocked(b.Domain)
		}
	default:
		return false
	}
	return true
}

func over(ended <-chan struct{}) bool {
	select {
	case <-ended:
		return true
	default:
		return false
	}
}

// attachedLocked takes the reply to an attach in, before any frame that follows it.
func (f *following) attachedLocked(s carrier, b wire.DomainClockAttachOutcome) {
	a := f.mu.asked[b.Domain]
	if a == nil || a.on != s || a.given {
		return
	}
	one := f.mu.clocks[b.Domain]
	switch {
	case b.Disposition == wire.ClockAttached && a.restore:
		if one != nil {
			f.restoredLocked(s, one, observedOf(b.Clock))
		}
	case b.Disposition == wire.ClockAttached:
		f.mu.clocks[b.Domain] = &followed{clock: DomainClock{Domain: b.Domain, Observed: observedOf(b.Clock)}, holder: s}
		f.dropLocked(b.Domain) // news of an earlier attachment
	case b.Disposition == wire.ClockAlreadyAttached && a.restore && one != nil && one.holder != s:
		f.restoredLocked(s, one, one.clock.Observed) // this session holds it
	case b.Disposition == wire.ClockDomainNotFound && a.restore && one != nil:
		f.endLocked(b.Domain)
	}
}

// restoredLocked: a session answered a restoration. A clock that another session still holds moves without an interruption, and keeps its tick
// if it stays paced in its generation.
func (f *following) restoredLocked(s carrier, one *followed, o clock.Observed) {
	tell := one.holder == nil || one.clock.Observed != o
	if o.State != clock.Paced || one.clock.State != clock.Paced || one.clock.Generation != o.Generation {
		one.clock.Tick = nil
	}
	one.holder, one.trying = s, nil
	one.clock.Observed, one.clock.Interrupted = o, false
	if tell {
		f.newsLocked(&ClockEvent{Kind: ClockObserved, Domain: one.clock.Domain, Clock: o})
	}
}

// heldLocked finds the clock that a frame of s is about; nil if s does not hold it, so that the frame does not count.
func (f *following) heldLocked(s carrier, domain string) *followed {
	one := f.mu.clocks[domain]
	if one == nil || one.holder != s && (one.holder != nil || one.trying != s) {
		return nil
	}
	return one
}

func (f *following) observedLocked(s carrier, b wire.DomainClockObserved) {
	one := f.heldLocked(s, b.Domain)
	if one == nil {
		return
	}
	o := observedOf(b.Clock)
	if one.holder != s {
		f.restoredLocked(s, one, o)
		return
	}
	if o.Generation != one.clock.Generation {
		one.clock.Tick = nil
	}
	one.clock.Observed = o
	f.newsLocked(&ClockEvent{Kind: ClockObserved, Domain: b.Domain, Clock: o})
}

func (f *following) tickedLocked(s carrier, b wire.DomainClockTicked) {
	one := f.heldLocked(s, b.Domain)
	if one == nil || one.holder != s {
		return
	}
	t := tickOf(b)
	if one.clock.State != clock.Paced || t.Generation != one.clock.Generation || one.clock.Tick != nil && t.ID <= one.clock.Tick.ID {
		return // not newer than what is known
	}
	one.clock.Tick = t
	f.newsLocked(&ClockEvent{Kind: ClockTicked, Domain: b.Domain, Tick: *t})
}

// endLocked: the attachment is over, and nobody restores it.
func (f *following) endLocked(domain string) {
	delete(f.mu.clocks, domain)
	f.newsLocked(&ClockEvent{Kind: ClockEnded, Domain: domain, Reason: EndDomainRemoved})
}

// forgetLocked: the caller follows the clock no longer, and is told nothing of it any more.
func (f *following) forgetLocked(domain string) {
	delete(f.mu.clocks, domain)
	f.dropLocked(domain)
}

// lost interrupts every clock that a session held. It is called once the session has ended: nothing that it still delivers counts.
func (f *following) lost(s carrier) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for domain, one := range f.mu.clocks {
		if one.trying == s {
			one.trying = nil
		}
		if one.holder != s {
			continue
		}
		one.holder = nil
		one.clock.Interrupted, one.clock.Tick = true, nil
		f.newsLocked(&ClockEvent{Kind: ClockInterrupted, Domain: domain})
	}
	f.wakeLocked()
}

// newsLocked makes an event readable. The clock was changed before, so that nobody reads one older than an event.
func (f *following) newsLocked(e *ClockEvent) {
	u := f.mu.unread[e.Domain]
	if u == nil {
		u = &unread{}
		f.mu.unread[e.Domain] = u
	}
	u.add(e)
	if !u.queued {
		u.queued = true
		f.mu.line = append(f.mu.line, e.Domain)
	}
	f.wakeLocked()
}

func (f *following) dropLocked(domain string) {
	delete(f.mu.unread, domain)
	f.mu.line = slices.DeleteFunc(f.mu.line, func(d string) bool { return d == domain })
}

func (f *following) wakeLocked() {
	close(f.mu.changed)
	f.mu.changed = make(chan struct{})
}

// next takes the next event, of the domain that waits longest. Without one it gives a channel that is closed when there may be, and says
// whether a clock waits to be restored.
func (f *following) next() (e *ClockEvent, changed <-chan struct{}, interrupted bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.mu.line) == 0 {
		for _, one := range f.mu.clocks {
			interrupted = interrupted || one.holder == nil
		}
		return nil, f.mu.changed, interrupted
	}
	domain := f.mu.line[0]
	f.mu.line = f.mu.line[1:]
	e, more := f.mu.unread[domain].take()
	if more {
		f.mu.line = append(f.mu.line, domain)
	} else {
		delete(f.mu.unread, domain)
	}
	return e, nil, false
}

// clock is the newest known clock of a domain.
func (f *following) clock(domain string) (DomainClock, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	one := f.mu.clocks[domain]
	if one == nil {
		return DomainClock{}, false
	}
	return one.clock, true
}

// domains are the followed ones, in order of their names.
func (f *following) domains() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := make([]string, 0, len(f.mu.clocks))
	for domain := range f.mu.clocks {
		list = append(list, domain)
	}
	slices.Sort(list)
	return list
}

// SPDX-License-Identifier: Apache-2.0

package clocks

import (
	"context"
	"log/slog"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/wire"
)

// Attachments are the clocks that one session follows. Attach, Detach and End are called by one goroutine, that of the ordered lane.
type Attachments struct {
	clocks Clocks
	lane   Lane
	log    *slog.Logger
	held   map[ident.Domain]*attachment
}

// New makes the attachments of a session, none yet. log takes warnings; nil discards.
func New(c Clocks, lane Lane, log *slog.Logger) *Attachments {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Attachments{clocks: c, lane: lane, log: log, held: make(map[ident.Domain]*attachment)}
}

// Reply is what an attach or detach came to. The caller queues the reply it makes of it and then calls Queued.
type Reply struct {
	Domain ident.Domain
	// Attached and Observed are set by an attach that succeeded.
	Attached bool
	Observed clock.Observed
	// Detached is set by a detach that succeeded.
	Detached bool
	// Refused says why nothing was done; nil when something was.
	Refused *fault.Error
	fresh   *attachment
	// held is an attachment whose turn the reply has: its end frame waits until the reply is queued.
	held  *attachment
	owner *Attachments
	life  context.Context
}

// Attach begins to follow a domain. It first waits until the node has installed the committed domains once (C-090); waiting bounds that
// wait, and life the delivery: both are the session's. Delivery starts with Reply.Queued(true).
func (a *Attachments) Attach(waiting, life context.Context, domain ident.Domain, inTransaction bool) *Reply {
	r := &Reply{Domain: domain, owner: a, life: life}
	if inTransaction {
		return r.refuse(fault.SessionInTransaction, nil)
	}
	if one := a.held[domain]; one != nil {
		if one.stays() {
			r.held = one
			return r.refuse(fault.SessionClockAttached, nil)
		}
		a.release(one)
	}
	if err := a.clocks.Installed(waiting); err != nil {
		return r.refuse(fault.SessionOver, nil)
	}
	watch, err := a.clocks.Watch(domain)
	if err == nil {
		if observed, there := watch.Observed(); there {
			r.fresh = &attachment{domain: domain, watch: watch, lane: a.lane, slot: a.lane.NewSlot(), delivery: newDelivery(observed), log: a.log,
				turn: make(chan struct{}, 1), done: make(chan struct{})}
			r.Attached, r.Observed = true, observed
			return r
		}
		watch.Close() // removed since
		return r.refuse(fault.SessionDomainUnknown, nil)
	}
	if code := fault.CodeOf(err); code == fault.SessionDomainUnknown || code == fault.ClockMissing {
		return r.refuse(fault.SessionDomainUnknown, nil)
	}
	return r.refuse(fault.SessionClockUnavailable, err)
}

// release forgets an attachment that ends, once its end frame, if there is one, is queued: what follows is behind that frame (C-100).
func (a *Attachments) release(one *attachment) {
	<-one.done
	one.stop()
	delete(a.held, one.domain)
}

// Detach stops following a domain: its task has ended when Detach returns, so no frame about the domain comes after the reply (C-099).
func (a *Attachments) Detach(domain ident.Domain, inTransaction bool) *Reply {
	r := &Reply{Domain: domain, owner: a}
	if inTransaction {
		return r.refuse(fault.SessionInTransaction, nil)
	}
	one := a.held[domain]
	if one == nil {
		return r.refuse(fault.SessionClockNotAttached, nil)
	}
	if one.stays() {
		one.stop() // in turn: an end frame that began is not cut short, one that did not begin never comes
		<-one.turn
	}
	a.release(one)
	if one.ended { // the domain was removed at the last moment
		return r.refuse(fault.SessionClockNotAttached, nil)
	}
	r.Detached = true
	return r
}

// End stops every delivery without a frame (C-101) and waits for them.
func (a *Attachments) End() {
	for _, one := range a.held {
		one.stop()
	}
	for _, one := range a.held {
		<-one.done
	}
	clear(a.held)
}

// Queued starts the delivery of a fresh attachment if its reply was queued; if not, nothing is ever delivered (C-092). It must be called
// for every reply to an attach: deliveries wait for it.
func (r *Reply) Queued(queued bool) {
	if r.held != nil {
		<-r.held.turn
		r.held = nil
	}
	if r.fresh == nil {
		return
	}
	if !queued {
		r.fresh.watch.Close()
		return
	}
	var ctx context.Context
	ctx, r.fresh.stop = context.WithCancel(r.life)
	r.owner.held[r.Domain] = r.fresh
	r.fresh.start(ctx)
}

func (r *Reply) refuse(code fault.Code, cause error) *Reply {
	r.Refused = fault.New(code, "clocks.Attach", ident.Ref{Kind: ident.KindDomain, Name: r.Domain}, "", cause)
	return r
}

// AttachOutcome is the reply to an AttachDomainClockRequest.
func (r *Reply) AttachOutcome() wire.DomainClockAttachOutcome {
	o := wire.DomainClockAttachOutcome{Domain: string(r.Domain)}
	if r.Attached {
		o.Disposition, o.Clock = wire.ClockAttached, observed(r.Observed)
		return o
	}
	o.Disposition, o.Code, o.Text, o.Hint = wire.ClockAttachFailed, string(r.Refused.Code), r.text(), fault.Lookup(r.Refused.Code).Hint
	switch r.Refused.Code {
	case fault.SessionClockAttached:
		o.Disposition = wire.ClockAlreadyAttached
	case fault.SessionDomainUnknown:
		o.Disposition = wire.ClockDomainNotFound
	}
	return o
}

// DetachOutcome is the reply to a DetachDomainClockRequest.
func (r *Reply) DetachOutcome() wire.DomainClockDetachOutcome {
	o := wire.DomainClockDetachOutcome{Domain: string(r.Domain), Disposition: wire.ClockDetached}
	if r.Detached {
		return o
	}
	o.Disposition, o.Code, o.Text, o.Hint = wire.ClockDetachFailed, string(r.Refused.Code), r.text(), fault.Lookup(r.Refused.Code).Hint
	if r.Refused.Code == fault.SessionClockNotAttached {
		o.Disposition = wire.ClockNotAttached
	}
	return o
}

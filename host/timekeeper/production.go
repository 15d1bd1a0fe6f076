// SPDX-License-Identifier: Apache-2.0

package timekeeper

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/timekeeper/authority"
)

// Link delivers reports to other nodes: one typed request a call (C-057). A nil error means that the peer has evaluated the report. Deliver returns soon
// after ctx ends, whose bound is the production's affair.
type Link interface {
	Deliver(ctx context.Context, to ident.Node, report clock.Progress) error
}

// ProductionConfig is what a production is built from.
type ProductionConfig struct {
	// Self is this process as the committed authorities name it.
	Self   clock.Authority
	Keeper *Keeper
	// Link may be nil on a node without peers.
	Link Link
	Log  *slog.Logger
	// Quota bounds the requests under way at once; 0 means authority.DefaultQuota (C-059).
	Quota int
}

// Production drives the tick authority of this node: it tells authority.Machine what happens and carries out its effects. One goroutine owns the machine, for
// any number of domains; each request to a peer has one more while it is under way. It outlives a stop request of the process: the engine closes it
// when the drain has ended (C-064).
type Production struct {
	config  ProductionConfig
	machine *authority.Machine // the goroutine's
	flights map[authority.Attempt]context.CancelFunc
	sending sync.WaitGroup

	inbox struct {
		sync.Mutex
		events []func(authority.Now)
	}
	wake   chan struct{}
	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{}
}

// restBetweenTicks makes a thousand ticks a second the most that a domain asks of this node.
const restBetweenTicks = time.Millisecond

var errProductionEnded = errors.New("the node produces no more ticks")

// Produce starts the production of a node. It observes the keeper from here on, with what is installed already.
func Produce(c ProductionConfig) *Production {
	p := &Production{
		config: c, machine: authority.New(authority.Config{Self: c.Self, Quota: c.Quota, Rest: restBetweenTicks}), flights: make(map[authority.Attempt]context.CancelFunc),
		wake: make(chan struct{}, 1), done: make(chan struct{}),
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	p.ctx, p.cancel = ctx, func() { cancel(errProductionEnded) }
	c.Keeper.Observe(p)
	go p.loop()
	return p
}

// Installed implements Observer.
func (p *Production) Installed(l clock.Lifecycle, revision ident.Revision) {
	p.post(func(now authority.Now) { p.machine.Install(now, l, revision) })
}

// Removed implements Observer.
func (p *Production) Removed(domain ident.Domain) {
	p.post(func(now authority.Now) { p.machine.Remove(now, domain) })
}

// Advertised implements Observer; what this node advertises is the link's affair.
func (p *Production) Advertised(ident.Revision) {}

// Peer tells what is known about another node: whether it is live, and which clock revision it advertises.
func (p *Production) Peer(peer authority.Peer) {
	p.post(func(now authority.Now) { p.machine.Peer(now, peer) })
}

// Forget drops a node that is no longer a member.
func (p *Production) Forget(node ident.Node) {
	p.post(func(now authority.Now) { p.machine.Forget(now, node) })
}

// Close ends production and requests under way, and waits for them.
func (p *Production) Close() {
	p.cancel()
	<-p.done
	p.sending.Wait()
}

func (p *Production) post(event func(authority.Now)) {
	if p.ctx.Err() != nil {
		return
	}
	p.inbox.Lock()
	p.inbox.events = append(p.inbox.events, event)
	p.inbox.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

func (p *Production) take() []func(authority.Now) {
	p.inbox.Lock()
	defer p.inbox.Unlock()
	events := p.inbox.events
	p.inbox.events = nil
	return events
}

// now reads both clocks once; the keeper's UTC is what the node's readings are made of.
func (p *Production) now() authority.Now {
	utc := p.config.Keeper.utc
	if utc == nil {
		utc = osclock.UTC
	}
	return authority.Now{UTC: utc(), Mono: osclock.Mono()}
}

// loop owns the machine: 1. what happened, 2. what is due, 3. the effects, 4. sleep until the next event or moment.
func (p *Production) loop() {
	defer close(p.done)
	alarm := osclock.NewAlarm(time.Hour)
	defer alarm.Stop()
	for {
		for _, event := range p.take() {
			event(p.now())
		}
		p.machine.Wake(p.now())
		for _, e := range p.machine.Take() {
			p.carryOut(e)
		}
		left := time.Hour
		if at, armed := p.machine.Next(); armed {
			left = min(left, max(0, at.Sub(osclock.Mono())))
		}
		alarm.Reset(left)
		select {
		case <-p.wake:
		case <-alarm.C():
		case <-p.ctx.Done():
			return
		}
	}
}

func (p *Production) carryOut(e authority.Effect) {
	switch e := e.(type) {
	case authority.Report:
		// A fence that moved on between the step and here refuses the report, as it would on any other node.
		_ = p.config.Keeper.Receive(p.config.Self.Node, e.Progress)
	case authority.Send:
		ctx, cancel := context.WithCancel(p.ctx)
		p.flights[e.Attempt] = cancel
		p.sending.Go(func() {
			defer cancel()
			err := p.deliver(ctx, e)
			p.post(func(now authority.Now) {
				delete(p.flights, e.Attempt)
				p.machine.Ended(now, e.Attempt, err == nil)
			})
		})
	case authority.Cancel:
		if cancel := p.flights[e.Attempt]; cancel != nil {
			cancel()
		}
	case authority.Failure:
		text := "the next tick of a domain clock cannot be produced; it is tried again"
		if e.Final {
			text = "a domain clock has no further tick"
		}
		p.config.Log.Error(text, "domain", e.Domain, "error", e.Err)
	}
}

func (p *Production) deliver(ctx context.Context, s authority.Send) error {
	if p.config.Link == nil {
		return errNoLink
	}
	return p.config.Link.Deliver(ctx, s.To, s.Report)
}

var errNoLink = errors.New("the node has no link to its peers")

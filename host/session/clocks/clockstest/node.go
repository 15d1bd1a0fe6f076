// SPDX-License-Identifier: Apache-2.0

// Package clockstest is a node's clocks for tests of sessions and clients: a clocks.Clocks whose publications the test makes. It is used by
// tests only.
package clockstest

import (
	"context"
	"slices"
	"sync"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/session/clocks"
)

// Node has the clocks of a node. All methods may be called from any goroutine.
type Node struct {
	// Pause, if set before the node is used, is called by the methods of watches before they read, so that publications fall between.
	Pause     func()
	installed chan struct{}
	mu        sync.Mutex
	domains   map[ident.Domain]*domain
	utc       vtime.UTC
	// journal has every published clock of each domain, in order (C-206).
	journal map[ident.Domain][]clock.Observed
	watches int
	once    sync.Once
}

// domain is one life of a domain; a removed one stays missing.
type domain struct {
	observed clock.Observed
	there    bool
	tick     clock.Progress
	ticked   bool
	mark     vtime.Logical
	changed  chan struct{}
}

// New makes a node that has installed nothing yet.
func New() *Node {
	return &Node{installed: make(chan struct{}), domains: map[ident.Domain]*domain{}, journal: map[ident.Domain][]clock.Observed{}}
}

// Ready makes a node that has installed the committed domains.
func Ready() *Node {
	n := New()
	n.Install()
	return n
}

// Install says that the committed domains are in place; once is enough.
func (n *Node) Install() { n.once.Do(func() { close(n.installed) }) }

// Installed implements clocks.Clocks.
func (n *Node) Installed(ctx context.Context) error {
	select {
	case <-n.installed:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Publish installs a clock of a domain, which exists from then on. A new generation has no tick.
func (n *Node) Publish(name ident.Domain, o clock.Observed) {
	n.mu.Lock()
	defer n.mu.Unlock()
	d := n.domains[name]
	if d == nil {
		d = &domain{there: true, changed: make(chan struct{})}
		n.domains[name] = d
	}
	if o.Generation != d.observed.Generation || o.State == clock.Stopped {
		d.ticked, d.mark = false, vtime.LogicalFromNS(-1<<63)
	}
	d.observed = o
	n.journal[name] = append(n.journal[name], o)
	d.wake()
}

// Accept is an accepted tick: its boundary and authority UTC come with it. It says whether there was a domain to take it.
func (n *Node) Accept(name ident.Domain, p clock.Progress) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	d := n.domains[name]
	if d == nil {
		return false
	}
	d.tick, d.ticked = p, true
	d.wake()
	return true
}

// Tick accepts tick number id of the installed generation, at its boundary. It says whether a paced generation was there.
func (n *Node) Tick(name ident.Domain, id uint64) bool {
	n.mu.Lock()
	d := n.domains[name]
	if d == nil || d.observed.State != clock.Paced {
		n.mu.Unlock()
		return false
	}
	o, utc := d.observed, n.utc
	n.mu.Unlock()
	boundary := vtime.LogicalFromNS(o.Mapping.LogicalStart.NS() + int64((id-1)*o.Pace.Period))
	return n.Accept(name, clock.Progress{Domain: name, Generation: o.Generation, Tick: clock.Tick{ID: id, Boundary: boundary}, AuthorityUTC: utc,
		Period: o.Pace.Period})
}

// Remove removes a domain: it publishes missing, and only then wakes and forgets.
func (n *Node) Remove(name ident.Domain) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if d := n.domains[name]; d != nil {
		d.there = false
		delete(n.domains, name)
		d.wake()
	}
}

// SetUTC sets what the node's UTC reads.
func (n *Node) SetUTC(utc vtime.UTC) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.utc = utc
}

// Published says whether a clock was ever published for a domain.
func (n *Node) Published(name ident.Domain, o clock.Observed) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Contains(n.journal[name], o)
}

// Watches is how many watches are open.
func (n *Node) Watches() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.watches
}

func (n *Node) pause() {
	if n.Pause != nil {
		n.Pause()
	}
}

func (d *domain) wake() {
	close(d.changed)
	d.changed = make(chan struct{})
}

// Watch implements clocks.Clocks.
func (n *Node) Watch(name ident.Domain) (clocks.ClockWatch, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	d := n.domains[name]
	if d == nil {
		return nil, fault.New(fault.SessionDomainUnknown, "clockstest.Watch", ident.Ref{Kind: ident.KindDomain, Name: name}, "", nil)
	}
	n.watches++
	return &watch{node: n, domain: d}, nil
}

type watch struct {
	node   *Node
	domain *domain
	once   sync.Once
}

func (w *watch) Changed() <-chan struct{} {
	w.node.pause()
	w.node.mu.Lock()
	defer w.node.mu.Unlock()
	return w.domain.changed
}

func (w *watch) Observed() (clock.Observed, bool) {
	w.node.pause()
	w.node.mu.Lock()
	defer w.node.mu.Unlock()
	return w.domain.observed, w.domain.there
}

func (w *watch) Tick() (clock.Progress, bool) {
	w.node.pause()
	w.node.mu.Lock()
	defer w.node.mu.Unlock()
	return w.domain.tick, w.domain.ticked
}

// Logical raises the watermark of the generation, as reads of a real node do.
func (w *watch) Logical(generation ident.Generation) (vtime.Logical, error) {
	w.node.pause()
	w.node.mu.Lock()
	defer w.node.mu.Unlock()
	d := w.domain
	if !d.there || d.observed.Generation != generation {
		return vtime.Logical{}, fault.New(fault.ClockStale, "clockstest.Logical", ident.Ref{}, "", nil)
	}
	now, err := d.observed.At(w.node.utc)
	if err != nil {
		return vtime.Logical{}, err
	}
	if d.mark.Before(now) {
		d.mark = now
	}
	return d.mark, nil
}

func (w *watch) Close() {
	w.once.Do(func() {
		w.node.mu.Lock()
		defer w.node.mu.Unlock()
		w.node.watches--
	})
}

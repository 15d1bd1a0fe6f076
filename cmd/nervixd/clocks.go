// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/engine"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/registry"
	"github.com/nervix-go/nervix/host/session/clocks"
	"github.com/nervix-go/nervix/host/timekeeper"
)

// openClocks makes the keeper of domain time and the producer of ticks. Nothing is installed yet.
func (n *node) openClocks(self clock.Authority) {
	n.clocks = timekeeper.New(timekeeper.Config{})
	n.ticks = timekeeper.Produce(timekeeper.ProductionConfig{Self: self, Keeper: n.clocks, Log: n.options.log})
}

// followFences installs changes of clock authority ahead of the graph of their revision, so that a takeover never waits for a drain (C-049).
func (n *node) followFences() {
	n.unfence = n.raft.Watch(func(s *registry.State) { n.clocks.InstallFences(engine.Clocks(s), s.Revision) })
}

// domainTime reads domain time for a START that continues from it.
type domainTime struct{ keeper *timekeeper.Keeper }

// Read implements control.Clocks. A stopped domain has no readable time.
func (d domainTime) Read(domain ident.Domain, generation ident.Generation) (vtime.Logical, float64, bool) {
	h, err := d.keeper.Bind(domain, generation)
	if err != nil {
		return vtime.Logical{}, 0, false
	}
	defer h.End()
	now, ok := h.Now()
	w, err := d.keeper.Watch(domain)
	if !ok || err != nil {
		return vtime.Logical{}, 0, false
	}
	defer w.Close()
	seen, ok := w.Observed()
	if !ok || seen.Generation != generation || seen.State != clock.Paced {
		return vtime.Logical{}, 0, false
	}
	return now, seen.Mapping.Rate, true
}

// sessionClocks gives the clocks of the node to sessions.
type sessionClocks struct{ keeper *timekeeper.Keeper }

// Installed implements clocks.Clocks.
func (c sessionClocks) Installed(ctx context.Context) error { return c.keeper.Installed(ctx) }

// Watch implements clocks.Clocks.
func (c sessionClocks) Watch(domain ident.Domain) (clocks.ClockWatch, error) {
	w, err := c.keeper.Watch(domain)
	if err != nil {
		return nil, err
	}
	return w, nil
}

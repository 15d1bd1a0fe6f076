// SPDX-License-Identifier: Apache-2.0

package control

import (
	"time"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/registry"
)

// A reconciliation that did not commit is proposed again after reconcilePause (C-044). An attempt is bounded, so that candidates that changed
// meanwhile are seen. Both are physical time.
const (
	reconcilePause   = 200 * time.Millisecond
	reconcileAttempt = 2 * time.Second
)

// Reconcile tells that the candidates of Config.Voters, or the answer of Config.Leads, may have changed. Changes of committed domains are
// noticed without it (C-035). It returns at once.
func (c *Control) Reconcile() {
	select {
	case c.candidates <- struct{}{}:
	default: // one is pending already
	}
}

// reconcile is the goroutine that keeps a live authority on every running paced domain while this node leads. It is not part of any
// installation: a takeover must not wait for the graph of a domain.
func (c *Control) reconcile() {
	for c.ctx.Err() == nil {
		s, changed := c.states.next()
		if !c.reconcileOnce(s) {
			c.pauseReconciliation(changed)
			continue
		}
		select {
		case <-c.ctx.Done():
		case <-changed:
		case <-c.candidates:
		}
	}
}

// pauseReconciliation ends early when something changes that a reconciliation follows.
func (c *Control) pauseReconciliation(changed <-chan struct{}) {
	retry := osclock.NewAlarm(reconcilePause)
	defer retry.Stop()
	select {
	case <-c.ctx.Done():
	case <-changed:
	case <-c.candidates:
	case <-retry.C():
	}
}

// reconcileOnce proposes what the committed lifecycles lack. It reports false when something is to be tried again.
func (c *Control) reconcileOnce(s *registry.State) bool {
	if !c.cfg.Leads() {
		return true
	}
	voters := c.cfg.Voters()
	for _, name := range s.DomainNames() {
		l := s.Domains[name].Clock()
		next, wanted := clock.Reconcile(l, voters)
		if !wanted {
			continue
		}
		ctx, cancel := osclock.WithTimeout(c.ctx, reconcileAttempt)
		_, err := c.propose(ctx, &registry.Command{Body: &registry.ReconcileAuthority{
			Domain: name, Generation: l.Generation, Expected: l.Fence, Authority: next.Authority,
		}})
		cancel()
		if err != nil {
			if c.ctx.Err() == nil {
				c.cfg.Logger.Warn("the tick authority of a domain could not be committed; it is tried again", "domain", string(name), "error", err)
			}
			return false
		}
		// A stale proposal had no effect because something newer is committed: the state that says so wakes the loop.
	}
	return true
}

// SPDX-License-Identifier: Apache-2.0

package control

import (
	"cmp"
	"slices"
	"sync"
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

// reconcileAtOnce is how many domains are proposed for side by side: a restarted node moves all of its domains, and proposals that wait
// together share a synchronization of the log.
const reconcileAtOnce = 32

// reconcileOnce proposes what the committed lifecycles lack. It reports false when something is to be tried again.
func (c *Control) reconcileOnce(s *registry.State) bool {
	if !c.cfg.Leads() {
		return true
	}
	voters := c.cfg.Voters()
	var moves []*registry.ReconcileAuthority
	for name, d := range s.Domains {
		l := d.Clock()
		if next, wanted := clock.Reconcile(l, voters); wanted {
			moves = append(moves, &registry.ReconcileAuthority{
				Domain: name, Generation: l.Generation, Expected: l.Fence, Authority: next.Authority,
			})
		}
	}
	slices.SortFunc(moves, func(a, b *registry.ReconcileAuthority) int { return cmp.Compare(a.Domain, b.Domain) })
	for part := range slices.Chunk(moves, reconcileAtOnce) {
		if !c.move(part) {
			return false
		}
	}
	return true
}

// move proposes a few moves side by side and reports whether all of them are settled. A stale one is: something newer is committed, and the
// state that says so wakes the loop.
func (c *Control) move(part []*registry.ReconcileAuthority) bool {
	ctx, cancel := osclock.WithTimeout(c.ctx, reconcileAttempt)
	defer cancel()
	var group sync.WaitGroup
	errs := make([]error, len(part))
	for i, body := range part {
		group.Go(func() { _, errs[i] = c.propose(ctx, &registry.Command{Body: body}) })
	}
	group.Wait()
	failed := slices.IndexFunc(errs, func(err error) bool { return err != nil })
	if failed >= 0 && c.ctx.Err() == nil {
		c.cfg.Logger.Warn("the tick authority of a domain could not be committed; it is tried again",
			"domain", string(part[failed].Domain), "error", errs[failed])
	}
	return failed < 0
}

// SPDX-License-Identifier: Apache-2.0

package control

import (
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/registry"
)

// resume continues what an earlier process had committed without its final outcome: steps of COMMITTING transactions, STARTs whose
// domain was not ready yet, and appends of what already existed.
func (c *Control) resume() {
	s := c.State()
	commits := map[ident.Reference]bool{}
	for _, t := range s.Transactions() {
		if t.State != registry.TransactionCommitting {
			continue
		}
		commits[t.Commit] = true
		if c.lock(t.Domain) {
			c.spawn(func() {
				defer c.unlock(t.Domain)
				c.apply(t.ID, t.Commit)
			})
		}
	}
	for _, e := range s.PendingExecutions() {
		if commits[e.Reference] {
			continue
		}
		c.spawn(func() {
			if e.Outcome.Position > 0 {
				c.concludeExisting(e.Reference, e.Domain, e.Outcome)
				return
			}
			c.resumeStart(e)
		})
	}
}

func (c *Control) resumeStart(e *registry.Execution) {
	if d := c.State().Domains[e.Domain]; d != nil && d.Status == registry.Running {
		c.concludeStart(e.Reference, e.Domain, d.Generation)
		return
	}
	gone := fault.New(fault.DomainSuperseded, "control.resume", ident.Ref{Kind: ident.KindDomain, Name: e.Domain}, "", nil)
	c.mustSettle(&registry.Command{
		Body: &registry.Conclude{}, Concludes: &registry.Conclusion{Reference: e.Reference, Outcome: startFailure(e.Domain, gone)},
	}, "the outcome of a START could not be stored", e.Domain)
}

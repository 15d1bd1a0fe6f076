// SPDX-License-Identifier: Apache-2.0

package control

import (
	"context"
	"fmt"
	"strings"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/nspl/print"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/registry"
)

func (c *Control) begin(h head) answer {
	if _, a, ok := c.selected(h); !ok {
		return a
	}
	a, _ := c.effect(h, &registry.BeginTransaction{}, "transaction "+h.reference.String()+" begun in domain "+string(h.domain))
	return a
}

// enqueue checks a statement against the whole prefix and appends it. A refused one changes neither count nor activity time.
func (c *Control) enqueue(h head) answer {
	t, d, a, ok := c.open(h)
	if !ok {
		return a
	}
	prefix, a, ok := readStatements(t)
	if !ok {
		return a
	}
	outcome := c.replay(d, append(prefix, h.stmt))
	if len(outcome.refused) > 0 {
		return answer{diagnostics: outcome.refused.in(int(t.Count) + 1)}
	}
	if !outcome.existed {
		if bad := c.prepare(d, outcome.last); len(bad) > 0 {
			return answer{diagnostics: bad}
		}
	}
	position := t.Count + 1
	text := fmt.Sprintf("operation %d: %s queued%s%s%s", position, named(h.stmt), existing(outcome), resolved(outcome.at(int(position))), quiesced)
	if len(outcome.incomplete) > 0 {
		text += "; incomplete: " + outcome.incomplete[0].Message
	}
	res, failed := c.submit(h, &registry.Command{Text: text, Pending: outcome.existed, Body: &registry.AppendStatement{
		Transaction: t.ID, Position: position, Text: queuedText(h.stmt), Grammar: GrammarVersion,
	}})
	if failed != nil {
		return *failed
	}
	return c.settled(h, res)
}

// at are the resolutions of one operation.
func (r replayed) at(operation int) []resolution {
	var list []resolution
	for _, one := range r.resolved {
		if one.operation == operation {
			list = append(list, one)
		}
	}
	return list
}

// existing tells that a queued CREATE IF NOT EXISTS found its object; COMMIT judges it again.
func existing(r replayed) string {
	switch {
	case !r.existed:
		return ""
	case r.notice != "":
		return "; " + r.notice
	default:
		return "; it already exists"
	}
}

// concludeExisting makes the outcome of an appended CREATE IF NOT EXISTS say that its object exists, so that a repetition of the reference is
// told so too. An append is admitted as pending for nothing but this.
func (c *Control) concludeExisting(ref ident.Reference, name ident.Domain, appended registry.Outcome) {
	appended.AlreadyExisted = true
	c.mustSettle(&registry.Command{
		Body: &registry.Conclude{}, Concludes: &registry.Conclusion{Reference: ref, Outcome: appended},
	}, "the outcome of a queued statement could not be stored", name)
}

// queuedText is the canonical text of an operation with the clause that canonical definitions leave out, because COMMIT reads it again.
func queuedText(s ast.Statement) string {
	text := print.Redacted(s)
	if conditional(s) {
		return "CREATE IF NOT EXISTS" + strings.TrimPrefix(text, "CREATE")
	}
	return text
}

// open finds the session's transaction in state OPEN, with its domain, for its owner.
func (c *Control) open(h head) (*registry.Transaction, *registry.Domain, answer, bool) {
	t, known := c.State().Transaction(h.transaction)
	end := func(code fault.Code, message string) (*registry.Transaction, *registry.Domain, answer, bool) {
		a := refuse(fault.StageAdmit, code, h.span, message)
		a.ended = ends(code)
		return nil, nil, a, false
	}
	switch {
	case !known:
		return end(fault.TransactionUnknown, "there is no transaction "+h.transaction.String())
	case t.Owner != h.user:
		return end(fault.TransactionOwner, "transaction "+t.ID.String()+" belongs to another user")
	case t.State != registry.TransactionOpen:
		return end(fault.TransactionState, "transaction "+t.ID.String()+" is "+t.State.String())
	case t.Domain != h.domain && classify(h.stmt).queueable():
		return end(fault.TransactionContent, fmt.Sprintf("the transaction is bound to domain %s, and domain %s is selected", t.Domain, orNone(h.domain)))
	}
	d := c.State().Domains[t.Domain]
	if d == nil || d.Created != t.DomainCreated {
		return end(fault.DomainUnknown, "domain "+string(t.Domain)+", to which the transaction is bound, was dropped")
	}
	return t, d, answer{}, true
}

func orNone(d ident.Domain) string {
	if d == "" {
		return "(none)"
	}
	return string(d)
}

// revertBound drops the open transaction; a domain that was dropped meanwhile does not keep it from that.
func (c *Control) revertBound(h head) answer {
	dropped := uint32(0)
	if t, known := c.State().Transaction(h.transaction); known {
		dropped = t.Count
	}
	text := "transaction reverted; " + count(dropped, "statement") + " dropped"
	a, _ := c.effect(h, &registry.SetTransactionState{Transaction: h.transaction, To: registry.TransactionReverted}, text)
	return a
}

// bind notes that a live session holds the transaction; bound transactions do not expire.
func (c *Control) bind(id ident.Reference, live bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if live {
		c.mu.bound[id] = true
	} else {
		delete(c.mu.bound, id)
	}
}

// EndSession tells that the session that held a transaction is gone. clean is an orderly end by the client, which reverts the transaction;
// any other loss leaves it open until it expires (nspl 2.5, rule 8). A zero id does nothing.
func (c *Control) EndSession(ctx context.Context, user ident.Name, id ident.Reference, clean bool) error {
	if id.IsZero() {
		return nil
	}
	c.bind(id, false)
	t, known := c.State().Transaction(id)
	if !clean || !known || t.State != registry.TransactionOpen {
		return nil
	}
	res, err := c.propose(ctx, &registry.Command{User: user, Domain: t.Domain, Body: &registry.SetTransactionState{
		Transaction: id, To: registry.TransactionReverted,
	}})
	if err == nil && res.Outcome.Failed() {
		return fault.New(res.Outcome.Code, "control.EndSession", ident.Ref{}, res.Outcome.Text, nil)
	}
	return err
}

// expireIdle is the goroutine that lets unbound idle transactions expire.
func (c *Control) expireIdle() {
	osclock.Every(c.ctx, housekeeping, func() {
		now := osclock.UTC()
		for _, t := range c.State().Transactions() {
			c.mu.Lock()
			bound := c.mu.bound[t.ID]
			c.mu.Unlock()
			if bound || t.State != registry.TransactionOpen || now.NS()-t.Active.NS() < int64(c.State().Limits.Idle) {
				continue
			}
			ctx, cancel := c.limited()
			_, err := c.propose(ctx, &registry.Command{User: t.Owner, Domain: t.Domain, Body: &registry.SetTransactionState{
				Transaction: t.ID, To: registry.TransactionExpired,
			}})
			cancel()
			if err != nil {
				c.cfg.Logger.Warn("an idle transaction could not be expired", "transaction", t.ID.String(), "error", err)
			}
		}
	})
}

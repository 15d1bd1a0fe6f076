// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"fmt"
	"slices"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
)

func (s *State) withTransaction(t *Transaction) *State {
	next := *s
	next.transactions = s.transactions.with(t.ID, t)
	return &next
}

func (s *State) beginTransaction(c *Command) (*State, Result) {
	if c.Reference.IsZero() {
		return s, refused(fault.ControlReference, "BEGIN needs an execution reference")
	}
	d, exists := s.Domains[c.Domain]
	switch {
	case c.Domain == "":
		return s, refused(fault.DomainUnselected, "BEGIN binds the selected domain, and none is selected")
	case !exists:
		return s, refused(fault.DomainUnknown, "there is no domain "+string(c.Domain))
	case s.openCount >= int(s.Limits.Open):
		return s, refused(fault.TransactionOpenLimit, fmt.Sprintf("%d transactions are open, which is the limit", s.openCount))
	}
	next := s.withTransaction(&Transaction{
		ID: c.Reference, Owner: c.User, Domain: c.Domain, DomainCreated: d.Created, State: TransactionOpen,
		Began: c.UTC, Active: c.UTC,
	})
	next.openCount++
	return next, Result{Verdict: Applied, Outcome: Outcome{Transaction: c.Reference}}
}

// owned finds a transaction the command's user may use.
func (s *State) owned(c *Command, id ident.Reference) (*Transaction, Result, bool) {
	t, known := s.transactions.get(id)
	switch {
	case !known:
		return nil, refused(fault.TransactionUnknown, "there is no transaction "+id.String()), false
	case c.User != t.Owner:
		return nil, refused(fault.TransactionOwner, "transaction "+id.String()+" belongs to another user"), false
	}
	return t, Result{}, true
}

func (s *State) appendStatement(c *Command, b *AppendStatement) (*State, Result) {
	t, res, ok := s.owned(c, b.Transaction)
	if !ok {
		return s, res
	}
	size := t.SourceBytes + uint64(len(b.Text))
	switch {
	case t.State != TransactionOpen:
		return s, refused(fault.TransactionState, "transaction "+t.ID.String()+" is "+t.State.String())
	case c.Domain != t.Domain:
		return s, refused(fault.TransactionContent, "the transaction is bound to domain "+string(t.Domain)+", and domain "+string(c.Domain)+" is selected")
	case t.Count >= s.Limits.Statements:
		return s, refused(fault.TransactionStatements, fmt.Sprintf("the transaction has %d statements, which is the limit", t.Count))
	case size > s.Limits.SourceBytes:
		return s, refused(fault.TransactionSource, fmt.Sprintf("the transaction would have %d bytes of text; the limit is %d", size, s.Limits.SourceBytes))
	case s.openBytes+uint64(len(b.Text)) > s.Limits.OpenSourceBytes:
		return s, refused(fault.ControlStateFull, fmt.Sprintf("all open transactions together would have more than %d bytes of text", s.Limits.OpenSourceBytes))
	case b.Position != t.Count+1:
		return s, refused(fault.TransactionPosition, fmt.Sprintf("the statement was planned as operation %d, and the next one is %d", b.Position, t.Count+1))
	}
	next := *t
	next.Statements = append(slices.Clip(t.Statements), Statement{b.Text, b.Grammar})
	next.Count++
	next.SourceBytes = size
	next.Active = c.UTC
	after := s.withTransaction(&next)
	after.openBytes += uint64(len(b.Text))
	return after, Result{Verdict: Applied, Outcome: Outcome{Transaction: t.ID, Position: b.Position}}
}

func (s *State) setTransactionState(c *Command, b *SetTransactionState) (*State, Result) {
	t, res, ok := s.owned(c, b.Transaction)
	if !ok {
		return s, res
	}
	if t.State == b.To && c.Reference.IsZero() {
		return s, unchanged()
	}
	if !slices.Contains(legalMoves[t.State], b.To) {
		return s, refused(fault.TransactionState, "transaction "+t.ID.String()+" is "+t.State.String()+" and cannot become "+b.To.String())
	}
	switch b.To {
	case TransactionCommitting:
		return s.commit(c, t, b.Frozen)
	case TransactionCommitted:
		if t.Progress != t.Count {
			return s, refused(fault.TransactionState, fmt.Sprintf("only %d of %d operations are applied", t.Progress, t.Count))
		}
	case TransactionExpired:
		if idle := c.UTC.NS() - t.Active.NS(); idle < int64(s.Limits.Idle) {
			return s, refused(fault.TransactionIdle, "transaction "+t.ID.String()+" was active within the idle limit")
		}
	default:
	}
	return s.finish(c, t, b), Result{Verdict: Applied, Outcome: Outcome{Transaction: t.ID}}
}

// commit moves to COMMITTING, takes the mutation fence of the domain and keeps what the plan decided.
func (s *State) commit(c *Command, t *Transaction, frozen []Frozen) (*State, Result) {
	d, res, ok := s.mutable(&Command{}, t.Domain)
	switch {
	case !ok:
		return s, res
	case d.Created != t.DomainCreated:
		return s, refused(fault.DomainUnknown, "the domain the transaction is bound to was dropped")
	}
	next := *t
	next.State, next.Commit, next.Active, next.Frozen = TransactionCommitting, c.Reference, c.UTC, frozen
	fenced := *d
	fenced.Committing = t.ID
	return s.withTransaction(&next).withDomain(&fenced), Result{Verdict: Applied, Outcome: Outcome{Transaction: t.ID}}
}

// finish leaves the tombstone and releases the fence.
func (s *State) finish(c *Command, t *Transaction, b *SetTransactionState) *State {
	done := *t
	done.State, done.Finished, done.Statements = b.To, c.UTC, nil
	done.Frozen = nil
	if b.To == TransactionFailed {
		done.FailedOperation, done.Failure = b.FailedOperation, b.Failure
	}
	next := s.withTransaction(&done)
	next.openCount--
	next.openBytes -= t.SourceBytes
	if d, exists := s.Domains[t.Domain]; exists && d.Committing == t.ID {
		free := *d
		free.Committing = ident.Reference{}
		next = next.withDomain(&free)
	}
	return next
}

// admitStep judges whether the effect is the next one of its transaction. One that is applied already is not applied again.
func (s *State) admitStep(step *Step) (Result, bool) {
	t, known := s.transactions.get(step.Transaction)
	switch {
	case !known:
		return refused(fault.TransactionUnknown, "there is no transaction "+step.Transaction.String()), false
	case step.Through <= t.Progress:
		return unchanged(), false
	case t.State != TransactionCommitting:
		return refused(fault.TransactionState, "transaction "+t.ID.String()+" is "+t.State.String()), false
	case step.Through > t.Count:
		return refused(fault.TransactionPosition, fmt.Sprintf("the transaction has no operation %d", step.Through)), false
	}
	return Result{}, true
}

// advanceTransaction follows admitStep in the same command.
func (s *State) advanceTransaction(step *Step) *State {
	t, _ := s.transactions.get(step.Transaction)
	next := *t
	next.Progress = step.Through
	return s.withTransaction(&next)
}

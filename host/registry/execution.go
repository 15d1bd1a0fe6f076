// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"time"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
)

// Digest stands for the meaning of a command: same reference and same digest is the same command.
type Digest [DigestBytes]byte

// Outcome is what a client is told. An empty Code is success. It holds no secret and no payload value.
type Outcome struct {
	Code           fault.Code
	Text           string
	AlreadyExisted bool
	Transaction    ident.Reference // the transaction a BEGIN opened or an append belongs to
	Position       uint32          // operation number of an appended statement
	Diagnostics    fault.Diagnostics
}

// Failed says whether the outcome is a refusal or a failure.
func (o Outcome) Failed() bool { return o.Code != "" }

// Execution is the record of one command under its reference.
type Execution struct {
	Reference ident.Reference
	Owner     ident.Name
	Domain    ident.Domain
	Digest    Digest
	Revision  ident.Revision // at which it was admitted
	Pending   bool           // the effect is committed, its usability is not known yet
	Outcome   Outcome
}

// refusal builds the outcome of a refused command.
func refusal(code fault.Code, text string) Outcome { return Outcome{Code: code, Text: text} }

// Difference names what distinguishes a repetition from the recorded command, in the order of X-070; empty when nothing does.
func (e *Execution) Difference(owner ident.Name, domain ident.Domain, digest Digest) string {
	switch {
	case e.Owner != owner:
		return "user"
	case e.Domain != domain:
		return "domain"
	case e.Digest != digest:
		return "content"
	}
	return ""
}

// Recall answers a reference from the kept outcomes before anything is planned: expired, conflict, kept, or nothing known (ok false).
// Apply asks the same question again, because another command may have come in between.
func (s *State) Recall(r ident.Reference, owner ident.Name, domain ident.Domain, digest Digest) (res Result, ok bool) {
	if r.UnixMilli() <= s.FenceMilli {
		return refused(fault.ControlExpired, "execution reference "+r.String()+" is older than the 15 minutes for which outcomes are kept"), true
	}
	e, known := s.executions.get(r)
	if !known {
		return Result{}, false
	}
	if d := e.Difference(owner, domain, digest); d != "" {
		return refused(fault.ControlConflict, "execution reference "+r.String()+" belongs to a command with other "+d), true
	}
	return Result{Verdict: Kept, Pending: e.Pending, Outcome: e.Outcome}, true
}

// admitReference refuses a new reference that is not acceptable at this time.
func (s *State) admitReference(c *Command) (Result, bool) {
	limit := c.UTC.UnixMilli() + int64(ReferenceAhead/time.Millisecond)
	if c.Reference.UnixMilli() > limit {
		return refused(fault.ControlReference, "execution reference "+c.Reference.String()+" is more than 5 minutes ahead of the node's clock"), false
	}
	if s.executions.size >= int(s.Limits.References) {
		return refused(fault.ControlReferencesFull, "no room for another execution reference; the oldest leave after 15 minutes"), false
	}
	return Result{}, true
}

// conclude replaces the outcome of a pending execution; one that is settled or gone stays as it is.
func (s *State) conclude(c *Conclusion) *State {
	if c == nil {
		return s
	}
	e, known := s.executions.get(c.Reference)
	if !known || !e.Pending {
		return s
	}
	done := *e
	done.Pending, done.Outcome = false, c.Outcome
	next := *s
	next.executions = s.executions.with(e.Reference, &done)
	return &next
}

// advance moves the time and the fence forward and, once a minute of carried time, drops what is past its retention.
func (s *State) advance(c *Command) *State {
	next := *s
	if next.Now.NS() < c.UTC.NS() {
		next.Now = c.UTC
	}
	now := next.Now.UnixMilli()
	next.FenceMilli = max(next.FenceMilli, now-int64(ReferenceValidity/time.Millisecond))
	minute := now / int64(time.Minute/time.Millisecond)
	if minute == s.sweptMinute {
		return &next
	}
	next.sweptMinute = minute
	next.executions = s.executions.without(func(r ident.Reference, e *Execution) bool {
		return r.UnixMilli() <= next.FenceMilli && !e.Pending
	})
	next.transactions = s.transactions.without(func(_ ident.Reference, t *Transaction) bool {
		return t.State.Finished() && next.Now.NS()-t.Finished.NS() >= int64(next.Limits.Tombstone)
	})
	return &next
}

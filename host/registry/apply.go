// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"fmt"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
)

// Apply gives the state after the command at log index at. s is not changed. An error means that the command is corrupt or that entries
// arrive out of order: the replica must halt.
func Apply(s *State, at ident.Revision, c *Command) (*State, Result, error) {
	if at <= s.Revision {
		return s, Result{}, corrupt(fmt.Sprintf("entry %d arrived at revision %d", at, s.Revision))
	}
	if c == nil || c.Body == nil {
		return s, Result{}, corrupt("a command without body")
	}
	next := s.advance(c)
	next.Revision = at
	res, settled := next.settleReference(c)
	if !settled {
		var err error
		if next, res, err = next.applyStep(c); err != nil {
			return s, Result{}, err
		}
		next = next.record(c, &res)
	}
	res.Revision = at
	return next, res, nil
}

// ApplyBytes decodes an entry and applies it.
func ApplyBytes(s *State, at ident.Revision, entry []byte) (*State, Result, error) {
	c, err := DecodeCommand(entry)
	if err != nil {
		return s, Result{}, err
	}
	return Apply(s, at, c)
}

func corrupt(detail string) error {
	return fault.New(fault.ControlCorrupt, "registry.Apply", ident.Ref{}, detail, nil)
}

// otherFormat is stored data of another version, which is not damaged.
func otherFormat(detail string) error {
	const advice = "; open the data folder with the version that wrote it, or begin with an empty one"
	return fault.New(fault.ControlFormat, "registry.Apply", ident.Ref{}, detail+advice, nil)
}

// settleReference answers commands whose reference decides everything.
func (s *State) settleReference(c *Command) (Result, bool) {
	if _, bootstrap := c.Body.(*Bootstrap); s.Cluster == "" && !bootstrap {
		return refused(fault.ControlBootstrap, "the cluster state is not set up yet"), true
	}
	if c.Reference.IsZero() {
		return Result{}, false
	}
	if res, known := s.Recall(c.Reference, c.User, c.Domain, c.Digest); known {
		return res, true
	}
	res, ok := s.admitReference(c)
	return res, !ok
}

// applyStep applies the body and, when it took effect, moves the transaction it is a step of and settles what it concludes.
func (s *State) applyStep(c *Command) (*State, Result, error) {
	if c.Step != nil {
		if res, ok := s.admitStep(c.Step); !ok {
			return s, res, nil
		}
	}
	next, res, err := s.applyBody(c)
	if err != nil || res.Verdict == Stale || res.Verdict == Refused {
		return s, res, err
	}
	if c.Step != nil {
		next = next.advanceTransaction(c.Step)
	}
	return next.conclude(c.Concludes), res, nil
}

// record keeps the outcome under the reference. A stale command is planned again under the same reference, so it leaves none.
func (s *State) record(c *Command, res *Result) *State {
	if res.Verdict == Applied || res.Verdict == Kept {
		if res.Outcome.Text == "" {
			res.Outcome.Text = c.Text
		}
		res.Pending = c.Pending && !res.Outcome.Failed()
	}
	if c.Reference.IsZero() || res.Verdict == Stale || res.Verdict == Refused && transient(res.Outcome.Code) {
		return s
	}
	next := *s
	next.executions = s.executions.with(c.Reference, &Execution{
		Reference: c.Reference, Owner: c.User, Domain: c.Domain, Digest: c.Digest, Revision: s.Revision, Pending: res.Pending, Outcome: res.Outcome,
	})
	return &next
}

// transient refusals say "not now": a repetition under the same reference may succeed, so they are not kept. The list is part of the
// state machine; it does not follow the catalogue of codes, which may change between versions.
func transient(code fault.Code) bool {
	switch code {
	case fault.DomainBusy, fault.TransactionOpenLimit, fault.TransactionPosition, fault.TransactionIdle, fault.ControlStateFull:
		return true
	default:
		return false
	}
}

func (s *State) applyBody(c *Command) (*State, Result, error) {
	switch b := c.Body.(type) {
	case *Bootstrap:
		next, res := s.bootstrap(b)
		return next, res, nil
	case *NodeStarted:
		next, res := s.nodeStarted(b)
		return next, res, nil
	case *CreateDomain:
		next, res := s.createDomain(b)
		return next, res, nil
	case *DropDomain:
		next, res := s.dropDomain(b)
		return next, res, nil
	case *MutateModels:
		next, res := s.mutateModels(c, b)
		return next, res, nil
	case *Start:
		next, res := s.start(c, b)
		return next, res, nil
	case *Stop:
		next, res := s.stop(c, b)
		return next, res, nil
	case *PutUser:
		next, res := s.putUser(b)
		return next, res, nil
	case *DropUser:
		next, res := s.dropUser(c, b)
		return next, res, nil
	case *BeginTransaction:
		next, res := s.beginTransaction(c)
		return next, res, nil
	case *AppendStatement:
		next, res := s.appendStatement(c, b)
		return next, res, nil
	case *SetTransactionState:
		next, res := s.setTransactionState(c, b)
		return next, res, nil
	case *ReconcileAuthority:
		next, res := s.reconcileAuthority(b)
		return next, res, nil
	case *Conclude:
		return s, applied(), nil
	}
	if next, res, known := s.applyVersion(c); known {
		return next, res, nil
	}
	return s, Result{}, corrupt(fmt.Sprintf("a command of unknown kind %T", c.Body))
}

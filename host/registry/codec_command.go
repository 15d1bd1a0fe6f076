// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"fmt"
	"time"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/wire"
)

// EncodeCommand gives the log entry of a command (docs/formats/control.md).
func EncodeCommand(c *Command) []byte {
	w := &wire.ControlCommand{
		Format: CommandFormat, UtcNs: c.UTC.NS(), Reference: packReference(c.Reference), User: string(c.User), Domain: string(c.Domain),
		Text: c.Text, Pending: c.Pending, Body: packBody(c.Body),
	}
	if c.Digest != (Digest{}) {
		w.Digest = packDigest(c.Digest)
	}
	if c.Step != nil {
		w.Step = &wire.ControlStep{Transaction: packReference(c.Step.Transaction), Through: c.Step.Through}
	}
	if c.Concludes != nil {
		w.Concludes = &wire.ControlConclusion{Reference: packReference(c.Concludes.Reference), Outcome: packOutcome(c.Concludes.Outcome)}
	}
	return wire.EncodeControlCommand(w)
}

// DecodeCommand reads a log entry. The error is `control.corrupt`, `control.format` or `wire.invalid`; a decoded command is safe to apply.
func DecodeCommand(entry []byte) (*Command, error) {
	w, err := wire.DecodeControlCommand(entry)
	if err != nil {
		return nil, err
	}
	if w.Format != CommandFormat {
		return nil, otherFormat(fmt.Sprintf("a command of format %d; this version reads %d", w.Format, CommandFormat))
	}
	var r reader
	c := &Command{
		UTC: vtime.UTCFromNS(w.UtcNs), Reference: r.reference(w.Reference), User: ident.Name(w.User), Domain: ident.Name(w.Domain),
		Digest: r.digest(w.Digest), Text: w.Text, Pending: w.Pending, Body: r.body(w.Body),
	}
	if w.Step != nil {
		c.Step = &Step{r.given(w.Step.Transaction), w.Step.Through}
	}
	if w.Concludes != nil {
		c.Concludes = &Conclusion{r.given(w.Concludes.Reference), r.outcome(w.Concludes.Outcome)}
	}
	if r.err != nil {
		return nil, r.err
	}
	return c, nil
}

// EncodeResult gives the form in which a result travels to its proposer.
func EncodeResult(res Result) []byte {
	return wire.EncodeControlResult(&wire.ControlResult{
		Verdict: wire.ControlVerdict(res.Verdict), Revision: uint64(res.Revision), Pending: res.Pending, Outcome: packOutcome(res.Outcome),
	})
}

// DecodeResult reads it back.
func DecodeResult(b []byte) (Result, error) {
	w, err := wire.DecodeControlResult(b)
	if err != nil {
		return Result{}, err
	}
	var r reader
	res := Result{Verdict: Verdict(w.Verdict), Revision: ident.Revision(w.Revision), Pending: w.Pending, Outcome: r.outcome(w.Outcome)}
	return res, r.err
}

func (r *reader) body(b *wire.ControlBody) Body {
	switch v := b.Value.(type) {
	case *wire.ControlBootstrap:
		return &Bootstrap{Cluster: v.Cluster, Limits: r.limits(v.Limits), Users: each(v.Users, r.user)}
	case *wire.ControlNodeStarted:
		return &NodeStarted{Node{ident.Node(v.Node), ident.Incarnation(v.Incarnation), v.Logical, v.Session}}
	case *wire.ControlCreateDomain:
		return &CreateDomain{
			Name: ident.Name(v.Name), Text: v.Text, Grammar: v.Grammar, Pace: Pace(v.Pace), Placement: Placement(v.Placement),
			IfNotExists: v.IfNotExists, Pacing: clock.Pace{Period: v.PeriodNs, Skew: v.SkewNs},
		}
	case *wire.ControlDropDomain:
		return &DropDomain{ident.Name(v.Name)}
	case *wire.ControlMutateModels:
		return &MutateModels{
			Domain: ident.Name(v.Domain), Base: ident.Revision(v.Base), Drops: r.keys(v.Drops), Puts: each(v.Puts, r.put),
			Assign: each(v.Assign, r.assignment), Binds: each(v.Binds, r.binding),
		}
	case *wire.ControlStart:
		o := r.opening(v.RestartPositions, v.WallStartedAtNs, v.LogicalStartNs, v.Rate, v.AuthorityNode, v.AuthorityIncarnation)
		return o.Start(ident.Name(v.Domain), ident.Revision(v.Base), each(v.Assign, r.assignment))
	case *wire.ControlStop:
		return &Stop{ident.Name(v.Domain), ident.Generation(v.Generation)}
	case *wire.ControlPutUser:
		return &PutUser{User: r.user(v.User), Alter: v.Alter, IfNotExists: v.IfNotExists}
	case *wire.ControlDropUser:
		return &DropUser{ident.Name(v.Name)}
	case *wire.ControlBeginTransaction:
		return &BeginTransaction{}
	case *wire.ControlAppendStatement:
		return &AppendStatement{Transaction: r.given(v.Transaction), Position: v.Position, Text: v.Text, Grammar: v.Grammar}
	case *wire.ControlSetTransactionState:
		return &SetTransactionState{
			Transaction: r.given(v.Transaction), To: TransactionState(v.To), FailedOperation: v.FailedOperation, Failure: r.outcome(v.Failure),
			Frozen: each(v.Frozen, r.frozen),
		}
	case *wire.ControlConclude:
		return &Conclude{}
	}
	if body := r.resourceBody(b); body != nil {
		return body
	}
	r.fail("command body %d", b.Type)
	return nil
}

func (r *reader) put(p *wire.ControlPut) Put {
	return Put{Key: r.key(p.Key), Text: p.Text, Grammar: p.Grammar, Dependencies: r.keys(p.Dependencies), CapacityOnly: p.CapacityOnly}
}

func (r *reader) user(u *wire.ControlUser) User { return User{ident.Name(u.Name), u.Phc} }

func (r *reader) limits(l *wire.ControlLimits) Limits {
	return Limits{
		Statements: l.Statements, SourceBytes: l.SourceBytes, Open: l.Open, Idle: time.Duration(l.IdleNs), Tombstone: time.Duration(l.TombstoneNs),
		References: l.References, OpenSourceBytes: l.OpenSourceBytes, DefinitionBytes: l.DefinitionBytes,
		ResourceVersions: l.ResourceVersions, Versions: l.Versions,
	}
}

func packBody(b Body) *wire.ControlBody {
	switch v := b.(type) {
	case *Bootstrap:
		return &wire.ControlBody{Type: wire.ControlBodyBootstrap, Value: &wire.ControlBootstrap{
			Cluster: v.Cluster, Limits: packLimits(v.Limits), Users: each(v.Users, packUser),
		}}
	case *NodeStarted:
		return &wire.ControlBody{Type: wire.ControlBodyNodeStarted, Value: &wire.ControlNodeStarted{
			Node: uint64(v.Node.ID), Incarnation: uint64(v.Node.Incarnation), Logical: v.Node.Logical, Session: v.Node.Session,
		}}
	case *CreateDomain:
		return &wire.ControlBody{Type: wire.ControlBodyCreateDomain, Value: &wire.ControlCreateDomain{
			Name: string(v.Name), Text: v.Text, Grammar: v.Grammar, Pace: wire.ControlPace(v.Pace),
			Placement: wire.ControlPlacement(v.Placement), IfNotExists: v.IfNotExists, PeriodNs: v.Pacing.Period, SkewNs: v.Pacing.Skew,
		}}
	case *DropDomain:
		return &wire.ControlBody{Type: wire.ControlBodyDropDomain, Value: &wire.ControlDropDomain{Name: string(v.Name)}}
	case *MutateModels:
		return &wire.ControlBody{Type: wire.ControlBodyMutateModels, Value: &wire.ControlMutateModels{
			Domain: string(v.Domain), Base: uint64(v.Base), Drops: each(v.Drops, packKey), Puts: each(v.Puts, packPut),
			Assign: each(v.Assign, packAssignment), Binds: each(v.Binds, packBinding),
		}}
	case *Start:
		return &wire.ControlBody{Type: wire.ControlBodyStart, Value: &wire.ControlStart{
			Domain: string(v.Domain), Base: uint64(v.Base), Assign: each(v.Assign, packAssignment), RestartPositions: v.RestartPositions,
			WallStartedAtNs: v.Mapping.WallStartedAt.NS(), LogicalStartNs: v.Mapping.LogicalStart.NS(), Rate: v.Mapping.Rate,
			AuthorityNode: uint64(v.Authority.Node), AuthorityIncarnation: uint64(v.Authority.Incarnation),
		}}
	case *Stop:
		return &wire.ControlBody{Type: wire.ControlBodyStop, Value: &wire.ControlStop{Domain: string(v.Domain), Generation: uint64(v.Generation)}}
	default:
		return packClientBody(b)
	}
}

// packClientBody is the part of packBody that concerns users and transactions.
func packClientBody(b Body) *wire.ControlBody {
	switch v := b.(type) {
	case *PutUser:
		return &wire.ControlBody{Type: wire.ControlBodyPutUser, Value: &wire.ControlPutUser{
			User: packUser(v.User), Alter: v.Alter, IfNotExists: v.IfNotExists,
		}}
	case *DropUser:
		return &wire.ControlBody{Type: wire.ControlBodyDropUser, Value: &wire.ControlDropUser{Name: string(v.Name)}}
	case *BeginTransaction:
		return &wire.ControlBody{Type: wire.ControlBodyBeginTransaction, Value: &wire.ControlBeginTransaction{}}
	case *AppendStatement:
		return &wire.ControlBody{Type: wire.ControlBodyAppendStatement, Value: &wire.ControlAppendStatement{
			Transaction: packReference(v.Transaction), Position: v.Position, Text: v.Text, Grammar: v.Grammar,
		}}
	case *SetTransactionState:
		return &wire.ControlBody{Type: wire.ControlBodySetTransactionState, Value: &wire.ControlSetTransactionState{
			Transaction: packReference(v.Transaction), To: wire.ControlTransactionState(v.To), FailedOperation: v.FailedOperation,
			Failure: packOutcome(v.Failure), Frozen: each(v.Frozen, packFrozen),
		}}
	case *Conclude:
		return &wire.ControlBody{Type: wire.ControlBodyConclude, Value: &wire.ControlConclude{}}
	}
	return packResourceBody(b)
}

func packPut(p Put) *wire.ControlPut {
	return &wire.ControlPut{
		Key: packKey(p.Key), Text: p.Text, Grammar: p.Grammar, Dependencies: each(p.Dependencies, packKey), CapacityOnly: p.CapacityOnly,
	}
}

// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"math"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/wire/gen/sessionfb"
)

// AttachDomainClockRequest asks to follow the clock of a domain. It travels on the ordered lane. Protocol 2.
type AttachDomainClockRequest struct{ Domain string }

// DetachDomainClockRequest ends the following. It travels on the ordered lane. Protocol 2.
type DetachDomainClockRequest struct{ Domain string }

// AttachDisposition is the fate of an attach (gaps 2.3).
type AttachDisposition uint8

// The dispositions of an attach.
const (
	ClockAttached        AttachDisposition = 1
	ClockAlreadyAttached AttachDisposition = 2
	ClockDomainNotFound  AttachDisposition = 3
	ClockAttachFailed    AttachDisposition = 4
)

func (d AttachDisposition) String() string {
	return word(int(d), "", "attached", "already attached", "domain not found", "failed")
}

// DetachDisposition is the fate of a detach (gaps 2.3).
type DetachDisposition uint8

// The dispositions of a detach.
const (
	ClockDetached     DetachDisposition = 1
	ClockNotAttached  DetachDisposition = 2
	ClockDetachFailed DetachDisposition = 3
)

func (d DetachDisposition) String() string {
	return word(int(d), "", "detached", "not attached", "failed")
}

// ClockState is the state of an observed clock.
type ClockState uint8

// The clock states.
const (
	ClockStopped     ClockState = 1
	ClockUninstalled ClockState = 2
	ClockUnpaced     ClockState = 3
	ClockPaced       ClockState = 4
)

func (s ClockState) String() string {
	return word(int(s), "", "stopped", "uninstalled", "unpaced", "paced")
}

// ObservedClock is a domain clock as a session is told about it. Everything after Generation is zero unless the state is ClockPaced;
// then PeriodNS is at least 1 and TimeRate positive and finite.
type ObservedClock struct {
	State            ClockState
	Generation       uint64
	PeriodNS, SkewNS uint64
	LogicalStartNS   int64
	WallStartedAtNS  int64
	TimeRate         float64
}

// DomainClockAttachOutcome answers AttachDomainClockRequest. Clock is set exactly when the disposition is ClockAttached; Code, Text and Hint
// say why it is not.
type DomainClockAttachOutcome struct {
	Disposition AttachDisposition
	Domain      string
	Clock       ObservedClock
	Code        string
	Text, Hint  string
}

// DomainClockDetachOutcome answers DetachDomainClockRequest.
type DomainClockDetachOutcome struct {
	Disposition DetachDisposition
	Domain      string
	Code        string
	Text, Hint  string
}

// DomainClockObserved tells a changed clock. This and the next two are unsolicited; they come on the lane of the attach reply, whose order
// with them is a promise (C-102).
type DomainClockObserved struct {
	Domain string
	Clock  ObservedClock
}

// DomainClockTicked tells the newest accepted tick of the generation that the last state reported as paced.
type DomainClockTicked struct {
	Domain                                    string
	Generation                                uint64
	ID                                        uint64
	BoundaryNS, AuthorityUTCNS, NodeLogicalNS int64
}

// AttachmentEnd says why the server ended an attachment.
type AttachmentEnd uint8

// EndDomainRemoved: the domain is gone.
const EndDomainRemoved AttachmentEnd = 1

func (e AttachmentEnd) String() string { return word(int(e), "", "domain removed") }

// DomainClockAttachmentEnded is the last frame of an attachment that the server ended.
type DomainClockAttachmentEnded struct {
	Domain string
	Reason AttachmentEnd
}

func (AttachDomainClockRequest) clientBody() {}
func (DetachDomainClockRequest) clientBody() {}

func (DomainClockAttachOutcome) serverBody()   {}
func (DomainClockDetachOutcome) serverBody()   {}
func (DomainClockObserved) serverBody()        {}
func (DomainClockTicked) serverBody()          {}
func (DomainClockAttachmentEnded) serverBody() {}

func observedT(c ObservedClock) *sessionfb.ObservedClockT {
	state := sessionfb.ClockState(c.State)
	t := &sessionfb.ObservedClockT{State: &state, Generation: c.Generation}
	if c.State == ClockPaced {
		t.PeriodNs, t.SkewNs, t.TimeRate = &c.PeriodNS, &c.SkewNS, &c.TimeRate
		t.LogicalStartNs, t.WallStartedAtNs = &c.LogicalStartNS, &c.WallStartedAtNS
	}
	return t
}

// check holds the rules of an observed clock that the schema cannot state.
func (c ObservedClock) check() bool {
	if c.State != ClockPaced {
		return c == ObservedClock{State: c.State, Generation: c.Generation}
	}
	return c.PeriodNS > 0 && c.TimeRate > 0 && !math.IsInf(c.TimeRate, 0)
}

func observed(x *sessionfb.ObservedClock) (ObservedClock, error) {
	c := ObservedClock{State: ClockState(*x.State()), Generation: x.Generation()}
	period, skew, rate := x.PeriodNs(), x.SkewNs(), x.TimeRate()
	logical, wall := x.LogicalStartNs(), x.WallStartedAtNs()
	bad := func(detail string) (ObservedClock, error) {
		return ObservedClock{}, fault.New(fault.WireInvalid, "wire.DecodeServer", ident.Ref{}, detail, nil)
	}
	if c.State != ClockPaced {
		if period != nil || skew != nil || rate != nil || logical != nil || wall != nil {
			return bad("an observed clock that is not paced has a mapping")
		}
		return c, nil
	}
	if period == nil || skew == nil || rate == nil || logical == nil || wall == nil {
		return bad("a paced clock lacks a part of its mapping")
	}
	c.PeriodNS, c.SkewNS, c.TimeRate, c.LogicalStartNS, c.WallStartedAtNS = *period, *skew, *rate, *logical, *wall
	if !c.check() {
		return bad("a paced clock has a period or rate out of range")
	}
	return c, nil
}

func attachOutcomeT(b DomainClockAttachOutcome) (*sessionfb.DomainClockAttachOutcomeT, bool) {
	disposition := sessionfb.AttachDisposition(b.Disposition)
	t := &sessionfb.DomainClockAttachOutcomeT{Disposition: &disposition, Domain: b.Domain, Code: b.Code, Text: clean(b.Text), Hint: clean(b.Hint)}
	if b.Disposition != ClockAttached {
		return t, b.Clock == ObservedClock{}
	}
	t.Clock = observedT(b.Clock)
	return t, b.Clock.check()
}

func attachOutcome(x *sessionfb.DomainClockAttachOutcome) (ServerBody, error) {
	o := DomainClockAttachOutcome{Disposition: AttachDisposition(*x.Disposition()), Domain: string(x.Domain()), Code: string(x.Code()),
		Text: string(x.Text()), Hint: string(x.Hint())}
	var c sessionfb.ObservedClock
	clock := x.Clock(&c)
	if (clock != nil) != (o.Disposition == ClockAttached) {
		return nil, fault.New(fault.WireInvalid, "wire.DecodeServer", ident.Ref{}, "an attach outcome has a clock exactly when it attached", nil)
	}
	if clock == nil {
		return o, nil
	}
	var err error
	o.Clock, err = observed(clock)
	return o, err
}

func detachOutcomeT(b DomainClockDetachOutcome) *sessionfb.DomainClockDetachOutcomeT {
	disposition := sessionfb.DetachDisposition(b.Disposition)
	return &sessionfb.DomainClockDetachOutcomeT{Disposition: &disposition, Domain: b.Domain, Code: b.Code, Text: clean(b.Text), Hint: clean(b.Hint)}
}

func tickedT(b DomainClockTicked) *sessionfb.DomainClockTickedT {
	return &sessionfb.DomainClockTickedT{Domain: b.Domain, Generation: b.Generation, Id: b.ID, BoundaryNs: &b.BoundaryNS,
		AuthorityUtcNs: &b.AuthorityUTCNS, NodeLogicalNs: &b.NodeLogicalNS}
}

func ticked(x *sessionfb.DomainClockTicked) DomainClockTicked {
	return DomainClockTicked{Domain: string(x.Domain()), Generation: x.Generation(), ID: x.Id(), BoundaryNS: *x.BoundaryNs(),
		AuthorityUTCNS: *x.AuthorityUtcNs(), NodeLogicalNS: *x.NodeLogicalNs()}
}

// clockBodyT puts a body about clocks into t; false means that it is none, or that it contradicts itself.
func clockBodyT(body ServerBody, t *sessionfb.ServerBodyT) (size int, good bool) {
	switch b := body.(type) {
	case DomainClockAttachOutcome:
		t.Type = sessionfb.ServerBodyDomainClockAttachOutcome
		t.Value, good = attachOutcomeT(b)
		return len(b.Domain) + len(b.Code) + len(b.Text) + len(b.Hint), good
	case DomainClockDetachOutcome:
		t.Type, t.Value = sessionfb.ServerBodyDomainClockDetachOutcome, detachOutcomeT(b)
		return len(b.Domain) + len(b.Code) + len(b.Text) + len(b.Hint), true
	case DomainClockObserved:
		t.Type = sessionfb.ServerBodyDomainClockObserved
		t.Value = &sessionfb.DomainClockObservedT{Domain: b.Domain, Clock: observedT(b.Clock)}
		return len(b.Domain), b.Clock.check()
	case DomainClockTicked:
		t.Type, t.Value = sessionfb.ServerBodyDomainClockTicked, tickedT(b)
		return len(b.Domain), true
	case DomainClockAttachmentEnded:
		reason := sessionfb.AttachmentEnd(b.Reason)
		t.Type = sessionfb.ServerBodyDomainClockAttachmentEnded
		t.Value = &sessionfb.DomainClockAttachmentEndedT{Reason: &reason, Domain: b.Domain}
		return len(b.Domain), true
	}
	return 0, false
}

// clockBody reads a body about clocks; the verifier lets no other type pass.
func clockBody(kind sessionfb.ServerBody, tab flatbuffers.Table) (ServerBody, error) {
	switch kind {
	case sessionfb.ServerBodyDomainClockAttachOutcome:
		var x sessionfb.DomainClockAttachOutcome
		x.Init(tab.Bytes, tab.Pos)
		return attachOutcome(&x)
	case sessionfb.ServerBodyDomainClockDetachOutcome:
		var x sessionfb.DomainClockDetachOutcome
		x.Init(tab.Bytes, tab.Pos)
		return DomainClockDetachOutcome{Disposition: DetachDisposition(*x.Disposition()), Domain: string(x.Domain()), Code: string(x.Code()),
			Text: string(x.Text()), Hint: string(x.Hint())}, nil
	case sessionfb.ServerBodyDomainClockObserved:
		var x sessionfb.DomainClockObserved
		x.Init(tab.Bytes, tab.Pos)
		clock, err := observed(x.Clock(nil))
		return DomainClockObserved{Domain: string(x.Domain()), Clock: clock}, err
	case sessionfb.ServerBodyDomainClockTicked:
		var x sessionfb.DomainClockTicked
		x.Init(tab.Bytes, tab.Pos)
		return ticked(&x), nil
	default:
		var x sessionfb.DomainClockAttachmentEnded
		x.Init(tab.Bytes, tab.Pos)
		return DomainClockAttachmentEnded{Domain: string(x.Domain()), Reason: AttachmentEnd(*x.Reason())}, nil
	}
}

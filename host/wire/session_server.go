// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"strings"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/wire/gen/sessionfb"
)

// EncodeServer builds a frame. Texts for people are made valid UTF-8; everything else that a client with the same limit would refuse is
// refused with wire.unencodable or wire.too_large.
func EncodeServer(f ServerFrame, limit int) ([]byte, error) {
	t := sessionfb.ServerFrameT{RequestId: f.RequestID, Body: &sessionfb.ServerBodyT{}}
	size := 0
	switch b := f.Body.(type) {
	case HelloReply:
		t.Body.Type = sessionfb.ServerBodyHelloReply
		t.Body.Value = &sessionfb.HelloReplyT{Node: b.Node, Incarnation: b.Incarnation, ProtocolMin: b.ProtocolMin,
			ProtocolMax: b.ProtocolMax, Protocol: b.Protocol, Features: b.Features, FrameLimit: b.FrameLimit}
	case CommandOutcome:
		size = outcomeSize(&b)
		if size <= limit {
			t.Body.Type, t.Body.Value = sessionfb.ServerBodyCommandOutcome, outcomeT(&b)
		}
	case DomainList:
		t.Body.Type, t.Body.Value = sessionfb.ServerBodyDomainList, domainListT(b)
	case StatusReport:
		t.Body.Type, t.Body.Value = sessionfb.ServerBodyStatusReport, statusT(b)
	case CancelOutcome:
		result := sessionfb.CancelResult(b.Result)
		t.Body.Type, t.Body.Value = sessionfb.ServerBodyCancelOutcome, &sessionfb.CancelOutcomeT{Result: &result}
	case RequestRejected:
		kind := sessionfb.RejectKind(b.Kind)
		t.Body.Type = sessionfb.ServerBodyRequestRejected
		t.Body.Value = &sessionfb.RequestRejectedT{Kind: &kind, Field: b.Field, Text: clean(b.Text)}
	case RequestCancelled:
		t.Body.Type, t.Body.Value = sessionfb.ServerBodyRequestCancelled, &sessionfb.RequestCancelledT{}
	case SessionEnding:
		reason := sessionfb.EndingReason(b.Reason)
		t.Body.Type = sessionfb.ServerBodySessionEnding
		t.Body.Value = &sessionfb.SessionEndingT{Reason: &reason, Text: clean(b.Text), TimeLeftMs: b.TimeLeftMillis}
	case Keepalive:
		t.Body.Type, t.Body.Value = sessionfb.ServerBodyKeepalive, &sessionfb.KeepaliveT{}
	default:
		var good bool
		if size, good = clockBodyT(f.Body, t.Body); !good {
			return nil, unencodable("server frame without body, or with a clock that does not exist", nil)
		}
	}
	if err := serverIdentity(f); err != nil {
		return nil, err
	}
	return finish(sessionfb.RootServerFrame, size, limit, t.Pack)
}

// DecodeServer verifies a frame and reads it. The result shares no memory with the frame. Faults as in DecodeClient.
func DecodeServer(frame []byte, limit int) (ServerFrame, error) {
	if err := verifySession(sessionfb.RootServerFrame, frame, limit); err != nil {
		return ServerFrame{}, err
	}
	root := sessionfb.GetRootAsServerFrame(frame, 0)
	var tab flatbuffers.Table
	root.Body(&tab)
	body, err := serverBody(root.BodyType(), tab)
	if err != nil {
		return ServerFrame{}, err
	}
	f := ServerFrame{RequestID: root.RequestId(), Body: body}
	if err := serverIdentity(f); err != nil {
		return ServerFrame{}, err
	}
	return f, nil
}

func serverBody(kind sessionfb.ServerBody, tab flatbuffers.Table) (ServerBody, error) {
	switch kind {
	case sessionfb.ServerBodyHelloReply:
		var x sessionfb.HelloReply
		x.Init(tab.Bytes, tab.Pos)
		return helloReply(&x), nil
	case sessionfb.ServerBodyCommandOutcome:
		var x sessionfb.CommandOutcome
		x.Init(tab.Bytes, tab.Pos)
		return outcome(&x)
	case sessionfb.ServerBodyDomainList:
		var x sessionfb.DomainList
		x.Init(tab.Bytes, tab.Pos)
		return domainList(&x), nil
	case sessionfb.ServerBodyStatusReport:
		var x sessionfb.StatusReport
		x.Init(tab.Bytes, tab.Pos)
		return status(&x), nil
	case sessionfb.ServerBodyCancelOutcome:
		var x sessionfb.CancelOutcome
		x.Init(tab.Bytes, tab.Pos)
		return CancelOutcome{Result: CancelResult(*x.Result())}, nil
	case sessionfb.ServerBodyRequestRejected:
		var x sessionfb.RequestRejected
		x.Init(tab.Bytes, tab.Pos)
		return RequestRejected{Kind: RejectKind(*x.Kind()), Field: string(x.Field()), Text: string(x.Text())}, nil
	case sessionfb.ServerBodyRequestCancelled:
		return RequestCancelled{}, nil
	case sessionfb.ServerBodySessionEnding:
		var x sessionfb.SessionEnding
		x.Init(tab.Bytes, tab.Pos)
		return SessionEnding{Reason: EndingReason(*x.Reason()), Text: string(x.Text()), TimeLeftMillis: x.TimeLeftMs()}, nil
	case sessionfb.ServerBodyKeepalive:
		return Keepalive{}, nil
	default:
		return clockBody(kind, tab)
	}
}

// serverIdentity: replies name their request, everything unsolicited names none.
func serverIdentity(f ServerFrame) error {
	unsolicited := false
	switch f.Body.(type) {
	case HelloReply, SessionEnding, Keepalive, DomainClockObserved, DomainClockTicked, DomainClockAttachmentEnded:
		unsolicited = true
	}
	if unsolicited != (f.RequestID == 0) {
		return fault.New(fault.WireRequestID, "wire.DecodeServer", ident.Ref{}, "request identity of a server frame", nil)
	}
	return nil
}

func helloReply(x *sessionfb.HelloReply) HelloReply {
	r := HelloReply{Node: string(x.Node()), Incarnation: x.Incarnation(), ProtocolMin: x.ProtocolMin(), ProtocolMax: x.ProtocolMax(),
		Protocol: x.Protocol(), FrameLimit: x.FrameLimit()}
	if n := x.FeaturesLength(); n > 0 {
		r.Features = make([]string, n)
		for i := range n {
			r.Features[i] = string(x.Features(i))
		}
	}
	return r
}

func domainListT(b DomainList) *sessionfb.DomainListT {
	t := &sessionfb.DomainListT{}
	for _, d := range b.Domains {
		t.Domains = append(t.Domains, &sessionfb.DomainEntryT{Name: d.Name, Status: d.Status, Pace: sessionfb.Pace(d.Pace),
			PeriodNs: d.PeriodNS, SkewNs: d.SkewNS, StartVersion: d.StartVersion})
	}
	return t
}

func domainList(x *sessionfb.DomainList) DomainList {
	var list DomainList
	var one sessionfb.DomainEntry
	if n := x.DomainsLength(); n > 0 {
		list.Domains = make([]DomainEntry, n)
		for i := range n {
			x.Domains(&one, i)
			list.Domains[i] = DomainEntry{Name: string(one.Name()), Status: string(one.Status()), Pace: DomainPace(one.Pace()),
				PeriodNS: one.PeriodNs(), SkewNS: one.SkewNs(), StartVersion: one.StartVersion()}
		}
	}
	return list
}

func statusT(b StatusReport) *sessionfb.StatusReportT {
	t := &sessionfb.StatusReportT{Node: b.Node, Incarnation: b.Incarnation, Revision: b.Revision, Role: b.Role}
	for _, c := range b.Connectors {
		t.Connectors = append(t.Connectors, &sessionfb.ConnectorStatusT{Kind: c.Kind, Pid: c.PID, State: c.State, Restarts: c.Restarts})
	}
	return t
}

func status(x *sessionfb.StatusReport) StatusReport {
	r := StatusReport{Node: string(x.Node()), Incarnation: x.Incarnation(), Revision: x.Revision(), Role: string(x.Role())}
	var one sessionfb.ConnectorStatus
	if n := x.ConnectorsLength(); n > 0 {
		r.Connectors = make([]ConnectorStatus, n)
		for i := range n {
			x.Connectors(&one, i)
			r.Connectors[i] = ConnectorStatus{Kind: string(one.Kind()), PID: one.Pid(), State: string(one.State()), Restarts: one.Restarts()}
		}
	}
	return r
}

// clean makes a text for people encodable.
func clean(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// SPDX-License-Identifier: Apache-2.0

package wire

import (
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/wire/gen/sessionfb"
	"github.com/nervix-go/nervix/host/wire/verify"
)

// EncodeClient builds a frame, or refuses with wire.unencodable or wire.too_large what a server with the same limit would refuse.
func EncodeClient(f ClientFrame, limit int) ([]byte, error) {
	t := sessionfb.ClientFrameT{RequestId: f.RequestID, Body: &sessionfb.ClientBodyT{}}
	size := 0
	switch b := f.Body.(type) {
	case Hello:
		size = len(b.User) + len(b.Password) + len(b.Domain) + len(b.Client)
		t.Body.Type = sessionfb.ClientBodyHello
		t.Body.Value = &sessionfb.HelloT{ProtocolMin: b.ProtocolMin, ProtocolMax: b.ProtocolMax, User: b.User, Password: b.Password,
			Domain: b.Domain, Client: b.Client}
	case CommandRequest:
		size = len(b.Reference) + len(b.Domain) + len(b.Text)
		format := sessionfb.Format(b.Format)
		t.Body.Type = sessionfb.ClientBodyCommandRequest
		t.Body.Value = &sessionfb.CommandRequestT{Reference: b.Reference, Domain: b.Domain, Text: b.Text, Format: &format}
	case ListDomainsRequest:
		t.Body.Type, t.Body.Value = sessionfb.ClientBodyListDomainsRequest, &sessionfb.ListDomainsRequestT{}
	case StatusRequest:
		t.Body.Type, t.Body.Value = sessionfb.ClientBodyStatusRequest, &sessionfb.StatusRequestT{}
	case CancelRequest:
		t.Body.Type, t.Body.Value = sessionfb.ClientBodyCancelRequest, &sessionfb.CancelRequestT{Target: b.Target}
	case Keepalive:
		t.Body.Type, t.Body.Value = sessionfb.ClientBodyKeepalive, &sessionfb.KeepaliveT{}
	case AttachDomainClockRequest:
		size = len(b.Domain)
		t.Body.Type = sessionfb.ClientBodyAttachDomainClockRequest
		t.Body.Value = &sessionfb.AttachDomainClockRequestT{Domain: b.Domain}
	case DetachDomainClockRequest:
		size = len(b.Domain)
		t.Body.Type = sessionfb.ClientBodyDetachDomainClockRequest
		t.Body.Value = &sessionfb.DetachDomainClockRequestT{Domain: b.Domain}
	default:
		return nil, unencodable("client frame without body", nil)
	}
	if err := clientIdentity(f); err != nil {
		return nil, err
	}
	return finish(sessionfb.RootClientFrame, size, limit, t.Pack)
}

// DecodeClient verifies a frame and reads it. The result shares no memory with the frame. Faults: wire.too_large, wire.invalid, and
// wire.request_id for a missing or misplaced request identity.
func DecodeClient(frame []byte, limit int) (ClientFrame, error) {
	if err := verifySession(sessionfb.RootClientFrame, frame, limit); err != nil {
		return ClientFrame{}, err
	}
	root := sessionfb.GetRootAsClientFrame(frame, 0)
	var tab flatbuffers.Table
	root.Body(&tab)
	f := ClientFrame{RequestID: root.RequestId(), Body: clientBody(root.BodyType(), tab)}
	if err := clientIdentity(f); err != nil {
		return ClientFrame{}, err
	}
	return f, nil
}

func clientBody(kind sessionfb.ClientBody, tab flatbuffers.Table) ClientBody {
	switch kind {
	case sessionfb.ClientBodyHello:
		var x sessionfb.Hello
		x.Init(tab.Bytes, tab.Pos)
		return Hello{ProtocolMin: x.ProtocolMin(), ProtocolMax: x.ProtocolMax(), User: string(x.User()), Password: string(x.Password()),
			Domain: string(x.Domain()), Client: string(x.Client())}
	case sessionfb.ClientBodyCommandRequest:
		var x sessionfb.CommandRequest
		x.Init(tab.Bytes, tab.Pos)
		return CommandRequest{Reference: string(x.Reference()), Domain: string(x.Domain()), Text: string(x.Text()),
			Format: Format(*x.Format())}
	case sessionfb.ClientBodyListDomainsRequest:
		return ListDomainsRequest{}
	case sessionfb.ClientBodyStatusRequest:
		return StatusRequest{}
	case sessionfb.ClientBodyCancelRequest:
		var x sessionfb.CancelRequest
		x.Init(tab.Bytes, tab.Pos)
		return CancelRequest{Target: x.Target()}
	case sessionfb.ClientBodyAttachDomainClockRequest:
		var x sessionfb.AttachDomainClockRequest
		x.Init(tab.Bytes, tab.Pos)
		return AttachDomainClockRequest{Domain: string(x.Domain())}
	case sessionfb.ClientBodyDetachDomainClockRequest:
		var x sessionfb.DetachDomainClockRequest
		x.Init(tab.Bytes, tab.Pos)
		return DetachDomainClockRequest{Domain: string(x.Domain())}
	default: // the verifier lets no other type pass
		return Keepalive{}
	}
}

// clientIdentity holds the rule of X-010: requests have an identity, greeting and keepalive have none.
func clientIdentity(f ClientFrame) error {
	switch f.Body.(type) {
	case Hello, Keepalive:
		if f.RequestID != 0 {
			return fault.New(fault.WireRequestID, "wire.DecodeClient", ident.Ref{}, "a frame that is no request has a request identity", nil)
		}
	default:
		if f.RequestID == 0 {
			return fault.New(fault.WireRequestID, "wire.DecodeClient", ident.Ref{}, "request identity is zero", nil)
		}
	}
	return nil
}

// sessionLimits are the verifier's limits for a session with the given frame limit.
func sessionLimits(limit int) verify.Limits {
	l := verify.DefaultLimits()
	l.MaxBytes = limit
	return l
}

func verifySession(root int, frame []byte, limit int) error {
	if len(frame) > limit {
		return fault.New(fault.WireTooLarge, "wire.Decode", ident.Ref{}, "", nil)
	}
	if err := verify.Verify(&sessionfb.Schema, root, frame, sessionLimits(limit)); err != nil {
		return fault.New(fault.WireInvalid, "wire.Decode", ident.Ref{}, "session frame", err)
	}
	return nil
}

// finish packs a root of the session schema and holds the result to the rules of a receiver. size is the sum of the strings,
// checked before the builder grows.
func finish(root, size, limit int, pack func(*flatbuffers.Builder) flatbuffers.UOffsetT) ([]byte, error) {
	if size > limit {
		return nil, fault.New(fault.WireTooLarge, "wire.Encode", ident.Ref{}, "", nil)
	}
	b := flatbuffers.NewBuilder(min(size+512, limit))
	offset := pack(b)
	b.FinishWithFileIdentifier(offset, []byte(sessionfb.Schema.Tables[root].Identifier))
	frame := b.FinishedBytes()
	if len(frame) > limit {
		return nil, fault.New(fault.WireTooLarge, "wire.Encode", ident.Ref{}, "", nil)
	}
	if err := verify.Verify(&sessionfb.Schema, root, frame, sessionLimits(limit)); err != nil {
		return nil, unencodable("session frame", err)
	}
	return frame, nil
}

func unencodable(detail string, err error) error {
	return fault.New(fault.WireUnencodable, "wire.Encode", ident.Ref{}, detail, err)
}

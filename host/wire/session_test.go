// SPDX-License-Identifier: Apache-2.0

package wire_test

import (
	"fmt"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/wire"
	"pgregory.net/rapid"
)

func name(t *rapid.T, label string) string {
	return rapid.StringN(1, 20, 200).Filter(utf8.ValidString).Draw(t, label)
}

func drawClientFrame(t *rapid.T) wire.ClientFrame {
	id := rapid.Uint64Min(1).Draw(t, "id")
	switch rapid.IntRange(0, 7).Draw(t, "kind") {
	case 0:
		return wire.ClientFrame{Body: wire.Hello{ProtocolMin: rapid.Uint32Min(1).Draw(t, "min"), ProtocolMax: rapid.Uint32Min(1).Draw(t, "max"),
			User: name(t, "user"), Password: rapid.StringN(0, 40, 400).Draw(t, "password"), Domain: rapid.StringN(0, 9, 90).Draw(t, "domain"),
			Client: name(t, "client")}}
	case 1:
		return wire.ClientFrame{RequestID: id, Body: wire.CommandRequest{Reference: "r-1", Domain: name(t, "domain"),
			Text: name(t, "text"), Format: rapid.SampledFrom([]wire.Format{wire.FormatText, wire.FormatJSON}).Draw(t, "format")}}
	case 2:
		return wire.ClientFrame{RequestID: id, Body: wire.ListDomainsRequest{}}
	case 3:
		return wire.ClientFrame{RequestID: id, Body: wire.StatusRequest{}}
	case 4:
		return wire.ClientFrame{RequestID: id, Body: wire.CancelRequest{Target: rapid.Uint64Min(1).Draw(t, "target")}}
	case 5:
		return wire.ClientFrame{RequestID: id, Body: wire.AttachDomainClockRequest{Domain: name(t, "domain")}}
	case 6:
		return wire.ClientFrame{RequestID: id, Body: wire.DetachDomainClockRequest{Domain: name(t, "domain")}}
	default:
		return wire.ClientFrame{Body: wire.Keepalive{}}
	}
}

func drawOutcome(t *rapid.T) wire.CommandOutcome {
	text := rapid.StringN(0, 12, 100)
	o := wire.CommandOutcome{Disposition: wire.Disposition(rapid.IntRange(1, 3).Draw(t, "disposition")), Reference: "r-1",
		AlreadyExisted: rapid.Bool().Draw(t, "existed"), Recovered: rapid.Bool().Draw(t, "recovered"), Text: text.Draw(t, "text"),
		Data: text.Draw(t, "data"), Domain: text.Draw(t, "domain"), UnknownCause: wire.UnknownCause(rapid.IntRange(0, 4).Draw(t, "cause"))}
	for i := range rapid.IntRange(0, 4).Draw(t, "statements") {
		o.Statements = append(o.Statements, wire.StatementResult{Index: uint32(i), Disposition: wire.DispositionCompleted,
			Text: text.Draw(t, "s"), Data: text.Draw(t, "d"), AlreadyExisted: i%2 == 1})
	}
	o.Diagnostics = drawDiagnostics(t)
	if rapid.Bool().Draw(t, "transaction") {
		o.Transaction = wire.Transaction{State: wire.TransactionOpen, Reference: "t-1"}
	}
	if rapid.Bool().Draw(t, "commit") {
		o.Commit = &wire.CommitReport{Applied: rapid.Uint32().Draw(t, "applied"), Failed: rapid.Uint32().Draw(t, "failed")}
		for i := range rapid.IntRange(0, 4).Draw(t, "operations") {
			o.Commit.Operations = append(o.Commit.Operations, wire.OperationResult{Number: uint32(i + 1),
				Fate: wire.Fate(rapid.IntRange(1, 3).Draw(t, "fate")), Text: text.Draw(t, "told"), Diagnostics: drawDiagnostics(t)})
		}
	}
	return o
}

func drawDiagnostics(t *rapid.T) (list fault.Diagnostics) {
	text := rapid.StringN(0, 12, 100)
	for range rapid.IntRange(0, 4).Draw(t, "diagnostics") {
		d := fault.Diagnostic{Stage: rapid.SampledFrom([]fault.Stage{"", fault.StageLex, fault.StageActivate}).Draw(t, "stage"),
			Code: "a.b", Message: text.Draw(t, "message"), Hint: text.Draw(t, "hint")}
		if rapid.Bool().Draw(t, "located") {
			d.Located, d.Span = true, fault.Span{Offset: rapid.IntRange(0, 9).Draw(t, "offset"), Length: rapid.IntRange(0, 9).Draw(t, "length")}
		}
		for range rapid.IntRange(0, 3).Draw(t, "expected") {
			d.Expected = append(d.Expected, text.Draw(t, "word"))
		}
		if rapid.Bool().Draw(t, "related") {
			d.Related = []ident.Ref{{Domain: "d", Kind: ident.KindRelay, Name: "r"}}
		}
		list = append(list, d)
	}
	return list
}

func drawServerFrame(t *rapid.T) wire.ServerFrame {
	id := rapid.Uint64Min(1).Draw(t, "id")
	switch rapid.IntRange(0, 13).Draw(t, "kind") {
	case 0:
		return wire.ServerFrame{Body: wire.HelloReply{Node: name(t, "node"), Incarnation: 1, ProtocolMin: 1, ProtocolMax: 1, Protocol: 1,
			Features: []string{"a", "b"}, FrameLimit: wire.DefaultFrameLimit}}
	case 1:
		return wire.ServerFrame{RequestID: id, Body: drawDomains(t)}
	case 2:
		return wire.ServerFrame{RequestID: id, Body: wire.StatusReport{Node: name(t, "node"), Incarnation: id, Revision: id, Role: "leader",
			Connectors: []wire.ConnectorStatus{{Kind: "file", PID: id, State: "running", Restarts: 1}}}}
	case 3:
		return wire.ServerFrame{RequestID: id, Body: wire.CancelOutcome{Result: wire.CancelNotInFlight}}
	case 4:
		return wire.ServerFrame{RequestID: id, Body: wire.RequestRejected{Kind: wire.RejectDuplicateID, Field: "request_id", Text: "twice"}}
	case 5:
		return wire.ServerFrame{RequestID: id, Body: wire.RequestCancelled{}}
	case 6:
		return wire.ServerFrame{Body: wire.SessionEnding{Reason: wire.EndingShuttingDown, Text: "bye", TimeLeftMillis: id}}
	case 7:
		return wire.ServerFrame{Body: wire.Keepalive{}}
	case 8, 9, 10, 11, 12:
		return drawClockFrame(t, id)
	default:
		return wire.ServerFrame{RequestID: id, Body: drawOutcome(t)}
	}
}

// TestWhatIsEncodedIsRead also shows absent and present zero apart: a span at offset 0 against no span.
func TestWhatIsEncodedIsRead(t *testing.T) {
	// req: X-030
	// req: X-029 half: no message has an expected position yet
	// req: C-215 half: clock requests, replies and frames; the statements are the parser's
	rapid.Check(t, func(t *rapid.T) {
		client := drawClientFrame(t)
		frame, err := wire.EncodeClient(client, wire.DefaultFrameLimit)
		if err != nil {
			t.Fatalf("encode %T: %v", client.Body, err)
		}
		gotClient, err := wire.DecodeClient(frame, wire.DefaultFrameLimit)
		if diff := cmp.Diff(client, gotClient); err != nil || diff != "" {
			t.Fatalf("client frame: %v\n%s", err, diff)
		}
		server := drawServerFrame(t)
		frame, err = wire.EncodeServer(server, wire.DefaultFrameLimit)
		if err != nil {
			t.Fatalf("encode %T: %v", server.Body, err)
		}
		gotServer, err := wire.DecodeServer(frame, wire.DefaultFrameLimit)
		if diff := cmp.Diff(server, gotServer); err != nil || diff != "" {
			t.Fatalf("server frame: %v\n%s", err, diff)
		}
	})
}

func TestEncoderRefusesWhatAReceiverRefuses(t *testing.T) {
	// req: X-030
	long := string(make([]byte, 300))
	for _, c := range []struct {
		frame wire.ClientFrame
		limit int
		code  fault.Code
	}{
		{wire.ClientFrame{RequestID: 1, Body: wire.CommandRequest{Reference: "r", Text: long, Format: wire.FormatText}}, 256, fault.WireTooLarge},
		{wire.ClientFrame{RequestID: 1, Body: wire.CommandRequest{Reference: "r", Text: long[:250], Format: wire.FormatText}}, 256, fault.WireTooLarge},
		{wire.ClientFrame{RequestID: 1, Body: wire.CommandRequest{Reference: "r", Text: "\xff", Format: wire.FormatText}}, 256, fault.WireUnencodable},
		{wire.ClientFrame{RequestID: 1, Body: wire.CommandRequest{Reference: "", Text: "x", Format: wire.FormatText}}, 256, fault.WireUnencodable},
		{wire.ClientFrame{RequestID: 1, Body: wire.CommandRequest{Reference: "r", Text: "x"}}, 256, fault.WireUnencodable},
		{wire.ClientFrame{RequestID: 0, Body: wire.StatusRequest{}}, 256, fault.WireRequestID},
		{wire.ClientFrame{RequestID: 1, Body: wire.CancelRequest{}}, 256, fault.WireUnencodable},
		{wire.ClientFrame{RequestID: 1, Body: wire.Hello{ProtocolMin: 1, ProtocolMax: 1, User: "u", Client: "c"}}, 256, fault.WireRequestID},
		{wire.ClientFrame{Body: wire.Hello{ProtocolMin: 1, ProtocolMax: 1, User: long, Client: "c"}}, 4096, fault.WireUnencodable},
	} {
		_, err := wire.EncodeClient(c.frame, c.limit)
		if fault.CodeOf(err) != c.code {
			t.Errorf("%s: got %v, want %s", fmt.Sprintf("%T", c.frame.Body), err, c.code)
		}
	}
}

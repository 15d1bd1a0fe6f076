// SPDX-License-Identifier: Apache-2.0

package wire_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/wire"
)

var rewriteFrames = flag.Bool("rewrite-frames", false, "write the corpus of frames anew; read the difference before it is committed")

// goldenFrame is one frame of the corpus in testdata/frames.
type goldenFrame struct {
	name   string
	client wire.ClientFrame
	server wire.ServerFrame
}

const reference = "0192f6a0-7c00-7abc-8def-0123456789ab"

// pacedClock has a skew and an origin of zero, which are there.
var pacedClock = wire.ObservedClock{State: wire.ClockPaced, Generation: 3, PeriodNS: 1_000_000_000, WallStartedAtNS: 1_700_000_000_000_000_000,
	TimeRate: 0.1}

var golden = []goldenFrame{
	{name: "hello", client: wire.ClientFrame{Body: wire.Hello{ProtocolMin: 1, ProtocolMax: 1, User: "admin", Password: "secret",
		Domain: "weather", Client: "nervix/0.1"}}},
	{name: "command", client: wire.ClientFrame{RequestID: 1, Body: wire.CommandRequest{Reference: reference, Domain: "weather",
		Text: "SHOW INGESTORS;", Format: wire.FormatJSON}}},
	{name: "list_domains", client: wire.ClientFrame{RequestID: 2, Body: wire.ListDomainsRequest{}}},
	{name: "status", client: wire.ClientFrame{RequestID: 3, Body: wire.StatusRequest{}}},
	{name: "cancel", client: wire.ClientFrame{RequestID: 4, Body: wire.CancelRequest{Target: 1}}},
	{name: "attach_clock", client: wire.ClientFrame{RequestID: 5, Body: wire.AttachDomainClockRequest{Domain: "weather"}}},
	{name: "detach_clock", client: wire.ClientFrame{RequestID: 6, Body: wire.DetachDomainClockRequest{Domain: "weather"}}},
	{name: "client_keepalive", client: wire.ClientFrame{Body: wire.Keepalive{}}},

	{name: "hello_reply", server: wire.ServerFrame{Body: wire.HelloReply{Node: "n1", Incarnation: 3, ProtocolMin: 1, ProtocolMax: 1,
		Protocol: 1, Features: []string{"cancel", "status"}, FrameLimit: wire.DefaultFrameLimit}}},
	{name: "outcome_completed", server: wire.ServerFrame{RequestID: 1, Body: wire.CommandOutcome{Disposition: wire.DispositionCompleted,
		Reference: reference, AlreadyExisted: true, Recovered: true, Text: "done", Data: `{"ingestors":[]}`, Domain: "weather",
		Transaction: wire.Transaction{State: wire.TransactionCommitted, Reference: reference},
		Statements: []wire.StatementResult{{Index: 0, Disposition: wire.DispositionCompleted, Text: "created"},
			{Index: 1, Disposition: wire.DispositionCompleted, AlreadyExisted: true, Data: "{}"}}}}},
	{name: "outcome_failed", server: wire.ServerFrame{RequestID: 1, Body: wire.CommandOutcome{Disposition: wire.DispositionFailed,
		Reference: reference, Diagnostics: fault.Diagnostics{
			{Stage: fault.StageParse, Code: "syntax.unexpected", Message: "unexpected word", Located: true, Span: fault.Span{Offset: 0, Length: 4},
				Hint: "write CREATE", Expected: []string{"CREATE", "DROP"}},
			{Stage: fault.StageResolve, Code: "resolve.unknown", Message: "no such relay",
				Related: []ident.Ref{{Domain: "weather", Kind: ident.KindRelay, Name: "raw"}}}}}}},
	{name: "outcome_commit", server: wire.ServerFrame{RequestID: 1, Body: wire.CommandOutcome{Disposition: wire.DispositionFailed,
		Reference: reference, Commit: &wire.CommitReport{Applied: 1, Failed: 2, Operations: []wire.OperationResult{
			{Number: 1, Fate: wire.FateApplied, Text: "operation 1 of 3 applied"},
			{Number: 2, Fate: wire.FateFailed, Diagnostics: fault.Diagnostics{{Stage: fault.StageActivate, Code: "node.failed", Message: "no such file"}}},
			{Number: 3, Fate: wire.FateNotApplied, Text: "operation 3 of 3 not applied"}}}}}},
	{name: "outcome_unknown", server: wire.ServerFrame{RequestID: 1, Body: wire.CommandOutcome{Disposition: wire.DispositionUnknown,
		Reference: reference, UnknownCause: wire.CauseShuttingDown}}},
	{name: "domain_list", server: wire.ServerFrame{RequestID: 2, Body: wire.DomainList{Domains: []wire.DomainEntry{
		{Name: "default", Status: "stopped"}, {Name: "weather", Status: "running"}}}}},
	{name: "domain_list_paced", server: wire.ServerFrame{RequestID: 2, Body: wire.DomainList{Domains: []wire.DomainEntry{
		{Name: "default", Status: "stopped", Pace: wire.PaceUnpaced},
		{Name: "history", Status: "running", Pace: wire.PacePaced, PeriodNS: 86_400_000_000_000, StartVersion: 3},
		{Name: "weather", Status: "running", Pace: wire.PacePaced, PeriodNS: 1_000_000_000, SkewNS: 100_000_000, StartVersion: 1}}}}},
	{name: "clock_attached", server: wire.ServerFrame{RequestID: 5, Body: wire.DomainClockAttachOutcome{Disposition: wire.ClockAttached,
		Domain: "weather", Clock: pacedClock}}},
	{name: "clock_attached_stopped", server: wire.ServerFrame{RequestID: 5, Body: wire.DomainClockAttachOutcome{Disposition: wire.ClockAttached,
		Domain: "weather", Clock: wire.ObservedClock{State: wire.ClockStopped}}}},
	{name: "clock_not_found", server: wire.ServerFrame{RequestID: 5, Body: wire.DomainClockAttachOutcome{Disposition: wire.ClockDomainNotFound,
		Domain: "weather", Code: "resolve.unknown", Text: "no such domain", Hint: "LIST DOMAINS names them"}}},
	{name: "clock_detached", server: wire.ServerFrame{RequestID: 6, Body: wire.DomainClockDetachOutcome{Disposition: wire.ClockDetached,
		Domain: "weather"}}},
	{name: "clock_observed", server: wire.ServerFrame{Body: wire.DomainClockObserved{Domain: "weather", Clock: pacedClock}}},
	{name: "clock_observed_unpaced", server: wire.ServerFrame{Body: wire.DomainClockObserved{Domain: "weather",
		Clock: wire.ObservedClock{State: wire.ClockUnpaced, Generation: 2}}}},
	{name: "clock_ticked", server: wire.ServerFrame{Body: wire.DomainClockTicked{Domain: "weather", Generation: 3, ID: 1, BoundaryNS: 0,
		AuthorityUTCNS: 1_700_000_000_000_000_001, NodeLogicalNS: -1}}},
	{name: "clock_ended", server: wire.ServerFrame{Body: wire.DomainClockAttachmentEnded{Domain: "weather", Reason: wire.EndDomainRemoved}}},
	{name: "status_report", server: wire.ServerFrame{RequestID: 3, Body: wire.StatusReport{Node: "n1", Incarnation: 3, Revision: 17,
		Role: "leader", Connectors: []wire.ConnectorStatus{{Kind: "file", PID: 4711, State: "running", Restarts: 2}}}}},
	{name: "cancel_outcome", server: wire.ServerFrame{RequestID: 4, Body: wire.CancelOutcome{Result: wire.CancelRequested}}},
	{name: "rejected", server: wire.ServerFrame{RequestID: 5, Body: wire.RequestRejected{Kind: wire.RejectInvalid, Field: "target",
		Text: "a request cannot cancel itself"}}},
	{name: "cancelled", server: wire.ServerFrame{RequestID: 6, Body: wire.RequestCancelled{}}},
	{name: "ending", server: wire.ServerFrame{Body: wire.SessionEnding{Reason: wire.EndingShuttingDown, Text: "node stops",
		TimeLeftMillis: 1500}}},
	{name: "server_keepalive", server: wire.ServerFrame{Body: wire.Keepalive{}}},
}

// TestGoldenFrames keeps the bytes and the reading of every frame: old clients and servers depend on both.
func TestGoldenFrames(t *testing.T) {
	// req: X-037 half: the Go client reads it through this package; there is no other client yet
	for _, g := range golden {
		t.Run(g.name, func(t *testing.T) {
			path := filepath.Join("testdata", "frames", g.name+".txt")
			if *rewriteFrames {
				frame := encodeGolden(t, g)
				write(t, path, render(t, frame))
				fuzz := "FuzzDecodeServer"
				if g.client.Body != nil {
					fuzz = "FuzzDecodeClient"
				}
				write(t, filepath.Join("testdata", "fuzz", fuzz, g.name), fmt.Sprintf("go test fuzz v1\n[]byte(%q)\n", frame))
			}
			stored, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			frame := unhex(t, string(stored))
			if got := render(t, frame); got != string(stored) {
				t.Errorf("the frame reads:\n%s\nstored:\n%s", got, stored)
			}
			if !bytes.Equal(encodeGolden(t, g), frame) {
				t.Errorf("the encoder writes other bytes than the corpus holds")
			}
		})
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func encodeGolden(t *testing.T, g goldenFrame) []byte {
	t.Helper()
	var frame []byte
	var err error
	if g.client.Body != nil {
		frame, err = wire.EncodeClient(g.client, wire.DefaultFrameLimit)
	} else {
		frame, err = wire.EncodeServer(g.server, wire.DefaultFrameLimit)
	}
	if err != nil {
		t.Fatal(err)
	}
	return frame
}

// render gives the reading of a frame and its bytes.
func render(t *testing.T, frame []byte) string {
	t.Helper()
	var body any
	var id uint64
	if f, err := wire.DecodeClient(frame, wire.DefaultFrameLimit); err == nil {
		id, body = f.RequestID, f.Body
	} else if f, err := wire.DecodeServer(frame, wire.DefaultFrameLimit); err == nil {
		id, body = f.RequestID, f.Body
	} else {
		t.Fatal(err)
	}
	reading, err := json.MarshalIndent(body, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("request %d\n%T %s\n----\n%s", id, body, reading, hex.Dump(frame))
}

// unhex reads the bytes back from the dump.
func unhex(t *testing.T, text string) []byte {
	t.Helper()
	_, dump, found := strings.Cut(text, "\n----\n")
	if !found {
		t.Fatal("no dump in the corpus file")
	}
	var out []byte
	for line := range strings.Lines(dump) {
		line, _, _ = strings.Cut(line, "|")
		for i, field := range strings.Fields(line) {
			if i == 0 {
				continue
			}
			b, err := hex.DecodeString(field)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, b...)
		}
	}
	return out
}

// SPDX-License-Identifier: Apache-2.0

package commands_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/session/commands"
	"github.com/nervix-go/nervix/host/wire"
)

const reference = "0192f6a0-7c00-7abc-8def-0123456789ab"

// scripted answers with a list of outcomes and remembers what it was asked.
type scripted struct {
	outcomes []commands.Outcome
	asked    []commands.Request
	reverted []commands.RevertRequest
	failure  error
}

func (s *scripted) Execute(_ context.Context, r commands.Request) commands.Outcome {
	r.Admit = nil
	s.asked = append(s.asked, r)
	out := s.outcomes[0]
	s.outcomes = s.outcomes[1:]
	return out
}

func (s *scripted) Revert(_ context.Context, r commands.RevertRequest) {
	s.reverted = append(s.reverted, r)
}

func (s *scripted) Domains(context.Context, string) ([]wire.DomainEntry, error) {
	return nil, s.failure
}

func (s *scripted) Status(context.Context) (wire.StatusReport, error) {
	return wire.StatusReport{}, s.failure
}

func TestTransactionFollowsTheOutcomes(t *testing.T) {
	open := commands.Transaction{State: wire.TransactionOpen, Reference: "t1"}
	s := &scripted{outcomes: []commands.Outcome{
		{Disposition: wire.DispositionCompleted, Domain: "weather", Transaction: open},
		{Cancelled: true},
		{Domain: "weather", Transaction: open},
	}}
	h := commands.New(s, s, "admin", "default")
	command := func(domain string) wire.ServerBody {
		return h.Command(t.Context(), wire.CommandRequest{Reference: reference, Domain: domain, Text: "x", Format: wire.FormatJSON}, nil)
	}
	command("weather")
	if _, ok := command("").(wire.RequestCancelled); !ok {
		t.Fatal("a refused admission must end as cancelled")
	}
	if out := command("").(wire.CommandOutcome); out.Disposition != wire.DispositionFailed {
		t.Fatalf("an outcome without disposition became %v", out.Disposition)
	}
	parsed, _ := ident.ParseReference(reference)
	want := []commands.Request{
		{Reference: parsed, User: "admin", Domain: "weather", Text: "x", JSON: true},
		{Reference: parsed, User: "admin", Domain: "default", Text: "x", JSON: true, Transaction: open},
		{Reference: parsed, User: "admin", Domain: "default", Text: "x", JSON: true, Transaction: open},
	}
	if diff := cmp.Diff(want, s.asked); diff != "" {
		t.Fatal(diff)
	}
	h.End(t.Context())
	if diff := cmp.Diff([]commands.RevertRequest{{User: "admin", Domain: "weather", Transaction: open}}, s.reverted); diff != "" {
		t.Fatal(diff)
	}
}

func TestNothingIsRevertedWithoutAnOpenTransaction(t *testing.T) {
	s := &scripted{outcomes: []commands.Outcome{{Transaction: commands.Transaction{State: wire.TransactionCommitted, Reference: "t1"}}}}
	h := commands.New(s, s, "admin", "")
	h.Command(t.Context(), wire.CommandRequest{Reference: reference, Text: "COMMIT", Format: wire.FormatText}, nil)
	h.End(t.Context())
	if len(s.reverted) != 0 {
		t.Fatalf("reverted %v", s.reverted)
	}
}

func TestBadReferenceAndFailedInspection(t *testing.T) {
	s := &scripted{failure: errors.New("no leader")}
	h := commands.New(s, s, "admin", "")
	for _, bad := range []string{"x", "0192f6a0-7c00-4abc-8def-0123456789ab"} {
		got, ok := h.Command(t.Context(), wire.CommandRequest{Reference: bad, Text: "x"}, nil).(wire.RequestRejected)
		if !ok || got.Kind != wire.RejectInvalid || got.Field != "reference" || len(s.asked) != 0 {
			t.Errorf("%s: %v", bad, got)
		}
	}
	if got, ok := h.Status(t.Context()).(wire.RequestRejected); !ok || got.Kind != wire.RejectServerBusy {
		t.Errorf("failed inspection: %v", got)
	}
	gone, stop := context.WithCancel(t.Context())
	stop()
	if got := h.ListDomains(gone); got != (wire.RequestCancelled{}) {
		t.Errorf("inspection given up: %v", got)
	}
}

// SPDX-License-Identifier: Apache-2.0

// Package commands serves the requests of one session through ports: commands through Executor, inspections through Node. It keeps what
// belongs to the session and to nothing else: the user, the default domain, and the open transaction.
package commands

import (
	"context"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/wire"
)

// Handler is the request side of one session. Command, InTransaction and End are called by one goroutine.
type Handler struct {
	executor Executor
	node     Node
	user     string
	domain   ident.Domain
	// bound is the transaction of the session and the domain it belongs to; the caller of Command owns both.
	bound       Transaction
	boundDomain ident.Domain
}

// New makes the handler of a session of an authenticated user. domain is used by commands that name none.
func New(e Executor, n Node, user string, domain ident.Domain) *Handler {
	return &Handler{executor: e, node: n, user: user, domain: domain}
}

// Command executes one command. admit is called by the executor; see Executor.
func (h *Handler) Command(ctx context.Context, r wire.CommandRequest, admit func() bool) wire.ServerBody {
	reference, err := ident.ParseReference(r.Reference)
	if err != nil {
		return wire.RequestRejected{Kind: wire.RejectInvalid, Field: "reference", Text: "an execution reference is a UUIDv7 in its 36 character form"}
	}
	domain := ident.Domain(r.Domain)
	if domain == "" {
		domain = h.domain
	}
	out := h.executor.Execute(ctx, Request{Reference: reference, User: h.user, Domain: domain, Text: r.Text,
		JSON: r.Format == wire.FormatJSON, Transaction: h.bound, Admit: admit})
	if out.Cancelled {
		return wire.RequestCancelled{}
	}
	h.bound, h.boundDomain = out.Transaction, out.Domain
	return reply(r.Reference, out)
}

func reply(reference string, out Outcome) wire.CommandOutcome {
	if out.Disposition == 0 {
		out.Disposition = wire.DispositionFailed
	}
	return wire.CommandOutcome{Disposition: out.Disposition, Reference: reference, AlreadyExisted: out.AlreadyExisted,
		Recovered: out.Recovered, Text: out.Text, Data: out.Data, Statements: out.Statements, Diagnostics: out.Diagnostics,
		Domain: string(out.Domain), Transaction: wire.Transaction(out.Transaction), UnknownCause: out.UnknownCause,
		Commit: out.Commit}
}

// ListDomains answers ListDomainsRequest.
func (h *Handler) ListDomains(ctx context.Context) wire.ServerBody {
	list, err := h.node.Domains(ctx, h.user)
	if err != nil {
		return failed(ctx, err)
	}
	return wire.DomainList{Domains: list}
}

// Status answers StatusRequest.
func (h *Handler) Status(ctx context.Context) wire.ServerBody {
	report, err := h.node.Status(ctx)
	if err != nil {
		return failed(ctx, err)
	}
	return report
}

// InTransaction says whether the session holds an open transaction.
func (h *Handler) InTransaction() bool { return h.bound.Open() }

// End reverts the transaction that the session leaves open.
func (h *Handler) End(ctx context.Context) {
	if h.bound.Open() {
		h.executor.Revert(ctx, RevertRequest{User: h.user, Domain: h.boundDomain, Transaction: h.bound})
	}
}

// failed turns the failure of an inspection into a reply: cancelled if the request was given up, else busy, which is safe to repeat.
func failed(ctx context.Context, err error) wire.ServerBody {
	if ctx.Err() != nil {
		return wire.RequestCancelled{}
	}
	return wire.RequestRejected{Kind: wire.RejectServerBusy, Text: string(fault.CodeOf(err)) + ": " + err.Error()}
}

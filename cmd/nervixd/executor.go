// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"strings"

	"github.com/nervix-go/nervix/host/control"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/nspl/parse"
	"github.com/nervix-go/nervix/host/registry"
	"github.com/nervix-go/nervix/host/session/commands"
	"github.com/nervix-go/nervix/host/wire"
	"github.com/nervix-go/nervix/plugins/supervise"
)

// executor gives sessions the control plane of this node.
type executor struct{ n *node }

// Execute implements commands.Executor.
func (e executor) Execute(ctx context.Context, r commands.Request) commands.Outcome {
	if !r.Admit() {
		return commands.Outcome{Cancelled: true}
	}
	transaction, _ := ident.ParseReference(r.Transaction.Reference)
	if r.JSON {
		r.Text = askingData(r.Text)
	}
	out := e.n.control.Execute(ctx, control.Request{
		Reference: r.Reference, User: userName(r.User), Domain: r.Domain, Text: r.Text, Transaction: transaction,
	})
	return translate(out)
}

// askingData adds FORMAT JSON to a text that is one SHOW or DESCRIBE without a format: who asks for data need not write it. The answer has its
// text as before.
func askingData(text string) string {
	statements, diagnostics := parse.Text(text)
	if len(statements) != 1 || len(diagnostics) > 0 {
		return text
	}
	asked := ast.FormatJSON
	switch s := statements[0].Stmt.(type) {
	case *ast.Describe:
		asked = s.Format
	case *ast.ShowIngestors:
		asked = s.Format
	case *ast.ShowClusterStatus:
		asked = s.Format
	}
	end := statements[0].Span.End()
	words := strings.Fields(strings.ToUpper(text[:end]))
	if asked != ast.FormatText || len(words) > 2 && words[len(words)-2] == "FORMAT" && words[len(words)-1] == "TEXT" {
		return text
	}
	asking := text[:end] + " FORMAT JSON" + text[end:]
	if _, diagnostics := parse.Text(asking); len(diagnostics) > 0 {
		return text // FORMAT TEXT, with a comment in it
	}
	return asking
}

// Revert implements commands.Executor.
func (e executor) Revert(ctx context.Context, r commands.RevertRequest) {
	id, err := ident.ParseReference(r.Transaction.Reference)
	if err != nil {
		return
	}
	if err := e.n.control.EndSession(ctx, userName(r.User), id, true); err != nil {
		e.n.options.log.Warn("the open transaction of an ended session stays until it expires", "transaction", id.String(), "error", err)
	}
}

func translate(o control.Outcome) commands.Outcome {
	out := commands.Outcome{
		Disposition: disposition(o.Disposition), AlreadyExisted: o.AlreadyExisted, Recovered: o.Recovered, Text: o.Text, Data: string(o.JSON),
		Diagnostics: o.Diagnostics, Domain: o.Domain, Commit: commitReport(o.Commit),
	}
	if o.Disposition == control.Unknown {
		out.UnknownCause = wire.CauseStillApplying
	}
	if !o.Transaction.IsZero() {
		out.Transaction = commands.Transaction{State: wire.TransactionOpen, Reference: o.Transaction.String()}
	}
	for _, s := range o.Statements {
		out.Statements = append(out.Statements, wire.StatementResult{
			Index: uint32(s.Number), Disposition: disposition(s.Disposition), Text: s.Text, AlreadyExisted: s.AlreadyExisted, Data: string(s.JSON),
		})
	}
	return out
}

func commitReport(r *control.CommitReport) *wire.CommitReport {
	if r == nil {
		return nil
	}
	out := &wire.CommitReport{Applied: r.Applied, Failed: r.Failed}
	for _, o := range r.Operations {
		out.Operations = append(out.Operations, wire.OperationResult{Number: o.Number, Fate: fate(o.Fate), Text: o.Text, Diagnostics: o.Diagnostics})
	}
	return out
}

func fate(f control.Fate) wire.Fate {
	switch f {
	case control.FateApplied:
		return wire.FateApplied
	case control.FateFailed:
		return wire.FateFailed
	default:
		return wire.FateNotApplied
	}
}

func disposition(d control.Disposition) wire.Disposition {
	switch d {
	case control.Completed:
		return wire.DispositionCompleted
	case control.Failed:
		return wire.DispositionFailed
	default:
		return wire.DispositionUnknown
	}
}

// about tells sessions about this node.
type about struct{ n *node }

// Domains implements commands.Node.
func (a about) Domains(_ context.Context, _ string) ([]wire.DomainEntry, error) {
	s := a.n.control.State()
	var out []wire.DomainEntry
	for _, name := range s.DomainNames() {
		d := s.Domains[name]
		e := wire.DomainEntry{Name: string(name), Status: d.Status.String(), Pace: wire.PaceUnpaced, StartVersion: uint64(d.Generation)}
		if d.Pace == registry.Paced {
			e.Pace, e.PeriodNS, e.SkewNS = wire.PacePaced, d.Pacing.Period, d.Pacing.Skew
		}
		out = append(out, e)
	}
	return out, nil
}

// Status implements commands.Node.
func (a about) Status(context.Context) (wire.StatusReport, error) {
	r := wire.StatusReport{
		Node: a.n.engine.NodeName(), Incarnation: uint64(a.n.dir.Incarnation()), Revision: uint64(a.n.control.State().Revision), Role: "follower",
	}
	if a.n.raft.Leader() {
		r.Role = "leader"
	}
	for _, c := range a.n.plugins.Status() {
		r.Connectors = append(r.Connectors, wire.ConnectorStatus{Kind: c.Kind, PID: uint64(c.PID), State: stateWords(c), Restarts: uint64(c.Restarts)})
	}
	return r, nil
}

// maxStateWords bounds a state with its reason in bytes, as the session does.
const maxStateWords = 255

// stateWords is the state of a connector, and for one that should run and does not `state: reason`, on one line and as long as a report may be.
func stateWords(c supervise.Status) string {
	switch c.State {
	case "failed", "retrying", "waiting":
	default:
		return c.State
	}
	reason := strings.Join(strings.Fields(c.Reason), " ")
	if reason == "" {
		return c.State
	}
	text := strings.ToValidUTF8(c.State+": "+reason, "")
	if len(text) <= maxStateWords {
		return text
	}
	const more = "…"
	return strings.ToValidUTF8(text[:maxStateWords-len(more)], "") + more
}

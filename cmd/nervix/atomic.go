// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/nervix-go/nervix/client"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

// notAtomic finds what cannot stand inside the transaction that --atomic makes.
func notAtomic(src *source) []defect {
	var found []defect
	for i, p := range src.statements {
		word := ""
		switch p.Stmt.(type) {
		case *ast.Begin:
			word = "BEGIN"
		case *ast.Commit:
			word = "COMMIT"
		case *ast.Revert:
			word = "REVERT"
		case *ast.Use:
			word = "USE"
		case *ast.CreateDomain:
			word = "CREATE DOMAIN"
		case *ast.Upload:
			word = "UPLOAD RESOURCE"
		default:
			continue
		}
		found = append(found, defect{i + 1, fault.At(fault.StageAdmit, fault.CLIAtomic, p.Span,
			word+" cannot stand in a text with --atomic", fault.Lookup(fault.CLIAtomic).Hint)})
	}
	return found
}

// atomic executes all statements in one transaction. The results are shown when the fate of the transaction is known, because a statement
// that was queued has no effect yet.
func (b *batch) atomic(ctx context.Context) int {
	results, end, note := b.transaction(ctx)
	code := exitDone
	for _, r := range results {
		if err := b.print.result(b.source, r); err != nil {
			b.print.notef("standard output: %v", err)
			return worse(code, exitFailed)
		}
		code = worse(code, r.exit)
	}
	b.print.end(end)
	if note != "" {
		b.print.notef("%s", note)
	}
	b.stopped(len(results))
	return code
}

// transaction gives the results of the statements that were looked at, the text of the COMMIT, and what to say of one that was cut short.
func (b *batch) transaction(ctx context.Context) (results []result, end, note string) {
	if out, err := b.send(ctx, "BEGIN"); err != nil || out.Disposition != client.Completed {
		return []result{b.source.settle(ctx, 1, placeless(out), withoutDoubt(err))}, "", ""
	}
	for i := range b.source.statements {
		r := b.queue(ctx, i+1)
		results = append(results, r)
		if r.completed() {
			continue
		}
		// The end of the session would revert it too, only later; a lost session has nothing to answer.
		_, _ = b.send(ctx, "REVERT")
		b.undo(results, r, reverted(fmt.Sprintf("statement %d was refused", i+1)))
		return results, "", ""
	}
	out, err := b.send(ctx, "COMMIT")
	last := b.source.settle(ctx, len(results), placeless(out), err)
	if last.completed() {
		return results, out.Text, ""
	}
	if err == nil && divide(b.source, results, out) {
		return results, "", last.diagnostics[0].Message
	}
	why := last.diagnostics[:min(1, len(last.diagnostics))] // names the statements that stay applied, if there are any
	if err == nil && out.Transaction.State == "open" {
		_, _ = b.send(ctx, "REVERT")
		why = reverted("it cannot be committed")
		if last.diagnostics[0].Code == fault.TransactionIncomplete { // which tells what to add to an open transaction
			last.diagnostics = append(b.source.locate(last.parsed, why), last.diagnostics[1:]...)
		}
	}
	results[len(results)-1] = last
	b.undo(results, last, why)
	return results, "", ""
}

func (b *batch) send(ctx context.Context, text string) (client.Outcome, error) {
	return b.node.Execute(ctx, client.Command{Text: text, Domain: b.domain})
}

// reverted is why a queued statement has no effect.
func reverted(because string) fault.Diagnostics {
	return fault.Diagnostics{complaint(fault.StageAdmit, fault.CLINotApplied, "nothing was applied, the transaction was reverted: "+because)}
}

// queue adds one statement to the transaction. Without a COMMIT it has no effect, whatever became of the request.
func (b *batch) queue(ctx context.Context, statement int) result {
	p := b.source.statements[statement-1]
	out, err := b.node.Execute(ctx, b.command(p))
	r := b.source.settle(ctx, statement, out, withoutDoubt(err))
	if r.disposition == client.Unknown {
		r.disposition, r.exit = client.Failed, exitFailed
	}
	return r
}

// undo gives the queued statements the fate of the transaction they were part of. What only read keeps its answer.
func (b *batch) undo(results []result, cause result, why fault.Diagnostics) {
	for i, r := range results {
		if i == cause.statement-1 || reads(r.parsed.Stmt) {
			continue
		}
		results[i] = result{statement: r.statement, parsed: r.parsed, reference: r.reference, disposition: cause.disposition, exit: cause.exit,
			diagnostics: b.source.locate(r.parsed, unplaced(why)), consequence: true}
	}
}

// divide gives each queued statement its own fate when COMMIT stopped at one of them: a transaction is not atomic as a whole. It does
// nothing and says false without a report that tells of every statement which one of them failed.
func divide(src *source, results []result, out client.Outcome) bool {
	queued, c := operations(results), out.Commit
	if c == nil || len(out.Diagnostics) == 0 || len(c.Operations) != len(queued) || c.Failed < 1 || c.Failed > len(queued) {
		return false
	}
	failed := results[queued[c.Failed-1]].statement
	why := fault.Diagnostics{complaint(fault.StageApply, fault.CLINotApplied, fmt.Sprintf("it was not applied, because statement %d failed", failed))}
	if c.Applied > 0 { // what the whole text would create exists already
		why[0].Hint = fmt.Sprintf("mend what statement %d names, then send the statements that were not applied", failed)
	}
	for i, o := range c.Operations {
		r := &results[queued[i]]
		if o.Fate == client.FateApplied {
			r.text = o.Text
			continue
		}
		next := result{statement: r.statement, parsed: r.parsed, reference: r.reference, disposition: client.Failed, exit: exitFailed}
		switch {
		case i+1 != c.Failed:
			next.diagnostics, next.consequence = src.locate(r.parsed, why), true
		case len(o.Diagnostics) > 0:
			next.diagnostics = src.locate(r.parsed, unplaced(o.Diagnostics))
		default:
			next.diagnostics = src.locate(r.parsed, unplaced(out.Diagnostics))
		}
		*r = next
	}
	return true
}

// operations gives the index of each operation of the transaction: what only reads takes no number.
func operations(results []result) (queued []int) {
	for i, r := range results {
		if !reads(r.parsed.Stmt) {
			queued = append(queued, i)
		}
	}
	return queued
}

// withoutDoubt: a request of a transaction that is never committed has no effect, so a lost answer leaves nothing uncertain.
func withoutDoubt(err error) error {
	if !errors.Is(err, client.ErrUncertain) {
		return err
	}
	var e *client.Error
	if errors.As(err, &e) {
		return &client.Error{Kind: client.ErrConnect, Reference: e.Reference, Detail: "no answer before COMMIT; nothing was applied"}
	}
	return client.ErrConnect
}

// placeless takes the places from diagnostics of BEGIN and COMMIT, which do not stand in the input.
func placeless(out client.Outcome) client.Outcome {
	out.Diagnostics = unplaced(out.Diagnostics)
	return out
}

func unplaced(list fault.Diagnostics) fault.Diagnostics {
	next := make(fault.Diagnostics, len(list))
	for i, d := range list {
		d.Span, d.Located = fault.Span{}, false
		next[i] = d
	}
	return next
}

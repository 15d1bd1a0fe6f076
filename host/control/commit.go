// SPDX-License-Identifier: Apache-2.0

package control

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/registry"
)

// commit admits the transaction and applies it. Before admission nothing has happened and the transaction stays open; afterwards it ends
// COMMITTED, or FAILED with the prefix kept (G-063).
func (c *Control) commit(h head) answer {
	t, d, a, ok := c.open(h)
	if !ok {
		return a
	}
	if !c.lock(t.Domain) {
		return refuse(fault.StageAdmit, fault.DomainBusy, h.span, "another change of domain "+string(t.Domain)+" is under way")
	}
	defer c.unlock(t.Domain)
	stmts, a, ok := readStatements(t)
	if !ok {
		return a
	}
	plan := c.replay(d, stmts)
	if bad := append(plan.refused, plan.incomplete...); len(bad) > 0 {
		list := fault.Diagnostics{complaintAt(fault.StagePlan, fault.TransactionIncomplete, h.span, "the transaction cannot be committed; nothing was applied, and it stays open")}
		return answer{diagnostics: append(list, bad.in(0)...)}
	}
	frozen, bad := c.freeze(d, stmts, plan)
	if len(bad) > 0 {
		return answer{diagnostics: bad.in(0)}
	}
	res, failed := c.submit(h, &registry.Command{
		Body: &registry.SetTransactionState{Transaction: t.ID, To: registry.TransactionCommitting, Frozen: frozen}, Pending: true,
		Text: committedText(t.Count, frozen),
	})
	if failed != nil {
		return *failed
	}
	if res.Pending {
		c.apply(t.ID, h.reference)
	}
	return c.settled(h, res)
}

func committedText(operations uint32, frozen []registry.Frozen) string {
	return "transaction committed; " + count(operations, "statement") + " applied" + resolved(frozenResolutions(frozen)) + quiesced
}

// freeze makes the decisions of an admitted COMMIT (C-027, nspl 13.1): LATEST becomes a number, modules are judged, and every START gets its
// anchor, mapping and authority. Nothing of it is decided again, whoever executes the steps and whenever.
func (c *Control) freeze(d *registry.Domain, stmts []ast.Statement, plan replayed) ([]registry.Frozen, toldList) {
	for _, p := range plan.puts {
		if bad := c.prepare(d, p.definition); len(bad) > 0 {
			return nil, tellAll(p.operation, bad)
		}
	}
	frozen := freezeVersions(plan.resolved)
	for i, s := range stmts {
		one, start := s.(*ast.Start)
		if !start {
			continue
		}
		opening, bad := c.decide(d, one, c.capture(d, one))
		if len(bad) > 0 {
			return nil, tellAll(i+1, bad)
		}
		frozen = append(frozen, registry.Frozen{Operation: uint32(i + 1), Start: &opening})
	}
	slices.SortFunc(frozen, func(a, b registry.Frozen) int { return cmp.Compare(a.Operation, b.Operation) })
	return frozen, nil
}

// apply brings a COMMITTING transaction to its end from wherever it stands, also after a restart. The caller holds the alteration lock of
// its domain.
func (c *Control) apply(id, ref ident.Reference) {
	t, known := c.State().Transaction(id)
	if !known || t.State != registry.TransactionCommitting {
		return
	}
	stmts, a, ok := readStatements(t)
	if !ok {
		c.fail(t, ref, int(t.Progress)+1, a.diagnostics)
		return
	}
	for _, s := range steps(stmts) {
		if s.last <= int(t.Progress) {
			if _, start := s.stmts[0].(*ast.Start); start && s.last == int(t.Progress) && !c.started(t, ref, s) {
				return // the start was committed before a restart; only its wait was left
			}
			continue
		}
		if !c.applyStep(t, ref, s) {
			return
		}
	}
	c.mustSettle(&registry.Command{
		User: t.Owner, Domain: t.Domain, Body: &registry.SetTransactionState{Transaction: id, To: registry.TransactionCommitted},
		Concludes: &registry.Conclusion{Reference: ref, Outcome: registry.Outcome{Text: committedText(t.Count, t.Frozen), Transaction: id}},
	}, "the end of a transaction could not be stored", t.Domain)
}

// applyStep applies one step; false ends the transaction or, when control closes, leaves it to the next Open.
func (c *Control) applyStep(t *registry.Transaction, ref ident.Reference, s step) bool {
	for range plans {
		d := c.State().Domains[t.Domain]
		if d == nil {
			c.fail(t, ref, s.first, fault.Diagnostics{complaint(fault.StageApply, fault.DomainUnknown, "the domain is gone")})
			return false
		}
		body, bad := c.stepBody(d, t, s)
		if len(bad) > 0 {
			c.fail(t, ref, bad[0].operation, bad.of(bad[0].operation))
			return false
		}
		res, ok := c.mustSettle(&registry.Command{
			User: t.Owner, Domain: t.Domain, Body: body, Step: &registry.Step{Transaction: t.ID, Through: uint32(s.last)},
		}, "a step of a transaction could not be stored", t.Domain)
		switch {
		case !ok:
			return false
		case res.Verdict == registry.Stale:
			continue
		case res.Outcome.Failed():
			c.fail(t, ref, s.first, fault.Diagnostics{complaint(fault.StageApply, res.Outcome.Code, res.Outcome.Text)})
			return false
		}
		if c.done.wait(c.ctx, reached(res.Revision)) != nil {
			return false
		}
		if _, start := s.stmts[0].(*ast.Start); start {
			return c.started(t, ref, s)
		}
		return true
	}
	c.fail(t, ref, s.first, fault.Diagnostics{complaint(fault.StagePlan, fault.ControlPlanning, "the domain kept changing")})
	return false
}

// started waits for the generation that a step began; a failed one is stopped and fails the transaction.
func (c *Control) started(t *registry.Transaction, ref ident.Reference, s step) bool {
	d := c.State().Domains[t.Domain]
	if d == nil || d.Status != registry.Running {
		c.fail(t, ref, s.first, fault.Diagnostics{complaint(fault.StageActivate, fault.DomainSuperseded, "the domain was stopped")})
		return false
	}
	err := c.ready(t.Domain, d.Generation)
	if c.ctx.Err() != nil {
		return false
	}
	if err == nil {
		return true
	}
	if _, ok := c.mustSettle(&registry.Command{Body: &registry.Stop{Domain: t.Domain, Generation: d.Generation}}, "a failed start could not be stopped", t.Domain); ok {
		c.fail(t, ref, s.first, fromError(fault.StageActivate, fault.DomainFailed, err))
	}
	return false
}

// stepBody plans one step against the newest state, with what the COMMIT decided.
func (c *Control) stepBody(d *registry.Domain, t *registry.Transaction, s step) (registry.Body, toldList) {
	switch s.stmts[0].(type) {
	case *ast.Start:
		opening, ok := frozenStart(t, s.first)
		if !ok {
			return nil, toldList{{s.first, complaint(fault.StageApply, fault.ControlCorrupt, "the COMMIT was admitted without a decision about this START")}}
		}
		return c.starting(d, opening), nil
	case *ast.Stop:
		return &registry.Stop{Domain: d.Name}, nil
	}
	base, err := c.parsed.base(d)
	if err != nil {
		return nil, toldList{{s.first, fromError(fault.StagePlan, fault.ControlCorrupt, err)[0]}}
	}
	binder := binder{domain: d, frozen: t.Frozen}
	stmts, unbound := binder.bind(base, s.stmts, s.first)
	if len(unbound) > 0 {
		return nil, unbound
	}
	checked, diagnostics := c.candidate(d, base, stmts)
	if len(diagnostics) > 0 {
		return nil, judgeRun(s, checked.At, diagnostics, false).refused
	}
	return c.mutation(d, checked, binder.binds), nil
}

// fail ends the transaction FAILED and tells which operation it was.
func (c *Control) fail(t *registry.Transaction, ref ident.Reference, operation int, why fault.Diagnostics) {
	applied := uint32(0)
	if now, known := c.State().Transaction(t.ID); known {
		applied = now.Progress
	}
	text := fmt.Sprintf("operation %d of %d failed: %s; %s", operation, t.Count, why[0].Message, kept(keptOperations(applied, uint32(operation))))
	list := append(fault.Diagnostics{complaint(fault.StageApply, fault.TransactionFailed, text)}, why...)
	failure := registry.Outcome{Code: fault.TransactionFailed, Text: text, Transaction: t.ID, Diagnostics: list}
	c.mustSettle(&registry.Command{
		User: t.Owner, Domain: t.Domain,
		Body: &registry.SetTransactionState{
			Transaction: t.ID, To: registry.TransactionFailed, FailedOperation: uint32(operation), Failure: failure,
		},
		Concludes: &registry.Conclusion{Reference: ref, Outcome: failure},
	}, "the failure of a transaction could not be stored", t.Domain)
}

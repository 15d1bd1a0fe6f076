// SPDX-License-Identifier: Apache-2.0

package control

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/nspl/parse"
	"github.com/nervix-go/nervix/host/nspl/print"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/registry"
)

// settleTimeout bounds how long one command may stay without an answer of the log before the execution gives up as uncertain.
const settleTimeout = 30 * time.Second

// execution is one running request under its reference; repetitions join it.
type execution struct {
	owner   ident.Name
	domain  ident.Domain
	digest  registry.Digest
	done    chan struct{} // closed when outcome is set
	outcome Outcome
}

// Execute runs a request and gives its outcome. ctx bounds the wait only: when it ends first, the disposition is Unknown, the code
// `control.uncertain`, and the execution goes on.
func (c *Control) Execute(ctx context.Context, req Request) Outcome {
	list, diagnostics := parse.Text(req.Text)
	if len(diagnostics) == 0 {
		diagnostics = judge(list, !req.Transaction.IsZero())
	}
	if len(diagnostics) > 0 {
		return c.finish(req, []answer{{diagnostics: diagnostics}})
	}
	if len(list) == 1 && !classify(list[0].Stmt).persistent() {
		return c.finish(req, []answer{c.read(ctx, req, list[0])})
	}
	if req.Reference.IsZero() {
		req.Reference = newReference()
	}
	return c.run(ctx, req, list)
}

// run starts the execution of a reference, or joins the one that is under way.
func (c *Control) run(ctx context.Context, req Request, list []parse.Parsed) Outcome {
	x, joined, refusal := c.admit(req, list)
	if refusal != nil {
		return c.finish(req, []answer{*refusal})
	}
	select {
	case <-x.done:
		out := x.outcome
		out.Recovered = out.Recovered || joined
		return out
	case <-ctx.Done():
		return c.finish(req, []answer{uncertain("the wait ended before the command did")})
	}
}

func (c *Control) admit(req Request, list []parse.Parsed) (x *execution, joined bool, refusal *answer) {
	fresh := &execution{owner: req.User, domain: req.Domain, digest: meaning(req, list, 0), done: make(chan struct{})}
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.mu.running[req.Reference]; old != nil {
		same := registry.Execution{Owner: old.owner, Domain: old.domain, Digest: old.digest}
		if d := same.Difference(req.User, req.Domain, fresh.digest); d != "" {
			a := answer{diagnostics: fault.Diagnostics{complaint(fault.StageAdmit, fault.ControlConflict,
				"execution reference "+req.Reference.String()+" belongs to a running command with other "+d)}}
			return nil, false, &a
		}
		return old, true, nil
	}
	if c.mu.closed {
		a := answer{diagnostics: fault.Diagnostics{complaint(fault.StageAdmit, fault.ControlClosed, "the node is stopping")}}
		return nil, false, &a
	}
	c.mu.running[req.Reference] = fresh
	c.group.Go(func() {
		out := c.perform(req, list)
		c.mu.Lock()
		delete(c.mu.running, req.Reference)
		c.mu.Unlock()
		fresh.outcome = out
		close(fresh.done)
	})
	return fresh, false, nil
}

// perform executes the statements in order and stops at the first that does not complete. A transaction that the request itself began
// and could not bring to its end is reverted.
func (c *Control) perform(req Request, list []parse.Parsed) Outcome {
	var answers []answer
	session := req
	if !req.Transaction.IsZero() {
		c.bind(req.Transaction, true)
	}
	for i, p := range list {
		h := head{
			reference: part(req.Reference, i), user: req.User, domain: req.Domain, digest: meaning(req, list, i), span: p.Span, stmt: p.Stmt,
			transaction: session.Transaction,
		}
		a := c.statement(h)
		if !a.transaction.IsZero() {
			session.Transaction = a.transaction
			c.bind(a.transaction, true)
		}
		if a.ended {
			c.bind(session.Transaction, false)
			session.Transaction = ident.Reference{}
		}
		answers = append(answers, a)
		if a.disposition() != Completed {
			break
		}
	}
	last := answers[len(answers)-1]
	if last.disposition() == Failed && req.Transaction.IsZero() && !session.Transaction.IsZero() {
		c.revert(session)
		session.Transaction = ident.Reference{}
		answers[len(answers)-1].text = "the transaction that this request began was reverted"
	}
	return c.finish(session, answers)
}

// revert drops the transaction of a request that failed; when that fails too, the transaction expires.
func (c *Control) revert(session Request) {
	c.bind(session.Transaction, false)
	ctx, cancel := c.limited()
	defer cancel()
	_, err := c.propose(ctx, &registry.Command{User: session.User, Domain: session.Domain, Body: &registry.SetTransactionState{
		Transaction: session.Transaction, To: registry.TransactionReverted,
	}})
	if err != nil {
		c.cfg.Logger.Warn("a transaction could not be reverted; it expires when it is idle", "transaction", session.Transaction.String(), "error", err)
	}
}

// finish renders the answers as the outcome of the request. session has what is selected and bound now.
func (c *Control) finish(session Request, answers []answer) Outcome {
	out := Outcome{Reference: session.Reference, Domain: session.Domain, Transaction: session.Transaction, Recovered: len(answers) > 0}
	for i, a := range answers {
		out.Statements = append(out.Statements, StatementOutcome{
			Number: i + 1, Disposition: a.disposition(), Text: a.text, JSON: a.json, AlreadyExisted: a.alreadyExisted, Operation: a.operation,
			Diagnostics: a.diagnostics,
		})
		out.Disposition, out.Text, out.JSON = a.disposition(), a.text, a.json
		out.AlreadyExisted, out.Diagnostics, out.Commit = a.alreadyExisted, a.diagnostics, a.commit
		out.Recovered = out.Recovered && a.recovered
		if a.domain != "" {
			out.Domain = a.domain
		}
	}
	return out
}

// head is one statement with everything its command carries.
type head struct {
	reference   ident.Reference
	user        ident.Name
	domain      ident.Domain
	digest      registry.Digest
	span        fault.Span
	stmt        ast.Statement
	transaction ident.Reference // the open transaction of the session
}

func (c *Control) statement(h head) answer {
	if a, settled := c.recall(h); settled {
		return a
	}
	k := classify(h.stmt)
	switch {
	case k == classBegin:
		return c.begin(h)
	case k.queueable() && !h.transaction.IsZero():
		return c.enqueue(h)
	case k.checked():
		return c.change(h)
	}
	switch s := h.stmt.(type) {
	case *ast.Commit:
		return c.commit(h)
	case *ast.Revert:
		return c.revertBound(h)
	case *ast.Start:
		return c.start(h, s)
	case *ast.Stop:
		return c.stop(h)
	case *ast.CreateDomain:
		return c.createDomain(h, s)
	case *ast.CreateUser:
		return c.putUser(h, s.Name.Name, s.Password, &registry.PutUser{IfNotExists: s.IfNotExists}, "created")
	case *ast.AlterUser:
		return c.putUser(h, s.Name.Name, s.Password, &registry.PutUser{Alter: true}, "altered")
	case *ast.Drop:
		return c.dropCluster(h, s)
	}
	return refuse(fault.StageAdmit, fault.RequestUnsupported, h.span, "this statement cannot be executed here")
}

// recall answers from the kept outcomes. A pending one is joined: its conclusion is committed by whoever runs it.
func (c *Control) recall(h head) (answer, bool) {
	res, known := c.State().Recall(h.reference, h.user, h.domain, h.digest)
	if !known {
		return answer{}, false
	}
	if res.Verdict == registry.Refused {
		return h.answer(res.Outcome), true
	}
	return c.settled(h, res), true
}

// settled waits until the outcome of an admitted command is final and usable here, and answers with it.
func (c *Control) settled(h head, res registry.Result) answer {
	if res.Pending && res.Outcome.Position > 0 {
		c.concludeExisting(h.reference, h.domain, res.Outcome)
	}
	if res.Pending {
		var final *registry.Execution
		err := c.states.wait(c.ctx, func(s *registry.State) bool {
			e, known := s.Execution(h.reference)
			final = e
			return !known || !e.Pending
		})
		if err != nil || final == nil {
			return uncertain("the node stopped before the command was complete")
		}
		res.Outcome = final.Outcome
	}
	if e, known := c.State().Execution(h.reference); known {
		res.Revision = max(res.Revision, e.Revision)
	}
	a := h.answer(res.Outcome)
	a.recovered, a.commit = res.Verdict == registry.Kept, c.report(h, res.Outcome)
	if !res.Outcome.Failed() && c.done.wait(c.ctx, reached(res.Revision)) != nil {
		return uncertain("the node stopped before the command was usable")
	}
	return a
}

// effect proposes a body under the reference of the statement and waits for a final answer, unless it is stale.
func (c *Control) effect(h head, body registry.Body, text string) (a answer, stale bool) {
	res, failed := c.submit(h, &registry.Command{Body: body, Text: text})
	if failed != nil {
		return *failed, false
	}
	if res.Verdict == registry.Stale {
		return answer{}, true
	}
	return c.settled(h, res), false
}

// submit proposes a command under the identity of the statement. failed is set when there is no result.
func (c *Control) submit(h head, cmd *registry.Command) (res registry.Result, failed *answer) {
	cmd.Reference, cmd.User, cmd.Domain, cmd.Digest = h.reference, h.user, h.domain, h.digest
	ctx, cancel := c.limited()
	defer cancel()
	res, err := c.propose(ctx, cmd)
	if err != nil {
		a := answer{diagnostics: fromError(fault.StageApply, fault.ControlUncertain, err), unknown: fault.Has(err, fault.ControlUncertain)}
		return res, &a
	}
	return res, nil
}

func (c *Control) limited() (context.Context, context.CancelFunc) {
	return osclock.WithTimeout(c.ctx, settleTimeout)
}

// answer turns a stored outcome into what the client is told; a first and a repeated answer are made from the same parts.
func (h head) answer(o registry.Outcome) answer {
	a := answer{text: o.Text, alreadyExisted: o.AlreadyExisted, operation: o.Position}
	if o.Failed() {
		a.text = ""
		a.diagnostics = o.Diagnostics
		if len(a.diagnostics) == 0 {
			a.diagnostics = fault.Diagnostics{complaintAt(fault.StageApply, o.Code, h.span, o.Text)}
		}
	}
	switch h.stmt.(type) {
	case *ast.Begin:
		if !o.Failed() {
			a.transaction = o.Transaction
		}
	case *ast.Commit, *ast.Revert:
		a.ended = !o.Failed() || ends(o.Code)
	}
	return a
}

// ends says whether a failure means that the transaction is no longer open.
func ends(code fault.Code) bool {
	switch code {
	case fault.TransactionFailed, fault.TransactionUnknown, fault.TransactionState, fault.TransactionOwner:
		return true
	default:
		return false
	}
}

func uncertain(why string) answer {
	return answer{unknown: true, diagnostics: fault.Diagnostics{complaint(fault.StageApply, fault.ControlUncertain, why+"; it is not known whether the command took effect")}}
}

// meaning is the digest of what a statement means: its canonical text for an ordinary statement, the exact text, the place and the bound
// transaction for a request of a transaction. A password is not part of it: a digest is stored, and passwords are guessable.
func meaning(req Request, list []parse.Parsed, i int) registry.Digest {
	k := classify(list[i].Stmt)
	if len(list) == 1 && req.Transaction.IsZero() && k != classBegin {
		text := print.Redacted(list[i].Stmt)
		if conditional(list[i].Stmt) {
			text += " IF NOT EXISTS"
		}
		return sha256.Sum256([]byte("statement\x00" + text))
	}
	b := append([]byte("request\x00"), req.Transaction[:]...)
	b = binary.BigEndian.AppendUint32(b, uint32(i))
	return sha256.Sum256(append(b, redactedText(req.Text, list)...))
}

func conditional(s ast.Statement) bool {
	switch one := s.(type) {
	case *ast.CreateUser:
		return one.IfNotExists
	case ast.Definition:
		return one.Head().IfNotExists
	}
	return false
}

// redactedText is the exact text of a request. A text with passwords is no transaction content and is refused before; should one come
// here, its canonical masked form stands in.
func redactedText(text string, list []parse.Parsed) string {
	for _, p := range list {
		switch p.Stmt.(type) {
		case *ast.CreateUser, *ast.AlterUser:
			return print.Redacted(p.Stmt)
		}
	}
	return text
}

// part derives the reference of the i-th statement of a request: the same time, and random bits that follow from the request's.
func part(r ident.Reference, i int) ident.Reference {
	if i == 0 {
		return r
	}
	sum := sha256.Sum256(binary.BigEndian.AppendUint32(r[:], uint32(i)))
	return ident.NewReference(r.UnixMilli(), [10]byte(sum[:10]))
}

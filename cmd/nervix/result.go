// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/nervix-go/nervix/client"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/nspl/parse"
)

// result is the fate of one statement. Diagnostics have places in the whole input.
type result struct {
	statement      int // from 1
	parsed         parse.Parsed
	disposition    client.Disposition
	reference      string
	alreadyExisted bool
	text, data     string
	diagnostics    fault.Diagnostics
	// exit is the code that this statement alone asks for.
	exit int
	// final says that nothing more can be sent, whatever --on-error says.
	final bool
	// consequence says that another statement is to blame.
	consequence bool
}

func (r *result) completed() bool { return r.disposition == client.Completed }

// settle makes the result of a statement from what the client returned. ctx is done when the person gave the run up.
func (s *source) settle(ctx context.Context, statement int, out client.Outcome, err error) result {
	p := s.statements[statement-1]
	r := result{statement: statement, parsed: p}
	if err != nil {
		r.failed(err, ctx.Err() != nil)
	} else {
		r.answered(out)
	}
	r.final = r.final || ctx.Err() != nil
	r.diagnostics = s.locate(p, r.diagnostics)
	return r
}

func (r *result) answered(out client.Outcome) {
	r.disposition, r.reference, r.alreadyExisted = out.Disposition, out.Reference, out.AlreadyExisted
	r.text, r.data, r.diagnostics = out.Text, out.Data, out.Diagnostics
	if r.data != "" && !json.Valid([]byte(r.data)) {
		r.disposition, r.data = client.Failed, ""
		r.diagnostics = append(r.diagnostics, complaint(fault.StageActivate, fault.SessionViolated, "the node answered with data that is no JSON"))
	}
	switch r.disposition {
	case client.Completed:
		r.exit = exitDone
	case client.Unknown:
		r.uncertain(out.Cause)
	default:
		r.exit = exitFailed
	}
}

// failed is the result of a statement that has no outcome.
func (r *result) failed(err error, interrupted bool) {
	var e *client.Error
	if errors.As(err, &e) {
		r.reference, e.Reference = e.Reference, "" // it has a place of its own
	}
	r.disposition, r.exit = client.Failed, exitFailed
	tell := func(code fault.Code) {
		r.diagnostics = fault.Diagnostics{complaint(fault.StageAdmit, code, err.Error())}
	}
	reading := reads(r.parsed.Stmt)
	switch {
	case errors.Is(err, client.ErrReplyTooLarge):
		tell(fault.CLIReplyTooLarge)
		if !reading {
			r.disposition, r.exit = client.Unknown, exitUncertain
		}
	case errors.Is(err, client.ErrUncertain) && !reading:
		r.disposition = client.Unknown
		r.uncertain(err.Error())
	case interrupted, errors.Is(err, client.ErrCancelled):
		tell(fault.CLICancelled)
		r.final = true
	case errors.Is(err, client.ErrAuthentication):
		tell(fault.SessionUnauthenticated)
		r.exit, r.final = exitAuthentication, true
	case errors.Is(err, client.ErrTransactionLost):
		tell(fault.CLITransactionLost)
		r.final = true
	case errors.Is(err, client.ErrRejected):
		tell(fault.CLIRejected)
	default:
		tell(fault.CLIUnreachable)
		r.exit, r.final = exitConnect, true
	}
}

func (r *result) uncertain(why string) {
	r.exit = exitUncertain
	if len(r.diagnostics) > 0 {
		return
	}
	d := complaint(fault.StageApply, fault.ControlUncertain, "it is not known whether the statement took effect: "+why)
	d.Hint = "it may take effect yet; look at the state before repeating it"
	r.diagnostics = fault.Diagnostics{d}
}

func complaint(stage fault.Stage, code fault.Code, message string) fault.Diagnostic {
	return fault.Diagnostic{Stage: stage, Code: code, Message: message, Hint: fault.Lookup(code).Hint}
}

// reads says whether a statement has no effect on the node.
func reads(s ast.Statement) bool {
	switch s.(type) {
	case *ast.Use, *ast.ListDomains, *ast.ShowCreate, *ast.ShowIngestors, *ast.ShowClusterStatus, *ast.Describe:
		return true
	default:
		return false
	}
}

// worse gives the exit code that tells more: doubt about an effect, then why nothing could be sent, then a failure.
func worse(a, b int) int {
	for _, code := range []int{exitUncertain, exitAuthentication, exitConnect, exitFailed} {
		if a == code || b == code {
			return code
		}
	}
	return exitDone
}

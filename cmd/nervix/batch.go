// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"github.com/nervix-go/nervix/client"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/nspl/parse"
)

// node is the session of a run.
type node interface {
	Execute(ctx context.Context, c client.Command) (client.Outcome, error)
	Upload(ctx context.Context, o client.UploadOptions) (client.UploadOutcome, error)
}

// batch sends the statements of the input in order, one request each.
type batch struct {
	node      node
	source    *source
	print     printer
	keepGoing bool
	// domain is that of the next statement; open says that the session holds a transaction.
	domain string
	open   bool
	// altered are the users whose passwords were changed.
	altered []*ast.AlterUser
}

// run executes all statements and gives the exit code.
func (b *batch) run(ctx context.Context) int {
	code := exitDone
	for i := range b.source.statements {
		r := b.execute(ctx, i+1)
		if err := b.print.result(b.source, r); err != nil {
			b.print.notef("standard output: %v", err)
			return worse(code, exitFailed)
		}
		code = worse(code, r.exit)
		if !r.completed() && (r.final || !b.keepGoing) {
			b.stopped(i + 1)
			return code
		}
	}
	if b.open {
		b.print.notef("the text ends inside a transaction; the node reverts it, and nothing of it was applied: COMMIT is missing")
	}
	return code
}

func (b *batch) stopped(at int) {
	if left := len(b.source.statements) - at; left > 0 {
		b.print.notef("stopped at statement %d of %d; the statements after it were not sent", at, at+left)
	}
}

// execute sends one statement.
func (b *batch) execute(ctx context.Context, statement int) result {
	p := b.source.statements[statement-1]
	if up, ok := p.Stmt.(*ast.Upload); ok {
		return b.upload(ctx, statement, up)
	}
	inside := b.open
	out, err := b.node.Execute(ctx, b.command(p))
	r := b.source.settle(ctx, statement, out, err)
	b.open = err == nil && out.Transaction.State == "open"
	switch s := p.Stmt.(type) {
	case *ast.Use:
		// Also when it was refused: what follows was meant for that domain and must not reach the one before.
		b.domain = string(s.Name.Name)
	case *ast.AlterUser:
		if r.completed() {
			b.altered = append(b.altered, s)
		}
	case *ast.Begin:
		// What follows was meant for the transaction and must not take effect on its own.
		r.final = r.final || !r.completed() && !b.open
	}
	if inside && r.exit == exitUncertain {
		r.final = true // the session that held the transaction may be gone
	}
	return r
}

// command is the request of a statement. jsonl asks for the data of what is read, in whatever format the text would show it.
func (b *batch) command(p parse.Parsed) client.Command {
	return client.Command{Text: b.source.textOf(p), Domain: b.domain, JSON: b.print.format == formatJSONL}
}

// describe says how far a text came, for people.
func describe(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

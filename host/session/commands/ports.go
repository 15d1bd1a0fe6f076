// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"context"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/wire"
)

// Executor runs one command at a time for one session. The control plane implements it.
type Executor interface {
	// Execute runs the text and gives its outcome. It calls r.Admit just before the durable record or first effect; when that
	// says false it does nothing and returns Outcome{Cancelled: true}. A text that only reads need not call it. ctx ends when the
	// command is cancelled before admission and when the server is aborted; after admission the effect is settled whatever ctx says.
	Execute(ctx context.Context, r Request) Outcome
	// Revert ends the open transaction of a session that is over. It is called after the last Execute of the session.
	Revert(ctx context.Context, r RevertRequest)
}

// Request is one command of a session.
type Request struct {
	// Reference names the command for ever.
	Reference ident.Reference
	// User is the authenticated user: the owner of reference and transaction.
	User string
	// Domain is the one the text is read in; empty if neither the command nor the session names one.
	Domain ident.Domain
	Text   string
	// JSON asks for Outcome.Data where the statement has data.
	JSON bool
	// Transaction is the open transaction this session is bound to, or the zero value.
	Transaction Transaction
	// Admit decides against a cancellation; see Executor.
	Admit func() bool
}

// Transaction binds a session to a transaction of the control plane. The session keeps what the last outcome said and hands it back; it
// reads State only to know whether something is open.
type Transaction struct {
	State     wire.TransactionState
	Reference string
}

// Open says whether the transaction still takes statements.
func (t Transaction) Open() bool { return t.State == wire.TransactionOpen }

// RevertRequest names the transaction that a session leaves open.
type RevertRequest struct {
	User        string
	Domain      ident.Domain
	Transaction Transaction
}

// Outcome is the result of a command. The zero Disposition is sent as a failure.
type Outcome struct {
	// Cancelled says that Admit refused and nothing happened; all other members are ignored.
	Cancelled      bool
	Disposition    wire.Disposition
	UnknownCause   wire.UnknownCause
	AlreadyExisted bool
	// Recovered says that this is the recorded result of an earlier attempt.
	Recovered bool
	Text      string
	// Data is JSON, or empty.
	Data        string
	Statements  []wire.StatementResult
	Diagnostics fault.Diagnostics
	// Domain is the domain the command ran in.
	Domain ident.Domain
	// Transaction is the session's binding from now on.
	Transaction Transaction
	// Commit tells what became of the operations of a transaction; nil for everything but a COMMIT that was admitted and settled.
	Commit *wire.CommitReport
}

// Node tells about this node and the cluster.
type Node interface {
	// Domains lists the domains the user may see, by name.
	Domains(ctx context.Context, user string) ([]wire.DomainEntry, error)
	Status(ctx context.Context) (wire.StatusReport, error)
}

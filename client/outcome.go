// SPDX-License-Identifier: Apache-2.0

package client

import (
	"strings"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/wire"
)

// Command is one statement to execute.
type Command struct {
	Text string
	// Domain is the domain it is read in; empty means that of the Config.
	Domain string
	// Reference is the execution reference, a UUIDv7 in its 36 character form. Empty makes a new one. Give the reference of an
	// uncertain command, with the same text and domain, to learn its result.
	Reference string
	// JSON asks for Outcome.Data where the statement has data.
	JSON bool
}

// Disposition is the fate of a command.
type Disposition string

// The dispositions. Unknown means that the effect may come yet: repeat under the same reference.
const (
	Completed Disposition = "completed"
	Failed    Disposition = "failed"
	Unknown   Disposition = "unknown"
)

// Outcome is the result of a command.
type Outcome struct {
	Disposition Disposition
	Reference   string
	// AlreadyExisted says that CREATE IF NOT EXISTS found the object.
	AlreadyExisted bool
	// Recovered says that this is the recorded result of an earlier attempt under the reference.
	Recovered bool
	// Text is what a person reads; Data is JSON, or empty.
	Text string
	Data string
	// Statements are the results of the statements of a transaction, if there are any.
	Statements  []StatementResult
	Diagnostics fault.Diagnostics
	// Domain is the domain the command ran in.
	Domain      string
	Transaction Transaction
	// Cause says why a result is unknown.
	Cause string
	// Commit tells what became of the statements of a transaction. It is nil for everything but a COMMIT that began to apply them and
	// came to its end, well or not: a transaction is not atomic as a whole.
	Commit *Commit
}

// Commit is what a COMMIT came to. When an operation fails, the steps before it stay applied and what follows is not tried.
type Commit struct {
	// Applied is how many operations stay applied: those with the numbers 1 to Applied.
	Applied int
	// Failed is the number of the operation that failed, or zero when all were applied.
	Failed int
	// Operations has one entry a queued statement, in order.
	Operations []Operation
}

// Fate is what became of an operation.
type Fate string

// The fates.
const (
	FateApplied    Fate = "applied"
	FateFailed     Fate = "failed"
	FateNotApplied Fate = "not_applied"
)

// Operation is one queued statement of a transaction, after COMMIT.
type Operation struct {
	Number int // from 1
	Fate   Fate
	Text   string
	// Diagnostics say why it failed. They have no place in a text.
	Diagnostics fault.Diagnostics
}

// StatementResult is the part of an outcome that belongs to one statement.
type StatementResult struct {
	Index          int
	Disposition    Disposition
	AlreadyExisted bool
	Text, Data     string
}

// Transaction is the transaction the session is in: State is empty for none, or open, committing, committed, failed, reverted, expired.
type Transaction struct{ State, Reference string }

// Domain is one domain of the cluster. Pace is unpaced or paced, or empty when the node is too old to say; Period and Skew are nanoseconds of
// a paced domain; StartVersion is its lifecycle generation.
type Domain struct {
	Name, Status, Pace string
	PeriodNS, SkewNS   uint64
	StartVersion       uint64
}

// Status is the state of the node that serves the session.
type Status struct {
	Node        string
	Incarnation uint64
	Revision    uint64
	Role        string
	Connectors  []Connector
}

// Connector is one connector process of a node.
type Connector struct {
	Kind     string
	PID      uint64
	State    string
	Restarts uint64
	// Reason is why it does not run, on one line and shortened; empty when it runs or nobody needs it.
	Reason string
}

func outcomeOf(o wire.CommandOutcome) Outcome {
	out := Outcome{Disposition: Disposition(o.Disposition.String()), Reference: o.Reference, AlreadyExisted: o.AlreadyExisted,
		Recovered: o.Recovered, Text: o.Text, Data: o.Data, Diagnostics: o.Diagnostics, Domain: o.Domain,
		Transaction: Transaction{o.Transaction.State.String(), o.Transaction.Reference}, Cause: o.UnknownCause.String(),
		Commit: commitOf(o.Commit)}
	for _, s := range o.Statements {
		out.Statements = append(out.Statements, StatementResult{Index: int(s.Index), Disposition: Disposition(s.Disposition.String()),
			AlreadyExisted: s.AlreadyExisted, Text: s.Text, Data: s.Data})
	}
	return out
}

func commitOf(r *wire.CommitReport) *Commit {
	if r == nil {
		return nil
	}
	c := &Commit{Applied: int(r.Applied), Failed: int(r.Failed)}
	for _, o := range r.Operations {
		c.Operations = append(c.Operations, Operation{Number: int(o.Number), Fate: Fate(o.Fate.String()), Text: o.Text, Diagnostics: o.Diagnostics})
	}
	return c
}

func statusOf(r wire.StatusReport) Status {
	s := Status{Node: r.Node, Incarnation: r.Incarnation, Revision: r.Revision, Role: r.Role}
	for _, c := range r.Connectors {
		state, reason, _ := strings.Cut(c.State, ": ") // a node adds the reason of a state that has one
		s.Connectors = append(s.Connectors, Connector{Kind: c.Kind, PID: c.PID, State: state, Restarts: c.Restarts, Reason: reason})
	}
	return s
}

// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// TransactionState is the place of a transaction in its life (G-055). The numbers are stored.
type TransactionState uint8

// The states.
const (
	TransactionOpen       TransactionState = 1
	TransactionCommitting TransactionState = 2
	TransactionCommitted  TransactionState = 3
	TransactionFailed     TransactionState = 4
	TransactionReverted   TransactionState = 5
	TransactionExpired    TransactionState = 6
)

var transactionWords = [...]string{"", "OPEN", "COMMITTING", "COMMITTED", "FAILED", "REVERTED", "EXPIRED"}

func (t TransactionState) String() string {
	if int(t) < len(transactionWords) {
		return transactionWords[t]
	}
	return "STATE?"
}

// Finished says whether only the tombstone is left.
func (t TransactionState) Finished() bool { return t >= TransactionCommitted }

// legalMoves is the whole state machine: drawn in the package comment.
var legalMoves = map[TransactionState][]TransactionState{
	TransactionOpen:       {TransactionCommitting, TransactionReverted, TransactionExpired},
	TransactionCommitting: {TransactionCommitted, TransactionFailed},
}

// Statement is one queued operation: canonical text, redacted by its proposer.
type Statement struct {
	Text    string
	Grammar uint32
}

// Frozen is what the plan of an admitted COMMIT decided about one operation (C-027). Restart and recovery execute it as it stands, also when the
// same question would have another answer by then.
type Frozen struct {
	Operation uint32
	// Start is set for a START.
	Start *Opening
	// Resource and Version are what a VERSION LATEST was resolved to.
	Resource ident.Name
	Version  uint64
}

// Transaction is one replicated transaction or its tombstone. It is immutable.
type Transaction struct {
	ID            ident.Reference // the reference of its BEGIN
	Owner         ident.Name
	Domain        ident.Domain
	DomainCreated ident.Revision // tells the bound domain from a later one of the same name
	State         TransactionState
	// Statements is emptied when the transaction is finished, so that tombstones are small; Count stays.
	Statements  []Statement
	Count       uint32
	SourceBytes uint64
	// Frozen are the decisions of the admitted COMMIT, ascending by operation; emptied like Statements.
	Frozen []Frozen
	// Progress is the number of operations whose effect is committed.
	Progress uint32
	Commit   ident.Reference // the COMMIT that moved it to COMMITTING
	// FailedOperation is the number, from 1, of the operation that ended a FAILED transaction, and Failure says why.
	FailedOperation uint32
	Failure         Outcome
	Began           vtime.UTC
	Active          vtime.UTC // the last admitted operation
	Finished        vtime.UTC
}

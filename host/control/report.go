// SPDX-License-Identifier: Apache-2.0

package control

import (
	"fmt"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/registry"
)

// Fate is what became of an operation of a transaction whose COMMIT was admitted.
type Fate uint8

// The fates. FateFailed is the one operation that ended the transaction; FateNotApplied is every other one without effect.
const (
	FateApplied    Fate = 1
	FateFailed     Fate = 2
	FateNotApplied Fate = 3
)

func (f Fate) String() string {
	switch f {
	case FateApplied:
		return "applied"
	case FateFailed:
		return "failed"
	default:
		return "not applied"
	}
}

// OperationResult is what became of one operation. Its diagnostics have no place, because it came with an earlier request.
type OperationResult struct {
	Number      uint32 // from 1, in queued order
	Fate        Fate
	Text        string
	Diagnostics fault.Diagnostics // why it failed
}

// CommitReport is what an admitted COMMIT came to: a failed one keeps the steps before the one that failed (nspl 2.5 rule 5, G-063).
type CommitReport struct {
	Applied    uint32 // operations 1 to Applied stay applied
	Failed     uint32 // the number of the operation that failed; zero for none
	Operations []OperationResult
}

// report tells what the transaction of a settled COMMIT came to, from the tombstone, so that a first and a repeated answer are the same. It
// is nil for another statement, for a COMMIT that was refused, and when the tombstone is gone.
func (c *Control) report(h head, o registry.Outcome) *CommitReport {
	if _, commit := h.stmt.(*ast.Commit); !commit || o.Transaction.IsZero() {
		return nil
	}
	t, known := c.State().Transaction(o.Transaction)
	if !known || t.Commit != h.reference || !t.State.Finished() {
		return nil
	}
	return reportOf(t)
}

// reportOf reads the report of a finished transaction.
func reportOf(t *registry.Transaction) *CommitReport {
	r := &CommitReport{Applied: t.Progress}
	if t.State == registry.TransactionFailed {
		r.Failed = t.FailedOperation
		r.Applied = keptOperations(t.Progress, t.FailedOperation)
	}
	for n := uint32(1); n <= t.Count; n++ {
		one := OperationResult{Number: n, Fate: FateNotApplied}
		switch {
		case n <= r.Applied:
			one.Fate = FateApplied
		case n == r.Failed:
			one.Fate, one.Diagnostics = FateFailed, reasons(t.Failure)
		}
		if one.Fate != FateFailed {
			one.Text = fmt.Sprintf("operation %d of %d %s", n, t.Count, one.Fate)
		}
		r.Operations = append(r.Operations, one)
	}
	return r
}

// reasons are the diagnostics of the operation that failed: what fail stored, without the sentence about the whole transaction before them.
func reasons(failure registry.Outcome) fault.Diagnostics {
	if len(failure.Diagnostics) > 1 {
		return failure.Diagnostics[1:]
	}
	return failure.Diagnostics
}

// keptOperations is how many operations of a failed transaction stay applied. A start that failed was committed and is stopped again, so
// it does not count.
func keptOperations(progress, failed uint32) uint32 { return min(progress, failed-1) }

// kept says what stays applied.
func kept(operations uint32) string {
	switch operations {
	case 0:
		return "nothing was applied"
	case 1:
		return "operation 1 stays applied"
	default:
		return fmt.Sprintf("operations 1 to %d stay applied", operations)
	}
}

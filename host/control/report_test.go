// SPDX-License-Identifier: Apache-2.0

package control_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nervix-go/nervix/host/control"
	"github.com/nervix-go/nervix/host/control/memlog"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

// fickle finds fault with the second and first change of a run when it is asked for the countdown-th time.
type fickle struct {
	control.ModelChecker
	countdown int
}

func (f *fickle) Check(domain ident.Domain, base []ast.Definition, changes []ast.Statement) (control.Checked, fault.Diagnostics) {
	f.countdown--
	if f.countdown != 0 {
		return f.ModelChecker.Check(domain, base, changes)
	}
	bad := func(message string) fault.Diagnostic {
		return fault.At(fault.StageCheck, fault.ResolveUnknown, fault.Span{Offset: 3, Length: 1}, message, "")
	}
	return control.Checked{At: []int{1, 0}, Existed: make([]bool, len(changes)), Notices: make([]string, len(changes))},
		fault.Diagnostics{bad("second"), bad("first")}
}

// TestARunThatFailsAtCommit is a whole run that fails in its middle after other steps: nothing of the run stays.
func TestARunThatFailsAtCommit(t *testing.T) {
	// req: G-063
	checker := &fickle{}
	s := &script{t: t, log: memlog.New(), node: &node{waiting: make(chan struct{}, 1)}, checker: checker}
	s.open(t)
	t.Cleanup(func() { s.control.Close() })
	s.must(t, control.Request{User: "ann", Text: "CREATE DOMAIN d"})
	req := in("CREATE SCHEMA a (x I64); CREATE SCHEMA b (x I64); START; STOP; CREATE SCHEMA c (x I64); CREATE SCHEMA e (x I64); CREATE SCHEMA f (x I64)")
	req.Transaction = s.must(t, in("BEGIN")).Transaction
	s.must(t, req)
	checker.countdown = 4 // COMMIT plans both runs, then applies the first and plans the second again
	req.Text = "COMMIT"
	out := s.control.Execute(t.Context(), req)
	why := fault.Diagnostics{
		{Stage: fault.StageCheck, Code: fault.ResolveUnknown, Message: "second"},
		{Stage: fault.StageCheck, Code: fault.ResolveUnknown, Message: "operation 5: first"},
	}
	applied, rest := control.FateApplied, control.FateNotApplied
	want := &control.CommitReport{Applied: 4, Failed: 6, Operations: []control.OperationResult{
		{Number: 1, Fate: applied, Text: "operation 1 of 7 applied"}, {Number: 2, Fate: applied, Text: "operation 2 of 7 applied"},
		{Number: 3, Fate: applied, Text: "operation 3 of 7 applied"}, {Number: 4, Fate: applied, Text: "operation 4 of 7 applied"},
		{Number: 5, Fate: rest, Text: "operation 5 of 7 not applied"}, {Number: 6, Fate: control.FateFailed, Diagnostics: why},
		{Number: 7, Fate: rest, Text: "operation 7 of 7 not applied"},
	}}
	if diff := cmp.Diff(want, out.Commit); diff != "" {
		t.Error(diff)
	}
	if got := out.Diagnostics[0].Message; got != "operation 6 of 7 failed: second; operations 1 to 4 stay applied" || out.Code() != fault.TransactionFailed {
		t.Error(out.Code(), got)
	}
	d := s.log.State().Domains["d"]
	if n := len(d.Keys()); n != 2 {
		t.Errorf("%d objects stay", n)
	}
}

// TestACommitThatWasNotAdmittedHasNoReport: the transaction is still open, so nothing is settled.
func TestACommitThatWasNotAdmittedHasNoReport(t *testing.T) {
	s := world(t)
	req := in("CREATE RELAY r SCHEMA missing UNBRANCHED")
	req.Transaction = s.must(t, in("BEGIN")).Transaction
	s.must(t, req)
	req.Text = "COMMIT"
	if out := s.control.Execute(t.Context(), req); out.Code() != fault.TransactionIncomplete || out.Commit != nil || out.Transaction.IsZero() {
		t.Error(out.Code(), out.Commit)
	}
}

// SPDX-License-Identifier: Apache-2.0

package wire_test

import (
	"testing"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/wire"
	"github.com/nervix-go/nervix/host/wire/gen/sessionfb"
	"github.com/nervix-go/nervix/host/wire/verify"
)

// TestSessionTablesTellTheirSize checks the rule at the head of session.fbs for whichever member of a table is the first that is there.
func TestSessionTablesTellTheirSize(t *testing.T) {
	for _, table := range sessionfb.Schema.Tables {
		if table.Name == "CancelRequest" || table.Name == "UploadAccepted" {
			continue // they stand alone in their frames
		}
		for _, f := range table.Fields {
			scalar := f.Kind == verify.KindScalar || f.Kind == verify.KindBool || f.Kind == verify.KindEnum
			if scalar && f.Size != 1 && f.Size != 4 {
				t.Errorf("table %s: %s is %d bytes wide and may be the first that is there", table.Name, f.Name, f.Size)
			}
			if f.Rules&(verify.Required|verify.Nonzero|verify.Present) != 0 {
				break
			}
		}
	}
}

// TestOutcomesShareNoLayoutWrongly are outcomes whose tables have the members of one another.
func TestOutcomesShareNoLayoutWrongly(t *testing.T) {
	for id := range uint64(3) {
		for _, o := range []wire.CommandOutcome{
			{Statements: []wire.StatementResult{{Index: 1, Disposition: wire.DispositionCompleted, Text: "done"}}},
			{Statements: []wire.StatementResult{{Index: 1, Disposition: wire.DispositionCompleted}, {Disposition: wire.DispositionFailed, Data: "{}"}}},
			{Transaction: wire.Transaction{State: wire.TransactionOpen, Reference: "r"}, Text: "open"},
			{Transaction: wire.Transaction{Reference: "r"}},
			{Commit: &wire.CommitReport{}, Transaction: wire.Transaction{Reference: "r"}},
			{Commit: &wire.CommitReport{Failed: 1, Operations: []wire.OperationResult{{Number: 1, Fate: wire.FateFailed}}}},
			{Commit: &wire.CommitReport{Applied: 1, Operations: []wire.OperationResult{{Number: 1, Fate: wire.FateApplied, Text: "done"}}},
				Statements: []wire.StatementResult{{Index: 1, Disposition: wire.DispositionCompleted, Text: "done"}}},
			{Diagnostics: fault.Diagnostics{{Code: "c", Message: "m", Related: []ident.Ref{{Kind: ident.KindRelay, Name: "n"}}}}},
			{Diagnostics: fault.Diagnostics{{Message: "m", Located: true, Related: []ident.Ref{{Domain: "d", Kind: ident.KindRelay, Name: "n"}}}}},
		} {
			o.Disposition, o.Reference = wire.DispositionCompleted, "ref"
			frame := wire.ServerFrame{RequestID: 7 << (20 * id), Body: o}
			b, err := wire.EncodeServer(frame, wire.DefaultFrameLimit)
			if err != nil {
				t.Errorf("%+v: %v", o, err)
				continue
			}
			if _, err := wire.DecodeServer(b, wire.DefaultFrameLimit); err != nil {
				t.Errorf("%+v: %v", o, err)
			}
		}
	}
}

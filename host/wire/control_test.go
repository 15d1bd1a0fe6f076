// SPDX-License-Identifier: Apache-2.0

package wire_test

import (
	"testing"

	"github.com/nervix-go/nervix/host/wire"
	"github.com/nervix-go/nervix/host/wire/gen/controlfb"
	"github.com/nervix-go/nervix/host/wire/verify"
)

// TestControlTablesBeginAlike checks the rule at the head of control.fbs.
func TestControlTablesBeginAlike(t *testing.T) {
	for _, table := range controlfb.Schema.Tables {
		if len(table.Fields) == 0 {
			continue
		}
		first := table.Fields[0]
		reference := first.Kind == verify.KindString || first.Kind == verify.KindTable || first.Kind == verify.KindVector
		switch {
		case first.Slot != 0:
			t.Errorf("table %s: the first slot is not a plain member", table.Name)
		case reference && first.Rules&verify.Required != 0:
		case first.Kind == verify.KindScalar && first.Size == 4 && first.Rules&verify.Nonzero != 0:
		default:
			t.Errorf("table %s begins with %s, which may be absent or is not four bytes wide", table.Name, first.Name)
		}
	}
}

// TestControlResultsShareNoLayoutWrongly is the case that the rule is for: a text and a reference of the same layout as the result itself.
func TestControlResultsShareNoLayoutWrongly(t *testing.T) {
	for revision := range uint64(3) {
		for _, o := range []*wire.ControlOutcome{
			{}, {Text: "a"}, {Text: "a", Transaction: make([]byte, 16)}, {Code: "c", Position: 1}, {AlreadyExisted: true},
		} {
			b := wire.EncodeControlResult(&wire.ControlResult{Verdict: 1, Revision: revision, Outcome: o})
			if _, err := wire.DecodeControlResult(b); err != nil {
				t.Errorf("revision %d, outcome %+v: %v", revision, o, err)
			}
		}
	}
}

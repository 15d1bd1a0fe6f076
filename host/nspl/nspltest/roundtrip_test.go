// SPDX-License-Identifier: Apache-2.0

package nspltest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/nspl/parse"
	"github.com/nervix-go/nervix/host/nspl/print"
)

// sameTree compares trees but for their spans.
var sameTree = cmp.Options{cmpopts.IgnoreTypes(fault.Span{}), cmpopts.EquateEmpty()}

func TestStatementsRoundTrip(t *testing.T) {
	// req: R-007 half: the text of a definition; SHOW CREATE itself is not part of this package
	// req: R-039 half: the greatest capacity survives printing and parsing; storage is not part of this package
	for kind, draw := range forms {
		t.Run(kind, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				stmt := draw(t)
				text := print.Statement(stmt)
				again, defects := parse.Statement(text)
				if len(defects) > 0 {
					t.Fatalf("the canonical text does not parse: %s\n%s", defects[0].Render(text), text)
				}
				if diff := cmp.Diff(stmt, again, sameTree); diff != "" {
					t.Fatalf("parse(print(x)) differs from x:\n%s\n%s", diff, text)
				}
				if twice := print.Statement(again); twice != text {
					t.Fatalf("printing again differs:\n%s\n%s", text, twice)
				}
			})
		})
	}
}

func TestExpressionsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := expr(t, rapid.IntRange(0, 4).Draw(t, "depth"))
		text := print.Expr(x)
		again, defects := parse.Expr(text)
		if len(defects) > 0 {
			t.Fatalf("the canonical text does not parse: %s\n%s", defects[0].Render(text), text)
		}
		if diff := cmp.Diff(x, again, sameTree); diff != "" {
			t.Fatalf("parse(print(x)) differs from x:\n%s\n%s", diff, text)
		}
		if twice := print.Expr(again); twice != text {
			t.Fatalf("printing again differs:\n%s\n%s", text, twice)
		}
	})
}

// TestIfNotExistsIsNotPrinted: the clause belongs to the request.
func TestIfNotExistsIsNotPrinted(t *testing.T) {
	stmt, defects := parse.Statement("CREATE IF NOT EXISTS RELAY r SCHEMA s UNBRANCHED")
	if len(defects) > 0 {
		t.Fatal(defects)
	}
	if !stmt.(ast.Definition).Head().IfNotExists {
		t.Error("IF NOT EXISTS was lost")
	}
	if got, want := print.Statement(stmt), "CREATE RELAY r SCHEMA s\n  UNBRANCHED\n  CAPACITY 1"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
}

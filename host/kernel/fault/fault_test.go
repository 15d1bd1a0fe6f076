// SPDX-License-Identifier: Apache-2.0

package fault_test

import (
	"strings"
	"testing"

	"github.com/nervix-go/nervix/host/kernel/fault"
)

func TestCatalogueHasEachCodeOnce(t *testing.T) {
	seen := map[fault.Code]bool{}
	for _, e := range fault.Catalogue() {
		if seen[e.Code] {
			t.Errorf("code %s is listed twice", e.Code)
		}
		seen[e.Code] = true
		if !strings.Contains(string(e.Code), ".") || e.Meaning == "" {
			t.Errorf("code %q needs a dotted name and a meaning", e.Code)
		}
	}
}

func TestPositionCountsCharacters(t *testing.T) {
	text := "a\nö€x;"
	line, column := fault.Position(text, strings.Index(text, "x"))
	if line != 2 || column != 3 {
		t.Fatalf("got line %d column %d, want 2 and 3", line, column)
	}
}

func TestRenderPutsTheCaretBelowTheSpan(t *testing.T) {
	text := "CREATE\n\tRELAI x;\n"
	d := fault.At(fault.StageParse, fault.SyntaxUnexpected, fault.Span{Offset: 8, Length: 5}, "unexpected word RELAI", "did you mean RELAY?")
	got := d.Render(text)
	want := "error[syntax.unexpected]: unexpected word RELAI\n  --> line 2, column 2\n2 | \tRELAI x;\n  | \t^^^^^\n  hint: did you mean RELAY?\n"
	if got != want {
		t.Fatalf("got:\n%s\nwant:\n%s", got, want)
	}
}

// The caret stands below the character as a terminal shows it, while the column counts characters.
func TestCaretBelowWideAndCombiningCharacters(t *testing.T) {
	for _, c := range []struct{ before, marked, indent, carets string }{
		{"'日本' ", "x", "       ", "^"},
		{"'e\u0301' ", "xy", "    ", "^^"},
		{"\t'ｆ'\t", "x", "\t    \t", "^"},
		{"'🙂' ", "語", "     ", "^^"},
		{"'ö' ", "ö", "    ", "^"},
		{"", "\u0301", "", "^"}, // there is always a caret
	} {
		text := c.before + c.marked + ";"
		d := fault.At(fault.StageParse, fault.SyntaxUnexpected, fault.Span{Offset: len(c.before), Length: len(c.marked)}, "m", "")
		if got, want := d.Render(text), "\n  | "+c.indent+c.carets+"\n"; !strings.HasSuffix(got, want) {
			t.Errorf("%q: got\n%s\nwant the end %q", text, got, want)
		}
	}
}

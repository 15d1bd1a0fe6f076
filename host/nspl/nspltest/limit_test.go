// SPDX-License-Identifier: Apache-2.0

package nspltest

import (
	"strings"
	"testing"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/nspl/parse"
	"github.com/nervix-go/nervix/host/nspl/print"
)

func TestNestingIsBounded(t *testing.T) {
	const deep = 1 << 20
	for what, src := range map[string]string{
		"parentheses": strings.Repeat("(", deep),
		"minus":       strings.Repeat("- ", deep) + "1",
		"not":         strings.Repeat("NOT ", deep) + "1",
		"calls":       strings.Repeat("f(", deep),
		"lists":       strings.Repeat("[", deep),
		"conditions":  strings.Repeat("IF ", deep),
		"cases":       strings.Repeat("CASE ", deep),
		"casts":       "1" + strings.Repeat(" AS I64", deep),
		"try casts":   strings.Repeat("TRY_CAST(", deep),
		"constants":   "x IN (" + strings.Repeat("TRY_CAST(", deep),
		"sum":         "1" + strings.Repeat("+1", deep),
	} {
		_, defects := parse.Expr(src)
		if len(defects) != 1 || defects[0].Code != fault.SyntaxLimit {
			t.Errorf("%s: %v", what, defects)
		}
	}
	shallow := strings.Repeat("(", 150) + "1" + strings.Repeat(")", 150)
	if _, defects := parse.Expr(shallow); len(defects) > 0 {
		t.Errorf("150 parentheses: %v", defects)
	}
	long := "1" + strings.Repeat(" + 1", 10000)
	x, defects := parse.Expr(long)
	if len(defects) > 0 {
		t.Fatalf("a sum of 10000 terms: %v", defects)
	}
	if print.Expr(x) != long {
		t.Error("a sum of 10000 terms does not print back")
	}
}

func TestNameLength(t *testing.T) {
	for _, quote := range []string{"", "`"} {
		mustParse(t, "USE "+quote+strings.Repeat("n", 255)+quote)
		if d := mustRefuse(t, "USE "+quote+strings.Repeat("n", 256)+quote); d.Code != fault.SyntaxName || len(d.Message) > 100 {
			t.Errorf("256 bytes: %v", d)
		}
	}
	if _, defects := parse.Expr(strings.Repeat("n", 256)); len(defects) != 1 || defects[0].Code != fault.SyntaxName {
		t.Errorf("a field of 256 bytes: %v", defects)
	}
}

func TestDiagnosticsAreBounded(t *testing.T) {
	_, defects := parse.Text(strings.Repeat("nonsense;", 10000))
	if len(defects) != parse.MaxDiagnostics+1 || defects[parse.MaxDiagnostics].Code != fault.SyntaxLimit {
		t.Errorf("%d diagnostics", len(defects))
	}
	const long = 10000
	for _, src := range []string{
		"USE a " + strings.Repeat("m", long), "USE a 1" + strings.Repeat("m", long), "USE a " + strings.Repeat("1", long), "USE a 0." + strings.Repeat("1", long) + "s",
		"USE a " + strings.Repeat("9", long) + "s", "USE a " + strings.Repeat("9", long) + "KB", "USE a $" + strings.Repeat("q", long) + "$", "USE a '" + strings.Repeat("q", long),
		"USE a `" + strings.Repeat("q", long), "CREATE RELAY r SCHEMA s UNBRANCHED CAPACITY " + strings.Repeat("9", long),
	} {
		_, defects := parse.Text(src)
		if len(defects) != 1 || len(defects[0].Message+defects[0].Hint) > 300 {
			t.Errorf("a long token makes a long message: %d bytes", len(defects.Error()))
		}
	}
}

func TestEncoding(t *testing.T) {
	mustParse(t, "\uFEFFUSE d")
	mustParse(t, "USE d -- \x00\x01 control characters in a comment\r\n")
	mustParse(t, "CREATE CLIENT c TYPE FILE CONFIG {'a\x00b' = 'ä\uFEFF'}")
	for src, offset := range map[string]int{
		"USE \uFEFFd":       4,
		"USE d\x00":         5,
		"USE\vd":            3,
		"USE d -- \xff":     9,
		"USE 'a\xc3(b'":     6,
		"\uFEFF\uFEFFUSE d": 3,
	} {
		_, defects := parse.Text(src)
		if len(defects) != 1 || defects[0].Stage != fault.StageLex || defects[0].Span.Offset != offset {
			t.Errorf("%q: %v", src, defects)
		}
	}
}

func TestSpans(t *testing.T) {
	src := "  USE a ;; \n CREATE RELAY r\n SCHEMA s UNBRANCHED  -- end\n ; "
	list, defects := parse.Text(src)
	if len(defects) > 0 || len(list) != 2 {
		t.Fatalf("%d statements, %v", len(list), defects)
	}
	for i, want := range []string{"USE a", "CREATE RELAY r\n SCHEMA s UNBRANCHED"} {
		if got := src[list[i].Span.Offset:list[i].Span.End()]; got != want {
			t.Errorf("statement %d spans %q, want %q", i+1, got, want)
		}
	}
	relay := list[1].Stmt.(*ast.CreateRelay)
	for _, one := range []struct {
		span fault.Span
		want string
	}{{relay.Name.Span, "r"}, {relay.Schema.Span, "s"}, {relay.Branch.Span, "UNBRANCHED"}} {
		if got := src[one.span.Offset:one.span.End()]; got != one.want {
			t.Errorf("span holds %q, want %q", got, one.want)
		}
	}
	if relay.Capacity.Span.Length != 0 {
		t.Error("a default capacity has a span")
	}
	_, defects = parse.Text("USE")
	if len(defects) != 1 || defects[0].Span != (fault.Span{Offset: 3}) {
		t.Errorf("the end of input is marked at %v", defects)
	}
}

// TestPasswordsStaySecret: whatever is wrong around it, no diagnostic holds a part of a password.
func TestPasswordsStaySecret(t *testing.T) {
	const password = "Zx9wQvT"
	for _, src := range []string{
		"CREATE USER u WITH PASSWORD " + password,
		"CREATE USER u WITH " + password,
		"CREATE USER u " + password,
		"CREATE USER u WITH PASSWORD '" + password,
		"CREATE USER u WITH PASSWORD '" + password + "' '" + password + "'",
		"CREATE USER u WITH PASSWORD 'a'" + password + "'",
		"CREATE USER u WITH PASSWORD a;" + password + "; USE " + password + " " + password,
		"ALTER USER u WITH PASSWORD 5" + password,
		"ALTER USER u WITH PASSWORD `" + password + "`",
		"ALTER USER u WITH PASSWORD $x$" + password,
		"ALTER USER u WITH PASSWORD ''" + password + "''\nUSE x",
		"USE u '" + password + "'",
	} {
		_, defects := parse.Text(src)
		if len(defects) == 0 {
			t.Errorf("%s parses", src)
		}
		for _, d := range defects {
			if strings.Contains(d.Message+d.Hint+strings.Join(d.Expected, " "), password) {
				t.Errorf("%s: %s / %s", src, d.Message, d.Hint)
			}
		}
	}
	user := mustParse(t, "CREATE USER u WITH PASSWORD '"+password+"'")
	redacted := print.Redacted(user)
	if strings.Contains(redacted, password) {
		t.Errorf("redacted text: %s", redacted)
	}
	if _, defects := parse.Text(redacted); len(defects) == 0 {
		t.Error("a redacted statement can be run")
	}
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/nervix-go/nervix/host/kernel/fault"
)

// TestNoPasswordIsRendered: whatever a diagnostic points at, the rendered text holds no password; other lines are shown.
func TestNoPasswordIsRendered(t *testing.T) {
	for _, text := range []string{
		"ALTER USER a WITH PASSWORD 'hunter2'",
		"create if not exists user a with\n password \"hunter2\"\n;",
		"ALTER USER a\nWITH PASSWORD $$x\nhunter2\n$$",
		"ALTER USER a WITH PASSWORD\nhunter2;",
		"ALTER USER a PASSWORD\nhunter2",
		"CREATE USR a WITH PASSWORD\n'hunter2'",
		"CREATE USR a WITH PASSWORD\nhunter2",
		"CREATE USER a WITH PASWORD\n'hunter2'",
		"ALTER USER a WITH PASSWORD 'x\nhunter2; LIST DOMAINS;\nhunter2",
		"ALTER USER a WITH PASSWORD $t$x\nhunter2; LIST DOMAINS;\nhunter2",
		"START\nALTER USER a WITH PASSWORD 'hunter2'",
		"CREATE CLIENT c TYPE KAFKA CONFIG {\n'sasl.password'\n=\n'hunter2'\n}",
		"CREATE CLIENT c TYPE KAFKA CONFIG {\n'sasl.password' = 'x\nhunter2' }",
		"CREATE CLIENT c TYPE X CONFIG { 'client_secret' 'hunter2' }",
		"\xff ALTER USER a WITH PASSWORD 'hunter2'",
	} {
		src, _ := parseSource(text)
		for offset := 0; offset <= len(text); offset++ {
			got := src.render(fault.At(fault.StageCheck, fault.UserUnknown, fault.Span{Offset: offset, Length: 1}, "why", "what to do"))
			if strings.Contains(got, "hunter2") {
				t.Fatalf("%q at %d:\n%s", text, offset, got)
			}
			if !strings.Contains(got, "why") || !strings.Contains(got, "what to do") || !strings.Contains(got, "line ") {
				t.Fatalf("%q at %d:\n%s", text, offset, got)
			}
		}
	}
}

func TestOtherLinesAreShown(t *testing.T) {
	for _, text := range []string{
		"DROP USER a",
		"USE user",
		"CREATE SCHEMA user (password STRING, secret STRING)",
		"CREATE SCHEMA s (a I64);\nSHOW NOTHING",
		"CREATE RELAY user SCHEMA s UNBRANCHED",
	} {
		src, _ := parseSource(text)
		for offset := range text {
			if src.hides(offset) {
				t.Errorf("%q hides byte %d", text, offset)
			}
		}
	}
	src, _ := parseSource("START;\nALTER USER a WITH PASSWORD 'x';\nSTOP")
	if src.hides(0) || !src.hides(8) || src.hides(len(src.text)-1) {
		t.Error("only the line of the password is left out")
	}
}

// FuzzSource: no input makes the client fail before it sends anything, and every defect can be shown.
func FuzzSource(f *testing.F) {
	for _, p := range pieces {
		f.Add(p + ";" + p)
	}
	f.Add("ALTER USER a WITH PASSWORD 'x\n\xff")
	f.Fuzz(func(t *testing.T, text string) {
		src, defects := parseSource(text)
		for _, s := range src.secrets {
			if s.Offset < 0 || s.Length < 0 || s.End() > len(text) {
				t.Fatalf("%v of %d bytes", s, len(text))
			}
		}
		for i, d := range defects {
			if src.render(d.Diagnostic) == "" || d.statement < 1 || i > 0 && d.statement < defects[i-1].statement {
				t.Fatal(d)
			}
		}
		if len(defects) == 0 {
			checkModels(src.statements)
		}
	})
}

// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// pieces are statements, good and bad, and what may stand between them.
var pieces = []string{
	"CREATE SCHEMA s (a I64)", "CREATE SCHEMA s (a 'grüße' I64)", "LIST DOMAINS", "SHOW NOTHING", "START", "START START", "STOP ?", ";", ";;", "\n", " ",
	"-- comment ; with sign\n", "CREATE USER u WITH PASSWORD 'p'", "CREATE USER u WITH PASSWORD p", "'open", "$$ open", "\nSTOP", "\nUSE d", "ü", "", "BEGIN;",
}

// TestNumbersAgreeWithTheParser: the parser writes the number of the statement into its messages once there are several.
func TestNumbersAgreeWithTheParser(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, "pieces"), rapid.SampledFrom([]string{"", ";", "; ", "\n"}).Draw(t, "between"))
		_, defects := parseSource(text)
		for _, d := range defects {
			want := fmt.Sprintf("statement %d: ", d.statement)
			if strings.HasPrefix(d.Message, "statement ") && !strings.HasPrefix(d.Message, want) || d.statement < 1 {
				t.Fatalf("%q\n%s\nis numbered %d", text, d.Message, d.statement)
			}
			if d.statement > 1 && !strings.HasPrefix(d.Message, "statement ") {
				t.Fatalf("%q\n%s\nis numbered %d", text, d.Message, d.statement)
			}
		}
	})
}

// TestTheRestOfALongListOfErrors: the parser stops at 50 defects and says so at the last one.
func TestTheRestOfALongListOfErrors(t *testing.T) {
	_, defects := parseSource(strings.Repeat("SHOW NOTHING;", 60))
	if n := len(defects); n != 51 || defects[49].statement != 50 || defects[50].statement != 50 {
		t.Fatal(n, defects[len(defects)-1])
	}
}

func TestJoinedCommands(t *testing.T) {
	for _, c := range []struct {
		texts []string
		lines []int // of the statements
	}{
		{[]string{"START"}, []int{1}},
		{[]string{"START", "STOP"}, []int{1, 2}},
		{[]string{"START;", "STOP;"}, []int{1, 2}},
		{[]string{"START -- until ; the end", "STOP"}, []int{1, 3}},
		{[]string{"START // until the end", "STOP"}, []int{1, 3}},
		{[]string{"START -- a\n", "STOP"}, []int{1, 3}},
		{[]string{"", "STOP", "", "START"}, []int{2, 4}},
	} {
		src, defects := parseSource(joinCommands(c.texts))
		var got []int
		for _, p := range src.statements {
			got = append(got, 1+strings.Count(src.text[:p.Span.Offset], "\n"))
		}
		if len(defects) > 0 || !cmp.Equal(got, c.lines) {
			t.Errorf("%q: lines %v, want %v; %v", c.texts, got, c.lines, defects)
		}
	}
}

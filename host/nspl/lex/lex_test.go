// SPDX-License-Identifier: Apache-2.0

package lex_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/nervix-go/nervix/host/nspl/lex"
)

var kindWords = map[lex.Kind]string{
	lex.EOF: "eof", lex.Word: "word", lex.Backquoted: "backquoted", lex.String: "string", lex.Int: "int", lex.Float: "float",
	lex.Exponent: "exponent", lex.Duration: "duration", lex.Size: "size", lex.Sign: "sign", lex.Invalid: "invalid",
}

// TestScripts shows the tokens of texts: `next` reads words, `name` the longer name words.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			read := map[string]func(string, int) lex.Token{"next": lex.Next, "name": lex.Name}[d.Cmd]
			if read == nil {
				d.Fatalf(t, "unknown command %q", d.Cmd)
			}
			var out strings.Builder
			for offset := 0; ; {
				tok := read(d.Input, offset)
				if tok.Kind == lex.EOF {
					return out.String()
				}
				out.WriteString(describe(tok) + "\n")
				offset = tok.Span.End()
			}
		})
	})
}

func describe(tok lex.Token) string {
	switch tok.Kind {
	case lex.Int, lex.Duration, lex.Size:
		return fmt.Sprintf("%s %s = %d", kindWords[tok.Kind], tok.Text, tok.Value)
	case lex.Invalid:
		return fmt.Sprintf("invalid [%d,%d): %s; %s", tok.Span.Offset, tok.Span.End(), tok.Problem.Message, tok.Problem.Hint)
	default:
		return fmt.Sprintf("%s %q", kindWords[tok.Kind], tok.Text)
	}
}

func TestEndInsideComment(t *testing.T) {
	for src, want := range map[string]bool{"a -- b": true, "a // b": true, "a -- b\n": false, "-": false, "": false, "a": false} {
		offset := 0
		tok := lex.Next(src, offset)
		for tok.Kind != lex.EOF {
			tok = lex.Next(src, tok.Span.End())
		}
		if tok.InComment != want {
			t.Errorf("%q: InComment = %v", src, tok.InComment)
		}
	}
}

func TestShapes(t *testing.T) {
	for text, want := range map[string][3]bool{
		"abc": {true, true, true}, "_": {true, true, true}, "a1": {true, true, true}, "1a": {false, true, true}, "a-b": {false, true, true},
		"a--b": {false, false, true}, "-a": {false, false, true}, "~": {false, false, true}, "": {}, "a b": {}, "ä": {}, "`": {},
	} {
		if got := [3]bool{lex.IsWord(text), lex.IsNameWord(text), lex.IsName(text)}; got != want {
			t.Errorf("%q: word, name word, name = %v, want %v", text, got, want)
		}
	}
}

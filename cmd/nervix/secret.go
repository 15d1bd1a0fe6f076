// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"unicode/utf8"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/nspl/lex"
)

// secretSpans finds the places of the input that may hold a password, also when the statement is not well formed. It would rather hide a
// line too much: everything after CREATE USER or ALTER USER and after WITH PASSWORD up to the `;`, the value of a key that speaks of a
// password, and the rest of the input when a string in such a place does not end.
func secretSpans(text string) []fault.Span {
	if !utf8.ValidString(text) {
		return []fault.Span{{Length: len(text)}}
	}
	f := secretFinder{text: text, from: -1, key: -1}
	for pos := 0; ; {
		tok := lex.Next(text, pos)
		if f.take(tok); tok.Kind == lex.EOF {
			return f.found
		}
		pos = tok.Span.End()
	}
}

// secretFinder walks the tokens of the input.
type secretFinder struct {
	text  string
	found []fault.Span
	// words are the tokens of the current statement, upper-case; one that is no word is empty.
	words []string
	// from is where the secret part of the current statement begins, key where the last token was a word for passwords; -1 for neither.
	from, key int
}

func (f *secretFinder) take(tok lex.Token) {
	if tok.Kind == lex.EOF || tok.Kind == lex.Sign && tok.Text == ";" {
		if f.from >= 0 {
			f.hide(f.from, tok.Span.Offset)
		}
		f.words, f.from, f.key = nil, -1, -1
		return
	}
	f.value(tok)
	if f.from >= 0 && tok.Kind == lex.Invalid {
		f.hide(f.from, len(f.text))
	}
	word := ""
	if tok.Kind == lex.Word {
		word = strings.ToUpper(tok.Text)
	}
	if f.from < 0 && f.opens(word) {
		f.from = tok.Span.Offset
	}
	f.words = append(f.words, word)
}

// opens says whether the rest of the statement is secret from this word on.
func (f *secretFinder) opens(word string) bool {
	n := len(f.words)
	switch {
	case n == 0:
		return false
	case word == "USER":
		switch strings.Join(f.words, " ") {
		case "CREATE", "ALTER", "CREATE IF NOT EXISTS", "CREATE IF EXISTS", "CREATE OR REPLACE", "ALTER IF EXISTS":
			return true
		}
		return false
	default:
		return strings.HasPrefix(word, "PASSW") && f.words[n-1] == "WITH"
	}
}

// value hides the string that follows a word for passwords, with or without `=` between them.
func (f *secretFinder) value(tok lex.Token) {
	switch {
	case f.key >= 0 && tok.Kind == lex.Sign && tok.Text == "=":
		return
	case f.key >= 0 && tok.Kind == lex.String:
		f.hide(f.key, tok.Span.End())
	case f.key >= 0 && tok.Kind == lex.Invalid:
		f.hide(f.key, len(f.text))
	}
	f.key = -1
	text := strings.ToLower(tok.Text)
	if strings.Contains(text, "passw") || strings.Contains(text, "secret") {
		f.key = tok.Span.Offset
	}
}

func (f *secretFinder) hide(start, end int) {
	f.found = append(f.found, fault.Span{Offset: start, Length: end - start})
}

// hides says whether the line of an offset may hold a password.
func (s *source) hides(offset int) bool {
	offset = max(0, min(offset, len(s.text)))
	start := strings.LastIndexByte(s.text[:offset], '\n') + 1
	end := len(s.text)
	if i := strings.IndexByte(s.text[offset:], '\n'); i >= 0 {
		end = offset + i
	}
	for _, span := range s.secrets {
		if span.Offset <= end && start <= span.End() {
			return true
		}
	}
	return false
}

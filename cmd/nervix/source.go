// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/nspl/lex"
	"github.com/nervix-go/nervix/host/nspl/parse"
)

// source is the whole input. All spans that are shown count its bytes.
type source struct {
	text       string
	statements []parse.Parsed
	secrets    []fault.Span
}

// defect is a diagnostic of a statement that was not sent. Statements count from 1.
type defect struct {
	statement int
	fault.Diagnostic
}

// parseSource parses the input; with defects the source is only good for showing them.
func parseSource(text string) (*source, []defect) {
	list, diagnostics := parse.Text(text)
	src := &source{text: text, statements: list, secrets: secretSpans(text)}
	return src, number(text, list, diagnostics)
}

// number tells for each diagnostic of the parser in which statement it stands. The parser gives good statements and defects as two lists in
// the order of the text; a statement and a defect share a number when the statement is whole and its `;` is missing, and so do two defects
// at the same place, of which the second says that the rest was not read.
func number(text string, list []parse.Parsed, diagnostics fault.Diagnostics) []defect {
	defects := make([]defect, 0, len(diagnostics))
	statement, next, unfinished := 0, 0, false
	for i, d := range diagnostics {
		for next < len(list) && list[next].Span.Offset <= d.Span.Offset {
			statement++
			after := lex.Next(text, list[next].Span.End())
			unfinished = after.Kind != lex.EOF && after.Text != ";" && after.Span.Offset == d.Span.Offset
			next++
			if unfinished {
				break
			}
		}
		if repeated := i > 0 && diagnostics[i-1].Span == d.Span; !unfinished && !repeated {
			statement++
		}
		unfinished = false
		defects = append(defects, defect{statement, d})
	}
	return defects
}

// text of one statement, as it is sent.
func (s *source) textOf(p parse.Parsed) string { return s.text[p.Span.Offset:p.Span.End()] }

// locate moves the diagnostics of a statement, as the node gave them, to the whole input. One without a place gets that of the statement.
func (s *source) locate(p parse.Parsed, list fault.Diagnostics) fault.Diagnostics {
	out := list.Shift(p.Span.Offset)
	for i, d := range out {
		if !d.Located || d.Span.Offset < p.Span.Offset || d.Span.Length < 0 || d.Span.End() > p.Span.End() {
			out[i].Span, out[i].Located = p.Span, true
		}
	}
	return out
}

// render draws a diagnostic with its source line and a caret; a line that may hold a password is left out.
func (s *source) render(d fault.Diagnostic) string {
	if !d.Located || !s.hides(d.Span.Offset) {
		return d.Render(s.text)
	}
	line, column := fault.Position(s.text, d.Span.Offset)
	d.Located = false
	head, rest, _ := strings.Cut(d.Render(s.text), "\n")
	return fmt.Sprintf("%s\n --> line %d, column %d (not shown, it may hold a password)\n%s", head, line, column, rest)
}

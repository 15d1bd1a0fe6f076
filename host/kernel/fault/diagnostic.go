// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"

	"github.com/nervix-go/nervix/host/kernel/ident"
)

// Stage names the step of a statement's way that found a defect (nspl 24).
type Stage string

// The stages in the order a statement passes them.
const (
	StageLex      Stage = "lex"
	StageParse    Stage = "parse"
	StageResolve  Stage = "resolve"
	StageCheck    Stage = "check"
	StagePlan     Stage = "plan"
	StageAdmit    Stage = "admit"
	StageApply    Stage = "apply"
	StageActivate Stage = "activate"
)

// Span is a range of UTF-8 bytes of the submitted text. An empty span at the end of the text marks the end of input.
type Span struct {
	Offset int
	Length int
}

// End is the offset after the span.
func (s Span) End() int { return s.Offset + s.Length }

// Cover is the smallest span that holds both.
func (s Span) Cover(o Span) Span {
	start, end := min(s.Offset, o.Offset), max(s.End(), o.End())
	return Span{start, end - start}
}

// Diagnostic is one defect told to a person: what, where, why and what to do (nspl 24). Message and Hint hold no payload value.
type Diagnostic struct {
	Stage   Stage
	Code    Code
	Message string
	// Span is valid when Located is true.
	Span    Span
	Located bool
	Hint    string
	// Expected lists what the parser could have read at the span; completion uses the same list.
	Expected []string
	Related  []ident.Ref
}

// At builds a located diagnostic.
func At(stage Stage, code Code, span Span, message, hint string) Diagnostic {
	return Diagnostic{Stage: stage, Code: code, Span: span, Located: true, Message: message, Hint: hint}
}

// Diagnostics is a list of defects; a non-empty list is an error.
type Diagnostics []Diagnostic

// Error joins the messages.
func (d Diagnostics) Error() string {
	texts := make([]string, len(d))
	for i, one := range d {
		texts[i] = one.Message + " [" + string(one.Code) + "]"
	}
	return strings.Join(texts, "; ")
}

// Err is nil for an empty list, so that a list can be returned as an error.
func (d Diagnostics) Err() error {
	if len(d) == 0 {
		return nil
	}
	return d
}

// Shift moves all located spans by offset bytes: for a statement cut out of a longer text.
func (d Diagnostics) Shift(offset int) Diagnostics {
	out := make(Diagnostics, len(d))
	for i, one := range d {
		if one.Located {
			one.Span.Offset += offset
		}
		out[i] = one
	}
	return out
}

// Position gives the 1-based line and the 1-based column of a byte offset, the column counted in characters.
func Position(text string, offset int) (line, column int) {
	offset = max(0, min(offset, len(text)))
	before := text[:offset]
	start := strings.LastIndexByte(before, '\n') + 1
	return strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[start:]) + 1
}

// Render draws the diagnostic with its source line and a caret, for a terminal.
func (d Diagnostic) Render(text string) string {
	var b strings.Builder
	b.WriteString("error")
	if d.Code != "" {
		b.WriteString("[" + string(d.Code) + "]")
	}
	b.WriteString(": " + d.Message + "\n")
	if d.Located {
		d.renderSource(&b, text)
	}
	if d.Hint != "" {
		b.WriteString("  hint: " + d.Hint + "\n")
	}
	return b.String()
}

func (d Diagnostic) renderSource(b *strings.Builder, text string) {
	line, column := Position(text, d.Span.Offset)
	offset := max(0, min(d.Span.Offset, len(text)))
	start := strings.LastIndexByte(text[:offset], '\n') + 1
	end := len(text)
	if i := strings.IndexByte(text[offset:], '\n'); i >= 0 {
		end = offset + i
	}
	source := strings.TrimRight(text[start:end], "\r")
	number := strconv.Itoa(line)
	pad := strings.Repeat(" ", len(number))
	b.WriteString(pad + " --> line " + number + ", column " + strconv.Itoa(column) + "\n")
	b.WriteString(number + " | " + source + "\n")
	marked := min(d.Span.End(), end)
	carets := 1
	if marked > offset {
		carets = max(1, cells(text[offset:marked]))
	}
	b.WriteString(pad + " | " + caretIndent(text[start:offset]) + strings.Repeat("^", carets) + "\n")
}

// caretIndent is as wide as the text before the caret. It keeps tabs, so that the caret stands below its character whatever the tab width.
func caretIndent(before string) string {
	var b strings.Builder
	for _, r := range before {
		if r == '\t' {
			b.WriteByte('\t')
		} else {
			b.WriteString(strings.Repeat(" ", cellsOf(r)))
		}
	}
	return b.String()
}

// cells is the number of terminal cells of a text; a tab counts as one.
func cells(text string) int {
	n := 0
	for _, r := range text {
		n += cellsOf(r)
	}
	return n
}

// cellsOf is how many cells a terminal gives a character: two for those of East Asian scripts and most pictures, none for marks that combine
// with the character before them.
func cellsOf(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	default:
		return 1
	}
}

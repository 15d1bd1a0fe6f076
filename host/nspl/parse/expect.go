// SPDX-License-Identifier: Apache-2.0

package parse

import (
	"strings"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/nspl/lex"
)

// group collapses the many beginnings of an expression, its operators and the type words into one entry of a message each.
type group uint8

const (
	groupNone group = iota
	groupClass
	groupExpression
	groupOperator
	groupType
)

type expectation struct {
	text  string
	group group
}

// expectedSet is what could stand at the current token, in the order of asking, without repetition.
type expectedSet []expectation

func (s *expectedSet) add(text string, g group) {
	for i, e := range *s {
		if e.text != text {
			continue
		}
		if g == groupNone { // a word of its own right is named even if it is an operator too, as the AS of a TRY_CAST
			(*s)[i].group = g
		}
		return
	}
	*s = append(*s, expectation{text, g})
}

// texts is the plain list: keywords and signs as written, classes such as `relay name` in lower case.
func (s expectedSet) texts() []string {
	list := make([]string, len(s))
	for i, e := range s {
		list[i] = e.text
	}
	return list
}

// words are the first words of the keywords in the set.
func (s expectedSet) words() []string {
	var list []string
	for _, e := range s {
		word, _, _ := strings.Cut(e.text, " ")
		if e.group != groupClass && lex.IsWord(word) && word == strings.ToUpper(word) {
			list = append(list, word)
		}
	}
	return list
}

func (s expectedSet) hasClass(text string) bool {
	for _, e := range s {
		if e.text == text {
			return true
		}
	}
	return false
}

func (s expectedSet) hasGroup(g group) bool {
	for _, e := range s {
		if e.group == g {
			return true
		}
	}
	return false
}

// sentence is the set for a person: "`A`, `B` or a relay name".
func (s expectedSet) sentence() string {
	var parts []string
	seen := map[group]bool{}
	for _, e := range s {
		switch e.group {
		case groupNone:
			parts = append(parts, quoteExpected(e.text))
		case groupClass:
			parts = append(parts, withArticle(e.text))
		default:
			if !seen[e.group] {
				parts = append(parts, map[group]string{groupExpression: "an expression", groupOperator: "an operator", groupType: "a type"}[e.group])
			}
			seen[e.group] = true
		}
	}
	switch len(parts) {
	case 0:
		return "nothing"
	case 1:
		return parts[0]
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " or " + parts[len(parts)-1]
}

func quoteExpected(text string) string {
	if text == "end of input" {
		return text
	}
	return "`" + text + "`"
}

func withArticle(class string) string {
	if strings.ContainsRune("aeio", rune(class[0])) {
		return "an " + class
	}
	return "a " + class
}

// fail reports that the current token is not what is expected here.
func (p *parser) fail() {
	if p.tok.Kind == lex.Invalid {
		p.failLexical()
	}
	message := "expected " + p.expected.sentence() + ", found " + p.found()
	d := fault.At(fault.StageParse, fault.SyntaxUnexpected, p.tok.Span, message, p.hint())
	d.Expected = p.expected.texts()
	panic(bailout{d})
}

func (p *parser) failLexical() {
	problem := p.tok.Problem
	if p.hides() {
		problem = lex.Problem{Message: "this is no token", Hint: "strings stand in single, double or dollar quotes"}
	}
	d := fault.At(fault.StageLex, fault.LexInvalid, p.tok.Span, problem.Message, problem.Hint)
	d.Expected = p.expected.texts()
	panic(bailout{d})
}

// refuse reports a defect that is not about expected tokens.
func (p *parser) refuse(code fault.Code, span fault.Span, message, hint string) {
	panic(bailout{fault.At(fault.StageParse, code, span, message, hint)})
}

func (p *parser) hides() bool { return p.secret || p.masked }

// found names the current token without quoting what may be secret.
func (p *parser) found() string {
	switch p.tok.Kind {
	case lex.EOF:
		return "end of input"
	case lex.String:
		return "a string"
	}
	if p.hides() && !(p.tok.Kind == lex.Sign && p.tok.Text == ";") {
		return "something else"
	}
	if p.tok.Kind == lex.Backquoted {
		return "the name `" + shorten(p.tok.Text) + "`"
	}
	return "`" + shorten(p.tok.Text) + "`"
}

// shorten keeps messages readable; lexing has made sure that the text is ASCII apart from µ.
func shorten(text string) string {
	const most = 60
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}

// SPDX-License-Identifier: Apache-2.0

package print

import (
	"strings"
	"unicode/utf8"
)

// width is the number of characters a line with list items may have (nspl 1.11).
const width = 100

// printer collects lines.
type printer struct {
	b      strings.Builder
	redact bool
}

// line begins a new line.
func (p *printer) line(indent int, text string) {
	if p.b.Len() > 0 {
		p.b.WriteByte('\n')
	}
	p.b.WriteString(strings.Repeat(" ", indent))
	p.b.WriteString(text)
}

// fits says whether a text stays on one line.
func fits(indent int, text string) bool {
	return !strings.ContainsAny(text, "\r\n") && indent+utf8.RuneCountInString(text) <= width
}

// list prints a clause word and its items: on one line if they fit, else one item a line, two spaces deeper than the word.
func (p *printer) list(indent int, word string, items []string) {
	if one := word + " " + strings.Join(items, ", "); fits(indent, one) {
		p.line(indent, one)
		return
	}
	p.line(indent, word)
	p.items(indent+2, items)
}

func (p *printer) items(indent int, items []string) {
	for i, item := range items {
		if i < len(items)-1 {
			item += ","
		}
		p.line(indent, item)
	}
}

// brackets prints a clause with a bracketed list in the same way.
func (p *printer) brackets(indent int, head string, items []string) {
	if one := head + " (" + strings.Join(items, ", ") + ")"; fits(indent, one) {
		p.line(indent, one)
		return
	}
	p.line(indent, head+" (")
	p.items(indent+2, items)
	p.line(indent, ")")
}

// tail prints a clause that ends in `SET list`; if it does not fit, SET gets a line of its own below the clause.
func (p *printer) tail(indent int, head string, items []string) {
	if one := head + " SET " + strings.Join(items, ", "); fits(indent, one) {
		p.line(indent, one)
		return
	}
	p.line(indent, head)
	p.list(indent+2, "SET", items)
}

// SPDX-License-Identifier: Apache-2.0

package lex

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const byteOrderMark = "\uFEFF"

// scanner holds the token being read: src[start:pos].
type scanner struct {
	src        string
	start, pos int
}

// skipTrivia gives the offset of the next token, and whether the text ended inside a comment.
func skipTrivia(src string, offset int) (start int, inComment bool) {
	i := offset
	if i == 0 && strings.HasPrefix(src, byteOrderMark) {
		i = len(byteOrderMark)
	}
	for i < len(src) {
		switch {
		case isSpace(src[i]):
			i++
		case strings.HasPrefix(src[i:], "--"), strings.HasPrefix(src[i:], "//"):
			end := strings.IndexAny(src[i:], "\r\n")
			if end < 0 {
				return len(src), true
			}
			i += end
		default:
			return i, false
		}
	}
	return i, false
}

func (s *scanner) token(name bool) Token {
	if s.pos >= len(s.src) {
		return Token{Kind: EOF}
	}
	c := s.src[s.pos]
	switch {
	case name && isWordByte(c):
		return s.nameWord()
	case isLetter(c):
		s.take(isWordByte)
		return Token{Kind: Word, Text: s.text()}
	case isDigit(c):
		return s.number()
	case c == '`':
		return s.backquoted()
	case c == '\'' || c == '"':
		return s.quoted(c)
	case c == '$':
		return s.dollar()
	default:
		return s.sign()
	}
}

// nameWord reads a name word; two adjacent `-` end it, because they begin a comment.
func (s *scanner) nameWord() Token {
	for s.pos < len(s.src) && isNameByte(s.src[s.pos]) && !strings.HasPrefix(s.src[s.pos:], "--") {
		s.pos++
	}
	return Token{Kind: Word, Text: s.text()}
}

func (s *scanner) backquoted() Token {
	s.pos++
	s.take(isNameByte)
	content := s.src[s.start+1 : s.pos]
	switch {
	case s.pos < len(s.src) && s.src[s.pos] == '`' && content != "":
		s.pos++
		return Token{Kind: Backquoted, Text: content}
	case s.pos < len(s.src) && s.src[s.pos] == '`':
		s.pos++
		return invalid("a backquoted name is empty", "a name has 1 to 255 of the characters A-Z a-z 0-9 _ - ~ .")
	}
	if end := strings.IndexAny(s.src[s.pos:], "`\r\n"); end >= 0 && s.src[s.pos+end] == '`' {
		s.pos += end + 1
		return invalid("a backquoted name holds a character that names do not have", "names are made of A-Z a-z 0-9 _ - ~ .")
	}
	return invalid("a backquoted name has no closing backquote", "close it with ` on the same line")
}

func (s *scanner) quoted(quote byte) Token {
	s.pos++
	end := strings.IndexAny(s.src[s.pos:], string(rune(quote))+"\r\n")
	if end >= 0 && s.src[s.pos+end] == quote {
		content := s.src[s.pos : s.pos+end]
		s.pos += end + 1
		return Token{Kind: String, Text: content}
	}
	if end < 0 {
		end = len(s.src) - s.pos
	}
	s.pos += end
	return invalid("the string has no closing "+string(rune(quote))+" on its line",
		"a text of several lines, or one that holds both quotes, is written $$...$$")
}

// dollar reads `$$...$$` or `$tag$...$tag$`.
func (s *scanner) dollar() Token {
	s.pos++
	s.take(isWordByte)
	if s.pos >= len(s.src) || s.src[s.pos] != '$' {
		s.pos = s.start + 1
		return invalid("stray `$`", "a dollar-quoted string begins with $$ or $tag$")
	}
	s.pos++
	delimiter := s.src[s.start:s.pos]
	end := strings.Index(s.src[s.pos:], delimiter)
	if end < 0 {
		s.pos = len(s.src)
		return invalid("the string that begins with "+shorten(delimiter)+" is never closed", "close it with "+shorten(delimiter))
	}
	content := s.src[s.pos : s.pos+end]
	s.pos += end + len(delimiter)
	return Token{Kind: String, Text: content}
}

var twoByteSigns = []string{"::", "!=", "<=", ">="}

const oneByteSigns = "(){}[]<>,;.=+-*/%"

// mistakes are signs of other languages, with what to write here.
var mistakes = []struct{ sign, hint string }{
	{"<>", "write `!=`"},
	{"==", "write `=`"},
	{"&&", "write `AND`"},
	{"||", "write `OR`; texts are joined by concat(a, b)"},
	{"/*", "comments begin with -- or // and end with the line"},
	{"!", "write `NOT`, or `!=` for unequal"},
	{"#", "comments begin with -- or //"},
	{":", "entries of a map are written 'key' = value"},
	{"\u2018", "quote strings with ' or \""},
	{"\u2019", "quote strings with ' or \""},
	{"\u201c", "quote strings with ' or \""},
	{"\u201d", "quote strings with ' or \""},
	{"\u2013", "write the minus sign -"},
	{"\u2212", "write the minus sign -"},
	{"\u00a0", "replace the no-break space by a space"},
	{byteOrderMark, "a byte order mark may stand only at the very beginning of the text"},
}

func (s *scanner) sign() Token {
	rest := s.src[s.pos:]
	for _, m := range mistakes {
		if strings.HasPrefix(rest, m.sign) && !strings.HasPrefix(rest, "!=") && !strings.HasPrefix(rest, "::") {
			s.pos += len(m.sign)
			return invalid("stray "+visible(m.sign), m.hint)
		}
	}
	for _, sign := range twoByteSigns {
		if strings.HasPrefix(rest, sign) {
			s.pos += len(sign)
			return Token{Kind: Sign, Text: sign}
		}
	}
	if len(rest) > 1 && rest[0] == '.' && isDigit(rest[1]) {
		s.pos++
		s.take(isWordByte)
		return invalid("a number may not begin with a dot", "write a digit before the dot, as in 0.5; a field that begins with a digit stands in backquotes")
	}
	if strings.IndexByte(oneByteSigns, rest[0]) >= 0 {
		s.pos++
		return Token{Kind: Sign, Text: rest[:1]}
	}
	r, n := utf8.DecodeRuneInString(rest)
	s.pos += n
	if r < 0x20 {
		return invalid("stray "+visible(string(r)), "control characters other than tab, line feed and carriage return stand only in strings and comments")
	}
	if r >= utf8.RuneSelf {
		return invalid("stray "+visible(string(r)), "outside strings and comments only ASCII is used; names are made of A-Z a-z 0-9 _ - ~ .")
	}
	return invalid("stray "+visible(string(r)), "")
}

// visible names a sign so that it can be seen in a message.
func visible(sign string) string {
	r, n := utf8.DecodeRuneInString(sign)
	if n < len(sign) || (r > 0x20 && r < 0x7f) {
		return "`" + sign + "`"
	}
	return fmt.Sprintf("character U+%04X", r)
}

func invalid(message, hint string) Token {
	return Token{Kind: Invalid, Problem: Problem{Message: message, Hint: hint}}
}

func (s *scanner) text() string { return s.src[s.start:s.pos] }

func (s *scanner) take(ok func(byte) bool) {
	for s.pos < len(s.src) && ok(s.src[s.pos]) {
		s.pos++
	}
}

func isSpace(c byte) bool    { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }
func isDigit(c byte) bool    { return c >= '0' && c <= '9' }
func isLetter(c byte) bool   { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }
func isWordByte(c byte) bool { return isLetter(c) || isDigit(c) }
func isNameByte(c byte) bool { return isWordByte(c) || c == '-' || c == '~' || c == '.' }

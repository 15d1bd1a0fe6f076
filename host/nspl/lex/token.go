// SPDX-License-Identifier: Apache-2.0

package lex

import (
	"unicode/utf8"

	"github.com/nervix-go/nervix/host/kernel/fault"
)

// Kind is the kind of a token.
type Kind uint8

// The kinds of tokens.
const (
	EOF        Kind = iota
	Word            // a keyword or name; Text as written
	Backquoted      // Text is the content
	String          // Text is the content
	Int             // decimal digits; Value
	Float           // digits.digits
	Exponent        // a float with an exponent
	Duration        // Value in nanoseconds
	Size            // Value in bytes
	Sign            // Text is the sign
	Invalid         // no token; Problem says why
)

// Token is one token with its span.
type Token struct {
	Kind Kind
	Span fault.Span
	// Text is the content of a string or backquoted name and the spelling of every other token. For Invalid it is empty.
	Text string
	// Value is the number of an Int, the nanoseconds of a Duration, the bytes of a Size.
	Value uint64
	// Trivia is the white space and the comments before the token.
	Trivia fault.Span
	// InComment is true for an EOF that stands in a comment: the text ends before its line does.
	InComment bool
	Problem   Problem
}

// Problem says what is wrong with an Invalid token and what to do. The texts quote no string content.
type Problem struct {
	Message string
	Hint    string
}

// Next scans the token after offset, reading the longest `word` where a word stands.
func Next(src string, offset int) Token { return scan(src, offset, false) }

// Name scans the token after offset, reading a `name_word` where a word or a number stands (nspl 1.3).
func Name(src string, offset int) Token { return scan(src, offset, true) }

// FirstInvalidByte finds the first byte that is not UTF-8, or -1.
func FirstInvalidByte(src string) int {
	if utf8.ValidString(src) {
		return -1
	}
	for i := 0; i < len(src); {
		r, n := utf8.DecodeRuneInString(src[i:])
		if r == utf8.RuneError && n <= 1 {
			return i
		}
		i += n
	}
	return -1
}

func scan(src string, offset int, name bool) Token {
	start, inComment := skipTrivia(src, offset)
	s := scanner{src: src, start: start, pos: start}
	tok := s.token(name)
	tok.Span = fault.Span{Offset: start, Length: s.pos - start}
	tok.Trivia = fault.Span{Offset: offset, Length: start - offset}
	tok.InComment = inComment && tok.Kind == EOF
	return tok
}

// SPDX-License-Identifier: Apache-2.0

// Package lex cuts NSPL text into tokens (nspl 1). It is a pure function of text and offset: the parser asks for one token at a time, because
// only the parser knows which of the two word shapes applies. Next reads words, Name reads the longer name words.
//
// White space and comments are trivia: they make no token, and the span of the trivia before a token is part of it, so that a formatter
// can find the comments again. What is no token becomes a token of kind Invalid that says what is wrong; scanning goes on after it.
//
// The text must be valid UTF-8 (see FirstInvalidByte). Every token but EOF is at least one byte long, so scanning always ends.
package lex

// SPDX-License-Identifier: Apache-2.0

package parse

import "strings"

// choice is one line of a table: the keywords that select it and what they select. No phrase of a table is the beginning of another.
type choice[T any] struct {
	phrase string
	value  T
}

// choose reads the keywords of exactly one line of a table.
func choose[T any](p *parser, table []choice[T]) T {
	left := make([]choice[T], len(table))
	copy(left, table)
	for {
		left = step(p, left)
		if len(left) == 1 && left[0].phrase == "" {
			return left[0].value
		}
	}
}

// step reads one keyword and keeps the lines that go on with it, each without its first word.
func step[T any](p *parser, table []choice[T]) []choice[T] {
	sharing := map[string]int{}
	for _, c := range table {
		word, _, _ := strings.Cut(c.phrase, " ")
		sharing[word]++
	}
	var left []choice[T]
	for _, c := range table {
		word, rest, _ := strings.Cut(c.phrase, " ")
		if sharing[word] > 1 {
			p.expected.add(word, groupNone)
		} else {
			p.expected.add(c.phrase, groupNone)
		}
		if p.is(word) {
			left = append(left, choice[T]{rest, c.value})
		}
	}
	if len(left) == 0 {
		p.fail()
	}
	p.advance()
	return left
}

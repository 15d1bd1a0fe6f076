// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

const (
	slabBytes = 64 << 10
	// keepBytes bounds what a Scratch keeps between evaluations.
	keepBytes = 8 << 20
)

// Scratch is the working memory of evaluations: intermediate columns, masks and the failures of the running batch. It belongs to one
// lane; two evaluations never share it at the same time. The zero value is ready.
type Scratch struct {
	slabs [][]byte
	slab  int
	used  int
	total int
	run   run
	upper *cases.Caser
	lower *cases.Caser
}

// NewScratch makes the working memory of one lane.
func NewScratch() *Scratch { return &Scratch{} }

// bytes gives n bytes of unspecified content, aligned for every fixed-width type, valid until reset.
func (s *Scratch) bytes(n int) []byte {
	size := (n + 15) &^ 15
	for s.slab < len(s.slabs) {
		if b := s.slabs[s.slab]; s.used+size <= len(b) {
			at := s.used
			s.used += size
			return b[at : at+n : at+size]
		}
		s.slab++
		s.used = 0
	}
	slab := make([]byte, max(size, slabBytes))
	s.slabs = append(s.slabs, slab)
	s.total += len(slab)
	s.used = size
	return slab[:n:size]
}

// bitmap gives room for n bits, with capacity for whole words.
func (s *Scratch) bitmap(n int) []byte { return s.bytes(words(n) * 8)[:bitmapBytes(n)] }

// zeros gives an all-zero bitmap of n bits.
func (s *Scratch) zeros(n int) []byte {
	b := s.bitmap(n)
	clear(b)
	return b
}

// reset ends all slices given so far.
func (s *Scratch) reset() {
	s.slab, s.used = 0, 0
	if s.total > keepBytes {
		s.slabs, s.total = nil, 0
	}
}

// upperCaser and lowerCaser belong to the lane because a Caser keeps state.
func (s *Scratch) upperCaser() *cases.Caser {
	if s.upper == nil {
		c := cases.Upper(language.Und)
		s.upper = &c
	}
	return s.upper
}

func (s *Scratch) lowerCaser() *cases.Caser {
	if s.lower == nil {
		c := cases.Lower(language.Und)
		s.lower = &c
	}
	return s.lower
}

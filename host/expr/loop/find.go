// SPDX-License-Identifier: Apache-2.0

package loop

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// Finder looks for the two least common bytes of a needle at their distance, eight positions at a time, and compares there. In contrast
// to bytes.Index its speed hardly depends on how often the first byte occurs.
type Finder struct {
	needle        []byte
	first, second int // offsets in the needle
	a, b          uint64
}

// NewFinder prepares the search for a needle of at least one byte, which it keeps.
func NewFinder(needle []byte) Finder {
	f := Finder{needle: needle}
	for i := range needle {
		if rarity(needle[i]) < rarity(needle[f.first]) {
			f.first = i
		}
	}
	f.second = len(needle) - 1
	for i := range needle {
		if i != f.first && needle[i] != needle[f.first] && (f.second == f.first || needle[f.second] == needle[f.first] || rarity(needle[i]) < rarity(needle[f.second])) {
			f.second = i
		}
	}
	f.a, f.b = uint64(needle[f.first])*ones, uint64(needle[f.second])*ones
	return f
}

// ones repeats a byte by multiplication.
const ones = 0x0101010101010101

// rarity ranks bytes by how common they are in text: the lower the rarer.
func rarity(c byte) int {
	switch {
	case c == ' ' || c == 'e':
		return 5
	case c == 't' || c == 'a' || c == 'o' || c == 'i' || c == 'n' || c == 's' || c == 'r':
		return 4
	case 'a' <= c && c <= 'z' || '0' <= c && c <= '2':
		return 2
	case '3' <= c && c <= '9' || c == '.' || c == '-' || c == '"' || c == ',' || c == ':':
		return 1
	default:
		return 0
	}
}

// Next is the first place of the needle in text from pos on, or -1.
func (f *Finder) Next(text []byte, pos int) int {
	n := len(f.needle)
	if n == 1 {
		if at := bytes.IndexByte(text[pos:], f.needle[0]); at >= 0 {
			return pos + at
		}
		return -1
	}
	end := len(text) - n + 1 // positions below it can hold the needle
	if end-pos >= 16 {
		x, y := text[pos+f.first:end+f.first], text[pos+f.second:end+f.second]
		for len(x) >= 16 && len(y) >= 16 {
			v := (binary.LittleEndian.Uint64(x) ^ f.a) | (binary.LittleEndian.Uint64(y) ^ f.b)
			w := (binary.LittleEndian.Uint64(x[8:]) ^ f.a) | (binary.LittleEndian.Uint64(y[8:]) ^ f.b)
			// A byte of v or w is zero where both bytes are there. The lowest zero found is one; those above may be carries of it.
			v, w = (v-ones)&^v, (w-ones)&^w
			if (v|w)&highBits != 0 {
				if at := f.verify(text, pos, v&highBits); at >= 0 {
					return at
				}
				if at := f.verify(text, pos+8, w&highBits); at >= 0 {
					return at
				}
			}
			x, y, pos = x[16:], y[16:], pos+16
		}
	}
	for ; pos < end; pos++ {
		if text[pos+f.first] == f.needle[f.first] && string(text[pos:pos+n]) == string(f.needle) {
			return pos
		}
	}
	return -1
}

// verify compares at the marked positions from pos on.
func (f *Finder) verify(text []byte, pos int, hits uint64) int {
	for ; hits != 0; hits &= hits - 1 {
		if at := pos + bits.TrailingZeros64(hits)/8; string(text[at:at+len(f.needle)]) == string(f.needle) {
			return at
		}
	}
	return -1
}

// SPDX-License-Identifier: Apache-2.0

package jsoncodec

import (
	"encoding/binary"
	"math/bits"
)

// Eight bytes at a time. A mask has the high bit of each byte that was asked for; below the first hit it is exact, above it borrows
// may add hits, so only the first is ever used.
const (
	ones   = 0x0101010101010101
	highs  = 0x8080808080808080
	spaces = 0x2020202020202020
	quotes = 0x2222222222222222
	slants = 0x5c5c5c5c5c5c5c5c
	zeros  = 0x3030303030303030
)

func load(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i : i+8]) }

func store(b []byte, i int, w uint64) { binary.LittleEndian.PutUint64(b[i:i+8], w) }

// stops marks quotes, backslashes, control bytes and bytes that are not ASCII.
func stops(w uint64) uint64 {
	return (w | (w - spaces) | ((w ^ quotes) - ones) | ((w ^ slants) - ones)) & highs
}

// escapes marks quotes, backslashes and control bytes.
func escapes(w uint64) uint64 {
	return (w - spaces | ((w ^ quotes) - ones) | ((w ^ slants) - ones)) &^ w & highs
}

// first is the index of the first marked byte, 8 if there is none.
func first(mask uint64) int { return bits.TrailingZeros64(mask) >> 3 }

// digits reads the leading decimal digits of a word: their number and their value.
func digits(w uint64) (n int, value uint64) {
	v := w ^ zeros
	n = first(((v + 0x7676767676767676) | v) & highs)
	v <<= uint(64 - 8*n)
	v = v*10 + v>>8
	v = (v&0x000000ff000000ff*0x000f424000000064 + v>>16&0x000000ff000000ff*0x0000271000000001) >> 32
	return n, v
}

var tens = [...]uint64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
}

// keyWords is a quoted field name as it stands in compact JSON, ready to be compared in two steps.
type keyWords struct {
	w0, m0, w1, m1 uint64
	n              int
	rest           string // what is beyond 16 bytes
}

func newKeyWords(name string) keyWords {
	quoted := appendQuoted(nil, name)
	k := keyWords{n: len(quoted)}
	var text, mask [16]byte
	copy(text[:], quoted)
	for i := range min(len(quoted), 16) {
		mask[i] = 0xff
	}
	k.w0, k.m0 = load(text[:], 0), load(mask[:], 0)
	k.w1, k.m1 = load(text[:], 8), load(mask[:], 8)
	if len(quoted) > 16 {
		k.rest = string(quoted[16:])
	}
	return k
}

// at says whether the key stands at b[i:]. Near the end of b it may say no although it does; the caller then looks at it the slow way.
func (k *keyWords) at(b []byte, i int) bool {
	if i+16 > len(b) {
		return false
	}
	if (load(b, i)^k.w0)&k.m0|(load(b, i+8)^k.w1)&k.m1 != 0 {
		return false
	}
	return k.rest == "" || (i+k.n <= len(b) && string(b[i+16:i+k.n]) == k.rest)
}

// prefixWords is `,"name":`, ready to be written in two steps.
type prefixWords struct {
	w0, w1 uint64
	text   []byte
}

func newPrefixWords(name string) prefixWords {
	text := append(appendQuoted([]byte{','}, name), ':')
	var short [16]byte
	copy(short[:], text)
	return prefixWords{w0: load(short[:], 0), w1: load(short[:], 8), text: text}
}

// appendQuoted writes a JSON string; for names only, values take the encoder's way.
func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); i++ {
		b = appendEscaped(b, s[i])
	}
	return append(b, '"')
}

const hexDigits = "0123456789abcdef"

// appendEscaped writes one byte of a string, escaped if JSON asks for it.
func appendEscaped(b []byte, c byte) []byte {
	switch {
	case c == '"' || c == '\\':
		return append(b, '\\', c)
	case c >= 0x20:
		return append(b, c)
	case c == '\n':
		return append(b, '\\', 'n')
	case c == '\r':
		return append(b, '\\', 'r')
	case c == '\t':
		return append(b, '\\', 't')
	default:
		return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
	}
}

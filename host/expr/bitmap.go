// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"encoding/binary"
	"math/bits"
)

// A bitmap is a []byte whose bit i (least significant first) belongs to row i, as Arrow lays it out, always from bit 0. Bits past the last
// row are unspecified. A nil validity means "no nulls"; a nil selection means "all rows".

func bitmapBytes(n int) int { return (n + 7) >> 3 }

func bitAt(b []byte, i int) bool { return b[uint(i)>>3]>>(uint(i)&7)&1 != 0 }

func setBit(b []byte, i int) { b[uint(i)>>3] |= 1 << (uint(i) & 7) }

func clearBit(b []byte, i int) { b[uint(i)>>3] &^= 1 << (uint(i) & 7) }

// validAt reads a validity bitmap, nil meaning no nulls.
func validAt(b []byte, i int) bool { return b == nil || bitAt(b, i) }

// word loads bits 64*w .. 64*w+63; bytes past the end read as zero.
func word(b []byte, w int) uint64 {
	at := w * 8
	if at+8 <= len(b) {
		return binary.LittleEndian.Uint64(b[at:])
	}
	var v uint64
	for i := at; i < len(b); i++ {
		v |= uint64(b[i]) << (8 * uint(i-at))
	}
	return v
}

// putWord stores bits 64*w .. 64*w+63 as far as b reaches.
func putWord(b []byte, w int, v uint64) {
	at := w * 8
	if at+8 <= len(b) {
		binary.LittleEndian.PutUint64(b[at:], v)
		return
	}
	for i := at; i < len(b); i++ {
		b[i] = byte(v >> (8 * uint(i-at)))
	}
}

// words is the number of 64-bit steps over n rows.
func words(n int) int { return (n + 63) >> 6 }

// tail masks the rows of the last word.
func tail(n, w int) uint64 {
	if left := n - w*64; left < 64 {
		return 1<<uint(left) - 1
	}
	return ^uint64(0)
}

// validWord reads a word of a bitmap in which nil means all ones.
func validWord(b []byte, w int) uint64 {
	if b == nil {
		return ^uint64(0)
	}
	return word(b, w)
}

// countOnes counts the set bits of the first n.
func countOnes(b []byte, n int) int {
	total := 0
	for w := range words(n) {
		total += bits.OnesCount64(word(b, w) & tail(n, w))
	}
	return total
}

// anySet says whether one of the first n bits is set.
func anySet(b []byte, n int) bool {
	for w := range words(n) {
		if word(b, w)&tail(n, w) != 0 {
			return true
		}
	}
	return false
}

// allSet says whether the first n bits are set.
func allSet(b []byte, n int) bool {
	if b == nil {
		return true
	}
	for w := range words(n) {
		if m := tail(n, w); word(b, w)&m != m {
			return false
		}
	}
	return true
}

// copyBits copies n bits that start at bit offset of src to bit 0 of dst.
func copyBits(dst, src []byte, offset, n int) {
	src = src[offset>>3:]
	shift := uint(offset & 7)
	need := bitmapBytes(n)
	if shift == 0 {
		copy(dst[:need], src)
		return
	}
	for i := range need {
		v := src[i] >> shift
		if i+1 < len(src) {
			v |= src[i+1] << (8 - shift)
		}
		dst[i] = v
	}
}

// fillBits sets the first n bits to v.
func fillBits(dst []byte, n int, v bool) {
	var b byte
	if v {
		b = 0xff
	}
	for i := range dst[:bitmapBytes(n)] {
		dst[i] = b
	}
}

// eachSet calls f for every set bit below n, in order.
func eachSet(b []byte, n int, f func(i int)) {
	for w := range words(n) {
		for v := word(b, w) & tail(n, w); v != 0; v &= v - 1 {
			f(w*64 + bits.TrailingZeros64(v))
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package scan

import (
	"math"
	"strconv"
	"unsafe"
)

// Digits reads one or more decimal digits as at most 64 bits.
func Digits(s []byte) (uint64, bool) {
	if len(s) == 0 {
		return 0, false
	}
	var v uint64
	for _, c := range s {
		d := uint64(c - '0')
		if d > 9 || v > (math.MaxUint64-d)/10 {
			return 0, false
		}
		v = v*10 + d
	}
	return v, true
}

// Float reads the nearest float of a width of 32 or 64 bits: a sign, digits with an optional fraction and exponent, or the words NaN, inf
// and infinity in any case. Beyond the range it is infinite.
func Float(s []byte, bits int) (float64, bool) {
	if !isFloat(s) {
		return 0, false
	}
	// The grammar was checked, so the only error left is the range, and its value is the infinity the rule asks for.
	v, _ := strconv.ParseFloat(textOf(s), bits)
	return v, true
}

func isFloat(s []byte) bool {
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		s = s[1:]
	}
	if isWord(s, "nan") || isWord(s, "inf") || isWord(s, "infinity") {
		return true
	}
	s, whole := skipDigits(s)
	fraction := 0
	if len(s) > 0 && s[0] == '.' {
		s, fraction = skipDigits(s[1:])
	}
	if whole+fraction == 0 {
		return false
	}
	if len(s) > 0 && s[0]|0x20 == 'e' {
		s = s[1:]
		if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
			s = s[1:]
		}
		rest, n := skipDigits(s)
		return n > 0 && len(rest) == 0
	}
	return len(s) == 0
}

func skipDigits(s []byte) ([]byte, int) {
	n := 0
	for n < len(s) && s[n]-'0' <= 9 {
		n++
	}
	return s[n:], n
}

// isWord compares with a lower-case ASCII word, ignoring case.
func isWord(s []byte, lower string) bool {
	if len(s) != len(lower) {
		return false
	}
	for i := range s {
		if s[i]|0x20 != lower[i] {
			return false
		}
	}
	return true
}

// Bool reads the accepted words and their prefixes.
func Bool(s []byte) (value, ok bool) {
	if len(s) == 1 && (s[0] == '0' || s[0] == '1') {
		return s[0] == '1', true
	}
	for n := 1; n <= 4; n++ {
		if isWord(s, "true"[:n]) || n <= 3 && isWord(s, "yes"[:n]) {
			return true, true
		}
	}
	for n := 1; n <= 5; n++ {
		if isWord(s, "false"[:n]) || n <= 2 && isWord(s, "no"[:n]) {
			return false, true
		}
	}
	if isWord(s, "on") {
		return true, true
	}
	return false, isWord(s, "of") || isWord(s, "off")
}

// textOf views bytes as a string without a copy; the bytes must not change while the string lives.
func textOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

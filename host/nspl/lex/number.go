// SPDX-License-Identifier: Apache-2.0

package lex

import (
	"math/bits"
	"strconv"
	"strings"
)

// number reads everything that begins with a digit as one token: `007`, `2.5`, `5e-324`, `1h30m`, `64KiB`.
func (s *scanner) number() Token {
	s.take(isDigit)
	if s.pos+1 < len(s.src) && s.src[s.pos] == '.' && isDigit(s.src[s.pos+1]) {
		s.pos++
		s.take(isDigit)
	}
	s.glued()
	if signed := s.pos + 1; signed < len(s.src) && (s.src[s.pos] == '-' || s.src[s.pos] == '+') && isDigit(s.src[signed]) && isMantissaE(s.text()) {
		s.pos++
		s.take(isWordByte)
	}
	if s.pos < len(s.src) && s.src[s.pos] == '.' && !strings.HasPrefix(s.src[s.pos:], "..") && allBytes(s.text(), isDigit) {
		s.pos++
		return invalid("a number may not end with a dot", "write a digit after the dot, as in 2.0")
	}
	return classify(s.text())
}

// glued takes the letters and digits that follow without space, with the micro sign of `µs`.
func (s *scanner) glued() {
	for {
		s.take(isWordByte)
		if !strings.HasPrefix(s.src[s.pos:], "µ") {
			return
		}
		s.pos += len("µ")
	}
}

func isMantissaE(text string) bool {
	mantissa := strings.TrimRight(text, "eE")
	return len(mantissa) == len(text)-1 && isDecimal(mantissa)
}

// isDecimal says whether text is digits with an optional fraction.
func isDecimal(text string) bool {
	whole, fraction, dotted := strings.Cut(text, ".")
	return whole != "" && allBytes(whole, isDigit) && (!dotted || fraction != "" && allBytes(fraction, isDigit))
}

func classify(text string) Token {
	switch {
	case allBytes(text, isDigit):
		return intToken(text)
	case isDecimal(text):
		return Token{Kind: Float, Text: text}
	case isExponent(text):
		return Token{Kind: Exponent, Text: text}
	case strings.Contains(text, "."):
		return invalid("`"+shorten(text)+"` is no number", "durations and sizes take whole numbers, such as 1500ms in place of 1.5s")
	case strings.Contains(text, "_"):
		return invalid("`"+shorten(text)+"` is no number", "digits are written without separators")
	case len(text) > 1 && text[0] == '0' && text[1]|0x20 == 'x':
		return invalid("`"+shorten(text)+"` is no number", "only decimal numbers are read")
	}
	if isSizeWord(text) {
		return sizeToken(text)
	}
	return durationToken(text)
}

func isExponent(text string) bool {
	i := strings.IndexAny(text, "eE")
	if i < 0 || !isDecimal(text[:i]) {
		return false
	}
	exponent := strings.TrimLeft(text[i+1:], "+-")
	return exponent != "" && len(text)-i-1-len(exponent) <= 1 && allBytes(exponent, isDigit)
}

func intToken(text string) Token {
	v, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return invalid("the number is too large", "the largest number is 18446744073709551615")
	}
	return Token{Kind: Int, Text: text, Value: v}
}

// sizeUnits are written in any case (nspl 1.7).
var sizeUnits = map[string]uint64{
	"b": 1, "kb": 1e3, "kib": 1 << 10, "mb": 1e6, "mib": 1 << 20, "gb": 1e9, "gib": 1 << 30, "tb": 1e12, "tib": 1 << 40,
}

func splitUnit(text string) (digits, unit string) {
	i := 0
	for i < len(text) && isDigit(text[i]) {
		i++
	}
	return text[:i], text[i:]
}

func isSizeWord(text string) bool {
	_, unit := splitUnit(text)
	_, ok := sizeUnits[strings.ToLower(unit)]
	return ok
}

func sizeToken(text string) Token {
	digits, unit := splitUnit(text)
	n, ok := scaled(digits, sizeUnits[strings.ToLower(unit)])
	switch {
	case !ok:
		return invalid("the size `"+shorten(text)+"` is too large", "a size is at most 18446744073709551615 bytes")
	case n == 0:
		return invalid("the size `"+shorten(text)+"` is zero", "a size is positive")
	}
	return Token{Kind: Size, Text: text, Value: n}
}

type durationUnit struct {
	word string
	ns   uint64
	rank int
}

// durationUnits are in descending order; compound durations name each at most once and in this order (nspl 1.6).
var durationUnits = []durationUnit{
	{"d", 86400e9, 0}, {"h", 3600e9, 1}, {"m", 60e9, 2}, {"s", 1e9, 3}, {"ms", 1e6, 4}, {"us", 1e3, 5}, {"µs", 1e3, 5}, {"ns", 1, 6},
}

const (
	unitHint     = "durations end in ns, us, ms, s, m, h or d; sizes in B, KB, KiB, MB, MiB, GB, GiB, TB or TiB"
	compoundHint = "a compound duration names each unit once, the greatest first, as in 1h30m"
)

func durationToken(text string) Token {
	total, rank := uint64(0), -1
	for rest := text; rest != ""; {
		digits, tail := splitUnit(rest)
		end := strings.IndexAny(tail, "0123456789")
		if end < 0 {
			end = len(tail)
		}
		unit, ok := findUnit(tail[:end])
		if !ok {
			return unknownUnit(text, tail[:end])
		}
		if unit.rank <= rank {
			return invalid("`"+shorten(text)+"` is no duration", compoundHint)
		}
		part, fits := scaled(digits, unit.ns)
		sum, carry := bits.Add64(total, part, 0)
		if !fits || carry != 0 {
			return invalid("the duration `"+shorten(text)+"` is too long", "a duration is at most 18446744073709551615 nanoseconds, about 584 years")
		}
		total, rank, rest = sum, unit.rank, tail[end:]
	}
	return Token{Kind: Duration, Text: text, Value: total}
}

func unknownUnit(text, unit string) Token {
	if unit == "" {
		return invalid("`"+shorten(text)+"` is no duration", "the last number has no unit; "+compoundHint)
	}
	if lower, ok := findUnit(strings.ToLower(unit)); ok {
		return invalid("`"+shorten(text)+"` has an unknown unit `"+shorten(unit)+"`", "units of durations are lower-case: `"+lower.word+"`")
	}
	return invalid("`"+shorten(text)+"` has an unknown unit `"+shorten(unit)+"`", unitHint)
}

func findUnit(word string) (durationUnit, bool) {
	for _, u := range durationUnits {
		if u.word == word {
			return u, true
		}
	}
	return durationUnit{}, false
}

// scaled multiplies decimal digits by a unit; false when the product does not fit.
func scaled(digits string, unit uint64) (uint64, bool) {
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		return 0, false
	}
	high, low := bits.Mul64(n, unit)
	return low, high == 0
}

// shorten keeps messages readable whatever the text holds.
func shorten(text string) string {
	const most = 40
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}

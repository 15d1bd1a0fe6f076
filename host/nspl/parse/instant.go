// SPDX-License-Identifier: Apache-2.0

package parse

import (
	"math"
	"strings"
	"time"
)

// flaw is what is wrong with a value and what to do. An empty message means that nothing is.
type flaw struct{ message, hint string }

var (
	notAnInstant = flaw{"the instant is not an RFC 3339 time", "write date, time and offset, such as '2031-05-01T06:00:00Z' or '2031-05-01T08:00:00.25+02:00'"}
	noSuchTime   = flaw{"there is no such date or time", "months, days, hours, minutes and seconds have their usual ranges; there is no second 60"}
	noSuchOffset = flaw{"there is no such offset", "an offset is Z, or -23:59 to +23:59"}
	tooFine      = flaw{"the instant has more than nine fraction digits", "nanoseconds are the finest step, and nothing is rounded: write at most nine"}
	tooFar       = flaw{"the instant does not fit 64-bit nanoseconds since 1970", "instants reach from 1677-09-21T00:12:43.145224192Z to 2262-04-11T23:47:16.854775807Z"}
)

// instant reads an RFC 3339 instant as exact Unix nanoseconds. It refuses what time.Parse lets pass: a comma, a short hour, digits beyond
// the ninth.
func instant(text string) (ns int64, problem flaw) {
	const shape = "dddd-dd-ddTdd:dd:dd"
	if len(text) <= len(shape) || !shaped(text[:len(shape)], shape) {
		return 0, notAnInstant
	}
	fraction, rest := 0, text[len(shape):]
	if rest[0] == '.' {
		digits := len(rest) - 1 - len(strings.TrimLeft(rest[1:], "0123456789"))
		if digits == 0 {
			return 0, notAnInstant
		}
		if digits > 9 {
			return 0, tooFine
		}
		fraction, rest = number((rest[1:1+digits] + "000000000")[:9]), rest[1+digits:]
	}
	offset, problem := zone(rest)
	if problem.message != "" {
		return 0, problem
	}
	year, month, day := number(text[:4]), number(text[5:7]), number(text[8:10])
	hour, minute, second := number(text[11:13]), number(text[14:16]), number(text[17:19])
	t := time.Date(year, time.Month(month), day, hour, minute, second, fraction, time.UTC)
	if t.Year() != year || int(t.Month()) != month || t.Day() != day || t.Hour() != hour || t.Minute() != minute || t.Second() != second {
		return 0, noSuchTime
	}
	t = t.Add(-offset)
	if t.Before(time.Unix(0, math.MinInt64)) || t.After(time.Unix(0, math.MaxInt64)) {
		return 0, tooFar
	}
	return t.UnixNano(), flaw{}
}

// zone reads Z or a signed hh:mm.
func zone(text string) (offset time.Duration, problem flaw) {
	switch {
	case text == "Z" || text == "z":
		return 0, flaw{}
	case len(text) != 6 || text[0] != '+' && text[0] != '-' || !shaped(text[1:], "dd:dd"):
		return 0, notAnInstant
	}
	hour, minute := number(text[1:3]), number(text[4:6])
	if hour > 23 || minute > 59 {
		return 0, noSuchOffset
	}
	offset = time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute
	if text[0] == '-' {
		offset = -offset
	}
	return offset, flaw{}
}

// shaped says whether a text has digits where the shape has d, a T of either case where it has T, and else the same characters.
func shaped(text, shape string) bool {
	if len(text) != len(shape) {
		return false
	}
	for i := range len(shape) {
		switch c := text[i]; {
		case shape[i] == 'd' && c >= '0' && c <= '9', shape[i] == 'T' && c|0x20 == 't', shape[i] != 'd' && c == shape[i]:
		default:
			return false
		}
	}
	return true
}

// number is the value of decimal digits.
func number(digits string) int {
	n := 0
	for i := range len(digits) {
		n = n*10 + int(digits[i]-'0')
	}
	return n
}

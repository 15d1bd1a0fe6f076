// SPDX-License-Identifier: Apache-2.0

package scan

import (
	"math"
	"math/bits"
	"time"
)

// Datetime reads RFC 3339 with an offset, `T` or a blank between date and time, as nanoseconds of UTC. A fraction may have any
// number of digits as long as those below a nanosecond are zero, because a DATETIME cannot hold others.
func Datetime(s []byte) (int64, bool) {
	const layout = "0000-00-00T00:00:00"
	if len(s) < len(layout)+1 {
		return 0, false
	}
	for i := range len(layout) {
		switch c := layout[i]; c {
		case '0':
			if s[i]-'0' > 9 {
				return 0, false
			}
		case 'T':
			if s[i] != 'T' && s[i] != 't' && s[i] != ' ' {
				return 0, false
			}
		default:
			if s[i] != c {
				return 0, false
			}
		}
	}
	year := int(two(s))*100 + int(two(s[2:]))
	month, day := time.Month(two(s[5:])), int(two(s[8:]))
	hour, minute, second := two(s[11:]), two(s[14:]), two(s[17:])
	if month < 1 || month > 12 || day < 1 || day > daysIn(month, year) || hour > 23 || minute > 59 || second > 59 {
		return 0, false
	}
	nanos, rest, ok := fraction(s[len(layout):])
	if !ok {
		return 0, false
	}
	offset, ok := zone(rest)
	if !ok {
		return 0, false
	}
	return join(time.Date(year, month, day, int(hour), int(minute), int(second), 0, time.UTC).Unix()-offset, nanos)
}

// two reads two digits that were checked.
func two(s []byte) int64 { return int64(s[0]-'0')*10 + int64(s[1]-'0') }

func daysIn(month time.Month, year int) int {
	switch month {
	case time.April, time.June, time.September, time.November:
		return 30
	case time.February:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	default:
		return 31
	}
}

// fraction reads `.digits`, if any.
func fraction(s []byte) (nanos int64, rest []byte, ok bool) {
	if len(s) == 0 || s[0] != '.' {
		return 0, s, true
	}
	rest, n := skipDigits(s[1:])
	if n == 0 {
		return 0, nil, false
	}
	scale := int64(100_000_000)
	for _, c := range s[1 : 1+n] {
		nanos += int64(c-'0') * scale
		if scale == 0 && c != '0' {
			return 0, nil, false
		}
		scale /= 10
	}
	return nanos, rest, true
}

// zone reads `Z` or `+hh:mm` as seconds east of UTC.
func zone(s []byte) (int64, bool) {
	if len(s) == 1 && s[0]|0x20 == 'z' {
		return 0, true
	}
	if len(s) != 6 || (s[0] != '+' && s[0] != '-') || s[3] != ':' {
		return 0, false
	}
	for _, i := range [...]int{1, 2, 4, 5} {
		if s[i]-'0' > 9 {
			return 0, false
		}
	}
	hours, minutes := two(s[1:]), two(s[4:])
	if hours > 23 || minutes > 59 {
		return 0, false
	}
	seconds := hours*3600 + minutes*60
	if s[0] == '-' {
		seconds = -seconds
	}
	return seconds, true
}

// join makes nanoseconds of seconds and a fraction, checked: seconds*1e9 alone may leave the range that the sum is in.
func join(seconds, nanos int64) (int64, bool) {
	if seconds < 0 && nanos > 0 {
		seconds++
		nanos -= 1_000_000_000
	}
	magnitude := uint64(seconds)
	if seconds < 0 {
		magnitude = -magnitude
	}
	hi, lo := bits.Mul64(magnitude, 1_000_000_000)
	if hi != 0 || lo > math.MaxInt64 {
		return 0, false
	}
	if seconds < 0 {
		v := -int64(lo) + nanos
		return v, v < 0
	}
	v := int64(lo) + nanos
	return v, seconds == 0 || v >= 0
}

// AppendDatetime writes nanoseconds of UTC as RFC 3339 with `+00:00` and 0, 3, 6 or 9 fraction digits as needed (nspl 3.1).
func AppendDatetime(dst []byte, ns int64) []byte {
	seconds, nanos := ns/1_000_000_000, ns%1_000_000_000
	if nanos < 0 {
		seconds--
		nanos += 1_000_000_000
	}
	dst = time.Unix(seconds, 0).UTC().AppendFormat(dst, "2006-01-02T15:04:05")
	if nanos != 0 {
		width, v := 9, nanos
		for v%1000 == 0 {
			v /= 1000
			width -= 3
		}
		var digit [9]byte
		for i := width - 1; i >= 0; i-- {
			digit[i] = byte('0' + v%10)
			v /= 10
		}
		dst = append(append(dst, '.'), digit[:width]...)
	}
	return append(dst, "+00:00"...)
}

// SPDX-License-Identifier: Apache-2.0

package jsoncodec

import (
	"math/bits"

	"github.com/nervix-go/nervix/host/codec"
)

// maxTimeText is the longest text that is looked at as a time; RFC 3339 needs 35 bytes at nanosecond precision.
const maxTimeText = 256

// datetime reads an RFC 3339 time as nanoseconds from 1970-01-01 UTC.
func (d *decoder) datetime(index, i int) (ns int64, next int) {
	if d.buf[i] != '"' {
		return 0, d.failType(i, index)
	}
	quote, escaped := d.text(i + 1)
	if quote < 0 {
		return 0, -1
	}
	raw := d.buf[i+1 : quote]
	if escaped {
		raw = d.unescaped(raw)
	}
	ns, state := parseTime(raw)
	switch state {
	case timeGood:
		return ns, quote + 1
	case timeFar:
		return 0, d.failNamed(codec.Range, i, index, "is a time outside 1677-09-21 .. 2262-04-11")
	case timeFine:
		return 0, d.failNamed(codec.Range, i, index, "is a time finer than a nanosecond")
	default:
		return 0, d.failNamed(codec.Type, i, index, "is a string that is no RFC 3339 time")
	}
}

// timeState is the outcome of parseTime.
type timeState uint8

const (
	timeGood timeState = iota
	timeBad            // not RFC 3339
	timeFar            // outside signed nanoseconds
	timeFine           // has non-zero digits below the nanosecond
)

// parseTime reads `2006-01-02T15:04:05.999999999+01:00`; T and Z in either case. A leap second is no instant of ours and is refused.
func parseTime(b []byte) (ns int64, state timeState) {
	if len(b) < 20 || len(b) > maxTimeText || b[4] != '-' || b[7] != '-' || b[10]|0x20 != 't' || b[13] != ':' || b[16] != ':' {
		return 0, timeBad
	}
	year := two(b, 0)*100 + two(b, 2)
	month, day, hour, minute, second := two(b, 5), two(b, 8), two(b, 11), two(b, 14), two(b, 17)
	if two(b, 0)|two(b, 2)|month|day|hour|minute|second < 0 {
		return 0, timeBad
	}
	if month < 1 || month > 12 || day < 1 || day > daysIn(year, month) || hour > 23 || minute > 59 || second > 59 {
		return 0, timeBad
	}
	i := 19
	var fraction int64
	state = timeGood
	if b[i] == '.' {
		from := i + 1
		for i++; i < len(b) && b[i]-'0' <= 9; i++ {
			switch {
			case i < from+9:
				fraction = fraction*10 + int64(b[i]-'0')
			case b[i] != '0':
				state = timeFine
			}
		}
		if i == from {
			return 0, timeBad
		}
		for n := i - from; n < 9; n++ {
			fraction *= 10
		}
	}
	offset, ok := parseZone(b[i:])
	if !ok {
		return 0, timeBad
	}
	seconds := days(year, month, day)*86400 + int64(hour)*3600 + int64(minute)*60 + int64(second) - offset
	ns, fits := nanoseconds(seconds, fraction)
	if !fits {
		return 0, timeFar
	}
	return ns, state
}

// parseZone reads `Z` or `+hh:mm` as seconds east of UTC.
func parseZone(b []byte) (seconds int64, ok bool) {
	if len(b) == 1 && b[0]|0x20 == 'z' {
		return 0, true
	}
	if len(b) != 6 || b[3] != ':' || b[0] != '+' && b[0] != '-' {
		return 0, false
	}
	h, m := two(b, 1), two(b, 4)
	if h < 0 || m < 0 || h > 23 || m > 59 {
		return 0, false
	}
	seconds = int64(h)*3600 + int64(m)*60
	if b[0] == '-' {
		seconds = -seconds
	}
	return seconds, true
}

// two reads two digits; negative if they are none.
func two(b []byte, i int) int {
	a, c := b[i]-'0', b[i+1]-'0'
	if a > 9 || c > 9 {
		return -1 << 20
	}
	return int(a)*10 + int(c)
}

// nanoseconds joins seconds and a fraction of 0..999999999 ns, if the sum is in range.
func nanoseconds(seconds, fraction int64) (ns int64, fits bool) {
	if seconds < 0 { // let the fraction point away from zero, so that the lowest second is reached
		seconds, fraction = seconds+1, fraction-1e9
	}
	negative := seconds < 0 || seconds == 0 && fraction < 0
	magnitude := uint64(seconds)
	rest := uint64(fraction)
	if negative {
		magnitude, rest = -magnitude, -rest
	}
	high, low := bits.Mul64(magnitude, 1e9)
	sum, carry := bits.Add64(low, rest, 0)
	switch {
	case high != 0 || carry != 0:
		return 0, false
	case negative:
		return -int64(sum), sum <= 1<<63
	default:
		return int64(sum), sum < 1<<63
	}
}

func leap(year int) bool { return year%4 == 0 && (year%100 != 0 || year%400 == 0) }

func daysIn(year, month int) int {
	switch month {
	case 2:
		if leap(year) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	default:
		return 31
	}
}

// days counts from 1970-01-01 in the proleptic Gregorian calendar. The year is taken to begin in March, so that the leap day is last.
func days(year, month, day int) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	y := int64(year)
	return 365*y + floorDiv(y, 4) - floorDiv(y, 100) + floorDiv(y, 400) + int64((153*(month-3)+2)/5+day-1) - 719468
}

// civil is the inverse of days.
func civil(n int64) (year, month, day int) {
	n += 719468
	era := floorDiv(n, 146097)
	d := n - era*146097 // day of 400 years
	y := (d - d/1460 + d/36524 - d/146096) / 365
	d -= 365*y + y/4 - y/100
	m := (5*d + 2) / 153
	day = int(d-(153*m+2)/5) + 1
	month = int(m) + 3
	year = int(y + era*400)
	if month > 12 {
		month -= 12
		year++
	}
	return year, month, day
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

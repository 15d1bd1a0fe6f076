// SPDX-License-Identifier: Apache-2.0

package guest

import "math"

// Duration is a span of domain time. It may be negative. Arithmetic on instants stops at the ends instead of wrapping.
type Duration int64

// Durations; multiply them by a constant: 5 * guest.Second.
const (
	Nanosecond  Duration = 1
	Microsecond          = 1000 * Nanosecond
	Millisecond          = 1000 * Microsecond
	Second               = 1000 * Millisecond
	Minute               = 60 * Second
	Hour                 = 60 * Minute
)

// Nanoseconds is the duration as a number.
func (d Duration) Nanoseconds() int64 { return int64(d) }

// Time is an instant of domain time, to the nanosecond, between the years 1677 and 2262. Instants are compared with == and Before. No function
// makes one from a number: an instant comes from a column, from Call.Now, from saved state, or lies a Duration after Epoch (W-311).
type Time struct{ sinceEpoch int64 }

// Epoch is 1970-01-01T00:00:00Z.
var Epoch = Time{}

// Add is the instant that lies d later, or the last or first that there is.
func (t Time) Add(d Duration) Time {
	sum := t.sinceEpoch + int64(d)
	switch {
	case d > 0 && sum < t.sinceEpoch:
		sum = math.MaxInt64
	case d < 0 && sum > t.sinceEpoch:
		sum = math.MinInt64
	}
	return Time{sum}
}

// Sub is how long after o the instant lies, or the longest or shortest duration that there is.
func (t Time) Sub(o Time) Duration {
	d := t.sinceEpoch - o.sinceEpoch
	switch {
	case t.sinceEpoch > o.sinceEpoch && d < 0:
		d = math.MaxInt64
	case t.sinceEpoch < o.sinceEpoch && d > 0:
		d = math.MinInt64
	}
	return Duration(d)
}

// Before says whether the instant lies before o.
func (t Time) Before(o Time) bool { return t.sinceEpoch < o.sinceEpoch }

// Timeout is what Call.After gave and OnTimeout gets. The zero value is none. Timeouts are compared with ==; a new instance has none.
type Timeout struct{ handle int64 }

// Set says whether it stands for a timeout.
func (t Timeout) Set() bool { return t.handle > 0 }

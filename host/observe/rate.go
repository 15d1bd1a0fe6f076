// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"math"
	"time"
)

// Rate turns samples of a counter into rates: over the last interval, and averaged over one and fifteen minutes with exponentially falling
// weights. Time comes with the samples, of whatever class the rate is meant in: physical, or that of a domain.
type Rate struct {
	total   uint64
	waited  time.Duration
	samples int
	now     float64
	m1, m15 float64
}

// Sample takes the counter's value, passed after the sample before. Time that did not pass makes no sample of its own.
func (r *Rate) Sample(total uint64, passed time.Duration) {
	if r.samples > 0 {
		if passed += r.waited; passed <= 0 {
			r.waited = passed
			return
		}
		r.now = float64(total-r.total) / passed.Seconds()
		if r.samples == 1 {
			r.m1, r.m15 = r.now, r.now
		}
		r.m1 = blend(r.m1, r.now, passed, time.Minute)
		r.m15 = blend(r.m15, r.now, passed, 15*time.Minute)
	}
	r.total, r.waited = total, 0
	r.samples++
}

func blend(old, now float64, passed, window time.Duration) float64 {
	keep := math.Exp(-passed.Seconds() / window.Seconds())
	return old*keep + now*(1-keep)
}

// Rates gives the rates in messages per second; ok is false before the second sample.
func (r *Rate) Rates() (now, over1m, over15m float64, ok bool) {
	return r.now, r.m1, r.m15, r.samples > 1
}

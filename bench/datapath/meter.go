// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"time"

	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/osclock"
)

// meter counts payload bytes and the time between batches.
type meter struct {
	start, last vtime.Mono
	bytes       int
	gaps        []time.Duration
}

func (m *meter) took(n int) {
	now := osclock.Mono()
	if m.bytes == 0 {
		m.start, m.last = now, now // the first batch only starts the clock: process start is not the data path
		m.bytes = 1
		return
	}
	m.bytes += n
	m.gaps = append(m.gaps, now.Sub(m.last))
	m.last = now
}

func (m *meter) result() result {
	if len(m.gaps) == 0 {
		return result{}
	}
	slices.Sort(m.gaps)
	at := func(q float64) float64 {
		return float64(m.gaps[int(q*float64(len(m.gaps)-1))]) / 1e3
	}
	return result{float64(m.bytes) / 1e6 / m.last.Sub(m.start).Seconds(), at(0.5), at(0.99)}
}

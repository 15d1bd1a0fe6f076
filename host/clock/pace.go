// SPDX-License-Identifier: Apache-2.0

package clock

// Pace is the cadence of a paced domain, in nanoseconds of logical time. The time rate does not scale it (C-018).
type Pace struct {
	// Period separates ticks and admission centres; at least 1.
	Period uint64
	// Skew is how far an event may lie from a centre, inclusive.
	Skew uint64
}

// SPDX-License-Identifier: Apache-2.0

package owner

import "math/bits"

// Depths is a histogram of the buffer depth after each admission, in powers of two, and the greatest depth seen.
type Depths struct {
	Buckets [65]uint64 // bucket i counts depths d with bits.Len64(d) == i
	Count   uint64
	Max     uint64
}

// Observe counts one admission.
func (d *Depths) Observe(depth uint64) {
	d.Buckets[bits.Len64(depth)]++
	d.Count++
	d.Max = max(d.Max, depth)
}

// Since is the part of d that came after an earlier copy of it; the greatest depth stays that of all.
func (d Depths) Since(before Depths) Depths {
	for i := range d.Buckets {
		d.Buckets[i] -= before.Buckets[i]
	}
	d.Count -= before.Count
	return d
}

// Quantile is an upper bound of the depth below which the given share (0..1) of the admissions stayed, 0 when there were none.
func (d *Depths) Quantile(q float64) uint64 {
	if d.Count == 0 {
		return 0
	}
	want := uint64(q * float64(d.Count))
	var seen uint64
	for i, n := range d.Buckets {
		if seen += n; n > 0 && seen >= want {
			return min(d.Max, 1<<i-1)
		}
	}
	return d.Max
}

// SPDX-License-Identifier: Apache-2.0

package engine

// quiet says that nothing admitted is left.
func (x *execution) quiet() bool { return settled(x.places(), x.admissions) }

// settled is one observation (data-plane 9): what the relays admitted, then the places in the order of the path, relays before the nodes that
// read them, then the admissions again. Every place counts a row before the place before it lets go, so a row could only hide by entering
// a relay behind the look, and then the admissions moved.
func settled(places []func() (busy bool), admissions func() uint64) bool {
	before := admissions()
	for _, busy := range places {
		if busy() {
			return false
		}
	}
	return before == admissions()
}

// places are where rows may be: ingestors, relays, junctions, WASM processors, emitters.
func (x *execution) places() []func() bool {
	var all []func() bool
	for _, i := range x.ingestors {
		all = append(all, i.Busy)
	}
	for _, r := range x.relays {
		all = append(all, func() bool {
			o := r.Observe()
			return o.Depth > 0 || o.Waiting > 0
		})
	}
	for _, j := range x.junctions {
		all = append(all, j.Node().Busy)
	}
	for _, p := range x.guests {
		all = append(all, p.Busy)
	}
	for _, m := range x.emitters {
		all = append(all, m.Busy)
	}
	return all
}

// admissions is the number of batches that all relays admitted so far.
func (x *execution) admissions() (n uint64) {
	for _, r := range x.relays {
		n += r.Observe().Batches
	}
	return n
}

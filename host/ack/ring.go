// SPDX-License-Identifier: Apache-2.0

package ack

// delivery is one source delivery of a window. It is eight bytes, because there may be a hundred thousand of them.
type delivery struct {
	pending int32
	attempt uint16
	state   state
	length  uint8 // of its position
}

type state uint8

const (
	filling  state = iota // rows of the attempt are still being counted
	sealed                // all rows are counted, some are under way
	failed                // waits for its backoff
	awaiting              // the source was asked for it again
	settled               // succeeded
)

// ring is a queue of deliveries numbered by arrival, with their positions beside them. It grows by doubling and never moves otherwise.
type ring struct {
	base      uint64 // arrival number of the oldest
	len       int
	items     []delivery // a power of two
	positions []byte     // stride bytes an item
	stride    int
}

const firstItems = 256

func (r *ring) holds(n uint64) bool { return n >= r.base && n-r.base < uint64(r.len) }

func (r *ring) at(n uint64) *delivery { return &r.items[n&uint64(len(r.items)-1)] }

func (r *ring) position(n uint64) []byte {
	at := int(n&uint64(len(r.items)-1)) * r.stride
	return r.positions[at : at+int(r.at(n).length)]
}

// push appends a delivery and returns its arrival number.
func (r *ring) push(position []byte) uint64 {
	if r.len == len(r.items) || len(position) > r.stride {
		r.grow(len(position))
	}
	n := r.base + uint64(r.len)
	r.len++
	*r.at(n) = delivery{length: uint8(len(position))}
	copy(r.positions[int(n&uint64(len(r.items)-1))*r.stride:], position)
	return n
}

// grow doubles the ring when it is full, and widens the positions when one is longer than all before.
func (r *ring) grow(length int) {
	next := ring{base: r.base, len: r.len, stride: max(r.stride, length), items: r.items}
	size := len(r.items)
	if r.len == size {
		size = max(firstItems, 2*size)
	}
	next.items = make([]delivery, size)
	next.positions = make([]byte, size*next.stride)
	for n := r.base; r.holds(n); n++ {
		*next.at(n) = *r.at(n)
		copy(next.positions[int(n&uint64(size-1))*next.stride:], r.position(n))
	}
	*r = next
}

// drop forgets the oldest count deliveries.
func (r *ring) drop(count int) {
	r.base += uint64(count)
	r.len -= count
}

// SPDX-License-Identifier: Apache-2.0

package ack

import (
	"time"

	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// Begin registers a block whose rows are on their way; its Deliveries are tokens of this window.
func (w *Window) Begin(b *Block) {
	b.slot = len(w.live)
	w.live = append(w.live, b)
}

// Failed takes up the failures a block reported since the last call.
func (w *Window) Failed(b *Block, now vtime.Mono) {
	newest := b.Failures()
	for f := newest; f != nil && f != b.seen; f = f.Next() {
		for i := range f.Members.Len() {
			w.Fail(b.Deliveries[f.Members.At(i)], f.Reason, true, now)
		}
	}
	b.seen = newest
}

// Settled ends a block: each member that was not failed counts for its delivery.
func (w *Window) Settled(b *Block, now vtime.Mono) {
	w.Failed(b, now)
	w.forget(b)
	for _, token := range b.Deliveries {
		d := w.find(token)
		if d == nil {
			continue
		}
		d.pending--
		w.settleIfDone(d, token>>attemptBits)
	}
}

func (w *Window) forget(b *Block) {
	if b.slot >= len(w.live) || w.live[b.slot] != b {
		return // of an epoch that ended
	}
	last := len(w.live) - 1
	w.live[b.slot] = w.live[last]
	w.live[b.slot].slot = b.slot
	w.live[last] = nil
	w.live = w.live[:last]
}

// Silent fails the deliveries of every block that gave no sign of life within ACK TIMEOUT; reason makes the error. The blocks are forgotten:
// what still resolves them later resolves nothing.
func (w *Window) Silent(now vtime.Mono, reason func(silence time.Duration) error) int {
	expired := 0
	for i := 0; i < len(w.live); {
		b := w.live[i]
		silence := now.Sub(vtime.MonoFromNS(b.TouchedNS()))
		if silence < w.timeout {
			i++
			continue
		}
		expired++
		err := reason(silence)
		w.forget(b)
		for _, token := range b.Deliveries {
			w.Fail(token, err, false, now)
		}
	}
	return expired
}

// InFlight is the number of blocks on their way.
func (w *Window) InFlight() int { return len(w.live) }

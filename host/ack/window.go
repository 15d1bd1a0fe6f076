// SPDX-License-Identifier: Apache-2.0

package ack

import (
	"time"

	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// MaxPositionBytes is the longest position a window keeps.
const MaxPositionBytes = 64

// BlockedAfter is the number of failed attempts on row errors after which the oldest delivery blocks its source (nspl 14.6).
const BlockedAfter = 3

// Window is the deliveries of one source between arrival and durable position, in order of arrival. It is a pure state machine that the
// ingestor's lane owns: plain integers and no lock.
//
// A delivery succeeds when its last row settled and none failed. It fails with the first failed row, or when it gave no sign of life
// within ACK TIMEOUT; then it is due for redelivery after its backoff. Positions advance over the contiguous prefix of succeeded
// deliveries only (K02). A token names one attempt at one delivery, so nothing of an earlier attempt or epoch can resolve a later one.
type Window struct {
	timeout    time.Duration
	backoff    time.Duration
	maxBackoff time.Duration

	ring     ring
	volatile int // deliveries beyond the durable position, settled ones included
	open     int // deliveries that have not succeeded

	trouble  map[uint64]*trouble // of deliveries that failed at least once, by arrival number
	rejected map[string]uint64   // position -> arrival number of deliveries the source was asked for again
	retries  []uint64            // arrival numbers that failed and wait for their backoff
	live     []*Block
	last     [MaxPositionBytes]byte
}

// trouble is what only a failed delivery needs.
type trouble struct {
	attempts  int
	rowErrors int // attempts that failed on a row
	retryAt   vtime.Mono
	reason    error
}

// NewWindow makes an empty window. backoff doubles up to maxBackoff with each failed attempt.
func NewWindow(timeout, backoff, maxBackoff time.Duration) *Window {
	return &Window{
		timeout: timeout, backoff: backoff, maxBackoff: maxBackoff, trouble: make(map[uint64]*trouble), rejected: make(map[string]uint64),
	}
}

// Arrive takes up a delivery at a position and returns the token of its attempt. again is true for a redelivery, which uses no new place.
func (w *Window) Arrive(position []byte) (token uint64, again bool) {
	if len(w.rejected) > 0 {
		if n, ok := w.rejected[string(position)]; ok {
			delete(w.rejected, string(position))
			d := w.ring.at(n)
			d.attempt++
			d.pending, d.state = 0, filling
			return tokenOf(n, d.attempt), true
		}
	}
	w.volatile++
	w.open++
	return tokenOf(w.ring.push(position), 0), false
}

// attemptBits are the low bits of a token, which number the attempt. A delivery would have to fail 65,536 times, at its greatest backoff
// for most of them, before an attempt could be mistaken for another.
const attemptBits = 16

// Attempt is the number of the attempt that a token names: 0 for the first delivery.
func Attempt(token uint64) int { return int(token & (1<<attemptBits - 1)) }

func tokenOf(n uint64, attempt uint16) uint64 { return n<<attemptBits | uint64(attempt) }

// Expect counts one row of the attempt that is on its way.
func (w *Window) Expect(token uint64) {
	if d := w.find(token); d != nil {
		d.pending++
	}
}

// Seal says that all rows of the attempt were counted; a delivery without rows on their way has succeeded.
func (w *Window) Seal(token uint64) {
	if d := w.find(token); d != nil && d.state == filling {
		d.state = sealed
		w.settleIfDone(d, token>>attemptBits)
	}
}

func (w *Window) settleIfDone(d *delivery, n uint64) {
	if d.pending != 0 || d.state != sealed {
		return
	}
	d.state = settled
	w.open--
	if len(w.trouble) > 0 {
		delete(w.trouble, n)
	}
}

// Fail fails one attempt. rowError says that a row was at fault rather than a holder that was lost.
func (w *Window) Fail(token uint64, reason error, rowError bool, now vtime.Mono) {
	d := w.find(token)
	if d == nil || (d.state != filling && d.state != sealed) {
		return
	}
	d.state = failed
	n := token >> attemptBits
	t := w.trouble[n]
	if t == nil {
		t = &trouble{}
		w.trouble[n] = t
	}
	t.attempts++
	t.reason = reason
	if rowError {
		t.rowErrors++
	}
	t.retryAt = now.Add(w.delay(t.attempts))
	w.retries = append(w.retries, n)
}

func (w *Window) delay(attempts int) time.Duration {
	d := w.backoff
	for i := 1; i < attempts && d < w.maxBackoff; i++ {
		d *= 2
	}
	return min(d, w.maxBackoff)
}

// find gives the delivery of a token, nil when the token's attempt is over.
func (w *Window) find(token uint64) *delivery {
	n := token >> attemptBits
	if !w.ring.holds(n) {
		return nil
	}
	d := w.ring.at(n)
	if d.attempt != uint16(token) {
		return nil
	}
	return d
}

// Advance drops the succeeded prefix and returns the position of its last delivery and its length. The position slice is valid until the
// next call of any method.
func (w *Window) Advance() (position []byte, count int) {
	for count < w.ring.len && w.ring.at(w.ring.base+uint64(count)).state == settled {
		count++
	}
	if count == 0 {
		return nil, 0
	}
	n := copy(w.last[:], w.ring.position(w.ring.base+uint64(count)-1))
	w.ring.drop(count)
	return w.last[:n], count
}

// Durable frees the places of deliveries whose position has become durable.
func (w *Window) Durable(count int) { w.volatile -= count }

// Volatile is the number of deliveries beyond the durable position, settled or not.
func (w *Window) Volatile() int { return w.volatile }

// Unresolved is the number of deliveries that have not succeeded.
func (w *Window) Unresolved() int { return w.open }

// Due returns the positions whose backoff is over; the source is to be asked for them again. They stay awaited until they arrive.
func (w *Window) Due(now vtime.Mono) [][]byte {
	if len(w.retries) == 0 {
		return nil
	}
	var out [][]byte
	kept := w.retries[:0]
	for _, n := range w.retries {
		if !w.ring.holds(n) {
			continue
		}
		if now.Before(w.trouble[n].retryAt) {
			kept = append(kept, n)
			continue
		}
		w.ring.at(n).state = awaiting
		position := append([]byte(nil), w.ring.position(n)...)
		w.rejected[string(position)] = n
		out = append(out, position)
	}
	w.retries = kept
	return out
}

// NextDue is the earliest end of a backoff; ok is false when nothing waits for one.
func (w *Window) NextDue() (at vtime.Mono, ok bool) {
	for _, n := range w.retries {
		if !w.ring.holds(n) {
			continue
		}
		if t := w.trouble[n]; !ok || t.retryAt.Before(at) {
			at, ok = t.retryAt, true
		}
	}
	return at, ok
}

// Oldest describes the delivery that holds the position back.
type Oldest struct {
	Position []byte
	Attempts int
	Reason   error
	// Blocked says that it failed BlockedAfter times on row errors (nspl 14.6).
	Blocked bool
}

// Oldest gives the oldest delivery that has not succeeded; ok is false when there is none.
func (w *Window) Oldest() (o Oldest, ok bool) {
	for n := w.ring.base; w.ring.holds(n); n++ {
		if w.ring.at(n).state == settled {
			continue
		}
		t := w.trouble[n]
		if t == nil {
			return Oldest{}, true
		}
		return Oldest{append([]byte(nil), w.ring.position(n)...), t.attempts, t.reason, t.rowErrors >= BlockedAfter}, true
	}
	return Oldest{}, false
}

// Reset drops every delivery without judging it: its epoch ended. Tokens handed out before resolve nothing any more.
func (w *Window) Reset() {
	w.ring.drop(w.ring.len)
	w.volatile, w.open = 0, 0
	w.retries = nil
	clear(w.trouble)
	clear(w.rejected)
	w.live = nil
}

// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"time"

	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// The grain of a Window and its length.
const (
	windowGrain = 15 * time.Second
	windowSpan  = 15 * time.Minute
	windowSlots = int(windowSpan/windowGrain) + 1
)

// Window keeps snapshots of something that only grows, a histogram for example, so that the part of the last one or fifteen minutes is the difference of
// two of them.
type Window[S any] struct {
	slots [windowSlots]slot[S]
	next  int
	len   int
}

type slot[S any] struct {
	at    vtime.Mono
	value S
}

// Sample keeps a snapshot if the last one is at least one grain old.
func (w *Window[S]) Sample(value S, at vtime.Mono) {
	if w.len > 0 && at.Sub(w.slots[(w.next+windowSlots-1)%windowSlots].at) < windowGrain {
		return
	}
	w.slots[w.next] = slot[S]{at, value}
	w.next = (w.next + 1) % windowSlots
	w.len = min(w.len+1, windowSlots)
}

// Since gives the newest snapshot that is at least span old, else the oldest there is; ok is false without any.
func (w *Window[S]) Since(span time.Duration, now vtime.Mono) (value S, ok bool) {
	for i := 1; i <= w.len; i++ {
		s := &w.slots[(w.next+windowSlots-i)%windowSlots]
		value, ok = s.value, true
		if now.Sub(s.at) >= span {
			break
		}
	}
	return value, ok
}

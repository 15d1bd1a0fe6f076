// SPDX-License-Identifier: Apache-2.0

package authority

import (
	"container/heap"

	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// timer is an armed moment of the machine. It is embedded in what it wakes; the zero timer is disarmed.
type timer struct {
	at    vtime.Mono
	order uint64 // of arming: equal moments fire in this order, so that the same events give the same effects
	fire  func(Now)
	index int // 1-based place in the heap; 0 when disarmed
}

// timers is the heap of armed timers, the next one first.
type timers struct {
	armed []*timer
	count uint64
}

// arm sets the timer; an armed one moves.
func (h *timers) arm(t *timer, at vtime.Mono, fire func(Now)) {
	h.count++
	t.at, t.order, t.fire = at, h.count, fire
	if t.index > 0 {
		heap.Fix(h, t.index-1)
		return
	}
	heap.Push(h, t)
}

func (h *timers) disarm(t *timer) {
	if t.index > 0 {
		heap.Remove(h, t.index-1)
	}
}

// next is the earliest moment.
func (h *timers) next() (vtime.Mono, bool) {
	if len(h.armed) == 0 {
		return vtime.Mono{}, false
	}
	return h.armed[0].at, true
}

// run fires what is due.
func (h *timers) run(now Now) {
	for len(h.armed) > 0 && !now.Mono.Before(h.armed[0].at) {
		t := heap.Pop(h).(*timer)
		t.fire(now)
	}
}

// Len implements heap.Interface.
func (h *timers) Len() int { return len(h.armed) }

// Less implements heap.Interface.
func (h *timers) Less(i, j int) bool {
	a, b := h.armed[i], h.armed[j]
	if a.at != b.at {
		return a.at.Before(b.at)
	}
	return a.order < b.order
}

// Swap implements heap.Interface.
func (h *timers) Swap(i, j int) {
	h.armed[i], h.armed[j] = h.armed[j], h.armed[i]
	h.armed[i].index, h.armed[j].index = i+1, j+1
}

// Push implements heap.Interface.
func (h *timers) Push(x any) {
	t := x.(*timer)
	h.armed = append(h.armed, t)
	t.index = len(h.armed)
}

// Pop implements heap.Interface.
func (h *timers) Pop() any {
	last := len(h.armed) - 1
	t := h.armed[last]
	h.armed[last] = nil
	h.armed = h.armed[:last]
	t.index = 0
	return t
}

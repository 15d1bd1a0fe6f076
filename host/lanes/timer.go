// SPDX-License-Identifier: Apache-2.0

package lanes

import (
	"container/heap"
	"time"

	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// Timer is an armed deadline of a lane. It is set and stopped on its lane only; the zero Timer is disarmed. A Timer is embedded in what it
// wakes, so arming allocates nothing.
type Timer struct {
	at    vtime.Mono
	task  Task
	index int // 1-based place in the heap; 0 when disarmed
}

// Armed says whether the timer is set.
func (t *Timer) Armed() bool { return t.index > 0 }

// Arm sets the timer to run task after d of physical time; an armed timer moves.
func (l *Lane) Arm(t *Timer, d time.Duration, task Task) {
	t.at, t.task = l.clock().Add(d), task
	if t.index > 0 {
		heap.Fix(&l.timers, t.index-1)
		return
	}
	heap.Push(&l.timers, t)
}

// Disarm stops the timer.
func (l *Lane) Disarm(t *Timer) {
	if t.index > 0 {
		heap.Remove(&l.timers, t.index-1)
	}
}

// fire runs what is due. gone says that another goroutine has the lane now.
func (l *Lane) fire() (gone bool) {
	for len(l.timers) > 0 && !l.now.Before(l.timers[0].at) {
		t := heap.Pop(&l.timers).(*Timer)
		t.task.Run(l)
		if l.handOver() {
			return true
		}
	}
	return false
}

type timerHeap []*Timer

func (h timerHeap) Len() int           { return len(h) }
func (h timerHeap) Less(i, j int) bool { return h[i].at.Before(h[j].at) }
func (h timerHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i+1, j+1
}

func (h *timerHeap) Push(x any) {
	t := x.(*Timer)
	*h = append(*h, t)
	t.index = len(*h)
}

func (h *timerHeap) Pop() any {
	old := *h
	t := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	t.index = 0
	return t
}

// SPDX-License-Identifier: Apache-2.0

package sim

import "container/heap"

// event is something that happens at a moment of simulated time.
type event struct {
	at    int64 // nanoseconds since the start of the run
	order uint64
	what  string
	do    func()
}

// queue is the heap of events to come; events of one moment happen in the order in which they were added.
type queue struct {
	events []event
	added  uint64
}

func (q *queue) add(at int64, what string, do func()) {
	q.added++
	heap.Push(q, event{at, q.added, what, do})
}

func (q *queue) take() event { return heap.Pop(q).(event) }

// Len implements heap.Interface.
func (q *queue) Len() int { return len(q.events) }

// Less implements heap.Interface.
func (q *queue) Less(i, j int) bool {
	a, b := &q.events[i], &q.events[j]
	if a.at != b.at {
		return a.at < b.at
	}
	return a.order < b.order
}

// Swap implements heap.Interface.
func (q *queue) Swap(i, j int) { q.events[i], q.events[j] = q.events[j], q.events[i] }

// Push implements heap.Interface.
func (q *queue) Push(x any) { q.events = append(q.events, x.(event)) }

// Pop implements heap.Interface.
func (q *queue) Pop() any {
	last := len(q.events) - 1
	e := q.events[last]
	q.events[last] = event{}
	q.events = q.events[:last]
	return e
}

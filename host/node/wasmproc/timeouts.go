// SPDX-License-Identifier: Apache-2.0

package wasmproc

import (
	"container/heap"
	"fmt"
	"time"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/lanes"
)

// clockRetry is the pause before a deadline is looked at again while the domain clock cannot be read.
const clockRetry = 50 * time.Millisecond

// timeouts are those of one instance, earliest first. Deadlines are domain time; the lane's timer only guesses when they come (W-233, W-235).
type timeouts struct {
	heap  deadlines
	timer lanes.Timer
	due   bool // the earliest was reached
}

type deadline struct {
	at     vtime.Logical
	handle int64
}

// deadlines is a heap; equal instants go by handle.
type deadlines []deadline

func (d deadlines) Len() int { return len(d) }
func (d deadlines) Less(i, j int) bool {
	return d[i].at.Before(d[j].at) || d[i].at == d[j].at && d[i].handle < d[j].handle
}
func (d deadlines) Swap(i, j int) { d[i], d[j] = d[j], d[i] }
func (d *deadlines) Push(x any)   { *d = append(*d, x.(deadline)) }
func (d *deadlines) Pop() any {
	last := (*d)[len(*d)-1]
	*d = (*d)[:len(*d)-1]
	return last
}

// ask takes up what the guest asked for in an operation at now. A delay that is not positive is due at once, one beyond the end of time never ends.
func (s *state) ask(now vtime.Logical, asked []Timeout) error {
	if len(s.timeouts.heap)+len(asked) > maxTimeouts {
		return fault.New(fault.WasmOutput, "wasmproc.ask", ident.Ref{}, fmt.Sprintf("the guest waits for more than %d timeouts", maxTimeouts), nil)
	}
	for _, t := range asked {
		at, err := now.Add(time.Duration(max(0, t.Delay)))
		if err != nil {
			at = vtime.LogicalFromNS(1<<63 - 1)
		}
		heap.Push(&s.timeouts.heap, deadline{at, t.Handle})
	}
	return nil
}

// arm sets the timer for the earliest deadline, or notes that it was reached.
func (s *state) arm(l *lanes.Lane) {
	t := &s.timeouts
	if t.due || len(t.heap) == 0 {
		l.Disarm(&t.timer)
		return
	}
	left, err := s.p.config.Clock.Until(t.heap[0].at)
	if err != nil {
		left = clockRetry
	}
	if left <= 0 {
		t.due = true
		l.Disarm(&t.timer)
		return
	}
	l.Arm(&t.timer, left, (*alarm)(s))
}

// alarm is what the timer runs; it is the state itself, so that arming allocates nothing.
type alarm state

// Run implements lanes.Task.
func (a *alarm) Run(l *lanes.Lane) {
	s := (*state)(a)
	if s.closed {
		return
	}
	s.arm(l)
	if s.timeouts.due && s.m.free() {
		s.turn(l)
	}
}

// nextDue takes the deadline that was reached.
func (s *state) nextDue() (handle int64) {
	s.timeouts.due = false
	return heap.Pop(&s.timeouts.heap).(deadline).handle
}

// forget drops all timeouts with their instance (W-238).
func (s *state) forget(l *lanes.Lane) {
	l.Disarm(&s.timeouts.timer)
	s.timeouts.heap, s.timeouts.due = nil, false
}

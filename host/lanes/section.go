// SPDX-License-Identifier: Apache-2.0

package lanes

import (
	"sync/atomic"
	"time"

	"github.com/nervix-go/nervix/host/osclock"
)

// A section costs an atomic write at its beginning and one at its end; no clock is read and nobody is told. A watcher, which runs only while
// there are sections, looks every watchEvery at the turns of all lanes. A lane that it finds in the same section twice has been there for one to two
// periods: it takes the lane away, by a compare-and-swap against the end of the section, and gives it to a spare goroutine. The loser of that race
// knows: a task whose lane went on waits in Leave until it gets the lane back, before any further task of the lane begins.
//
// Go's scheduler does the same with processors and system calls.
const (
	watchEvery = time.Millisecond
	// lingers is how many periods without any section the watcher stays, so that a steady stream of short sections does not start it over and over.
	lingers = 16
	// maxAway bounds the goroutines, and threads, that sit in long sections. Beyond it lanes wait for their sections.
	maxAway = 64
)

// Section is a stay of a task outside of its lane.
type Section struct {
	lane *Lane
	turn uint64
	gate *Gate
}

// Gate counts the long sections of one owner, which can thus bound its own.
type Gate struct{ away atomic.Int32 }

// Away is the number of sections of the gate whose lane went on without them.
func (g *Gate) Away() int { return int(g.away.Load()) }

// Enter begins a section of the running task: until Leave it must not touch the lane or anything that belongs to it, because another task may
// run there. gate may be nil. It costs some tens of nanoseconds and allocates nothing.
func (l *Lane) Enter(gate *Gate) Section {
	l.gate = gate
	turn := l.turn.Load() + 1
	l.turn.Store(turn)
	if !l.exec.watching.Load() {
		l.exec.watch()
	}
	return Section{lane: l, turn: turn, gate: gate}
}

// Leave ends the section; the task has its lane again when it returns. away says that the lane had gone on, so other tasks of the lane, also
// timers, may have run since Enter.
func (s Section) Leave() (away bool) {
	if s.lane.turn.CompareAndSwap(s.turn, s.turn+1) {
		return false
	}
	s.rejoin()
	return true
}

// rejoin waits for the lane.
func (s Section) rejoin() {
	l := s.lane
	mine := make(chan struct{})
	l.inbox.Lock()
	l.inbox.returns = append(l.inbox.returns, mine)
	l.returning.Add(1)
	l.rouse()
	<-mine
	l.exec.away.Add(-1)
	if s.gate != nil {
		s.gate.away.Add(-1)
	}
	l.now = osclock.Mono()
	l.yielded = l.now
}

// handOver gives the lane to the task that waits longest to come back. gone says that it did: the caller does not have the lane any more.
func (l *Lane) handOver() (gone bool) {
	return l.returning.Load() > 0 && l.passOn()
}

func (l *Lane) passOn() bool {
	l.inbox.Lock()
	next := l.inbox.returns[0]
	l.inbox.returns = l.inbox.returns[1:]
	l.inbox.away--
	l.returning.Add(-1)
	l.inbox.Unlock()
	close(next)
	return true
}

// Away is the number of tasks that are in a section while their lane went on.
func (e *Executor) Away() int { return int(e.away.Load()) }

// watch starts the watcher unless it runs. It is called on a lane, so Close waits for the watcher too.
func (e *Executor) watch() {
	if !e.watching.CompareAndSwap(false, true) {
		return
	}
	e.done.Add(1)
	go func() {
		defer e.done.Done()
		e.watcher()
	}()
}

func (e *Executor) watcher() {
	seen := make([]uint64, len(e.lanes))
	for i, l := range e.lanes {
		seen[i] = l.turn.Load()
	}
	alarm := osclock.NewAlarm(watchEvery)
	defer alarm.Stop()
	for idle := 0; ; {
		<-alarm.C()
		idle++
		for i, l := range e.lanes {
			turn := l.turn.Load()
			switch {
			case turn != seen[i]:
				idle, seen[i] = 0, turn
			case turn&1 == 1:
				idle = 0
				e.takeAway(l, turn)
			}
		}
		if (idle > lingers || idle > 0 && e.closing.Load()) && e.unwatch() {
			return
		}
		alarm.Reset(watchEvery)
	}
}

// unwatch ends the watcher: register first, then look once more. A section that begins in between finds no watcher and starts one.
func (e *Executor) unwatch() bool {
	e.watching.Store(false)
	for _, l := range e.lanes {
		if l.turn.Load()&1 == 1 {
			return !e.watching.CompareAndSwap(false, true)
		}
	}
	return true
}

// takeAway gives the lane of a long section to a spare goroutine. If a task waits to come back, that one gets it first, and the spare ends.
func (e *Executor) takeAway(l *Lane, turn uint64) {
	l.inbox.Lock()
	if e.away.Load() >= maxAway && len(l.inbox.returns) == 0 || !l.turn.CompareAndSwap(turn, turn+1) {
		l.inbox.Unlock()
		return // too many are away, or the section has just ended
	}
	l.inbox.away++
	l.inbox.Unlock()
	e.away.Add(1)
	if l.gate != nil {
		l.gate.away.Add(1)
	}
	e.start(l)
}

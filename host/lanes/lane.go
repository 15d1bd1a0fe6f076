// SPDX-License-Identifier: Apache-2.0

package lanes

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/osclock"
)

// yieldAfter bounds how long a lane runs without letting other goroutines have its processor: Raft ticks share it (probes.md B3.4).
const yieldAfter = time.Millisecond

// Lane is one worker with its inbox and timers. At any time one goroutine has the lane; which one may change at the beginning of a task and
// inside a Section, nowhere else.
type Lane struct {
	exec  *Executor
	index int
	wake  chan struct{}

	inbox struct {
		sync.Mutex
		tasks    []Task
		sleeping bool
		stopping bool
		away     int             // tasks whose section is not over and which will want the lane back
		returns  []chan struct{} // those of them whose section is over
	}
	returning atomic.Int32 // len(inbox.returns), for a look without the lock

	// turn counts the beginnings and ends of sections: odd while the goroutine that has the lane is in one.
	turn atomic.Uint64
	gate *Gate // of that section; written before turn is

	// Below: touched by the goroutine that has the lane only.
	timers  timerHeap
	now     vtime.Mono
	yielded vtime.Mono
	round   []Task // taken from the inbox; the next one is round[at]
	at      int
	runs    atomic.Uint64
}

// Index is the number of the lane in its executor.
func (l *Lane) Index() int { return l.index }

// Post appends a task; it may be called from any goroutine.
func (l *Lane) Post(t Task) {
	l.inbox.Lock()
	if l.inbox.stopping {
		l.inbox.Unlock()
		return
	}
	l.inbox.tasks = append(l.inbox.tasks, t)
	l.rouse()
}

// rouse wakes the lane if it sleeps. It is called with the inbox locked and unlocks it.
func (l *Lane) rouse() {
	wake := l.inbox.sleeping
	l.inbox.sleeping = false
	l.inbox.Unlock()
	if wake {
		l.wake <- struct{}{}
	}
}

// Tasks is the number of tasks run so far.
func (l *Lane) Tasks() uint64 { return l.runs.Load() }

// Now is the monotonic time at which the present round of tasks began; it is at most yieldAfter old.
func (l *Lane) Now() vtime.Mono { return l.now }

// clock reads the time for arming: the start of the round may be a millisecond old, which a 100 microsecond window would feel.
func (l *Lane) clock() vtime.Mono { return osclock.Mono() }

func (l *Lane) stop() {
	l.inbox.Lock()
	if l.inbox.stopping {
		l.inbox.Unlock()
		return
	}
	l.inbox.stopping = true
	l.rouse()
}

// loop works the lane until it has stopped, or until another goroutine has the lane. Whoever gets the lane back goes on in the middle of its own loop;
// so nothing of the lane is kept in variables over a task.
func (l *Lane) loop() {
	alarm := osclock.NewAlarm(time.Hour)
	defer alarm.Stop()
	for {
		// 1. A task that comes back from its section goes on at once.
		if l.handOver() {
			return
		}
		// 2. Due timers: deadlines do not queue behind data.
		l.now = osclock.Mono()
		if l.fire() {
			return
		}
		// 3. Take everything posted since the last round.
		if l.at == len(l.round) && !l.take() {
			return
		}
		// 4. Run the tasks, yielding at least every millisecond.
		if l.at < len(l.round) {
			if l.work() || l.yield(l.now) {
				return
			}
			continue
		}
		// 5. Sleep until a task or a timer.
		if !l.sleep() {
			continue
		}
		l.await(alarm)
		l.yielded = osclock.Mono()
	}
}

// work runs the round. gone says that another goroutine has the lane now.
func (l *Lane) work() (gone bool) {
	for l.at < len(l.round) {
		t := l.round[l.at]
		l.round[l.at] = nil
		l.at++
		t.Run(l)
		if l.handOver() || l.at&7 == 0 && l.yield(osclock.Mono()) {
			return true
		}
	}
	return false
}

// yield gives the processor away when the lane has run for a millisecond, and fires what became due.
func (l *Lane) yield(now vtime.Mono) (gone bool) {
	l.now = now
	if now.Sub(l.yielded) < yieldAfter {
		return false
	}
	if l.fire() {
		return true
	}
	runtime.Gosched()
	l.yielded = osclock.Mono()
	return false
}

// take swaps the inbox for the finished round; more is false when the lane stops and nothing is left, also no task that will come back.
func (l *Lane) take() (more bool) {
	l.runs.Add(uint64(len(l.round)))
	done := l.round[:0]
	l.inbox.Lock()
	defer l.inbox.Unlock()
	l.round, l.at = l.inbox.tasks, 0
	l.inbox.tasks = done
	return len(l.round) > 0 || !l.inbox.stopping || l.inbox.away > 0
}

// sleep declares the lane asleep unless something was posted: register first, then read the state, then wait.
func (l *Lane) sleep() bool {
	l.inbox.Lock()
	defer l.inbox.Unlock()
	if len(l.inbox.tasks) > 0 || len(l.inbox.returns) > 0 || l.inbox.stopping && l.inbox.away == 0 {
		return false
	}
	l.inbox.sleeping = true
	return true
}

func (l *Lane) await(alarm *osclock.Alarm) {
	if len(l.timers) == 0 {
		<-l.wake
		return
	}
	alarm.Reset(max(0, l.timers[0].at.Sub(osclock.Mono())))
	select {
	case <-l.wake:
	case <-alarm.C():
		l.inbox.Lock()
		posted := !l.inbox.sleeping
		l.inbox.sleeping = false
		l.inbox.Unlock()
		if posted {
			<-l.wake // the poster's token is on its way; take it, or the next sleep would end at once
		}
	}
}

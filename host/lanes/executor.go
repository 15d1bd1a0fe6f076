// SPDX-License-Identifier: Apache-2.0

// Package lanes is the executor of the data plane. It owns all worker goroutines: one a lane, GOMAXPROCS lanes as a rule. Work is pinned to a
// lane by key hash, so that one branch is worked by one worker at a time and in order, and 100,000 idle branches cost no goroutine
// (data-plane 10.1). A lane runs tasks and timers; a task never blocks: waiting parks the branch, not the worker.
//
// Locks: each lane's inbox has its own mutex, held for a slice append. No callback runs under it.
package lanes

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/osclock"
)

// Task is a unit of work. Run is called on the lane; it must be short and must not block.
type Task interface{ Run(l *Lane) }

// Func is a task made of a function.
type Func func(l *Lane)

// Run calls the function.
func (f Func) Run(l *Lane) { f(l) }

// yieldAfter bounds how long a lane runs without letting other goroutines have its processor: Raft ticks share it (probes.md B3.4).
const yieldAfter = time.Millisecond

// Executor owns the lanes.
type Executor struct {
	lanes []*Lane
	done  sync.WaitGroup
}

// New starts n lanes; n below 1 means GOMAXPROCS.
func New(n int) *Executor {
	if n < 1 {
		n = runtime.GOMAXPROCS(0)
	}
	e := &Executor{}
	for i := range n {
		l := &Lane{index: i, wake: make(chan struct{}, 1)}
		e.lanes = append(e.lanes, l)
	}
	for _, l := range e.lanes {
		e.done.Add(1)
		go func() {
			defer e.done.Done()
			l.loop()
		}()
	}
	return e
}

// Len is the number of lanes.
func (e *Executor) Len() int { return len(e.lanes) }

// At gives lane i.
func (e *Executor) At(i int) *Lane { return e.lanes[i] }

// For gives the lane of a key hash.
func (e *Executor) For(hash uint64) *Lane {
	return e.lanes[(hash*0x9e3779b97f4a7c15>>32)%uint64(len(e.lanes))]
}

// Close lets every lane run what it was posted, stops the lanes and waits. Posting after Close is ignored. Whoever posts work that
// must not be lost stops first.
func (e *Executor) Close(ctx context.Context) error {
	for _, l := range e.lanes {
		l.stop()
	}
	ended := make(chan struct{})
	go func() {
		e.done.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Lane is one worker with its inbox and timers.
type Lane struct {
	index int
	wake  chan struct{}

	inbox struct {
		sync.Mutex
		tasks    []Task
		sleeping bool
		stopping bool
	}

	// Below: touched by the lane's goroutine only.
	timers  timerHeap
	now     vtime.Mono
	yielded vtime.Mono
	spare   []Task
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
	already := l.inbox.stopping
	l.inbox.stopping = true
	wake := l.inbox.sleeping
	l.inbox.sleeping = false
	l.inbox.Unlock()
	if wake && !already {
		l.wake <- struct{}{}
	}
}

func (l *Lane) loop() {
	alarm := osclock.NewAlarm(time.Hour)
	defer alarm.Stop()
	for {
		// 1. Take everything posted since the last round.
		tasks, more := l.take()
		l.now = osclock.Mono()
		// 2. Due timers first: deadlines do not queue behind data.
		l.fire()
		if !more {
			return
		}
		// 3. Run the tasks, yielding at least every millisecond.
		for i, t := range tasks {
			t.Run(l)
			tasks[i] = nil
			if i&7 == 7 {
				l.yield(osclock.Mono())
			}
		}
		l.runs.Add(uint64(len(tasks)))
		l.spare = tasks[:0]
		if len(tasks) > 0 {
			l.yield(l.now)
			continue
		}
		// 4. Sleep until a task or a timer.
		if !l.sleep() {
			continue
		}
		l.await(alarm)
		l.yielded = osclock.Mono()
	}
}

// yield gives the processor away when the lane has run for a millisecond, and fires what became due.
func (l *Lane) yield(now vtime.Mono) {
	l.now = now
	if now.Sub(l.yielded) < yieldAfter {
		return
	}
	l.fire()
	runtime.Gosched()
	l.yielded = osclock.Mono()
}

// take swaps the inbox; more is false when the lane stops and nothing is left.
func (l *Lane) take() (tasks []Task, more bool) {
	l.inbox.Lock()
	defer l.inbox.Unlock()
	tasks = l.inbox.tasks
	l.inbox.tasks = l.spare
	l.spare = nil
	return tasks, len(tasks) > 0 || !l.inbox.stopping
}

// sleep declares the lane asleep unless something was posted: register first, then read the state, then wait.
func (l *Lane) sleep() bool {
	l.inbox.Lock()
	defer l.inbox.Unlock()
	if len(l.inbox.tasks) > 0 || l.inbox.stopping {
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

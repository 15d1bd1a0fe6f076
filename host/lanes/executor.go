// SPDX-License-Identifier: Apache-2.0

// Package lanes is the executor of the data plane. It owns all worker goroutines: one a lane, GOMAXPROCS lanes as a rule. Work is pinned to a
// lane by key hash, so that one branch is worked by one worker at a time and in order, and 100,000 idle branches cost no goroutine
// (data-plane 10.1). A lane runs tasks and timers; a task does not block: waiting parks the branch, not the worker.
//
// The one exception are calls into guest code, which nobody can make short. They run in a Section: should one take long, the lane goes on with
// other tasks on a spare goroutine, and the task gets the lane back when its call has returned (section.go, ADR 0006).
//
// Locks: each lane's inbox has its own mutex, held for a slice append. No callback runs under it.
package lanes

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// Task is a unit of work. Run is called on the lane; it must be short and must not block outside of a Section.
type Task interface{ Run(l *Lane) }

// Func is a task made of a function.
type Func func(l *Lane)

// Run calls the function.
func (f Func) Run(l *Lane) { f(l) }

// Executor owns the lanes.
type Executor struct {
	lanes []*Lane
	done  sync.WaitGroup // every goroutine

	watching atomic.Bool  // a watcher of sections runs
	closing  atomic.Bool  // it does not linger any more
	away     atomic.Int32 // tasks whose lane went on without them
}

// New starts n lanes; n below 1 means GOMAXPROCS.
func New(n int) *Executor {
	if n < 1 {
		n = runtime.GOMAXPROCS(0)
	}
	e := &Executor{}
	for i := range n {
		e.lanes = append(e.lanes, &Lane{exec: e, index: i, wake: make(chan struct{}, 1)})
	}
	for _, l := range e.lanes {
		e.start(l)
	}
	return e
}

// start gives the lane to a new goroutine.
func (e *Executor) start(l *Lane) {
	e.done.Add(1)
	go func() {
		defer e.done.Done()
		l.loop()
	}()
}

// Len is the number of lanes.
func (e *Executor) Len() int { return len(e.lanes) }

// At gives lane i.
func (e *Executor) At(i int) *Lane { return e.lanes[i] }

// For gives the lane of a key hash.
func (e *Executor) For(hash uint64) *Lane {
	return e.lanes[(hash*0x9e3779b97f4a7c15>>32)%uint64(len(e.lanes))]
}

// Close lets every lane run what it was posted, stops the lanes and waits, also for calls in sections. Posting after Close is ignored.
// Whoever posts work that must not be lost stops first.
func (e *Executor) Close(ctx context.Context) error {
	e.closing.Store(true)
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

// SPDX-License-Identifier: Apache-2.0

package lanes

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nervix-go/nervix/host/osclock"
)

func closed(t *testing.T, e *Executor) {
	t.Helper()
	if err := e.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// Many goroutines post to all lanes. Each poster's tasks must run in order, all of them, and never two at a time in a lane.
func TestTasksOfALaneRunInOrderOneAtATime(t *testing.T) {
	const posters, each = 8, 2000
	e := New(3)
	var busy [3]atomic.Int32
	var next [3][posters]int // touched by the lane only: the race detector checks that
	var all sync.WaitGroup
	for p := range posters {
		all.Go(func() {
			for n := range each {
				for i := range 3 {
					e.At(i).Post(Func(func(l *Lane) {
						if busy[i].Add(1) != 1 || l.Index() != i {
							t.Errorf("lane %d runs two tasks, or is lane %d", i, l.Index())
						}
						if next[i][p] != n {
							t.Errorf("lane %d: task %d of poster %d, want %d", i, n, p, next[i][p])
						}
						next[i][p]++
						busy[i].Add(-1)
					}))
				}
				if n%64 == 0 {
					runtime.Gosched()
				}
			}
		})
	}
	all.Wait()
	closed(t, e) // drains what was posted
	for i := range 3 {
		for p := range posters {
			if next[i][p] != each {
				t.Fatalf("lane %d ran %d of %d tasks of poster %d", i, next[i][p], each, p)
			}
		}
		if n := e.At(i).Tasks(); n != posters*each {
			t.Fatalf("lane %d counts %d tasks", i, n)
		}
	}
}

// A ball goes around sleeping lanes, with a timer armed or not. A lost wake-up stops it, which the bubble reports as a deadlock.
func TestNoWakeUpIsLost(t *testing.T) {
	for _, armed := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			e := New(4)
			done := make(chan struct{})
			var timers [4]Timer
			const laps = 5000
			var pass func(n int) Func
			pass = func(n int) Func {
				return func(l *Lane) {
					if n == laps {
						close(done)
						return
					}
					if armed {
						l.Arm(&timers[l.Index()], time.Hour, Func(func(*Lane) {}))
					}
					e.At((l.Index() + 1 + n%3) % 4).Post(pass(n + 1))
				}
			}
			e.At(0).Post(pass(0))
			<-done
			closed(t, e)
		})
	}
}

// A poster waits for the answer to each task and then posts the next, which comes just when the lane goes to sleep.
func TestPostsRaceWithSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := New(1)
		answer := make(chan struct{}, 1)
		spin := new(atomic.Int64)
		for n := range 20_000 {
			e.At(0).Post(Func(func(*Lane) { answer <- struct{}{} }))
			<-answer
			for range n % 50 { // shift the next post against the lane's way to sleep
				spin.Add(1)
			}
		}
		closed(t, e)
	})
}

// A lane declares itself asleep only after it has looked again: for tasks and for the end.
func TestSleepLooksAgain(t *testing.T) {
	l := &Lane{wake: make(chan struct{}, 1)}
	if !l.sleep() || !l.inbox.sleeping {
		t.Fatal("an idle lane does not sleep")
	}
	l.Post(Func(func(*Lane) {}))
	if len(l.wake) != 1 || l.inbox.sleeping || l.sleep() {
		t.Fatal("a post did not wake the lane, or it sleeps over a task")
	}
	l.Post(Func(func(*Lane) {}))
	if len(l.wake) != 1 {
		t.Fatal("a lane that is awake was woken again")
	}
	<-l.wake
	l.take()
	l.inbox.stopping = true
	if l.sleep() {
		t.Fatal("the lane sleeps after it was told to stop")
	}
}

// Posts race with the alarm that ends a sleep: the token of the one must not be mistaken for the other.
func TestPostsRaceWithTimers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := New(1)
		l := e.At(0)
		const rounds = 3000
		var ran, fired int
		answer := make(chan struct{}, 1)
		var timer Timer
		for i := range rounds {
			l.Post(Func(func(l *Lane) {
				l.Arm(&timer, time.Microsecond, Func(func(*Lane) {
					fired++
					answer <- struct{}{}
				}))
			}))
			if i%2 == 0 {
				time.Sleep(time.Microsecond) // fake time: wakes together with the lane's alarm
			}
			l.Post(Func(func(*Lane) { ran++ }))
			<-answer
		}
		closed(t, e)
		if ran != rounds || fired != rounds {
			t.Fatalf("ran %d and fired %d of %d", ran, fired, rounds)
		}
	})
}

func TestTaskMayPostToItsOwnLane(t *testing.T) {
	e := New(1)
	var order []int
	done := make(chan struct{})
	e.At(0).Post(Func(func(l *Lane) {
		l.Post(Func(func(*Lane) {
			order = append(order, 2)
			close(done)
		}))
		order = append(order, 1)
	}))
	<-done
	closed(t, e)
	if len(order) != 2 || order[0] != 1 {
		t.Fatalf("order %v: a posted task ran inside its poster", order)
	}
}

func TestCloseRunsWhatWasPostedAndIgnoresLater(t *testing.T) {
	e := New(2)
	gate := make(chan struct{})
	var ran atomic.Int32
	for i := range 2 {
		e.At(i).Post(Func(func(*Lane) { <-gate }))
		for range 100 {
			e.At(i).Post(Func(func(*Lane) { ran.Add(1) }))
		}
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	impatient := errors.New("no time")
	cancel(impatient)
	if err := e.Close(ctx); err != impatient {
		t.Fatalf("closing busy lanes without time: %v", err)
	}
	e.At(0).Post(Func(func(*Lane) { t.Error("a task posted after Close ran") }))
	close(gate)
	closed(t, e)
	if ran.Load() != 200 {
		t.Fatalf("%d of 200 tasks ran", ran.Load())
	}
}

func TestCloseRacesWithPosts(t *testing.T) {
	for range 200 {
		e := New(2)
		var posters sync.WaitGroup
		for p := range 4 {
			posters.Go(func() {
				for range 20 {
					e.At(p % 2).Post(Func(func(*Lane) {}))
				}
			})
		}
		closed(t, e)
		closed(t, e)
		posters.Wait()
	}
}

// A lane that always has work must let others have its processor about every millisecond. With one processor, a goroutine that only yields gets
// its turn by the lane's own yield, or by preemption after ten milliseconds. Tasks take a millisecond here, so counting them tells which.
func TestBusyLaneYields(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	e := New(1)
	var stop atomic.Bool
	var tasks, turns int
	var again Func
	again = func(l *Lane) {
		for start := osclock.Mono(); osclock.Mono().Sub(start) < yieldAfter; {
		}
		tasks++
		if !stop.Load() {
			l.Post(again)
		}
	}
	e.At(0).Post(again)
	for range 60 {
		turns++
		runtime.Gosched()
	}
	stop.Store(true)
	closed(t, e)
	if tasks > 5*turns {
		t.Fatalf("the lane ran %d tasks of a millisecond while others had %d turns", tasks, turns)
	}
}

// The same for a long queue of short tasks.
func TestLongQueueYields(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	e := New(1)
	const tasks = 2000 // of 50 microseconds: 100 ms
	var ran atomic.Int32
	task := Func(func(l *Lane) {
		for start := osclock.Mono(); osclock.Mono().Sub(start) < yieldAfter/20; {
		}
		ran.Add(1)
	})
	for range tasks {
		e.At(0).Post(task)
	}
	turns := 0
	for ran.Load() < tasks {
		turns++
		runtime.Gosched()
	}
	closed(t, e)
	if turns < 30 {
		t.Fatalf("others had %d turns during 100 ms of work", turns)
	}
}

func TestKeysSpreadOverLanes(t *testing.T) {
	e := New(4)
	defer closed(t, e)
	var load [4]int
	for i := range uint64(4000) {
		l := e.For(i * 64) // hashes that differ in few bits
		load[l.Index()]++
		if e.For(i*64) != l {
			t.Fatal("a key moved to another lane")
		}
	}
	for i, n := range load {
		if n < 700 || n > 1300 {
			t.Errorf("lane %d has %d of 4,000 keys", i, n)
		}
	}
	if auto := New(0); auto.Len() != runtime.GOMAXPROCS(0) {
		t.Errorf("%d lanes", auto.Len())
	} else {
		closed(t, auto)
	}
}

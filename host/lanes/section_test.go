// SPDX-License-Identifier: Apache-2.0

package lanes

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// diary is an order of events that tests read while lanes write.
type diary struct {
	mu   sync.Mutex
	text []string
}

func (d *diary) note(s string) {
	d.mu.Lock()
	d.text = append(d.text, s)
	d.mu.Unlock()
}

func (d *diary) want(t *testing.T, want ...string) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.Equal(d.text, want) {
		t.Errorf("%q, want %q", d.text, want)
	}
}

func TestShortSectionsKeepTheirLane(t *testing.T) {
	e := New(1)
	defer closed(t, e)
	var away int
	var wait sync.WaitGroup
	wait.Add(1)
	e.At(0).Post(Func(func(l *Lane) {
		defer wait.Done()
		if n := testing.AllocsPerRun(1000, func() {
			if l.Enter(nil).Leave() {
				away++
			}
		}); n > 0.1 { // the watcher starts, once
			t.Errorf("%v allocations a section", n)
		}
	}))
	wait.Wait()
	if away > 1000/10 { // a machine that stops the goroutine inside of a section makes it a long one
		t.Errorf("%d of 1,000 empty sections lost their lane", away)
	}
}

// While a task is in a long section its lane goes on, timers included; afterwards the task goes on before anything further begins.
func TestLaneGoesOnWithoutALongSection(t *testing.T) {
	// req: W-302 half: the lane; the guest call is in host/node/wasmproc
	synctest.Test(t, func(t *testing.T) {
		e := New(1)
		defer closed(t, e)
		l := e.At(0)
		var gate Gate
		var d diary
		var timer Timer
		l.Post(Func(func(l *Lane) {
			d.note("a begins")
			l.Arm(&timer, 20*time.Millisecond, Func(func(*Lane) { d.note("timer") }))
			s := l.Enter(&gate)
			time.Sleep(50 * time.Millisecond)
			if !s.Leave() {
				t.Error("the lane waited")
			}
			d.note("a ends")
			l.Post(Func(func(*Lane) { d.note("c") }))
		}))
		l.Post(Func(func(*Lane) { d.note("b") }))
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		if gate.Away() != 1 || e.Away() != 1 {
			t.Errorf("%d sections of the gate are away, %d of all", gate.Away(), e.Away())
		}
		d.want(t, "a begins", "b")
		time.Sleep(90 * time.Millisecond)
		synctest.Wait()
		d.want(t, "a begins", "b", "timer", "a ends", "c")
		if gate.Away() != 0 || e.Away() != 0 || e.watching.Load() {
			t.Errorf("%d and %d away, watched %v", gate.Away(), e.Away(), e.watching.Load())
		}
	})
}

// A task waits for its lane while another holds it, and the one that waits longest is first.
func TestTasksComeBackInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := New(1)
		defer closed(t, e)
		l := e.At(0)
		var d diary
		open := make(chan struct{})
		for i := range 5 {
			l.Post(Func(func(l *Lane) {
				s := l.Enter(nil)
				time.Sleep(time.Duration(10+i) * time.Millisecond)
				s.Leave()
				d.note(string(rune('0' + i)))
			}))
		}
		time.Sleep(8 * time.Millisecond)
		l.Post(Func(func(*Lane) { <-open })) // a task that holds the lane: nobody may overtake it
		time.Sleep(50 * time.Millisecond)
		synctest.Wait()
		d.want(t) // nobody comes back into a lane that is at work
		close(open)
		synctest.Wait()
		d.want(t, "0", "1", "2", "3", "4")
	})
}

// Beyond the bound lanes wait for their sections, and go on when one ends.
func TestSpareGoroutinesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := New(1)
		defer closed(t, e)
		l := e.At(0)
		open := make([]chan struct{}, maxAway+3)
		var begun, ended atomic.Int32
		for i := range open {
			open[i] = make(chan struct{})
			l.Post(Func(func(l *Lane) {
				begun.Add(1)
				s := l.Enter(nil)
				<-open[i]
				s.Leave()
				ended.Add(1)
			}))
		}
		time.Sleep(time.Second)
		if begun.Load() != maxAway+1 || e.Away() != maxAway {
			t.Errorf("%d sections began, %d are away", begun.Load(), e.Away())
		}
		close(open[0]) // it wants its lane back, which sits in the last section: that one is let away in exchange
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		if ended.Load() != 1 || begun.Load() != maxAway+2 || e.Away() > maxAway {
			t.Errorf("%d ended, %d began, %d are away", ended.Load(), begun.Load(), e.Away())
		}
		for _, o := range open[1:] {
			close(o)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if ended.Load() != maxAway+3 || e.Away() != 0 {
			t.Errorf("%d ended, %d are away", ended.Load(), e.Away())
		}
	})
}

func TestCloseWaitsForSections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := New(2)
		l := e.At(1)
		var d diary
		l.Post(Func(func(l *Lane) {
			s := l.Enter(nil)
			time.Sleep(time.Second)
			s.Leave()
			d.note("section")
		}))
		l.Post(Func(func(*Lane) { d.note("posted") }))
		time.Sleep(500 * time.Millisecond)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if err := e.Close(ctx); err == nil {
			t.Error("closed while a call runs")
		}
		closed(t, e)
		d.want(t, "posted", "section")
	})
}

// Tasks with sections of all lengths on several lanes, timers and closing: a lane is worked by one goroutine at a time, tasks begin in the order in
// which they were posted, all of them end.
func TestSectionsExplored(t *testing.T) {
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) { explore(t, rand.New(rand.NewPCG(seed, 7))) })
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func explore(t *testing.T, r *rand.Rand) {
	const posts = 150
	e := New(1 + r.IntN(3))
	busy := make([]atomic.Int32, e.Len())
	next := make([]int, e.Len()) // touched on the lane only
	ended := make([]int, e.Len())
	on := func(l *Lane) {
		if busy[l.Index()].Add(1) != 1 {
			t.Errorf("lane %d is worked by two", l.Index())
		}
	}
	off := func(l *Lane) { busy[l.Index()].Add(-1) }
	stay := func(l *Lane, sleeps []time.Duration) {
		for _, d := range sleeps {
			off(l)
			s := l.Enter(nil)
			time.Sleep(d)
			s.Leave()
			on(l)
		}
	}
	lengths := func() (out []time.Duration) {
		for range r.IntN(3) {
			out = append(out, []time.Duration{0, time.Microsecond, 900 * time.Microsecond, 3 * time.Millisecond, 40 * time.Millisecond}[r.IntN(5)])
		}
		return out
	}
	for n := range posts {
		sleeps, timed := lengths(), lengths()
		for i := range e.Len() {
			e.At(i).Post(Func(func(l *Lane) {
				on(l)
				if next[i] != n {
					t.Errorf("lane %d: task %d, want %d", i, n, next[i])
				}
				next[i]++
				stay(l, sleeps)
				if n%5 == 0 {
					var timer Timer
					l.Arm(&timer, time.Duration(n)*100*time.Microsecond, Func(func(l *Lane) {
						on(l)
						stay(l, timed)
						off(l)
					}))
				}
				ended[i]++
				off(l)
			}))
		}
		if r.IntN(8) == 0 {
			time.Sleep(time.Duration(r.IntN(10)) * time.Millisecond)
		}
	}
	closed(t, e)
	for i := range e.Len() {
		if ended[i] != posts || e.At(i).Tasks() != posts {
			t.Errorf("lane %d ended %d tasks and counts %d", i, ended[i], e.At(i).Tasks())
		}
	}
	if e.Away() != 0 {
		t.Errorf("%d away", e.Away())
	}
}

// The watcher races with real sections.
func TestWatcherRacesWithSections(t *testing.T) {
	e := New(2)
	var lost, ran atomic.Int32
	for i := range 2 {
		for n := range 400 {
			e.At(i).Post(Func(func(l *Lane) {
				s := l.Enter(nil)
				for range n * 50 { // up to a few milliseconds under the race detector
					ran.Load()
				}
				if s.Leave() {
					lost.Add(1)
				}
				ran.Add(1)
			}))
		}
	}
	closed(t, e)
	if ran.Load() != 800 {
		t.Fatalf("%d of 800 tasks ran", ran.Load())
	}
	t.Logf("%d sections lost their lane", lost.Load())
}

func BenchmarkSection(b *testing.B) {
	e := New(1)
	defer func() { _ = e.Close(context.Background()) }()
	done := make(chan struct{})
	e.At(0).Post(Func(func(l *Lane) {
		defer close(done)
		b.ResetTimer()
		for range b.N {
			l.Enter(nil).Leave()
		}
	}))
	<-done
}

// BenchmarkPool is the way that sections are measured against: the call runs on a goroutine of a pool, and a task brings its end back to the lane.
func BenchmarkPool(b *testing.B) {
	e := New(1)
	defer func() { _ = e.Close(context.Background()) }()
	calls, done, left := make(chan func()), make(chan struct{}), b.N
	go func() {
		for call := range calls {
			call()
		}
	}()
	defer close(calls)
	var back Func
	call := func() { e.At(0).Post(back) }
	back = func(*Lane) {
		if left--; left < 0 {
			close(done)
			return
		}
		calls <- call
	}
	b.ResetTimer()
	e.At(0).Post(back)
	<-done
}

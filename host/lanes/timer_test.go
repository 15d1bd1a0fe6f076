// SPDX-License-Identifier: Apache-2.0

package lanes

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/nervix-go/nervix/host/osclock"
)

// run runs f on the lane and waits for it.
func run(l *Lane, f func(*Lane)) {
	done := make(chan struct{})
	l.Post(Func(func(l *Lane) {
		f(l)
		close(done)
	}))
	<-done
}

func TestTimersFireAtTheirTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := New(1)
		l := e.At(0)
		start := time.Now()
		var a, b Timer
		var at []time.Duration
		ring := Func(func(*Lane) { at = append(at, time.Since(start)) })
		run(l, func(l *Lane) {
			l.Arm(&a, 5*time.Millisecond, ring)
			l.Arm(&b, 2*time.Millisecond, ring)
			if !a.Armed() || !b.Armed() {
				t.Error("not armed")
			}
		})
		time.Sleep(time.Second)
		run(l, func(l *Lane) {
			if a.Armed() || b.Armed() {
				t.Error("still armed after firing")
			}
			l.Disarm(&a) // of no effect
			l.Arm(&a, 5*time.Millisecond, ring)
			l.Arm(&b, time.Millisecond, ring)
			l.Arm(&b, 7*time.Millisecond, ring) // moved
			l.Disarm(&a)
		})
		time.Sleep(time.Second)
		closed(t, e)
		want := []time.Duration{2 * time.Millisecond, 5 * time.Millisecond, time.Second + 7*time.Millisecond}
		if !slices.Equal(at, want) {
			t.Fatalf("fired at %v, want %v", at, want)
		}
	})
}

// Random arming, moving and disarming against a list of deadlines.
func TestTimersAgreeWithModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := &Lane{}
		timers := make([]Timer, 6)
		due := map[int]int64{}
		base := osclock.Mono()
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			i := rapid.IntRange(0, 5).Draw(t, "timer")
			switch rapid.SampledFrom([]string{"arm", "arm", "disarm", "pass"}).Draw(t, "op") {
			case "arm":
				// Deadlines are hours apart, so that the real clock that Arm reads does not matter.
				hours := rapid.Int64Range(1, 50).Draw(t, "hours")
				l.Arm(&timers[i], time.Duration(hours)*time.Hour, Func(func(*Lane) {
					if _, ok := due[i]; !ok {
						t.Fatalf("timer %d fired without being armed", i)
					}
					for other, h := range due {
						if h < due[i] {
							t.Fatalf("timer %d fired before %d", i, other)
						}
					}
					delete(due, i)
				}))
				due[i] = hours
			case "disarm":
				l.Disarm(&timers[i])
				delete(due, i)
			case "pass":
				hours := rapid.Int64Range(0, 50).Draw(t, "hours")
				l.now = base.Add(time.Duration(hours)*time.Hour + 30*time.Minute)
				l.fire()
				for i, h := range due {
					if h <= hours {
						t.Fatalf("timer %d of hour %d did not fire at %d", i, h, hours)
					}
				}
			}
			for i := range timers {
				if _, want := due[i]; timers[i].Armed() != want {
					t.Fatalf("timer %d armed %v", i, !want)
				}
			}
		}
	})
}

// Deadlines do not queue behind data: a lane that is never without tasks still fires its timers.
func TestTimersFireOnABusyLane(t *testing.T) {
	e := New(1)
	var fired bool
	var timer Timer
	var again Func
	done := make(chan struct{})
	again = func(l *Lane) {
		if fired {
			close(done)
			return
		}
		l.Post(again)
	}
	run(e.At(0), func(l *Lane) {
		l.Arm(&timer, time.Microsecond, Func(func(*Lane) { fired = true }))
		l.Post(again)
	})
	<-done
	closed(t, e)
}

func TestArmingAllocatesNothing(t *testing.T) {
	l := &Lane{}
	var timer Timer
	task := Func(func(*Lane) {})
	l.Arm(&timer, time.Hour, task)
	l.Disarm(&timer)
	if n := testing.AllocsPerRun(100, func() {
		l.Arm(&timer, time.Hour, task)
		l.Disarm(&timer)
	}); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

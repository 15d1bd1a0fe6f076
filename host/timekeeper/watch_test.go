// SPDX-License-Identifier: Apache-2.0

package timekeeper

import (
	"sync"
	"testing"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
)

func watch(t *testing.T, k *Keeper, d ident.Domain) *Watch {
	t.Helper()
	w, err := k.Watch(d)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestWhatAClientObserves(t *testing.T) {
	// req: C-086, C-010
	k := New(Config{UTC: newManual().utc})
	l := paced("farm", 1, 1, self)
	k.Install(all(l, unpaced("plain", 4)), 1)
	w := watch(t, k, "farm")
	expect := func(want clock.Observed) {
		t.Helper()
		if got, ok := w.Observed(); !ok || got != want {
			t.Fatalf("%+v (%v), want %+v", got, ok, want)
		}
	}
	is := clock.Observed{Generation: 1, State: clock.Paced, Pace: l.Pace, Mapping: l.Mapping}
	expect(is)
	k.InstallFences(all(paced("farm", 1, 2, other), unpaced("plain", 4)), 2)
	expect(is)
	k.Pause("farm", 1, true)
	expect(is)
	k.InstallFences(all(paced("farm", 1, 3, clock.Authority{}), unpaced("plain", 4)), 3)
	expect(clock.Observed{Generation: 1, State: clock.Uninstalled})
	k.Install(all(stopped(l), unpaced("plain", 4)), 4)
	expect(clock.Observed{Generation: 1, State: clock.Stopped})
	if o, ok := watch(t, k, "plain").Observed(); !ok || o != (clock.Observed{Generation: 4, State: clock.Unpaced}) {
		t.Fatalf("%+v", o)
	}
	k.Install(all(unpaced("plain", 4)), 5)
	if o, ok := w.Observed(); ok || o.State != clock.Missing {
		t.Fatalf("%+v of a removed domain", o)
	}
}

// The node's own reading is that of the asked generation, or an error.
func TestReadingOfAWatch(t *testing.T) {
	// req: C-087
	utc := newManual()
	k := New(Config{UTC: utc.utc})
	k.Install(all(paced("farm", 2, 1, self)), 1)
	w := watch(t, k, "farm")
	utc.step(5)
	h := k.Retain("farm", 2)
	high := reading(t, h)
	utc.step(-3)
	if now, err := w.Logical(2); err != nil || now.NS() != high {
		t.Fatalf("%v %v", now, err)
	}
	if _, err := w.Logical(1); !fault.Has(err, fault.ClockStale) {
		t.Fatal(err)
	}
}

// Whatever moment the domain is removed at, whoever follows it wakes, reads missing, and its channels before that stay open.
func TestRemovalWakesEveryWatch(t *testing.T) {
	// req: C-205
	for range 300 {
		k := New(Config{UTC: newManual().utc})
		l := paced("farm", 1, 1, self)
		k.Install(all(l), 1)
		w := watch(t, k, "farm")
		removed := make(chan struct{})
		var done sync.WaitGroup
		done.Go(func() {
			for id := uint64(1); ; id++ {
				if k.Receive(1, report(l, id)) != nil {
					return
				}
			}
		})
		done.Go(func() {
			defer w.Close()
			for {
				changed := w.Changed()
				if _, ok := w.Observed(); !ok {
					close(removed)
					return
				}
				<-changed
			}
		})
		k.Install(nil, 2)
		<-removed
		done.Wait()
		select {
		case <-w.Changed():
			t.Fatal("a wait of a removed domain closes")
		default:
		}
		k.Install(all(func() clock.Lifecycle { l := paced("farm", 1, 9, self); l.Created = 3; return l }()), 3)
		if _, ok := w.Observed(); ok {
			t.Fatal("a watch attached to a later domain of the name")
		}
	}
}

// What is observed is always one of the published installations, never a mixture of two.
func TestObservedIsOneInstallation(t *testing.T) {
	// req: C-206, C-070
	k := New(Config{UTC: newManual().utc})
	journal := map[clock.Observed]bool{}
	var history []clock.Lifecycle
	for g := ident.Generation(1); g < 200; g++ {
		l := paced("farm", g, 3*uint64(g), self)
		l.Mapping.Rate, l.Pace.Period = float64(g), uint64(g)
		un := l
		un.Fence.Revision, un.Fence.Authority = un.Fence.Revision+1, clock.Authority{}
		history = append(history, l, un, stopped(un))
		for _, l := range []clock.Lifecycle{l, un, stopped(un)} {
			journal[l.Observe()] = true
		}
	}
	k.Install(all(history[0]), 1)
	var done sync.WaitGroup
	end := make(chan struct{})
	for range 3 {
		w := watch(t, k, "farm")
		done.Go(func() {
			for {
				select {
				case <-end:
					return
				default:
				}
				if o, _ := w.Observed(); !journal[o] {
					t.Errorf("observed %+v, which was never published", o)
					return
				}
			}
		})
	}
	for n, l := range history {
		k.Install(all(l), ident.Revision(n+1))
	}
	close(end)
	done.Wait()
}

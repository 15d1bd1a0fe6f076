// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"errors"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/nervix-go/nervix/host/kernel/vtime"
)

func TestObservation(t *testing.T) {
	// req: C-043, C-075, C-086 half: the state alone
	running := paced(4, Fence{7, Authority{2, 3}})
	unmapped, unassigned, moved, unpaced := running, running, running, running
	unmapped.Mapping = Mapping{}
	unassigned.Fence = Fence{Revision: 8}
	moved.Fence = Fence{8, Authority{1, 1}}
	unpaced.Paced, unpaced.Pace, unpaced.Mapping, unpaced.Fence = false, Pace{}, Mapping{}, Fence{}
	for _, c := range []struct {
		l    Lifecycle
		want Observed
		read error
	}{
		{Lifecycle{}, Observed{}, ErrMissing},
		{Stop(running), Observed{Generation: 4, State: Stopped}, ErrStopped},
		{unmapped, Observed{Generation: 4, State: Uninstalled}, ErrUninstalled},
		{unassigned, Observed{Generation: 4, State: Uninstalled}, ErrUninstalled},
		{unpaced, Observed{Generation: 4, State: Unpaced}, nil},
		{running, Observed{4, Paced, running.Pace, running.Mapping}, nil},
		{moved, Observed{4, Paced, running.Pace, running.Mapping}, nil},
	} {
		if got := c.l.Observe(); got != c.want {
			t.Errorf("%+v is observed as %+v", c.l, got)
		}
		_, atErr := c.want.At(vtime.UTCFromNS(99))
		_, waitErr := c.want.Wait(vtime.UTCFromNS(99), vtime.LogicalFromNS(100))
		_, windowErr := c.want.Window(vtime.UTCFromNS(99))
		if c.want.State == Unpaced {
			if !errors.Is(windowErr, ErrUnpaced) {
				t.Errorf("window of an unpaced domain: %v", windowErr)
			}
			windowErr = nil
		}
		for _, err := range []error{atErr, waitErr, windowErr} {
			if c.read == nil && err != nil || !errors.Is(err, c.read) {
				t.Errorf("%s: %v, want %v", c.want.State, err, c.read)
			}
		}
	}
	if err := Stopped.Readable("clock.Bind", "weather"); err.Error() != "DOMAIN weather: the domain is stopped; it has no time until it is started [domain.stopped]" {
		t.Error(err)
	}
}

func TestObservedClockReadsWithTheServersArithmetic(t *testing.T) {
	// req: C-111 half: this is the arithmetic, the client libraries come on top
	rapid.Check(t, func(t *rapid.T) {
		l := paced(1, Fence{1, Authority{1, 1}})
		l.Mapping, l.Pace = mappings().Draw(t, "mapping"), Pace{periods().Draw(t, "period"), lengths().Draw(t, "skew")}
		utc, target := vtime.UTCFromNS(instants().Draw(t, "utc")), vtime.LogicalFromNS(instants().Draw(t, "target"))
		o := l.Observe()
		now, err := l.Mapping.At(utc)
		got, gotErr := o.At(utc)
		wait, waitErr := o.Wait(utc, target)
		window, windowErr := o.Window(utc)
		if err != nil {
			if !errors.Is(gotErr, ErrRange) || !errors.Is(waitErr, ErrRange) || !errors.Is(windowErr, ErrRange) {
				t.Fatal(gotErr, waitErr, windowErr)
			}
			return
		}
		want, wantErr := l.Mapping.Wait(now, target)
		same, _ := WindowAt(l.Mapping, l.Pace, now)
		if gotErr != nil || got != now || wait != want || (waitErr == nil) != (wantErr == nil) || windowErr != nil || window != same {
			t.Fatalf("%v %v, %v %v, %v", got, gotErr, wait, waitErr, windowErr)
		}
	})
}

func TestAnUndisciplinedUTCShifts(t *testing.T) {
	// req: C-110, C-148 half: the arithmetic alone
	o := Observed{Generation: 1, State: Paced, Pace: Pace{Period: uint64(time.Minute)}, Mapping: Mapping{Rate: 60}}
	right, off := vtime.UTCFromNS(int64(time.Hour)), vtime.UTCFromNS(int64(time.Hour+5*time.Second))
	a, errA := o.At(right)
	b, errB := o.At(off)
	target := vtime.LogicalFromNS(int64(100 * time.Hour))
	waitA, _ := o.Wait(right, target)
	waitB, _ := o.Wait(off, target)
	windowA, _ := o.Window(right)
	windowB, _ := o.Window(off)
	shift, _ := b.Sub(a)
	centres, _ := windowB.Last().Sub(windowA.Last())
	if errA != nil || errB != nil || shift != 5*time.Minute || centres != 5*time.Minute || waitA-waitB != 5*time.Second {
		t.Errorf("5 s at a rate of 60: instants shift by %s, centres by %s, a wait by %s", shift, centres, waitA-waitB)
	}
}

func TestUnpacedClockIsUTC(t *testing.T) {
	// req: C-010 half: handles are the timekeeper's
	o := Observed{Generation: 1, State: Unpaced}
	now, err := o.At(vtime.UTCFromNS(-5))
	wait, waitErr := o.Wait(vtime.UTCFromNS(-5), vtime.LogicalFromNS(10))
	if now.NS() != -5 || err != nil || wait != 15*time.Nanosecond || waitErr != nil {
		t.Error(now, err, wait, waitErr)
	}
	if _, err := o.Wait(vtime.UTCFromNS(-5), vtime.LogicalFromNS(math.MaxInt64)); !errors.Is(err, ErrUnschedulable) {
		t.Error(err)
	}
}

func TestOnlyTheFenceMayGoAhead(t *testing.T) {
	// req: C-049, C-050 half: the judgement alone
	l := paced(4, Fence{7, Authority{2, 3}})
	change := func(f func(*Lifecycle)) Lifecycle { n := l; f(&n); return n }
	fence := func(n *Lifecycle) { n.Fence = Fence{8, Authority{1, 1}} }
	if !l.OnlyFenceDiffers(change(fence)) || !l.OnlyFenceDiffers(change(func(n *Lifecycle) { n.Fence = Fence{Revision: 8} })) {
		t.Error("a new fence waits for the graph")
	}
	for name, f := range map[string]func(*Lifecycle){
		"nothing":    func(n *Lifecycle) { n.Fence = l.Fence },
		"generation": func(n *Lifecycle) { n.Generation++ },
		"stop":       func(n *Lifecycle) { *n = Stop(l) },
		"pace":       func(n *Lifecycle) { n.Pace.Skew++ },
		"mapping":    func(n *Lifecycle) { n.Mapping.Rate = 2 },
		"recreated":  func(n *Lifecycle) { n.Created++ },
	} {
		n := change(fence)
		f(&n)
		if l.OnlyFenceDiffers(n) {
			t.Errorf("%s goes ahead of the graph", name)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package timekeeper

import (
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

func TestReadingIsTheProjection(t *testing.T) {
	// req: C-001, C-003, C-010, C-013
	for _, rate := range []float64{1, 60, 1.0 / 3, 1e-6, 1e6} {
		utc := newManual()
		k := New(Config{UTC: utc.utc})
		l := paced("farm", 1, 1, self)
		l.Mapping.Rate = rate
		k.Install(all(l, unpaced("plain", 2)), 1)
		h, err := k.Bind("farm", 1)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := k.Bind("plain", 2)
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			utc.step(1234567891)
			want, _ := l.Mapping.At(utc.utc())
			if got := reading(t, h); got != want.NS() {
				t.Fatalf("rate %g: %d, want %d", rate, got, want.NS())
			}
			if got := reading(t, plain); got != utc.ns.Load() {
				t.Fatalf("unpaced time %d, UTC %d", got, utc.ns.Load())
			}
		}
	}
}

// UTC steps back by five seconds, then by ever so little and often: readings are flat, then advance; progress is never lost.
func TestReadingsDoNotDecrease(t *testing.T) {
	// req: C-015
	// req: I04
	utc := newManual()
	k := New(Config{UTC: utc.utc})
	k.Install(all(paced("farm", 1, 1, self), unpaced("plain", 1)), 1)
	farm, plain := k.Retain("farm", 1), k.Retain("plain", 1)
	utc.step(10 * time.Second)
	first, firstPlain := reading(t, farm), reading(t, plain)
	utc.step(-5 * time.Second)
	if reading(t, farm) != first || reading(t, plain) != firstPlain {
		t.Fatal("a reading followed UTC backwards")
	}
	utc.step(4 * time.Second)
	if reading(t, farm) != first {
		t.Fatal("a reading advanced before UTC had caught up")
	}
	utc.step(2 * time.Second)
	if got := reading(t, farm); got != first+1e9 {
		t.Fatalf("%d ns after UTC had caught up", got-first)
	}
	last := reading(t, farm)
	for range 1000 {
		utc.step(-3)
		utc.step(5)
		if now := reading(t, farm); now < last {
			t.Fatalf("%d after %d", now, last)
		} else {
			last = now
		}
	}
	if last != first+1e9+2000 {
		t.Fatalf("tiny steps cost %d ns", first+1e9+2000-last)
	}
}

// A watermark belongs to one uninterrupted installation of a generation.
func TestWatermarkOfAnInstallation(t *testing.T) {
	// req: C-080
	utc := newManual()
	k := New(Config{UTC: utc.utc})
	k.Install(all(paced("farm", 1, 1, self)), 1)
	h := k.Retain("farm", 1)
	utc.step(10 * time.Second)
	high := reading(t, h)
	utc.step(-9 * time.Second)
	k.InstallFences(all(paced("farm", 1, 2, other)), 2) // the authority moves
	if reading(t, h) != high {
		t.Fatal("a move of the authority lowered a reading")
	}
	k.InstallFences(all(paced("farm", 1, 3, clock.Authority{})), 3)
	k.InstallFences(all(paced("farm", 1, 4, self)), 4) // uninstalled, and installed again
	if got := reading(t, h); got != origin+1e9 {
		t.Fatalf("a reading of %d after the clock was uninstalled", got)
	}
	early := paced("farm", 2, 5, self) // a later generation with an earlier origin
	early.Mapping.LogicalStart = vtime.LogicalFromNS(5)
	before := k.cell("farm").current.Load()
	k.Install(all(early), 5)
	if _, err := before.read(utc.utc()); err != nil { // a read that had loaded the earlier generation
		t.Fatal(err)
	}
	if got := reading(t, k.Retain("farm", 2)); got != 5+1e9 {
		t.Fatalf("the later generation reads %d", got)
	}
}

// Four typed errors, each with what to do, and never a reading of UTC in their place.
func TestUnreadableClocks(t *testing.T) {
	// req: C-075, C-076
	// req: C-002 half: the check of imports and of clock owners covers expressions and connectors
	utc := newManual()
	k := New(Config{UTC: utc.utc})
	running := paced("farm", 2, 1, self)
	h := func() *Handle { k.Install(all(running), 1); return k.Retain("farm", 2) }()
	old := k.Retain("farm", 1)
	expect := func(what string, h *Handle, code fault.Code) {
		t.Helper()
		s, err := h.Snapshot()
		now, ok := h.Now()
		_, err2 := h.Until(vtime.LogicalFromNS(origin))
		_, _, _, err3 := h.Window()
		for _, err := range []error{err, err2, err3} {
			if fault.CodeOf(err) != code || !strings.Contains(err.Error(), "farm") {
				t.Fatalf("%s: %v, want %s", what, err, code)
			}
		}
		if s != (vtime.Snapshot{}) || ok || now.NS() != 0 {
			t.Fatalf("%s: a reading of %v, %v", what, s, now)
		}
	}
	expect("an earlier generation", old, fault.ClockStale)
	if _, err := k.Bind("farm", 1); fault.CodeOf(err) != fault.ClockStale {
		t.Fatal(err)
	}
	k.Install(all(paced("farm", 2, 2, clock.Authority{})), 2)
	expect("no authority", h, fault.ClockUninstalled)
	if _, err := k.Bind("farm", 2); fault.CodeOf(err) != fault.ClockUninstalled {
		t.Fatal(err)
	}
	k.Install(all(stopped(running)), 3)
	expect("stopped", h, fault.DomainStopped)
	expect("stopped, of an earlier generation", old, fault.ClockStale)
	if _, err := k.Bind("farm", 2); fault.CodeOf(err) != fault.DomainStopped {
		t.Fatal(err)
	}
	k.Install(nil, 4)
	expect("removed", h, fault.ClockMissing)
	expect("removed, of an earlier generation", old, fault.ClockMissing)
	if _, err := k.Bind("farm", 2); fault.CodeOf(err) != fault.ClockMissing {
		t.Fatal(err)
	}
	k.Install(all(paced("farm", 2, 9, self)), 5) // the name again, created later
	again := paced("farm", 2, 9, self)
	again.Created = 5
	k.Install(all(again), 5)
	expect("a later domain of the name", h, fault.ClockMissing)
	if reading(t, k.Retain("farm", 2)) != origin {
		t.Fatal("the later domain cannot be read")
	}
}

func TestProjectionBeyondTheRange(t *testing.T) {
	// req: C-017
	utc := newManual()
	k := New(Config{UTC: utc.utc})
	l := paced("farm", 1, 1, self)
	l.Mapping.LogicalStart = vtime.LogicalFromNS(math.MaxInt64 - 10)
	k.Install(all(l), 1)
	h := k.Retain("farm", 1)
	utc.step(10)
	last := reading(t, h)
	utc.step(1)
	if _, err := h.Snapshot(); !fault.Has(err, fault.ClockRange) {
		t.Fatal(err)
	}
	if _, _, _, err := h.Window(); !fault.Has(err, fault.ClockRange) {
		t.Fatal(err)
	}
	utc.step(-1) // nothing wrapped and nothing was anchored again
	if reading(t, h) != last {
		t.Fatal("another reading of the same instant")
	}
}

func TestUntil(t *testing.T) {
	// req: C-016
	utc := newManual()
	k := New(Config{UTC: utc.utc})
	slow := paced("slow", 1, 1, self)
	slow.Mapping.Rate = 1e-9
	fast := paced("fast", 1, 1, self)
	fast.Mapping.Rate = 1e9
	k.Install(all(slow, fast, unpaced("plain", 1)), 1)
	for _, c := range []struct {
		domain ident.Domain
		target int64
		want   time.Duration
	}{
		{"slow", origin + 1, 1e9}, {"slow", origin + 1e12, 1<<63 - 1}, {"slow", origin, 0}, {"slow", math.MinInt64, 0},
		{"fast", origin + 1, 1}, {"fast", origin + 1e9 + 1, 2}, {"plain", anchor + 7, 7}, {"plain", anchor - 7, 0}, {"plain", math.MaxInt64, math.MaxInt64 - time.Duration(anchor)},
	} {
		if got, err := k.Retain(c.domain, 1).Until(vtime.LogicalFromNS(c.target)); err != nil || got != c.want {
			t.Errorf("%s until %d: %v (%v), want %v", c.domain, c.target, got, err, c.want)
		}
	}
}

// Execution time and window of a group come from one observation, and the pause from the same publication.
func TestOneReadForTimeAndWindow(t *testing.T) {
	// req: C-125, C-073, C-133
	// req: C-071 half: the last start point is no part of a lifecycle
	// req: C-030 half: who sets the pause is the engine's
	reads := 0
	utc := newManual()
	k := New(Config{UTC: func() vtime.UTC { reads++; return utc.utc() }})
	l := paced("farm", 1, 1, self)
	k.Install(all(l, unpaced("plain", 3)), 1)
	utc.step(2500 * time.Millisecond)
	h := k.Retain("farm", 1)
	s, w, isPaced, err := h.Window()
	if err != nil || !isPaced || reads != 1 || w.Now() != s.Now || s.Now.NS() != origin+25e8 || w.Frontier() != 2 || s.Generation != 1 {
		t.Fatalf("%+v %+v %v %v after %d reads", s, w, isPaced, err, reads)
	}
	if !k.Pause("farm", 1, true) || k.Pause("farm", 2, true) || k.Pause("none", 1, true) {
		t.Fatal("pause of the installed generation only")
	}
	if _, w, isPaced, paused, err := h.Intake(); err != nil || !isPaced || !paused || w.Frontier() != 2 {
		t.Fatalf("paused: %v %v %v", isPaced, paused, err)
	}
	utc.step(time.Second)
	if reading(t, h) != origin+35e8 {
		t.Fatal("domain time stands still in a pause")
	}
	if _, w, isPaced, err := k.Retain("plain", 3).Window(); err != nil || isPaced || w != (clock.Window{}) {
		t.Fatalf("unpaced: %v %v", isPaced, err)
	}
	k.Install(all(paced("farm", 2, 2, self)), 2)
	if _, _, _, paused, err := k.Retain("farm", 2).Intake(); err != nil || paused {
		t.Fatalf("the next generation: paused %v (%v)", paused, err)
	}
	if _, err := h.Snapshot(); !fault.Has(err, fault.ClockStale) { // C-073
		t.Fatal(err)
	}
}

// Subscriptions keep the allocation, not a generation.
func TestCurrentGeneration(t *testing.T) {
	// req: C-072
	utc := newManual()
	k := New(Config{UTC: utc.utc})
	k.Install(all(stopped(paced("farm", 1, 1, self))), 1)
	h := k.Current("farm")
	if _, err := h.Snapshot(); !fault.Has(err, fault.DomainStopped) {
		t.Fatal(err)
	}
	for g := ident.Generation(2); g < 4; g++ {
		k.Install(all(paced("farm", g, uint64(g), self)), ident.Revision(g))
		if s, err := h.Snapshot(); err != nil || s.Generation != g {
			t.Fatalf("%+v %v", s, err)
		}
	}
}

// A read needs neither a lock nor a table: it goes through while every writer is held.
func TestReadsTakeNoLock(t *testing.T) {
	// req: C-078, C-203
	k := New(Config{UTC: newManual().utc})
	k.Install(all(paced("farm", 1, 1, self)), 1)
	h, w := k.Retain("farm", 1), watch(t, k, "farm")
	c := k.cell("farm")
	k.order.Lock()
	k.mu.Lock()
	c.mu.Lock()
	defer k.order.Unlock()
	defer k.mu.Unlock()
	defer c.mu.Unlock()
	for range 10_000 {
		if reading(t, h) != origin {
			t.Fatal("a wrong reading")
		}
		_, _, _, err := h.Window()
		_, err2 := h.Until(vtime.LogicalFromNS(0))
		_, err3 := w.Logical(1)
		if _, ok := w.Observed(); !ok || err != nil || err2 != nil || err3 != nil {
			t.Fatal(err, err2, err3)
		}
	}
	if n := testing.AllocsPerRun(100, func() {
		_, _ = h.Snapshot()
		_, _ = h.Now()
		_, _, _, _ = h.Window()
		_, _ = h.Until(vtime.LogicalFromNS(1 << 62))
	}); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

// Every node computes its own reading from the mapping: with equal UTC equal ones, however late it joined; the offset of a host shows multiplied by the rate.
func TestReadingsOfSeveralNodes(t *testing.T) {
	// req: C-001, C-026, C-148
	l := paced("farm", 1, 1, self)
	l.Mapping.Rate = 60
	var sources []*manual
	var nodes []*Handle
	for _, late := range []time.Duration{0, time.Second, time.Hour} {
		for _, s := range sources {
			s.step(late)
		}
		utc := newManual()
		if len(sources) > 0 {
			utc.ns.Store(sources[0].ns.Load())
		}
		k := New(Config{UTC: utc.utc})
		k.Install(all(l), 1)
		sources, nodes = append(sources, utc), append(nodes, k.Retain("farm", 1))
	}
	want := reading(t, nodes[0])
	if want != origin+60*3601e9 || reading(t, nodes[1]) != want || reading(t, nodes[2]) != want {
		t.Fatalf("%d, %d, %d", want, reading(t, nodes[1]), reading(t, nodes[2]))
	}
	sources[1].step(20 * time.Millisecond)
	if got := reading(t, nodes[1]) - want; got != 12e8 {
		t.Fatalf("a host 20 ms ahead reads %d ns ahead", got)
	}
}

// Readers race replacements of every kind: what each sees is one whole installation, and readings of a generation never decrease, over all readers.
func TestReadersRaceInstallations(t *testing.T) {
	// req: C-015, C-070, C-078, C-080
	// req: C-213 half: the explored schedules of the other checks are in the rest of this package and in the simulation
	utc := newManual()
	k := New(Config{UTC: utc.utc})
	k.Install(all(paced("farm", 1, 1, self)), 1)
	const generations, readers = 40, 4
	var all sync.WaitGroup
	seen := make([]struct {
		sync.Mutex
		high int64
	}, generations+1)
	stop := make(chan struct{})
	for range readers {
		all.Go(func() {
			h := k.Current("farm")
			for {
				select {
				case <-stop:
					return
				default:
				}
				s, w, isPaced, err := h.Window()
				if err != nil {
					if !fault.Has(err, fault.DomainStopped) && !fault.Has(err, fault.ClockUninstalled) {
						t.Error(err)
						return
					}
					continue
				}
				// Each generation's origin is its number: a mixture would show.
				if g := int64(s.Generation); !isPaced || w.Now() != s.Now || s.Now.NS()/1e18 != g%8 {
					t.Errorf("generation %d reads %d", g, s.Now.NS())
					return
				}
			}
		})
		all.Go(func() { // order over readers: each read happens after the one before it, whoever made it
			for {
				select {
				case <-stop:
					return
				default:
				}
				in := k.cell("farm").current.Load()
				at := &seen[in.lifecycle.Generation]
				at.Lock()
				if readable(in.state) && in == k.cell("farm").current.Load() {
					if now, err := in.read(utc.utc()); err != nil || now.NS() < at.high {
						t.Errorf("generation %d reads %d after %d (%v)", in.lifecycle.Generation, now.NS(), at.high, err)
					} else {
						at.high = now.NS()
					}
				}
				at.Unlock()
			}
		})
	}
	all.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				utc.step(5)
				utc.step(-4)
			}
		}
	})
	revision := ident.Revision(1)
	for g := 1; g <= generations; g++ {
		l := paced("farm", ident.Generation(g), 2*uint64(g), self)
		l.Mapping.LogicalStart = vtime.LogicalFromNS(int64(g%8)*1e18 + 1)
		for range 50 {
			revision++
			k.Install([]clock.Lifecycle{l}, revision)
			k.Pause("farm", ident.Generation(g), revision%2 == 0)
			revision++
			l.Fence.Revision++
			k.InstallFences([]clock.Lifecycle{l}, revision)
		}
		revision++
		k.Install([]clock.Lifecycle{clock.Stop(l)}, revision)
	}
	close(stop)
	all.Wait()
}

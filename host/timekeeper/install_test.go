// SPDX-License-Identifier: Apache-2.0

package timekeeper

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
)

// diary is an observer that writes down what it is told.
type diary struct{ lines []string }

func (d *diary) Installed(l clock.Lifecycle, revision ident.Revision) {
	d.lines = append(d.lines, fmt.Sprintf("%s generation %d fence %d %s at %d", l.Domain, l.Generation, l.Fence.Revision, l.State(), revision))
}
func (d *diary) Removed(domain ident.Domain) { d.lines = append(d.lines, "no "+string(domain)) }
func (d *diary) Advertised(revision ident.Revision) {
	d.lines = append(d.lines, fmt.Sprintf("advertise %d", revision))
}

func (d *diary) expect(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(d.lines, want) {
		t.Fatalf("told\n  %q\nwant\n  %q", d.lines, want)
	}
	d.lines = nil
}

func held(k *Keeper, d ident.Domain) clock.Lifecycle { return k.cell(d).current.Load().lifecycle }

// A change of authority is installed at once, while the graph hangs; every other change waits for it.
func TestFencesGoAhead(t *testing.T) {
	// req: C-049, C-050, C-061, C-202
	k := New(Config{UTC: newManual().utc})
	told := &diary{}
	k.Observe(told)
	farm, mill := paced("farm", 1, 1, self), paced("mill", 1, 1, self)
	k.InstallFences(all(farm, mill), 5)
	told.expect(t) // nothing is created ahead of the graph
	k.Install(all(farm, mill), 5)
	told.expect(t, "farm generation 1 fence 1 paced at 5", "mill generation 1 fence 1 paced at 5", "advertise 5")

	moved := paced("farm", 1, 2, other)
	k.InstallFences(all(moved, mill), 6)
	told.expect(t, "farm generation 1 fence 2 paced at 6", "advertise 6")

	// Another generation waits, and the advertisement with it; a fence beside it does not.
	again := paced("farm", 1, 3, self)
	k.InstallFences(all(again, stopped(mill)), 7)
	told.expect(t, "farm generation 1 fence 3 paced at 7")
	k.InstallFences(all(again, paced("mill", 2, 3, self)), 8)
	told.expect(t)
	if k.Advertised() != 6 {
		t.Fatalf("%d is advertised", k.Advertised())
	}
	k.Install(all(moved, mill), 6) // the graph is two revisions late, and restores no superseded authority
	told.expect(t)
	k.Install(all(again, stopped(mill)), 7)
	told.expect(t, "mill generation 1 fence 2 stopped at 7", "advertise 7")
	k.Install(all(again, paced("mill", 2, 3, self)), 8)
	told.expect(t, "mill generation 2 fence 3 paced at 8", "advertise 8")
	if held(k, "farm") != again {
		t.Fatalf("%+v", held(k, "farm"))
	}
}

// A fence that could not go ahead, because its generation was not installed yet, comes with that generation.
func TestFenceOfAGenerationToCome(t *testing.T) {
	// req: C-049, C-051
	k := New(Config{UTC: newManual().utc})
	told := &diary{}
	old := stopped(paced("farm", 1, 1, self))
	k.Install(all(old), 1)
	k.Observe(told)
	told.expect(t, "farm generation 1 fence 2 stopped at 1", "advertise 1")
	started, moved := paced("farm", 2, 3, self), paced("farm", 2, 4, other)
	k.InstallFences(all(started), 2)
	k.InstallFences(all(moved), 3)
	told.expect(t)
	k.Install(all(started), 2)
	told.expect(t, "farm generation 2 fence 4 paced at 3", "advertise 3")
	k.Install(all(moved), 3)
	told.expect(t)
}

// Late, repeated and older revisions change nothing.
func TestOlderRevisionsNeverWin(t *testing.T) {
	// req: C-051, C-079
	k := New(Config{UTC: newManual().utc})
	first, second := paced("farm", 1, 1, self), paced("farm", 1, 2, other)
	k.Install(all(first), 1)
	told := &diary{}
	k.Observe(told)
	told.lines = nil
	before := k.cell("farm").current.Load()
	k.InstallFences(all(second), 2)
	for range 3 {
		k.Install(all(first), 1)
		k.InstallFences(all(first), 1)
		k.InstallFences(all(second), 2)
		k.Install(all(second), 2)
	}
	k.Install(nil, 1) // an older revision removes nothing either
	told.expect(t, "farm generation 1 fence 2 paced at 2", "advertise 2")
	if held(k, "farm") != second || k.cell("farm").current.Load() == before {
		t.Fatalf("%+v", held(k, "farm"))
	}
}

// Equal lifecycles publish nothing, a pause wakes nobody who waits for the clock, and every other change wakes all of them.
func TestWhoIsWoken(t *testing.T) {
	// req: C-070, C-074, C-079
	k := New(Config{UTC: newManual().utc})
	l := paced("farm", 1, 1, self)
	k.Install(all(l), 1)
	w, err := k.Watch("farm")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	calls := 0
	stop := k.Retain("farm", 1).Notify(func() { calls++ })
	changed, in := w.Changed(), k.cell("farm").current.Load()
	woken := func() bool {
		select {
		case <-changed:
			return true
		default:
			return false
		}
	}
	k.Install(all(l), 2)
	k.InstallFences(all(l), 3)
	k.Pause("farm", 1, true)
	k.Pause("farm", 1, false)
	if woken() || calls != 0 || in.changed != k.cell("farm").current.Load().changed {
		t.Fatal("a change that is none woke somebody")
	}
	k.InstallFences(all(paced("farm", 1, 2, other)), 4)
	select {
	case <-in.changed:
	default:
		t.Fatal("logical waiters were not woken")
	}
	if !woken() || calls != 1 {
		t.Fatalf("a change woke %d", calls)
	}
	stop()
	k.Install(nil, 5)
	if calls != 1 {
		t.Fatal("called after stop")
	}
	k.Retain("none", 1).Notify(func() {})()
}

// Missing is published before anything of the domain is taken away, and the domain is not looked up by its old handles.
func TestRemoval(t *testing.T) {
	// req: C-081, C-082, C-203
	k := New(Config{UTC: newManual().utc})
	k.Install(all(paced("farm", 1, 1, self), unpaced("plain", 1)), 1)
	h := k.Retain("farm", 1)
	seen := make(chan error, 1)
	h.Notify(func() {
		_, err := h.Snapshot() // for the test only: a read takes no lock
		seen <- err
	})
	told := &diary{}
	k.Observe(told)
	told.lines = nil
	k.Install(all(unpaced("plain", 1)), 2)
	told.expect(t, "no farm", "advertise 2")
	if err := <-seen; !fault.Has(err, fault.ClockMissing) {
		t.Fatal(err)
	}
}

func TestInstalledOnce(t *testing.T) {
	// req: C-090 half: the attach that waits is the session's
	k := New(Config{UTC: newManual().utc})
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("the session has ended")
	ended := make(chan error)
	go func() { ended <- k.Installed(ctx) }()
	k.InstallFences(all(unpaced("plain", 1)), 1)
	cancel(why)
	if err := <-ended; !errors.Is(err, why) {
		t.Fatal(err)
	}
	go func() { ended <- k.Installed(context.Background()) }()
	k.Install(all(unpaced("plain", 1)), 1)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if _, err := k.Watch("plain"); err != nil {
		t.Fatal(err)
	}
	k.Install(nil, 2)
	if err := k.Installed(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Watch("plain"); !fault.Has(err, fault.SessionDomainUnknown) {
		t.Fatal(err)
	}
}

// Two ways of installation and a pause run beside each other: nothing that one of them published is lost.
func TestRacingSynchronisations(t *testing.T) {
	// req: C-204
	for range 200 {
		k := New(Config{UTC: newManual().utc})
		k.Install(all(paced("farm", 1, 1, self)), 1)
		started, moved := paced("farm", 2, 2, self), paced("farm", 2, 3, other)
		done := make(chan struct{})
		go func() { k.InstallFences(all(started), 2); k.InstallFences(all(moved), 3); done <- struct{}{} }()
		go func() { k.Install(all(started), 2); k.Pause("farm", 2, true); done <- struct{}{} }()
		<-done
		<-done
		in := k.cell("farm").current.Load()
		if in.lifecycle != moved || !in.paused {
			t.Fatalf("%+v, paused %v", in.lifecycle, in.paused)
		}
	}
}

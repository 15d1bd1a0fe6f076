// SPDX-License-Identifier: Apache-2.0

package timekeeper

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// Every fact of a report has to match, and the name counts that the connection proved.
func TestReportsOfOthersAreRefused(t *testing.T) {
	// req: C-065, C-066, C-069, C-009
	k := New(Config{UTC: newManual().utc})
	l := paced("farm", 2, 5, other)
	k.Install(all(l, stopped(paced("mill", 2, 5, other)), unpaced("plain", 2)), 1)
	for name, c := range map[string]struct {
		from   ident.Node
		change func(*clock.Progress)
	}{
		"no such domain":        {2, func(p *clock.Progress) { p.Domain = "none" }},
		"stopped":               {2, func(p *clock.Progress) { p.Domain = "mill" }},
		"unpaced":               {2, func(p *clock.Progress) { p.Domain = "plain" }},
		"generation":            {2, func(p *clock.Progress) { p.Generation-- }},
		"revision":              {2, func(p *clock.Progress) { p.Fence.Revision-- }},
		"later revision":        {2, func(p *clock.Progress) { p.Fence.Revision++ }},
		"node in the body":      {2, func(p *clock.Progress) { p.Fence.Authority.Node = 3 }},
		"incarnation":           {2, func(p *clock.Progress) { p.Fence.Authority.Incarnation++ }},
		"authenticated node":    {3, func(*clock.Progress) {}},
		"tick 0":                {2, func(p *clock.Progress) { p.Tick.ID = 0 }},
		"no authority at all":   {0, func(p *clock.Progress) { p.Fence.Authority = clock.Authority{} }},
		"another authenticated": {1, func(*clock.Progress) {}},
	} {
		p := report(l, 7)
		c.change(&p)
		if err := k.Receive(c.from, p); !fault.Has(err, fault.ClockProgress) {
			t.Errorf("%s: %v", name, err)
		}
		if _, ok := k.cell("farm").tick(); ok {
			t.Errorf("%s: accepted", name)
		}
	}
	if k.cell("none") != nil || len(k.mu.cells) != 3 {
		t.Fatal("a report created a domain")
	}
	if err := k.Receive(2, report(l, 7)); err != nil {
		t.Fatal(err)
	}
}

// In whatever order reports come, and from however many connections at once, what is kept only grows; and time stands where the mapping puts it.
func TestKeptProgressOnlyGrows(t *testing.T) {
	// req: C-003, C-004, C-067, C-068
	utc := newManual()
	k := New(Config{UTC: utc.utc})
	l := paced("farm", 1, 1, other)
	k.Install(all(l), 1)
	h := k.Retain("farm", 1)
	w, err := k.Watch("farm")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	const ticks = 400
	var senders, reader sync.WaitGroup
	for s := range 4 {
		senders.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(s), 1))
			for _, n := range rnd.Perm(ticks) {
				if err := k.Receive(2, report(l, uint64(n)+1)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	end := make(chan struct{})
	reader.Go(func() {
		for last := uint64(0); ; {
			changed := w.Changed()
			if p, ok := w.Tick(); ok {
				if p.Tick.ID < last {
					t.Errorf("tick %d after %d", p.Tick.ID, last)
				}
				last = p.Tick.ID
			}
			select {
			case <-changed:
			case <-end:
				return
			}
		}
	})
	senders.Wait()
	close(end)
	reader.Wait()
	if p, ok := w.Tick(); !ok || p != report(l, ticks) {
		t.Fatalf("kept %+v", p)
	}
	if reading(t, h) != origin {
		t.Fatal("progress moved domain time")
	}
	early := report(l, ticks+1) // a higher number from an observation that lies before the kept one
	early.AuthorityUTC = vtime.UTCFromNS(anchor)
	far := report(l, ticks+1)
	far.Tick.Boundary, far.Period = vtime.LogicalFromNS(1<<62), 1 // a forged boundary establishes nothing
	for _, p := range []clock.Progress{early, far} {
		if err := k.Receive(2, p); err != nil {
			t.Fatal(err)
		}
		utc.step(time.Nanosecond)
	}
	if p, _ := w.Tick(); p != far || reading(t, h) != origin+2 {
		t.Fatalf("kept %+v, domain time %d", p, reading(t, h)-origin)
	}
}

// A new generation and a stop clear what is kept; a move of the authority does not.
func TestWhatClearsProgress(t *testing.T) {
	// req: C-028, C-068
	k := New(Config{UTC: newManual().utc})
	l := paced("farm", 1, 1, self)
	k.Install(all(l), 1)
	w, err := k.Watch("farm")
	if err != nil {
		t.Fatal(err)
	}
	tick := func(want uint64) {
		t.Helper()
		if p, ok := w.Tick(); p.Tick.ID != want || ok != (want != 0) {
			t.Fatalf("tick %d (%v), want %d", p.Tick.ID, ok, want)
		}
	}
	if err := k.Receive(1, report(l, 3)); err != nil {
		t.Fatal(err)
	}
	tick(3)
	moved := paced("farm", 1, 2, other)
	k.InstallFences(all(moved), 2)
	tick(3)
	if err := k.Receive(1, report(l, 4)); !fault.Has(err, fault.ClockProgress) { // the old authority
		t.Fatal(err)
	}
	if err := k.Receive(2, report(moved, 4)); err != nil {
		t.Fatal(err)
	}
	tick(4)
	k.InstallFences(all(paced("farm", 1, 3, clock.Authority{})), 3)
	tick(0) // nothing is shown while the clock is uninstalled
	k.InstallFences(all(paced("farm", 1, 4, self)), 4)
	tick(4)
	next := paced("farm", 2, 5, self)
	k.Install(all(next), 5)
	tick(0)
	if err := k.Receive(1, report(next, 1)); err != nil {
		t.Fatal(err)
	}
	tick(1)
	k.Install(all(stopped(next)), 6)
	tick(0)
	if k.cell("farm").mu.kept != (clock.Progress{}) {
		t.Fatal("progress outlives a stop")
	}
}

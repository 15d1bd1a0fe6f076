// SPDX-License-Identifier: Apache-2.0

package authority

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

var self = clock.Authority{Node: 1, Incarnation: 3}

// start is the UTC at which every rig begins.
const start = int64(1_700_000_000_000_000_000)

// rig drives a machine with manual clocks and writes down what it wants.
type rig struct {
	t   testing.TB
	m   *Machine
	now Now

	told    []string // effects since the last expect
	reports []clock.Progress
	under   map[Attempt]Send
	asked   map[Attempt]bool // to be cancelled
	most    int              // requests under way at once
}

func newRig(t testing.TB, quota int) *rig {
	return &rig{
		t: t, m: New(Config{Self: self, Quota: quota}), now: Now{UTC: vtime.UTCFromNS(start), Mono: vtime.MonoFromNS(5e9)},
		under: make(map[Attempt]Send), asked: make(map[Attempt]bool),
	}
}

// lifecycle is a paced domain of this node: 1 s of domain time a tick, at a rate.
func lifecycle(d ident.Domain, generation ident.Generation, revision uint64, rate float64) clock.Lifecycle {
	return clock.Lifecycle{
		Domain: d, Created: 4, Generation: generation, Running: true, Paced: true, Pace: clock.Pace{Period: 1e9, Skew: 1},
		Mapping: clock.Mapping{WallStartedAt: vtime.UTCFromNS(start), LogicalStart: vtime.LogicalFromNS(1e15), Rate: rate},
		Fence:   clock.Fence{Revision: revision, Authority: self},
	}
}

// pass moves both clocks.
func (r *rig) pass(d time.Duration) {
	r.now.Mono = r.now.Mono.Add(d)
	r.now.UTC = vtime.UTCFromNS(r.now.UTC.NS() + int64(d))
}

// wake moves both clocks and wakes the machine.
func (r *rig) wake(d time.Duration) {
	r.pass(d)
	r.m.Wake(r.now)
	r.take()
}

func (r *rig) install(l clock.Lifecycle, revision ident.Revision) {
	r.m.Install(r.now, l, revision)
	r.take()
}

func (r *rig) peer(node ident.Node, revision ident.Revision, live bool) {
	r.m.Peer(r.now, Peer{Node: node, Incarnation: 1, Revision: revision, Live: live})
	r.take()
}

// end ends the only request under way to a node.
func (r *rig) end(to ident.Node, answered bool) {
	r.t.Helper()
	for _, number := range r.numbers() {
		if r.under[number].To == to {
			delete(r.under, number)
			delete(r.asked, number)
			r.m.Ended(r.now, number, answered)
			r.take()
			return
		}
	}
	r.t.Fatalf("nothing is under way to %s", to)
}

func (r *rig) numbers() []Attempt {
	var all []Attempt
	for n := range r.under {
		all = append(all, n)
	}
	slices.Sort(all)
	return all
}

// take carries out the effects, and checks what holds of every sequence of them.
func (r *rig) take() {
	r.t.Helper()
	for _, e := range r.m.Take() {
		switch e := e.(type) {
		case Report:
			r.reports = append(r.reports, e.Progress)
			r.tell("%s tick %d", e.Progress.Domain, e.Progress.Tick.ID)
		case Send:
			for _, s := range r.under {
				if s.To == e.To && s.Report.Domain == e.Report.Domain {
					r.t.Fatalf("two requests to %s about %s are under way", e.To, e.Report.Domain)
				}
				if s.Report.Domain == e.Report.Domain && s.Report.Fence != e.Report.Fence {
					r.t.Fatalf("%s: a successor sends before its predecessor has retired", e.Report.Domain)
				}
			}
			r.under[e.Attempt] = e
			r.most = max(r.most, len(r.under))
			r.tell("%s %d to %s", e.Report.Domain, e.Report.Tick.ID, e.To)
		case Cancel:
			if r.asked[e.Attempt] {
				r.t.Fatal("a request is cancelled twice")
			}
			r.asked[e.Attempt] = true
			r.tell("cancel %s to %s", r.under[e.Attempt].Report.Domain, r.under[e.Attempt].To)
		case Failure:
			r.tell("%s failed, final %v", e.Domain, e.Final)
		}
	}
}

func (r *rig) tell(format string, args ...any) { r.told = append(r.told, fmt.Sprintf(format, args...)) }

// expect compares the effects since the last call.
func (r *rig) expect(want ...string) {
	r.t.Helper()
	if !slices.Equal(r.told, want) {
		r.t.Fatalf("effects\n  %q\nwant\n  %q", r.told, want)
	}
	r.told = nil
}

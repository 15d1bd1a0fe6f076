// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

func report(l Lifecycle, id uint64, utc int64) Progress {
	return Progress{Domain: l.Domain, Generation: l.Generation, Fence: l.Fence, Tick: Tick{ID: id}, AuthorityUTC: vtime.UTCFromNS(utc), Period: l.Pace.Period}
}

func TestAcceptanceNeedsEveryFact(t *testing.T) {
	// req: C-066
	// req: C-009, C-065 half: the judgement alone
	l := paced(4, Fence{7, Authority{2, 3}})
	good := report(l, 5, 100)
	if err := Accepts(l, 2, good); err != nil {
		t.Fatal(err)
	}
	change := func(f func(*Progress)) Progress { p := good; f(&p); return p }
	unpaced, unassigned := l, l
	unpaced.Paced = false
	unassigned.Fence = Fence{Revision: 7}
	for _, c := range []struct {
		says string
		l    Lifecycle
		from ident.Node
		p    Progress
	}{
		{"not installed", Lifecycle{}, 2, good},
		{"not installed", Lifecycle{}, 2, change(func(p *Progress) { p.Domain = "" })},
		{"not installed", l, 2, change(func(p *Progress) { p.Domain = "e" })},
		{"stopped", Stop(l), 2, good},
		{"unpaced", unpaced, 2, good},
		{"generation 3; 4", l, 2, change(func(p *Progress) { p.Generation = 3 })},
		{"generation 5; 4", l, 2, change(func(p *Progress) { p.Generation = 5 })},
		{"revision 6; 7", l, 2, change(func(p *Progress) { p.Fence.Revision = 6 })},
		{"revision 8; 7", l, 2, change(func(p *Progress) { p.Fence.Revision = 8 })},
		{"no node is the authority", unassigned, 2, good},
		{"no node is the authority", unassigned, 0, change(func(p *Progress) { p.Fence.Authority = Authority{} })},
		{"n2 incarnation 2", l, 2, change(func(p *Progress) { p.Fence.Authority.Incarnation = 2 })},
		{"n1 incarnation 3", l, 1, change(func(p *Progress) { p.Fence.Authority.Node = 1 })},
		{"came from node n1", l, 1, good},
		{"tick number 0", l, 2, change(func(p *Progress) { p.Tick.ID = 0 })},
	} {
		if err := Accepts(c.l, c.from, c.p); !errors.Is(err, ErrProgress) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, want %q", err, c.says)
		}
	}
	// What a report says about boundary and period is shown and establishes nothing (C-004).
	if err := Accepts(l, 2, change(func(p *Progress) { p.Tick.Boundary, p.Period = vtime.LogicalFromNS(1<<62), 1 })); err != nil {
		t.Error(err)
	}
}

func TestReportsInAnyOrderKeepTheNewest(t *testing.T) {
	// req: C-067
	rapid.Check(t, func(t *rapid.T) {
		l := paced(4, Fence{7, Authority{2, 3}})
		reports := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Progress {
			return report(l, rapid.Uint64Range(1, 9).Draw(t, "id"), rapid.Int64Range(-5, 5).Draw(t, "utc"))
		}), 1, 20).Draw(t, "reports")
		var kept Progress
		for _, p := range reports {
			before := kept
			if p.Supersedes(kept) {
				kept = p
			}
			switch advances := before == (Progress{}) || p.Tick.ID > before.Tick.ID; {
			case kept.Tick.ID < before.Tick.ID, before != (Progress{}) && kept.AuthorityUTC.NS() < before.AuthorityUTC.NS():
				t.Fatalf("%v went back to %v", before, kept)
			case advances && (before == (Progress{}) || p.AuthorityUTC.NS() >= before.AuthorityUTC.NS()) && kept != p:
				t.Fatalf("%v was ignored after %v", p, before)
			case !advances && kept != before:
				t.Fatalf("%v does not advance, but replaced %v", p, before)
			}
		}
		if kept.Supersedes(kept) {
			t.Fatal("a duplicate is newer")
		}
	})
}

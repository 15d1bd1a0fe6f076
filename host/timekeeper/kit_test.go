// SPDX-License-Identifier: Apache-2.0

package timekeeper

import (
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	self  = clock.Authority{Node: 1, Incarnation: 3}
	other = clock.Authority{Node: 2, Incarnation: 1}
)

// anchor is the UTC at which test generations start, origin their domain time then.
const (
	anchor = int64(1_700_000_000_000_000_000)
	origin = int64(1_000_000_000_000_000_000)
)

// manual is a UTC source that tests move.
type manual struct{ ns atomic.Int64 }

func newManual() *manual {
	m := &manual{}
	m.ns.Store(anchor)
	return m
}

func (m *manual) utc() vtime.UTC { return vtime.UTCFromNS(m.ns.Load()) }

func (m *manual) step(d time.Duration) { m.ns.Add(int64(d)) }

// paced is a running generation of a paced domain with the given authority fence.
func paced(d ident.Domain, generation ident.Generation, fence uint64, who clock.Authority) clock.Lifecycle {
	return clock.Lifecycle{
		Domain: d, Created: 4, Generation: generation, Running: true, Paced: true, Pace: clock.Pace{Period: 1e9, Skew: 1e8},
		Mapping: clock.Mapping{WallStartedAt: vtime.UTCFromNS(anchor), LogicalStart: vtime.LogicalFromNS(origin), Rate: 1},
		Fence:   clock.Fence{Revision: fence, Authority: who},
	}
}

func unpaced(d ident.Domain, generation ident.Generation) clock.Lifecycle {
	return clock.Lifecycle{Domain: d, Created: 4, Generation: generation, Running: true}
}

func stopped(l clock.Lifecycle) clock.Lifecycle { return clock.Stop(l) }

func all(l ...clock.Lifecycle) []clock.Lifecycle { return l }

// report is a tick of the authority that a lifecycle names.
func report(l clock.Lifecycle, id uint64) clock.Progress {
	t, err := clock.Boundary(l.Mapping, l.Pace, id)
	if err != nil {
		panic(err)
	}
	return clock.Progress{
		Domain: l.Domain, Generation: l.Generation, Fence: l.Fence, Tick: t, AuthorityUTC: vtime.UTCFromNS(anchor + int64(id)*1e9), Period: l.Pace.Period,
	}
}

func reading(t testing.TB, h *Handle) int64 {
	t.Helper()
	s, err := h.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	now, ok := h.Now()
	if !ok || now.Before(s.Now) {
		t.Fatalf("Now %v (%v) after a snapshot of %v", now, ok, s.Now)
	}
	return s.Now.NS()
}

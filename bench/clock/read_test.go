// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/timekeeper"
)

// paced is a keeper with one running paced domain.
func paced(b *testing.B, rate float64) (*timekeeper.Keeper, clock.Lifecycle, *timekeeper.Handle) {
	b.Helper()
	return pacedBy(b, nil, rate)
}

// pacedBy is paced with a UTC source; nil means the machine's.
func pacedBy(b *testing.B, utc func() vtime.UTC, rate float64) (*timekeeper.Keeper, clock.Lifecycle, *timekeeper.Handle) {
	b.Helper()
	now := osclock.UTC()
	l := clock.Lifecycle{
		Domain: "farm", Created: 1, Generation: 1, Running: true, Paced: true, Pace: clock.Pace{Period: 1e9, Skew: 1e8},
		Mapping: clock.Mapping{WallStartedAt: now, LogicalStart: vtime.LogicalFromNS(1e18), Rate: rate},
		Fence:   clock.Fence{Revision: 1, Authority: clock.Authority{Node: 1, Incarnation: 1}},
	}
	k := timekeeper.New(timekeeper.Config{UTC: utc})
	k.Install([]clock.Lifecycle{l}, 1)
	h, err := k.Bind("farm", 1)
	if err != nil {
		b.Fatal(err)
	}
	return k, l, h
}

var sink atomic.Int64

// BenchmarkSource is the UTC source that every read takes.
func BenchmarkSource(b *testing.B) {
	var n int64
	for b.Loop() {
		n += osclock.UTC().NS()
	}
	sink.Store(n)
}

// BenchmarkTimeNow is the library's clock by itself.
func BenchmarkTimeNow(b *testing.B) {
	var n int
	for b.Loop() {
		n += time.Now().Nanosecond()
	}
	sink.Store(int64(n))
}

// BenchmarkAtomicLoad is what a read cannot do without.
func BenchmarkAtomicLoad(b *testing.B) {
	var p atomic.Pointer[clock.Lifecycle]
	p.Store(&clock.Lifecycle{Generation: 1})
	var n ident.Generation
	for b.Loop() {
		n += p.Load().Generation
	}
	sink.Store(int64(n))
}

func read(b *testing.B, h *timekeeper.Handle) {
	b.ReportAllocs()
	var n int64
	for b.Loop() {
		s, err := h.Snapshot()
		if err != nil {
			b.Fatal(err)
		}
		n += s.Now.NS()
	}
	sink.Store(n)
}

// BenchmarkRead is a snapshot of one reader alone.
func BenchmarkRead(b *testing.B) {
	b.Run("unpaced", func(b *testing.B) { read(b, timekeeper.Unpaced("farm", 1)) })
	b.Run("paced", func(b *testing.B) {
		_, _, h := paced(b, 1)
		read(b, h)
	})
	b.Run("pacedFraction", func(b *testing.B) {
		_, _, h := paced(b, 1.0/3)
		read(b, h)
	})
}

// BenchmarkOverSource is a read with a UTC source that costs next to nothing and always advances, beside that source: the difference is what a read adds.
func BenchmarkOverSource(b *testing.B) {
	ns := time.Now().UnixNano()
	utc := func() vtime.UTC { ns++; return vtime.UTCFromNS(ns) }
	b.Run("source", func(b *testing.B) {
		var n int64
		for b.Loop() {
			n += utc().NS()
		}
		sink.Store(n)
	})
	b.Run("unpaced", func(b *testing.B) {
		k := timekeeper.New(timekeeper.Config{UTC: utc})
		k.Install([]clock.Lifecycle{{Domain: "farm", Created: 1, Generation: 1, Running: true}}, 1)
		read(b, k.Retain("farm", 1))
	})
	b.Run("paced", func(b *testing.B) {
		_, _, h := pacedBy(b, utc, 1)
		read(b, h)
	})
	b.Run("pacedFraction", func(b *testing.B) {
		_, _, h := pacedBy(b, utc, 1.0/3)
		read(b, h)
	})
}

// BenchmarkWindow is a snapshot with its admission window.
func BenchmarkWindow(b *testing.B) {
	_, _, h := paced(b, 1)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, _, err := h.Window(); err != nil {
			b.Fatal(err)
		}
	}
}

// parallel runs a reader on every core.
func parallel(b *testing.B, body func() int64) {
	b.ReportAllocs()
	b.RunParallel(func(p *testing.PB) {
		var n int64
		for p.Next() {
			n += body()
		}
		sink.Add(n)
	})
}

// BenchmarkAllCores reads with every core at once.
func BenchmarkAllCores(b *testing.B) {
	b.Run("source", func(b *testing.B) { parallel(b, func() int64 { return osclock.UTC().NS() }) })
	b.Run("oneDomain", func(b *testing.B) {
		_, _, h := paced(b, 1)
		parallel(b, func() int64 { now, _ := h.Now(); return now.NS() })
	})
	b.Run("oneDomainSwapped", func(b *testing.B) {
		k, l, h := paced(b, 1)
		defer swap(k, l)()
		parallel(b, func() int64 { now, _ := h.Now(); return now.NS() })
	})
}

// swap replaces the installation 1,000 times a second, by a move of the authority, until the returned function is called.
func swap(k *timekeeper.Keeper, l clock.Lifecycle) (stop func()) {
	var done sync.WaitGroup
	end := make(chan struct{})
	done.Go(func() {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for revision := ident.Revision(2); ; revision++ {
			select {
			case <-end:
				return
			case <-tick.C:
				l.Fence.Revision++
				k.InstallFences([]clock.Lifecycle{l}, revision)
			}
		}
	})
	return func() { close(end); done.Wait() }
}

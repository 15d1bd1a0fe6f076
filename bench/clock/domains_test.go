// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"fmt"
	"log/slog"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/timekeeper"
)

// many are paced domains of this node with a tick a minute: their clocks run, and hardly anything happens.
func many(n int, period time.Duration) []clock.Lifecycle {
	now := osclock.UTC()
	all := make([]clock.Lifecycle, n)
	for i := range all {
		all[i] = clock.Lifecycle{
			Domain: ident.Domain(fmt.Sprintf("domain_%05d", i)), Created: 1, Generation: 1, Running: true, Paced: true, Pace: clock.Pace{Period: uint64(period), Skew: 1},
			// Anchors are spread over a period, as starts are.
			Mapping: clock.Mapping{WallStartedAt: vtime.UTCFromNS(now.NS() - int64(period)*int64(i)/int64(n)), LogicalStart: vtime.LogicalFromNS(1e18), Rate: 1},
			Fence:   clock.Fence{Revision: 1, Authority: clock.Authority{Node: 1, Incarnation: 1}},
		}
	}
	return all
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkTenThousandDomains is a node that is the authority of 10,000 paced domains: what they hold, and what their ticks cost while nobody reads.
func BenchmarkTenThousandDomains(b *testing.B) {
	const n = 10_000
	for _, period := range []time.Duration{time.Second, time.Minute} {
		b.Run("period"+period.String(), func(b *testing.B) {
			all := many(n, period)
			before := heap()
			k := timekeeper.New(timekeeper.Config{})
			p := timekeeper.Produce(timekeeper.ProductionConfig{Self: clock.Authority{Node: 1, Incarnation: 1}, Keeper: k, Log: slog.New(slog.DiscardHandler)})
			k.Install(all, 1)
			time.Sleep(200 * time.Millisecond) // the first tick of each
			held := heap() - before
			began, used := time.Now(), cpu()
			time.Sleep(2 * time.Second)
			used = cpu() - used
			share := 100 * used.Seconds() / time.Since(began).Seconds()
			p.Close()
			runtime.KeepAlive(k)
			for b.Loop() { // what is left to measure: a revision that changes nothing
				k.Install(all, 2)
				k.InstallFences(all, 2)
			}
			b.ReportMetric(float64(held)/n, "B/domain")
			b.ReportMetric(share, "%core")
		})
	}
}

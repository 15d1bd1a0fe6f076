// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/nervix-go/nervix/host/osclock"
)

// contender is one way to do what is compared.
type contender struct {
	name string
	// work does it n times. Where that happens in another process it tells what that needed, else nil.
	work func(n int) *spent
}

// spent is what a process has used so far, or used for something: nanoseconds of processor time, allocations, and bytes allocated.
type spent struct{ ns, allocs, bytes int64 }

// used is what this process has used so far. Processor time, because on a machine that others use too the time that passes says little; it holds the collector's
// work, and there is one core for all.
func used() spent {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	var r syscall.Rusage
	fail(syscall.Getrusage(syscall.RUSAGE_SELF, &r))
	return spent{r.Utime.Nano() + r.Stime.Nano(), int64(m.Mallocs), int64(m.TotalAlloc)}
}

// here is a contender in this process.
func here(name string, work func(n int)) contender {
	return contender{name, func(n int) *spent {
		work(n)
		return nil
	}}
}

// figure is what one contender needs for one piece of work; times are of processors.
type figure struct {
	name          string
	ns, low, high float64   // median, tenth and ninetieth percentile
	all           []float64 // by round
	allocs, bytes float64
}

// take is how long one contender works in one round.
const take = 12 * time.Millisecond

// compare lets contenders take turns, so that a busy machine slows all alike.
func compare(rounds int, contenders []contender) []figure {
	out := make([]figure, len(contenders))
	counts := make([]int, len(contenders))
	for k, c := range contenders {
		out[k].name = c.name
		counts[k] = calibrate(c)
	}
	for range rounds {
		for k, c := range contenders {
			before := used()
			s := c.work(counts[k])
			if s == nil {
				after := used()
				s = &spent{after.ns - before.ns, after.allocs - before.allocs, after.bytes - before.bytes}
			}
			f, n := &out[k], float64(counts[k])
			f.all = append(f.all, float64(s.ns)/n)
			f.allocs, f.bytes = float64(s.allocs)/n, float64(s.bytes)/n
		}
	}
	for k := range out {
		out[k].ns, out[k].low, out[k].high = quantiles(out[k].all)
	}
	return out
}

// calibrate warms a contender up and finds how often it works in the time of a round.
func calibrate(c contender) int {
	for n := 1; ; n *= 2 {
		began := osclock.Mono()
		c.work(n)
		if took := osclock.Mono().Sub(began); took > take/4 {
			return max(1, int(float64(n)*float64(take)/float64(took)))
		}
	}
}

func quantiles(all []float64) (median, low, high float64) {
	s := slices.Clone(all)
	slices.Sort(s)
	return s[len(s)/2], s[len(s)/10], s[len(s)*9/10]
}

// times is the median over the rounds of how many times another's work a figure takes.
func (f figure) times(o figure) float64 {
	ratios := make([]float64, len(f.all))
	for i := range ratios {
		ratios[i] = f.all[i] / o.all[i]
	}
	median, _, _ := quantiles(ratios)
	return median
}

// us prints nanoseconds as microseconds with three figures.
func us(ns float64) string {
	switch v := ns / 1000; {
	case v < 10:
		return fmt.Sprintf("%.2f", v)
	case v < 100:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.0f", v)
	}
}

// percentiles gives the p50 and p99 of times in microseconds.
func percentiles(all []float64) (p50, p99 float64) {
	slices.Sort(all)
	return all[len(all)/2], all[len(all)*99/100]
}

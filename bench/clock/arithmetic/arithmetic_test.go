// SPDX-License-Identifier: Apache-2.0

// Package arithmetic measures the arithmetic of the domain clock: the admission kernel beside a loop that people write by hand, beside a plain read of the
// column and beside memcpy, in cache (one ingest group of 1,024 rows) and out of it (128 MiB); and projections, waits and windows one by one.
package arithmetic

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

const (
	group = 1024
	large = 1 << 24
	start = int64(1_700_000_000e9)
	day   = uint64(24 * time.Hour)
)

// column holds events of 300 days in no order; the windows below retain 256 of them.
func column(n int) []int64 {
	r := rand.New(rand.NewPCG(1, 2))
	ts := make([]int64, n)
	for i := range ts {
		ts[i] = start + r.Int64N(300*int64(day))
	}
	return ts
}

func window(b *testing.B, skew uint64) clock.Window {
	m, err := clock.NewMapping(vtime.UTCFromNS(0), vtime.LogicalFromNS(start), 1)
	if err != nil {
		b.Fatal(err)
	}
	w, err := clock.WindowAt(m, clock.Pace{Period: day, Skew: skew}, vtime.LogicalFromNS(start+255*int64(day)))
	if err != nil {
		b.Fatal(err)
	}
	return w
}

// sink keeps results alive.
var sink int

// sizes runs f over one group again and again, and over a column that no cache holds.
func sizes(b *testing.B, f func(dst []byte, ts []int64) int) {
	ts := column(large)
	dst := make([]byte, large/8)
	for _, size := range []struct {
		name string
		rows int
	}{{"group", group}, {"memory", large}} {
		b.Run(size.name, func(b *testing.B) {
			b.SetBytes(8 * int64(size.rows))
			for b.Loop() {
				sink = f(dst, ts[:size.rows])
			}
		})
	}
}

// BenchmarkAdmission is the kernel without a period test (skew covers the period), with one, and with one beside a validity bitmap.
func BenchmarkAdmission(b *testing.B) {
	b.Run("covered", func(b *testing.B) {
		w := window(b, day/2)
		sizes(b, func(dst []byte, ts []int64) int { return w.Select(dst, ts, nil, 0) })
	})
	b.Run("periodic", func(b *testing.B) {
		w := window(b, uint64(time.Hour))
		sizes(b, func(dst []byte, ts []int64) int { return w.Select(dst, ts, nil, 0) })
	})
	b.Run("nulls", func(b *testing.B) {
		w := window(b, uint64(time.Hour))
		valid := make([]byte, large/8+1)
		for i := range valid {
			valid[i] = 0xf7
		}
		sizes(b, func(dst []byte, ts []int64) int { return w.Select(dst, ts, valid, 5) })
	})
}

// BenchmarkByHand is what the kernel is compared with: two compares a row, and a remainder where one is needed.
func BenchmarkByHand(b *testing.B) {
	b.Run("covered", func(b *testing.B) {
		w := window(b, day/2)
		low, high := w.Bounds()
		lo, hi := low.NS(), high.NS()
		sizes(b, func(dst []byte, ts []int64) int {
			clear(dst[:len(ts)/8])
			n := 0
			for i, t := range ts {
				if t >= lo && t <= hi {
					dst[i>>3] |= 1 << (i & 7)
					n++
				}
			}
			return n
		})
	})
	b.Run("periodic", func(b *testing.B) {
		w := window(b, uint64(time.Hour))
		low, high := w.Bounds()
		lo, hi, width := low.NS(), high.NS(), 2*uint64(time.Hour)
		period := w.Period()
		sizes(b, func(dst []byte, ts []int64) int {
			clear(dst[:len(ts)/8])
			n := 0
			for i, t := range ts {
				if t >= lo && t <= hi && uint64(t-lo)%period <= width {
					dst[i>>3] |= 1 << (i & 7)
					n++
				}
			}
			return n
		})
	})
}

// BenchmarkRead is the read bandwidth: a sum, read in order and at the kernel's four places in turn.
func BenchmarkRead(b *testing.B) {
	b.Run("one", func(b *testing.B) {
		sizes(b, func(_ []byte, ts []int64) int { return int(total(ts)) })
	})
	b.Run("four", func(b *testing.B) {
		sizes(b, func(_ []byte, ts []int64) int {
			var s int64
			for len(ts) >= 2048 {
				for k := 0; k < 512; k += 64 {
					s += total(ts[k:k+64]) + total(ts[512+k:][:64]) + total(ts[1024+k:][:64]) + total(ts[1536+k:][:64])
				}
				ts = ts[2048:]
			}
			return int(s + total(ts))
		})
	})
}

func total(ts []int64) int64 {
	var a, b, c, d int64
	for len(ts) >= 8 {
		x := (*[8]int64)(ts)
		a, b, c, d = a+x[0]+x[4], b+x[1]+x[5], c+x[2]+x[6], d+x[3]+x[7]
		ts = ts[8:]
	}
	return a + b + c + d
}

// BenchmarkMemcpy copies the column.
func BenchmarkMemcpy(b *testing.B) {
	to := make([]int64, large)
	sizes(b, func(_ []byte, ts []int64) int { return copy(to, ts) })
}

// rates are those of a projection's shapes: whole, above and below one, tiny and large.
var rates = []float64{1, 60, 0.1, 1e-6, 1728000}

func mapping(b *testing.B, rate float64) clock.Mapping {
	m, err := clock.NewMapping(vtime.UTCFromNS(start), vtime.LogicalFromNS(0), rate)
	if err != nil {
		b.Fatal(err)
	}
	return m
}

func each(b *testing.B, f func(m clock.Mapping, i int64) int64) {
	for _, rate := range rates {
		m := mapping(b, rate)
		b.Run(fmt.Sprintf("rate=%g", rate), func(b *testing.B) {
			b.ReportAllocs()
			i, got := int64(0), int64(0)
			for b.Loop() {
				i += 1000
				got += f(m, i)
			}
			sink = int(got)
		})
	}
}

// BenchmarkProjection is one reading; the float product beside it is what it must not be.
func BenchmarkProjection(b *testing.B) {
	each(b, func(m clock.Mapping, i int64) int64 {
		now, err := m.At(vtime.UTCFromNS(start + i))
		if err != nil {
			return 0
		}
		return now.NS()
	})
}

// BenchmarkFloatProduct is the inexact formula.
func BenchmarkFloatProduct(b *testing.B) {
	each(b, func(m clock.Mapping, i int64) int64 {
		return m.LogicalStart.NS() + int64(float64(start+i-m.WallStartedAt.NS())*m.Rate)
	})
}

// BenchmarkWait is one conversion of a logical distance into a timer's.
func BenchmarkWait(b *testing.B) {
	each(b, func(m clock.Mapping, i int64) int64 {
		d, err := m.Wait(vtime.LogicalFromNS(i), vtime.LogicalFromNS(i+1_000_000))
		if err != nil {
			return 0
		}
		return int64(d)
	})
}

// BenchmarkWindow is one window with its preparation, as once a group.
func BenchmarkWindow(b *testing.B) {
	for _, c := range []struct {
		name string
		skew uint64
	}{{"covered", day / 2}, {"periodic", uint64(time.Hour)}} {
		b.Run(c.name, func(b *testing.B) {
			m := mapping(b, 1)
			b.ReportAllocs()
			i := int64(0)
			for b.Loop() {
				i += 1000
				w, err := clock.WindowAt(m, clock.Pace{Period: day, Skew: c.skew}, vtime.LogicalFromNS(start+i))
				if err != nil {
					b.Fatal(err)
				}
				if w.Admits(start) {
					sink++
				}
			}
		})
	}
}

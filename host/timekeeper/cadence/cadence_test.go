// SPDX-License-Identifier: Apache-2.0

package cadence

import (
	"math"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

func at(ns int64) vtime.Logical { return vtime.LogicalFromNS(ns) }

func TestFirstOccurrence(t *testing.T) {
	// req: C-141
	poll, err := New(at(1000), 10, Immediately)
	if err != nil {
		t.Fatal(err)
	}
	if s, due := poll.Due(at(1000)); !due || s != at(1000) {
		t.Fatalf("HTTP polling begins at %v (%v)", s, due)
	}
	scrape, err := New(at(1000), 10, AfterInterval)
	if err != nil {
		t.Fatal(err)
	}
	if _, due := scrape.Due(at(1009)); due {
		t.Fatal("Prometheus polling began before one interval")
	}
	if s, due := scrape.Due(at(1010)); !due || s != at(1010) {
		t.Fatalf("Prometheus polling begins at %v (%v)", s, due)
	}
}

// Ten missed intervals are one run, at the newest of them, and the schedule stays where it was anchored.
func TestMissedOccurrencesCollapse(t *testing.T) {
	// req: C-140
	// req: C-142 half: the pollers that pass the scheduled instant on come with their connectors
	c, _ := New(at(7), 100, Immediately)
	for _, step := range []struct {
		now, want, next int64 // want 0: nothing due
	}{{7, 7, 107}, {106, 0, 107}, {107, 107, 207}, {107, 0, 207}, {1160, 1107, 1207}, {1206, 0, 1207}, {1300, 1207, 1307}, {900, 0, 1307}} {
		s, due := c.Due(at(step.now))
		if due != (step.want != 0) || s.NS() != step.want {
			t.Fatalf("at %d: %d due %v, want %d", step.now, s.NS(), due, step.want)
		}
		if next, more := c.Next(); !more || next.NS() != step.next {
			t.Fatalf("at %d: next %d, want %d", step.now, next.NS(), step.next)
		}
	}
}

func TestBadIntervalsAndTheEndOfTime(t *testing.T) {
	for _, interval := range []time.Duration{0, -1} {
		if _, err := New(at(0), interval, Immediately); !fault.Has(err, fault.ClockCadence) {
			t.Fatalf("interval %d: %v", interval, err)
		}
	}
	if _, err := New(at(math.MaxInt64-4), 5, AfterInterval); !fault.Has(err, fault.ClockCadence) {
		t.Fatal(err)
	}
	c, err := New(at(math.MaxInt64-4), 5, Immediately)
	if err != nil {
		t.Fatal(err)
	}
	if s, due := c.Due(at(math.MaxInt64)); !due || s.NS() != math.MaxInt64-4 {
		t.Fatalf("the last occurrence: %d %v", s.NS(), due)
	}
	if _, more := c.Next(); more {
		t.Fatal("an occurrence beyond the range")
	}
	if _, due := c.Due(at(math.MaxInt64)); due {
		t.Fatal("an occurrence twice")
	}
}

// Against exact integers, for every anchor, interval and order of readings: what is due is the greatest anchor + n*interval that is not after the reading
// and after what was returned before.
func TestScheduleIsExact(t *testing.T) {
	// req: C-140
	rapid.Check(t, func(t *rapid.T) {
		start := rapid.Int64().Draw(t, "start")
		interval := rapid.OneOf(rapid.Int64Range(1, 20), rapid.Int64Range(1, math.MaxInt64)).Draw(t, "interval")
		c, err := New(at(start), time.Duration(interval), Immediately)
		if err != nil {
			t.Fatal(err)
		}
		next := big.NewInt(start)
		for range 6 {
			now := rapid.OneOf(rapid.Int64(), rapid.Int64Range(start, start|0x7f)).Draw(t, "now")
			s, due := c.Due(at(now))
			want := new(big.Int).Sub(big.NewInt(now), next)
			if want.Sign() < 0 || !next.IsInt64() {
				if due {
					t.Fatalf("%d is due at %d; the next occurrence is %s", s.NS(), now, next)
				}
				continue
			}
			step := big.NewInt(interval)
			want.Add(next, want.Mul(want.Div(want, step), step))
			if !due || want.Cmp(big.NewInt(s.NS())) != 0 {
				t.Fatalf("%d (%v) at %d, want %s", s.NS(), due, now, want)
			}
			next.Add(want, step)
			if got, more := c.Next(); more != next.IsInt64() || more && got.NS() != next.Int64() {
				t.Fatalf("next %d (%v), want %s", got.NS(), more, next)
			}
		}
	})
}

// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

func TestProjectionIsExactOrRefused(t *testing.T) {
	// req: C-013, C-014, C-017
	rapid.Check(t, func(t *rapid.T) {
		m := mappings().Draw(t, "mapping")
		wall := instants().Draw(t, "wall")
		if rapid.Bool().Draw(t, "near") { // so that small products are frequent
			if near := m.WallStartedAt.NS() + rapid.Int64Range(-10, 1e12).Draw(t, "after"); near > m.WallStartedAt.NS() {
				wall = near
			}
		}
		want := exactAt(m, wall)
		got, err := m.At(vtime.UTCFromNS(wall))
		checkExact(t, want, got.NS(), err, ErrRange)
	})
}

// checkExact compares with the exact value, or asks for the sentinel and the arithmetic cause below it if it does not fit int64.
func checkExact(t *rapid.T, want *big.Int, got int64, err, sentinel error) {
	t.Helper()
	switch {
	case !want.IsInt64():
		if !errors.Is(err, sentinel) || !errors.Is(err, vtime.ErrRange) {
			t.Fatalf("%s does not fit, but gave %d, %v", want, got, err)
		}
	case err != nil || got != want.Int64():
		t.Fatalf("got %d, %v, want %s", got, err, want)
	}
}

func TestWaitIsTheCeilingOrUnschedulable(t *testing.T) {
	// req: C-016, C-017
	rapid.Check(t, func(t *rapid.T) {
		m := Mapping{Rate: rates().Draw(t, "rate")}
		current, target := instants().Draw(t, "current"), instants().Draw(t, "target")
		if rapid.Bool().Draw(t, "near") {
			if near := current + rapid.Int64Range(-10, 1e12).Draw(t, "after"); (near > current) == (near-current > 0) {
				target = near
			}
		}
		got, err := m.Wait(vtime.LogicalFromNS(current), vtime.LogicalFromNS(target))
		want := new(big.Int)
		if target > current {
			want = ceil(over(rat(diff(target, current)), ratOf(m.Rate)))
			if want.Sign() <= 0 {
				t.Fatal("the oracle is wrong")
			}
		}
		checkExact(t, want, int64(got), err, ErrUnschedulable)
	})
}

func TestWaitNeverEndsEarly(t *testing.T) {
	// req: C-013, C-016
	rapid.Check(t, func(t *rapid.T) {
		m := mappings().Draw(t, "mapping")
		wall := vtime.UTCFromNS(m.WallStartedAt.NS())
		if later, err := vtime.LogicalFromNS(wall.NS()).Add(time.Duration(rapid.Int64Range(0, 1e18).Draw(t, "elapsed"))); err == nil {
			wall = vtime.UTCFromNS(later.NS())
		}
		now, err := m.At(wall)
		if err != nil {
			t.Skip()
		}
		target, err := now.Add(time.Duration(rapid.Int64Range(1, 1e18).Draw(t, "ahead")))
		if err != nil {
			t.Skip()
		}
		wait, err := m.Wait(now, target)
		if err != nil {
			t.Skip()
		}
		end, err := vtime.LogicalFromNS(wall.NS()).Add(wait)
		if err != nil {
			t.Skip()
		}
		// now is rounded down, so that the wait may be a little long, but never short.
		if want := exactAt(m, end.NS()); want.Cmp(bigOf(target.NS())) < 0 {
			t.Fatalf("after %s domain time is %s, before %d", wait, want, target.NS())
		}
	})
}

func TestRates(t *testing.T) {
	// req: C-012
	for _, rate := range []float64{0, math.Copysign(0, -1), -1, -math.SmallestNonzeroFloat64, math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(math.NaN(), -1)} {
		if _, err := NewMapping(vtime.UTC{}, vtime.Logical{}, rate); !errors.Is(err, ErrRate) {
			t.Errorf("rate %g: %v", rate, err)
		}
		m := Mapping{Rate: rate}
		if _, err := m.At(vtime.UTCFromNS(1)); !errors.Is(err, ErrRate) {
			t.Errorf("projection at rate %g: %v", rate, err)
		}
		if _, err := m.Wait(vtime.Logical{}, vtime.LogicalFromNS(1)); !errors.Is(err, ErrRate) {
			t.Errorf("wait at rate %g: %v", rate, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		m := mappings().Draw(t, "mapping")
		got, err := NewMapping(m.WallStartedAt, m.LogicalStart, m.Rate)
		if err != nil || got != m || got.IsZero() {
			t.Fatalf("%v, %v", got, err)
		}
	})
	if !(Mapping{}).IsZero() {
		t.Error("the zero mapping is one")
	}
}

func TestProjectionOverTheWholeRange(t *testing.T) {
	// req: C-013, C-017
	whole := vtime.LogicalFromNS(math.MinInt64)
	for _, c := range []struct {
		rate float64
		wall int64 // the anchor is the smallest instant
		want int64
	}{
		{0x1p63, math.MinInt64 + 1, 0},
		{0x1p62, math.MinInt64 + 3, 1 << 62},
		{0x1.fffffffffffffp63, math.MinInt64 + 1, math.MaxInt64 - 2047},
		{0x1.8p63, math.MinInt64 + 1, 1 << 62},
		{1, math.MaxInt64, math.MaxInt64},
		{0.5, math.MaxInt64, -1},
		{math.Nextafter(1, 0), math.MaxInt64, math.MaxInt64 - 2048},
		{0x1p-63, -1, math.MinInt64},
		{0x1p-63, 0, math.MinInt64 + 1},
		{0x1p-63, math.MaxInt64, math.MinInt64 + 1},
		{0x1.8p-63, math.MaxInt64, math.MinInt64 + 2},
		{0x1p-64, math.MaxInt64, math.MinInt64},
	} {
		m := Mapping{vtime.UTCFromNS(math.MinInt64), whole, c.rate}
		if got, err := m.At(vtime.UTCFromNS(c.wall)); err != nil || got.NS() != c.want || exactAt(m, c.wall).Int64() != c.want {
			t.Errorf("rate %b at %d: %d, %v, want %d", c.rate, c.wall, got.NS(), err, c.want)
		}
	}
	for _, c := range []struct {
		rate float64
		wall int64
	}{{0x1p64, math.MinInt64 + 1}, {0x1p63, math.MinInt64 + 2}, {math.MaxFloat64, math.MinInt64 + 1}, {math.Nextafter(1, 2), math.MaxInt64}} {
		if got, err := (Mapping{vtime.UTCFromNS(math.MinInt64), whole, c.rate}).At(vtime.UTCFromNS(c.wall)); !errors.Is(err, ErrRange) {
			t.Errorf("rate %b at %d: %d, %v", c.rate, c.wall, got.NS(), err)
		}
	}
}

func TestProjectionNeverDecreases(t *testing.T) {
	// req: C-013, C-014
	rapid.Check(t, func(t *rapid.T) {
		m := mappings().Draw(t, "mapping")
		a, b := instants().Draw(t, "a"), instants().Draw(t, "b")
		at, errA := m.At(vtime.UTCFromNS(min(a, b)))
		bt, errB := m.At(vtime.UTCFromNS(max(a, b)))
		if errA != nil && errB == nil || errA == nil && errB == nil && bt.Before(at) {
			t.Fatalf("%v %v then %v %v", at, errA, bt, errB)
		}
	})
}

func TestFailuresSayWhatAndWhy(t *testing.T) {
	// req: C-017
	// req: C-147 half: event and log are the drivers'
	start := vtime.UTCFromNS(1704067200000000000)
	m, _ := NewMapping(start, vtime.LogicalFromNS(9223372036854775000), 60)
	_, rangeErr := m.At(vtime.UTCFromNS(1704067260000000000))
	_, waitErr := Mapping{Rate: 1e-9}.Wait(vtime.Logical{}, vtime.LogicalFromNS(1e18))
	_, rateErr := NewMapping(start, vtime.Logical{}, -2)
	_, tickErr := Boundary(m, Pace{Period: 1 << 63}, 3)
	_, zeroErr := Boundary(m, Pace{Period: 1}, 0)
	_, paceErr := WindowAt(m, Pace{}, m.LogicalStart)
	_, readErr := WindowAt(m, Pace{Period: 1}, vtime.Logical{})
	_, _, idErr := LatestDue(Mapping{LogicalStart: vtime.LogicalFromNS(math.MinInt64), Rate: 1}, Pace{Period: 1}, vtime.LogicalFromNS(math.MaxInt64))
	for _, c := range []struct {
		err      error
		sentinel error
		code     fault.Code
		text     string
	}{
		{rangeErr, ErrRange, fault.ClockRange, "domain time at 2024-01-01T00:01:00Z passes 2262-04-11T23:47:16.854775807Z, its last instant: it started at 2024-01-01T00:00:00Z from 2262-04-11T23:47:16.854775Z with TIME RATE 60: time out of range [clock.range]"},
		{waitErr, ErrUnschedulable, fault.ClockUnschedulable, "277777h46m40s of domain time at TIME RATE 1e-09 take more than the longest timer of 2562047h47m16.854775807s: time out of range [clock.unschedulable]"},
		{rateErr, ErrRate, fault.ClockRate, "TIME RATE -2 is not a positive finite number [clock.rate]"},
		{tickErr, ErrRange, fault.ClockRange, "tick 3 passes 2262-04-11T23:47:16.854775807Z, the last instant of domain time: ticks began at 2262-04-11T23:47:16.854775Z with PERIOD 9223372036854775808ns: time out of range [clock.range]"},
		{zeroErr, ErrTick, fault.ClockTick, "tick 0 was asked for; ticks count from 1 [clock.tick]"},
		{paceErr, ErrPace, fault.ClockPace, "PERIOD is zero; it is at least 1ns [clock.pace]"},
		{readErr, ErrReading, fault.ClockReading, "the reading 1970-01-01T00:00:00Z lies before the start of the generation, 2262-04-11T23:47:16.854775Z [clock.reading]"},
		{idErr, ErrRange, fault.ClockRange, "the number of the tick at 2262-04-11T23:47:16.854775807Z exceeds 64 bits: time out of range [clock.range]"},
	} {
		if c.err == nil || c.err.Error() != c.text || fault.CodeOf(c.err) != c.code || !errors.Is(c.err, c.sentinel) {
			t.Errorf("got  %v\nwant %s", c.err, c.text)
		}
		if strings.Contains(c.text, "time out of range") != errors.Is(c.err, vtime.ErrRange) {
			t.Errorf("%v: the arithmetic cause", c.err)
		}
	}
}

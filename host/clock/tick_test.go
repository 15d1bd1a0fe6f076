// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"errors"
	"math"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/nervix-go/nervix/host/kernel/vtime"
)

func TestBoundariesAreExactOrRefused(t *testing.T) {
	// req: C-053, C-017, C-018
	rapid.Check(t, func(t *rapid.T) {
		m := mappings().Draw(t, "mapping")
		p := Pace{Period: periods().Draw(t, "period")}
		id := periods().Draw(t, "id")
		want := sum(bigOf(m.LogicalStart.NS()), new(big.Int).Mul(new(big.Int).Sub(bigOfU(id), big.NewInt(1)), bigOfU(p.Period)))
		got, err := Boundary(m, p, id)
		checkExact(t, want, got.Boundary.NS(), err, ErrRange)
		if err == nil && got.ID != id {
			t.Fatalf("id %d", got.ID)
		}
	})
	first, err := Boundary(Mapping{LogicalStart: vtime.LogicalFromNS(-7), Rate: 60}, Pace{Period: 5}, 1)
	if err != nil || first != (Tick{1, vtime.LogicalFromNS(-7)}) {
		t.Errorf("tick 1 is %v, %v; it is the origin", first, err)
	}
}

func TestLatestDueAndNextSurroundTheReading(t *testing.T) {
	// req: C-053, C-054, C-017
	rapid.Check(t, func(t *rapid.T) {
		m := mappings().Draw(t, "mapping")
		p := Pace{Period: periods().Draw(t, "period")}
		now := vtime.LogicalFromNS(instants().Draw(t, "now"))
		due, ok, err := LatestDue(m, p, now)
		next, nextErr := Next(m, p, now)
		if now.Before(m.LogicalStart) {
			if ok || err != nil || nextErr != nil || next != (Tick{1, m.LogicalStart}) {
				t.Fatalf("before the origin: %v %v %v, %v %v", due, ok, err, next, nextErr)
			}
			return
		}
		id := sum(new(big.Int).Div(diff(now.NS(), m.LogicalStart.NS()), bigOfU(p.Period)), big.NewInt(1))
		if !id.IsUint64() {
			if !errors.Is(err, ErrRange) || !errors.Is(nextErr, ErrRange) {
				t.Fatalf("id %s: %v, %v", id, err, nextErr)
			}
			return
		}
		if err != nil || !ok || due.ID != id.Uint64() {
			t.Fatalf("due %v, %v, %v, want id %s", due, ok, err, id)
		}
		at, err := Boundary(m, p, due.ID)
		if err != nil || at != due || now.Before(due.Boundary) {
			t.Fatalf("due %v, but its boundary is %v, %v", due, at, err)
		}
		if after := sum(bigOf(due.Boundary.NS()), bigOfU(p.Period)); !after.IsInt64() || due.ID == math.MaxUint64 {
			if !errors.Is(nextErr, ErrRange) {
				t.Fatalf("next %v, %v", next, nextErr)
			}
		} else if nextErr != nil || next.ID != due.ID+1 || next.Boundary.NS() != after.Int64() || !now.Before(next.Boundary) {
			t.Fatalf("next %v, %v after %v", next, nextErr, due)
		}
	})
}

func TestGapIsAPeriodOfPhysicalTime(t *testing.T) {
	// req: C-055, C-018
	rapid.Check(t, func(t *rapid.T) {
		m := mappings().Draw(t, "mapping")
		p := Pace{Period: periods().Draw(t, "period"), Skew: lengths().Draw(t, "skew")}
		got, err := Gap(m, p)
		checkExact(t, ceil(over(rat(bigOfU(p.Period)), ratOf(m.Rate))), int64(got), err, ErrUnschedulable)
	})
	if gap, err := Gap(Mapping{Rate: 60}, Pace{Period: uint64(time.Minute)}); gap != time.Second || err != nil {
		t.Error(gap, err)
	}
}

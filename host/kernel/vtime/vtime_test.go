// SPDX-License-Identifier: Apache-2.0

package vtime

import (
	"math"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// edge draws integers that crowd around the ends of the range, where checked arithmetic goes wrong.
func edge() *rapid.Generator[int64] {
	return rapid.OneOf(rapid.Int64(), rapid.Int64Range(math.MaxInt64-3, math.MaxInt64), rapid.Int64Range(math.MinInt64, math.MinInt64+3), rapid.Int64Range(-3, 3))
}

func TestLogicalArithmeticIsExactOrRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := edge().Draw(t, "a"), edge().Draw(t, "b")
		sum, err := LogicalFromNS(a).Add(time.Duration(b))
		exact(t, "add", new(big.Int).Add(big.NewInt(a), big.NewInt(b)), sum.NS(), err)
		diff, err := LogicalFromNS(a).Sub(LogicalFromNS(b))
		exact(t, "sub", new(big.Int).Sub(big.NewInt(a), big.NewInt(b)), int64(diff), err)
		if LogicalFromNS(a).Before(LogicalFromNS(b)) != (a < b) || MonoFromNS(a).Before(MonoFromNS(b)) != (a < b) {
			t.Fatalf("order of %d and %d", a, b)
		}
	})
}

func exact(t *rapid.T, op string, want *big.Int, got int64, err error) {
	t.Helper()
	if !want.IsInt64() {
		if err != ErrRange {
			t.Fatalf("%s: %s does not fit, but gave %d, %v", op, want, got, err)
		}
		return
	}
	if err != nil || got != want.Int64() {
		t.Fatalf("%s: %d, %v, want %s", op, got, err, want)
	}
}

func TestMonoDeadlinesSaturate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, d := edge().Draw(t, "a"), edge().Draw(t, "d")
		want := new(big.Int).Add(big.NewInt(a), big.NewInt(d))
		if m := big.NewInt(math.MaxInt64); want.Cmp(m) > 0 {
			want = m
		}
		if m := big.NewInt(math.MinInt64); want.Cmp(m) < 0 {
			want = m
		}
		if got := MonoFromNS(a).Add(time.Duration(d)).NS(); got != want.Int64() {
			t.Fatalf("%d + %d = %d, want %s", a, d, got, want)
		}
	})
}

func TestUTCMillisecondsRoundDown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ns := edge().Draw(t, "ns")
		floor := new(big.Int).Div(big.NewInt(ns), big.NewInt(1e6)) // Euclidean, which is the floor for a positive divisor
		if got := UTCFromNS(ns).UnixMilli(); got != floor.Int64() {
			t.Fatalf("%d ns is %d ms, want %s", ns, got, floor)
		}
		if UnpacedNow(UTCFromNS(ns)).NS() != ns {
			t.Fatal("the domain time of an unpaced domain is not UTC")
		}
	})
}

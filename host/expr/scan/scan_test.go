// SPDX-License-Identifier: Apache-2.0

package scan_test

import (
	"math"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/nervix-go/nervix/host/expr/scan"
)

// exactly rounds the rational number behind x and gives the float nearest to the result.
func exactly(x float64, d int64, width int) float64 {
	power := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(max(d, -d)), nil))
	if d < 0 {
		power.Inv(power)
	}
	v := new(big.Rat).SetFloat64(math.Abs(x))
	v.Mul(v, power).Add(v, big.NewRat(1, 2))
	v.SetInt(new(big.Int).Quo(v.Num(), v.Denom())).Quo(v, power)
	if width == 32 {
		f, _ := v.Float32()
		return math.Copysign(float64(f), x)
	}
	f, _ := v.Float64()
	return math.Copysign(f, x)
}

func TestRound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		halves := rapid.Custom(func(t *rapid.T) float64 { // many exact ties
			return float64(rapid.Int64Range(-1<<40, 1<<40).Draw(t, "n")) / float64(int64(1)<<rapid.IntRange(0, 20).Draw(t, "shift"))
		})
		tens := rapid.Map(rapid.Int64Range(-1e9, 1e9), func(n int64) float64 { return float64(n) * 5 })
		x := rapid.OneOf(halves, tens, rapid.Float64(), rapid.Float64Range(-1e6, 1e6), rapid.Float64Range(-1e25, 1e25)).Draw(t, "x")
		d := rapid.OneOf(rapid.Int64Range(-4, 6), rapid.Int64Range(-330, 400)).Draw(t, "d")
		if got, want := scan.Round(x, d, 64), exactly(x, d, 64); math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("round(%v, %d) = %v, want %v", x, d, got, want)
		}
		if y := float64(float32(x)); !math.IsInf(y, 0) {
			got, want := float32(scan.Round(y, d, 32)), float32(exactly(y, d, 32))
			if math.Float32bits(got) != math.Float32bits(want) {
				t.Fatalf("round(%v AS F32, %d) = %v, want %v", y, d, got, want)
			}
		}
	})
}

func TestDatetimeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ns := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-3e9, 3e9), rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64, math.MinInt64 + 1, -1, 0, -1e9, 1e9})).Draw(t, "ns")
		s := scan.AppendDatetime(nil, ns)
		if got, ok := scan.Datetime(s); !ok || got != ns {
			t.Fatalf("%d is %s, which reads %d %v", ns, s, got, ok)
		}
		zone := time.FixedZone("", rapid.IntRange(-23*60, 23*60).Draw(t, "minutes")*60)
		other := time.Unix(0, ns).In(zone).Format(time.RFC3339Nano)
		if got, ok := scan.Datetime([]byte(other)); !ok || got != ns {
			t.Fatalf("%s reads %d %v, want %d", other, got, ok, ns)
		}
	})
}

// TestDatetimeAgainstLibrary: what reads is what the standard library reads, and every refusal has a reason here.
func TestDatetimeAgainstLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		digits := []rune("0123456789-:TZ+. ")
		base := []rune("2024-02-29T23:59:58.125+01:30")
		for range rapid.IntRange(0, 2).Draw(t, "edits") {
			base[rapid.IntRange(0, len(base)-1).Draw(t, "at")] = rapid.SampledFrom(digits).Draw(t, "rune")
		}
		s := string(base)
		got, ok := scan.Datetime([]byte(s))
		if !ok {
			return
		}
		if s[10] == ' ' {
			s = s[:10] + "T" + s[11:]
		}
		want, err := time.Parse(time.RFC3339Nano, s)
		if err != nil || want.UnixNano() != got {
			t.Fatalf("%s reads %d, the library %v %v", s, got, want, err)
		}
	})
}

func TestWords(t *testing.T) {
	for _, s := range []string{"1e5", "-.5", "5.", "+1.25E-3", "nan", "INFINITY", "-Inf"} {
		if _, ok := scan.Float([]byte(s), 64); !ok {
			t.Errorf("%s does not read", s)
		}
	}
	for _, s := range []string{"", "+", ".", "e5", "1e", "1e+", "1 ", "0x1", "1_0", "infin", "--1", "1.2.3"} {
		if v, ok := scan.Float([]byte(s), 64); ok {
			t.Errorf("%q reads %v", s, v)
		}
	}
	if n := testing.AllocsPerRun(10, func() {
		scan.Float([]byte("12.5"), 64)
		scan.Round(1e17+3, 3, 64)
		scan.Datetime([]byte("2024-02-29T00:00:00Z"))
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

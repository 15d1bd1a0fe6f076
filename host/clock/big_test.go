// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"math"
	"math/big"

	"pgregory.net/rapid"

	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// instants draws nanoseconds of the whole range, crowded around both ends, the epoch and plausible dates.
func instants() *rapid.Generator[int64] {
	return rapid.OneOf(
		rapid.Int64(),
		rapid.Int64Range(math.MaxInt64-1000, math.MaxInt64), rapid.Int64Range(math.MinInt64, math.MinInt64+1000), rapid.Int64Range(-1000, 1000),
		rapid.Int64Range(-2e18, -1), rapid.Int64Range(1.6e18, 1.9e18),
	)
}

// lengths draws periods and skews: small ones, plausible ones, powers of two and their neighbours, and the whole range.
func lengths() *rapid.Generator[uint64] {
	return rapid.OneOf(
		rapid.Uint64Range(0, 20), rapid.Uint64Range(1e3, 1e9), rapid.Uint64Range(1e9, 1e15), rapid.Uint64(),
		rapid.Custom(func(t *rapid.T) uint64 {
			return uint64(1)<<rapid.IntRange(0, 63).Draw(t, "bit") + uint64(rapid.Int64Range(-2, 2).Draw(t, "off"))
		}),
		rapid.Uint64Range(math.MaxUint64-20, math.MaxUint64),
	)
}

// periods draws lengths above zero.
func periods() *rapid.Generator[uint64] {
	return rapid.Map(lengths(), func(v uint64) uint64 { return max(v, 1) })
}

// rates draws positive finite float64: subnormal, tiny, plausible, huge, powers of two, and any bit pattern.
func rates() *rapid.Generator[float64] {
	return rapid.OneOf(
		rapid.SampledFrom([]float64{1, 0.5, 2, 60, 1e9, 1e-9, 1e6, 1e-6, 1.0 / 3, 0.1, math.Pi, math.Nextafter(1, 0), math.Nextafter(1, 2), 1728000,
			math.SmallestNonzeroFloat64, math.MaxFloat64, 0x1p-1022, 0x1p-64, 0x1p-63, 0x1p64, 0x1p63, 0x1p-116, 0x1p-117, 0x1.fffffffffffffp-64}),
		rapid.Float64Range(1e-6, 1e6),
		rapid.Custom(func(t *rapid.T) float64 {
			return math.Ldexp(1+rapid.Float64Range(0, 1).Draw(t, "fraction"), rapid.IntRange(-130, 130).Draw(t, "exponent"))
		}),
		rapid.Custom(func(t *rapid.T) float64 {
			return math.Float64frombits(rapid.Uint64Range(1, 0x7fefffffffffffff).Draw(t, "bits"))
		}),
	)
}

func mappings() *rapid.Generator[Mapping] {
	return rapid.Custom(func(t *rapid.T) Mapping {
		return Mapping{vtime.UTCFromNS(instants().Draw(t, "anchor")), vtime.LogicalFromNS(instants().Draw(t, "origin")), rates().Draw(t, "rate")}
	})
}

func ratOf(f float64) *big.Rat     { return new(big.Rat).SetFloat64(f) }
func bigOf(ns int64) *big.Int      { return big.NewInt(ns) }
func bigOfU(ns uint64) *big.Int    { return new(big.Int).SetUint64(ns) }
func diff(a, b int64) *big.Int     { return new(big.Int).Sub(big.NewInt(a), big.NewInt(b)) }
func sum(a, b *big.Int) *big.Int   { return new(big.Int).Add(a, b) }
func floor(r *big.Rat) *big.Int    { return new(big.Int).Div(r.Num(), r.Denom()) } // Euclidean; the denominator is positive
func ceil(r *big.Rat) *big.Int     { return new(big.Int).Neg(floor(new(big.Rat).Neg(r))) }
func rat(n *big.Int) *big.Rat      { return new(big.Rat).SetInt(n) }
func times(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }
func over(a, b *big.Rat) *big.Rat  { return new(big.Rat).Quo(a, b) }

// exactAt is C-013 in rationals.
func exactAt(m Mapping, wall int64) *big.Int {
	elapsed := diff(wall, m.WallStartedAt.NS())
	if elapsed.Sign() < 0 {
		elapsed.SetInt64(0)
	}
	return sum(bigOf(m.LogicalStart.NS()), floor(times(rat(elapsed), ratOf(m.Rate))))
}

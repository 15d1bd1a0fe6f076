// SPDX-License-Identifier: Apache-2.0

package loop_test

import (
	"bytes"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/nervix-go/nervix/host/expr/loop"
)

// narrowText is drawn from few bytes, so that needles occur, overlap and nearly occur.
func narrowText(lo, hi int) *rapid.Generator[[]byte] {
	return rapid.SliceOfN(rapid.SampledFrom([]byte("aab \xc3x")), lo, hi)
}

func TestFinder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, needle := narrowText(0, 90).Draw(t, "text"), narrowText(1, 6).Draw(t, "needle")
		from := rapid.IntRange(0, len(text)).Draw(t, "from")
		want := bytes.Index(text[from:], needle)
		if want >= 0 {
			want += from
		}
		f := loop.NewFinder(needle)
		if got := f.Next(text, from); got != want {
			t.Fatalf("%q in %q from %d: %d, want %d", needle, text, from, got, want)
		}
	})
}

func TestMapASCII(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := rapid.SliceOfN(rapid.ByteMax(0x80), 0, 70).Draw(t, "text")
		for _, up := range []bool{true, false} {
			want := bytes.ToLower(src)
			if up {
				want = bytes.ToUpper(src)
			}
			dst := make([]byte, len(src))
			ascii := loop.MapASCII(dst, src, up)
			if ascii != !bytes.Contains(src, []byte{0x80}) || ascii != loop.IsASCII(src) || ascii && !bytes.Equal(dst, want) {
				t.Fatalf("up %v: %q gives %q (%v), want %q", up, src, dst, ascii, want)
			}
		}
	})
}

// TestIntegerLoops: the loops compute modulo 2^n and never miss an overflow. All pairs of 8-bit values.
func TestIntegerLoops(t *testing.T) {
	for a := -128; a < 128; a++ {
		for b := -128; b < 128; b++ {
			x, y := []int8{int8(a)}, []int8{int8(b)}
			check(t, "int8 +", loop.AddSigned[int8], x, y, a+b)
			check(t, "int8 -", loop.SubSigned[int8], x, y, a-b)
			check(t, "int8 *", loop.MulNarrow[int8], x, y, a*b)
			u, v := []uint8{uint8(a)}, []uint8{uint8(b)}
			check(t, "uint8 +", loop.AddUnsigned[uint8], u, v, int(u[0])+int(v[0]))
			check(t, "uint8 -", loop.SubUnsigned[uint8], u, v, int(u[0])-int(v[0]))
			check(t, "uint8 *", loop.MulNarrow[uint8], u, v, int(u[0])*int(v[0]))
		}
	}
}

func check[T int8 | uint8](t *testing.T, what string, f func(dst, a, b []T) bool, a, b []T, want int) {
	dst := make([]T, 1)
	bad := f(dst, a, b)
	if fits := int(T(want)) == want; dst[0] != T(want) || !fits && !bad {
		t.Fatalf("%v %s %v = %v (%v), want %d", a[0], what, b[0], dst[0], bad, want)
	}
}

// TestWideProducts: an unnoticed product is exact.
func TestWideProducts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		edge := rapid.SampledFrom([]int64{0, 1, -1, 1 << 31, 1<<31 - 1, -1 << 31, 1 << 32, 1<<32 - 1, math.MaxInt64, math.MinInt64, 3037000500})
		any64 := rapid.OneOf(edge, rapid.Int64(), rapid.Map(rapid.Int32(), func(v int32) int64 { return int64(v) }))
		a, b := any64.Draw(t, "a"), any64.Draw(t, "b")
		dst := make([]int64, 1)
		if bad := loop.MulSigned(dst, []int64{a}, []int64{b}); !bad && big.NewInt(dst[0]).Cmp(new(big.Int).Mul(big.NewInt(a), big.NewInt(b))) != 0 {
			t.Fatalf("%d * %d = %d", a, b, dst[0])
		}
		ua, ub, udst := uint64(a), uint64(b), make([]uint64, 1)
		exact := new(big.Int).Mul(new(big.Int).SetUint64(ua), new(big.Int).SetUint64(ub))
		if bad := loop.MulUnsigned(udst, []uint64{ua}, []uint64{ub}); !bad && new(big.Int).SetUint64(udst[0]).Cmp(exact) != 0 {
			t.Fatalf("%d * %d = %d", ua, ub, udst[0])
		}
	})
}

// SPDX-License-Identifier: Apache-2.0

package expr_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/nervix-go/nervix/host/expr"
	"github.com/nervix-go/nervix/host/kernel/types"
)

const benchRows = 1024

// benchWorld has ASCII lines of about 60 bytes, one in eight with the word "error", and numbers.
func benchWorld() *world {
	var s, a, b, f, o []any
	for i := range benchRows {
		line := "2026-11-30 host-17 service=checkout status=ok elapsed=" + strings.Repeat("7", i%11)
		if i%8 == 0 {
			line = "2026-11-30 host-17 service=checkout status=error elapsed=12"
		}
		s, a, b, f = append(s, line), append(a, int64(i)), append(b, int64(i*7%1000+1)), append(f, float64(i)/3)
		if i%5 == 0 {
			o = append(o, nil)
		} else {
			o = append(o, int64(i))
		}
	}
	w := newWorld(
		col{name: "s", kind: types.String, values: s}, col{name: "a", kind: types.I64, values: a}, col{name: "b", kind: types.I64, values: b},
		col{name: "f", kind: types.F64, values: f}, col{name: "o", kind: types.I64, optional: true, values: o},
	)
	w.env.Scratch = expr.NewScratch()
	w.env.Alloc = &recycler{free: map[int][][]byte{}}
	return w
}

// recycler keeps freed memory by size, as a lane's allocator may: the figures are then those of the programs and not of the collector.
type recycler struct{ free map[int][][]byte }

func (r *recycler) Allocate(size int) []byte {
	if list := r.free[size]; len(list) > 0 {
		r.free[size] = list[:len(list)-1]
		return list[len(list)-1]
	}
	return make([]byte, size)
}

func (r *recycler) Reallocate(size int, b []byte) []byte {
	if size <= cap(b) {
		return b[:size]
	}
	out := r.Allocate(size)
	copy(out, b)
	r.Free(b)
	return out
}

func (r *recycler) Free(b []byte) {
	b = b[:cap(b)]
	r.free[len(b)] = append(r.free[len(b)], b)
}

func perRow(b *testing.B) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
}

// BenchmarkPrograms measures whole evaluations over one batch; BenchmarkLoops is the same work by hand over the same buffers.
func BenchmarkPrograms(b *testing.B) {
	for _, src := range []string{
		"upper(s)", "contains(s, 'error')", "contains(s, 'error') AND a > 10", "a + b", "a * 2 + b", "f * 1.5", "a / b", "a < b", "a > 500", "s = 'x'", "o + b", "coalesce(o, b)",
		"IF a > 500 THEN a ELSE b END", "IF a > 500 THEN s ELSE 'none' END", "length(s)", "a AS STRING", "concat(s, '!')", "substr(s, 5, 10)", "a IN (1, 2, 3)", "round(f, 2)", "uuid_v7()",
	} {
		b.Run(src, func(b *testing.B) {
			w := benchWorld()
			p := expr.Compile(mustCheck(b, w, src))
			b.ReportAllocs()
			for b.Loop() {
				p.Eval(&w.env).Array.Release()
			}
			perRow(b)
		})
	}
	b.Run("mask contains(s, 'error')", func(b *testing.B) {
		w := benchWorld()
		p := expr.Compile(mustCheck(b, w, "contains(s, 'error')"))
		var mask []byte
		b.ReportAllocs()
		for b.Loop() {
			mask, _ = p.EvalMask(&w.env, mask)
		}
		perRow(b)
	})
}

func BenchmarkLoops(b *testing.B) {
	w := benchWorld()
	in := w.env.Columns[expr.RecordInput]
	text, x, y := in[0].(*array.String), in[1].(*array.Int64).Int64Values(), in[2].(*array.Int64).Int64Values()
	values := text.ValueBytes()
	offsets := text.ValueOffsets()
	floats := in[3].(*array.Float64).Float64Values()
	dst, out, bits, fdst := make([]int64, benchRows), make([]byte, len(values)), make([]byte, benchRows/8), make([]float64, benchRows)
	loop := func(name string, f func()) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f()
			}
			perRow(b)
		})
	}
	loop("upper byte by byte", func() {
		for i, c := range values {
			if 'a' <= c && c <= 'z' {
				c -= 'a' - 'A'
			}
			out[i] = c
		}
	})
	loop("upper bytes.ToUpper per row", func() {
		for i := range benchRows {
			copy(out[offsets[i]:], bytes.ToUpper(values[offsets[i]:offsets[i+1]]))
		}
	})
	needle := []byte("error")
	loop("contains per row", func() {
		clear(bits)
		for i := range benchRows {
			if bytes.Contains(values[offsets[i]:offsets[i+1]], needle) {
				bits[i>>3] |= 1 << (i & 7)
			}
		}
	})
	loop("a + b unchecked", func() {
		for i := range dst {
			dst[i] = x[i] + y[i]
		}
	})
	loop("f * 1.5 unchecked", func() {
		for i := range fdst {
			fdst[i] = floats[i] * 1.5
		}
	})
	loop("a / b unchecked", func() {
		for i := range dst {
			dst[i] = x[i] / y[i]
		}
	})
	loop("a < b to bits", func() {
		clear(bits)
		for i := range x {
			if x[i] < y[i] {
				bits[i>>3] |= 1 << (i & 7)
			}
		}
	})
}

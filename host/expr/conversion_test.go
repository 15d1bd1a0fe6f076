// SPDX-License-Identifier: Apache-2.0

package expr_test

import (
	"math"
	"strings"
	"testing"

	"github.com/nervix-go/nervix/host/expr"
	"github.com/nervix-go/nervix/host/kernel/types"
)

// TestConversions goes through every row of the conversion table of nspl 6.2.
func TestConversions(t *testing.T) {
	// req: N05
	inf, nan := math.Inf(1), math.NaN()
	negZero := math.Copysign(0, -1)
	failed := expr.CastFailed
	cases := []struct {
		from  types.Scalar
		value any
		to    string
		want  any
	}{
		// integer -> integer
		{types.I64, int64(255), "U8", uint8(255)}, {types.I64, int64(256), "U8", failed}, {types.I64, int64(-1), "U8", failed},
		{types.I64, int64(-128), "I8", int8(-128)}, {types.I64, int64(128), "I8", failed},
		{types.I64, int64(-1), "U64", failed}, {types.U64, uint64(math.MaxUint64), "I64", failed}, {types.U64, uint64(math.MaxInt64), "I64", int64(math.MaxInt64)},
		{types.U64, uint64(1<<53 + 1), "I64", int64(1<<53 + 1)}, {types.I64, int64(1<<53 - 1), "U64", uint64(1<<53 - 1)},
		{types.U32, uint32(math.MaxUint32), "I32", failed}, {types.I32, int32(-5), "I64", int64(-5)}, {types.I16, int16(-5), "U16", failed},
		// float -> integer
		{types.F64, 2.9, "I32", int32(2)}, {types.F64, -2.9, "I32", int32(-2)}, {types.F64, -0.9, "U8", uint8(0)}, {types.F64, -1.0, "U8", failed},
		{types.F64, nan, "I64", failed}, {types.F64, inf, "I64", failed}, {types.F64, -inf, "U8", failed},
		{types.F64, math.Ldexp(1, 63), "I64", failed}, {types.F64, -math.Ldexp(1, 63), "I64", int64(math.MinInt64)}, {types.F64, math.Ldexp(1, 63), "U64", uint64(1 << 63)},
		{types.F64, math.Ldexp(1, 64), "U64", failed}, {types.F64, 127.99, "I8", int8(127)}, {types.F64, 128.0, "I8", failed}, {types.F64, -128.99, "I8", int8(-128)},
		{types.F32, float32(3e9), "I32", failed}, {types.F32, float32(2.5), "U64", uint64(2)},
		// number -> float
		{types.I64, int64(1<<53 + 1), "F64", float64(1 << 53)}, {types.U64, uint64(math.MaxUint64), "F64", math.Ldexp(1, 64)}, {types.U64, uint64(1<<63 + 1025), "F64", math.Ldexp(1, 63) + 2048},
		{types.F64, 1e300, "F32", float32(math.Inf(1))}, {types.F64, 0.1, "F32", float32(0.1)}, {types.F32, float32(0.1), "F64", float64(float32(0.1))},
		{types.I32, int32(16777217), "F32", float32(16777216)},
		// number -> BOOL and back
		{types.I64, int64(0), "BOOL", false}, {types.I64, int64(-3), "BOOL", true}, {types.F64, negZero, "BOOL", false}, {types.F64, nan, "BOOL", true},
		{types.Bool, true, "U8", uint8(1)}, {types.Bool, false, "I64", int64(0)}, {types.Bool, true, "F32", float32(1)},
		// -> STRING
		{types.I64, int64(math.MinInt64), "STRING", "-9223372036854775808"}, {types.U64, uint64(math.MaxUint64), "STRING", "18446744073709551615"},
		{types.Bool, true, "STRING", "true"}, {types.Bool, false, "STRING", "false"}, {types.F64, 1e21, "STRING", "1000000000000000000000"},
		{types.F64, 0.1, "STRING", "0.1"}, {types.F32, float32(0.1), "STRING", "0.1"}, {types.F64, nan, "STRING", "NaN"}, {types.F64, inf, "STRING", "inf"},
		{types.F64, -inf, "STRING", "-inf"}, {types.F64, negZero, "STRING", "-0"}, {types.F64, 2.0, "STRING", "2"}, {types.F64, 1e-7, "STRING", "0.0000001"},
		{types.F64, math.MaxFloat64, "STRING", "17976931348623157" + strings.Repeat("0", 292)},
		{types.Datetime, int64(0), "STRING", "1970-01-01T00:00:00+00:00"}, {types.Datetime, int64(1_500_000), "STRING", "1970-01-01T00:00:00.001500+00:00"},
		{types.Datetime, int64(-1), "STRING", "1969-12-31T23:59:59.999999999+00:00"}, {types.Datetime, int64(120_000_000), "STRING", "1970-01-01T00:00:00.120+00:00"},
		{types.Datetime, int64(math.MinInt64), "STRING", "1677-09-21T00:12:43.145224192+00:00"}, {types.Datetime, int64(math.MaxInt64), "STRING", "2262-04-11T23:47:16.854775807+00:00"},
		// STRING -> integer
		{types.String, "+7", "I8", int8(7)}, {types.String, "-128", "I8", int8(-128)}, {types.String, "-129", "I8", failed}, {types.String, "-0", "U8", uint8(0)},
		{types.String, "-1", "U8", failed}, {types.String, " 1", "I64", failed}, {types.String, "1.0", "I64", failed}, {types.String, "", "I64", failed}, {types.String, "-", "I64", failed},
		{types.String, "18446744073709551615", "U64", uint64(math.MaxUint64)}, {types.String, "18446744073709551616", "U64", failed}, {types.String, "1_000", "I64", failed},
		{types.String, "-9223372036854775808", "I64", int64(math.MinInt64)}, {types.String, "9223372036854775808", "I64", failed}, {types.String, "0x10", "I64", failed},
		{types.String, "000000000000000000000000000012", "I64", int64(12)}, {types.String, "9007199254740993", "I64", int64(9007199254740993)},
		// STRING -> float
		{types.String, "1.5e3", "F64", 1500.0}, {types.String, "-2", "F64", -2.0}, {types.String, "+.5", "F64", 0.5}, {types.String, "1e999", "F64", inf}, {types.String, "-1e999", "F64", -inf},
		{types.String, "nan", "F64", nan}, {types.String, "-INF", "F64", -inf}, {types.String, "+Infinity", "F64", inf}, {types.String, "0x1p3", "F64", failed}, {types.String, "1_0", "F64", failed},
		{types.String, ".", "F64", failed}, {types.String, "1e", "F64", failed}, {types.String, "", "F64", failed}, {types.String, "1e40", "F32", float32(inf)}, {types.String, " 1", "F64", failed},
		// STRING -> BOOL
		{types.String, " TrUe\t", "BOOL", true}, {types.String, "tr", "BOOL", true}, {types.String, "y", "BOOL", true}, {types.String, "on", "BOOL", true}, {types.String, "1", "BOOL", true},
		{types.String, "of", "BOOL", false}, {types.String, "OFF", "BOOL", false}, {types.String, "n", "BOOL", false}, {types.String, "fals", "BOOL", false}, {types.String, "0", "BOOL", false},
		{types.String, "o", "BOOL", failed}, {types.String, "yess", "BOOL", failed}, {types.String, "", "BOOL", failed}, {types.String, "2", "BOOL", failed},
		// STRING -> DATETIME
		{types.String, "2031-05-01T06:00:00Z", "DATETIME", int64(1935381600000000000)}, {types.String, "2031-05-01 08:00:00+02:00", "DATETIME", int64(1935381600000000000)},
		{types.String, "1970-01-01T00:00:00.5-00:30", "DATETIME", int64(1800_500_000_000)}, {types.String, "2031-05-01T06:00:00", "DATETIME", failed},
		{types.String, "2023-02-29T00:00:00Z", "DATETIME", failed}, {types.String, "2024-02-29T24:00:00Z", "DATETIME", failed}, {types.String, "2024-02-29T23:59:60Z", "DATETIME", failed},
		{types.String, "1677-09-21T00:12:43.145224192Z", "DATETIME", int64(math.MinInt64)}, {types.String, "1677-09-21T00:12:43.145224191Z", "DATETIME", failed},
		{types.String, "2262-04-11T23:47:16.854775807Z", "DATETIME", int64(math.MaxInt64)}, {types.String, "2262-04-11T23:47:16.854775808Z", "DATETIME", failed},
		{types.String, "9999-12-31T23:59:59Z", "DATETIME", failed}, {types.String, "2031-05-01T06:00:00.Z", "DATETIME", failed}, {types.String, "2031-05-01", "DATETIME", failed},
		{types.String, "2031-05-01T06:00:00.0000000010Z", "DATETIME", int64(1935381600000000001)}, {types.String, "2031-05-01T06:00:00.0000000001Z", "DATETIME", failed},
		// DATETIME and numbers
		{types.Datetime, int64(5), "I64", int64(5)}, {types.Datetime, int64(300), "U8", failed}, {types.Datetime, int64(-1), "U64", failed}, {types.Datetime, int64(1<<53 + 1), "F64", float64(1 << 53)},
		{types.I64, int64(-7), "DATETIME", int64(-7)}, {types.U64, uint64(math.MaxUint64), "DATETIME", failed}, {types.F64, 1.9, "DATETIME", int64(1)}, {types.F64, nan, "DATETIME", failed},
		{types.U8, uint8(9), "DATETIME", int64(9)}, {types.F64, 1e19, "DATETIME", failed},
		// BOOL <-> DATETIME
		{types.Bool, true, "DATETIME", failed}, {types.Datetime, int64(1), "BOOL", failed},
		// null, and the same type
		{types.String, nil, "I64", nil}, {types.Bool, nil, "DATETIME", nil}, {types.I64, int64(4), "I64", int64(4)}, {types.String, "x", "STRING", "x"}, {types.F64, nil, "STRING", nil},
	}
	for _, c := range cases {
		w := newWorld(col{name: "x", kind: c.from, optional: true, values: []any{c.value, nil, c.value}})
		got := w.run(t, "x AS "+c.to)
		if !same(got[0], c.want) || got[1] != nil || !same(got[2], c.want) {
			t.Errorf("%v %v AS %s: got %v, want %v", c.from, c.value, c.to, got, c.want)
		}
		want := c.want
		if want == failed {
			want = nil
		}
		if got := w.run(t, "TRY_CAST(x AS "+c.to+")"); !same(got[0], want) {
			t.Errorf("TRY_CAST(%v %v AS %s): got %v, want %v", c.from, c.value, c.to, got[0], want)
		}
	}
}

func TestTryCastSuppressesOnlyItself(t *testing.T) {
	w := newWorld(col{name: "x", kind: types.I64, values: []any{int64(0), int64(1), int64(300)}})
	got := w.run(t, "TRY_CAST(300 / x AS U8)")
	if got[0] != expr.DivisionByZero || got[1] != nil || got[2] != uint8(1) {
		t.Errorf("got %v", got)
	}
	if !mustCheck(t, w, "TRY_CAST(x AS I64)").Optional || mustCheck(t, w, "x AS U8").Optional {
		t.Error("TRY_CAST is always optional, AS only if its operand is")
	}
}

func TestRefusedConversions(t *testing.T) {
	w := newWorld(col{name: "b", kind: types.Bytes})
	faults := refused(t, w, "b AS STRING")
	if len(faults) != 1 || !strings.Contains(faults[0].Hint, "functions") {
		t.Errorf("got %v", faults)
	}
}

// SPDX-License-Identifier: Apache-2.0

package expr_test

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/nervix-go/nervix/host/expr"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/types"
)

func TestPrecedence(t *testing.T) {
	for src, want := range map[string]any{
		"-128 AS I8":                        expr.CastFailed,
		"(-128) AS I8":                      int8(-128),
		"2 + 3 * 4":                         int64(14),
		"(2 + 3) * 4":                       int64(20),
		"10 - 3 - 2":                        int64(5),
		"3 BETWEEN 1 AND 5 AND FALSE":       false,
		"concat('a', 1 + 2 AS STRING)":      nil,
		"TRUE OR FALSE AND FALSE":           true,
		"NOT FALSE AND FALSE":               false,
		"1 = 1 = TRUE":                      true,
		"- -5":                              int64(5),
		"7 % 4 * 2":                         int64(6),
		"1 < 2 IS DISTINCT FROM FALSE":      true,
		"'1' AS I64 + 1":                    int64(2),
		"- 9223372036854775807 - 1":         int64(math.MinInt64),
		"(1 + 2) AS STRING = '3'":           true,
		"1.5 * 2.0 = 3.0 AND NOT 2 IN (1,)": true,
	} {
		if src == "concat('a', 1 + 2 AS STRING)" {
			refused(t, newWorld(), src) // AS binds to 2
			continue
		}
		if src == "1.5 * 2.0 = 3.0 AND NOT 2 IN (1,)" {
			refused(t, newWorld(), src) // NOT negates 2
			continue
		}
		if got := one(t, src); !same(got, want) {
			t.Errorf("%s = %v, want %v", src, got, want)
		}
	}
	w := newWorld(col{name: "a", kind: types.I64})
	for _, src := range []string{"NOT a > 5", "a < 1 < 2", "NOT a IN (1)"} {
		refused(t, w, src)
	}
}

func TestArithmetic(t *testing.T) {
	over, zero, invalid := expr.Overflow, expr.DivisionByZero, expr.InvalidArgument
	cases := []struct {
		kind types.Scalar
		a, b any
		want [5]any // + - * / %
	}{
		{types.U8, uint8(200), uint8(100), [5]any{over, uint8(100), over, uint8(2), uint8(0)}},
		{types.U8, uint8(3), uint8(5), [5]any{uint8(8), over, uint8(15), uint8(0), uint8(3)}},
		{types.I8, int8(-128), int8(-1), [5]any{over, int8(-127), over, over, int8(0)}},
		{types.I8, int8(-7), int8(2), [5]any{int8(-5), int8(-9), int8(-14), int8(-3), int8(-1)}},
		{types.I8, int8(7), int8(-2), [5]any{int8(5), int8(9), int8(-14), int8(-3), int8(1)}},
		{types.I16, int16(181), int16(182), [5]any{int16(363), int16(-1), over, int16(0), int16(181)}},
		{types.U16, uint16(256), uint16(256), [5]any{uint16(512), uint16(0), over, uint16(1), uint16(0)}},
		{types.I32, int32(math.MaxInt32), int32(1), [5]any{over, int32(math.MaxInt32 - 1), int32(math.MaxInt32), int32(math.MaxInt32), int32(0)}},
		{types.U32, uint32(math.MaxUint32), uint32(math.MaxUint32), [5]any{over, uint32(0), over, uint32(1), uint32(0)}},
		{types.I64, int64(math.MinInt64), int64(-1), [5]any{over, int64(math.MinInt64 + 1), over, over, int64(0)}},
		{types.I64, int64(3037000500), int64(3037000500), [5]any{int64(6074001000), int64(0), over, int64(1), int64(0)}},
		{types.I64, int64(1<<53 + 1), int64(2), [5]any{int64(1<<53 + 3), int64(1<<53 - 1), int64(1<<54 + 2), int64(1 << 52), int64(1)}},
		{types.I64, int64(5), int64(0), [5]any{int64(5), int64(5), int64(0), zero, zero}},
		{types.U64, uint64(math.MaxUint64), uint64(2), [5]any{over, uint64(math.MaxUint64 - 2), over, uint64(math.MaxInt64), uint64(1)}},
		{types.U64, uint64(1 << 32), uint64(1 << 32), [5]any{uint64(1 << 33), uint64(0), over, uint64(1), uint64(0)}},
		{types.F64, 1.5, 0.0, [5]any{1.5, 1.5, 0.0, invalid, invalid}},
		{types.F64, math.MaxFloat64, math.MaxFloat64, [5]any{invalid, 0.0, invalid, 1.0, 0.0}},
		{types.F64, math.NaN(), 1.0, [5]any{invalid, invalid, invalid, invalid, invalid}},
		{types.F64, -7.5, 2.0, [5]any{-5.5, -9.5, -15.0, -3.75, -1.5}},
		{types.F32, float32(1e38), float32(10), [5]any{float32(1e38), float32(1e38), invalid, float32(1e37), float32(math.Mod(float64(float32(1e38)), 10))}},
		{types.I64, nil, int64(0), [5]any{nil, nil, nil, nil, nil}},
		{types.F64, 1.0, nil, [5]any{nil, nil, nil, nil, nil}},
	}
	for _, c := range cases {
		w := newWorld(
			col{name: "a", kind: c.kind, optional: true, values: []any{c.a, nil, c.a}}, col{name: "b", kind: c.kind, optional: true, values: []any{c.b, c.b, c.b}},
		).withBranch(col{name: "a", kind: c.kind, optional: true, values: []any{c.a}}, col{name: "b", kind: c.kind, optional: true, values: []any{c.b}})
		for i, op := range []string{"+", "-", "*", "/", "%"} {
			for _, src := range []string{"a " + op + " b", "a " + op + " branch.b", "branch.a " + op + " b", "branch.a " + op + " branch.b"} {
				got := w.run(t, src)
				null := got[1]
				if strings.HasPrefix(src, "a") && null != nil {
					t.Errorf("%v %s: null operand gave %v", c.kind, src, null)
				}
				if !same(got[0], c.want[i]) || !same(got[2], c.want[i]) {
					t.Errorf("%v %v %s %v (%s) = %v, want %v", c.kind, c.a, op, c.b, src, got[0], c.want[i])
				}
			}
		}
	}
}

func TestUnaryMinus(t *testing.T) {
	w := newWorld(col{name: "i", kind: types.I8, values: []any{int8(-128), int8(5), int8(0)}}, col{name: "f", kind: types.F64, values: []any{math.Inf(1), 0.0, 2.0}})
	if got := w.run(t, "-i"); !reflect.DeepEqual(got, []any{expr.Overflow, int8(-5), int8(0)}) {
		t.Errorf("-i = %v", got)
	}
	if got := w.run(t, "-f"); got[0] != math.Inf(-1) || !same(got[1], math.Copysign(0, -1)) || got[2] != -2.0 {
		t.Errorf("-f = %v", got)
	}
	refused(t, newWorld(col{name: "u", kind: types.U8}), "-u")
}

func TestThreeValuedLogic(t *testing.T) {
	three := []any{true, false, nil}
	var a, b []any
	for _, x := range three {
		for _, y := range three {
			a, b = append(a, x), append(b, y)
		}
	}
	w := newWorld(col{name: "a", kind: types.Bool, optional: true, values: a}, col{name: "b", kind: types.Bool, optional: true, values: b})
	for src, want := range map[string][]any{
		"a AND b":                    {true, false, nil, false, false, false, nil, false, nil},
		"a OR b":                     {true, true, true, true, false, nil, true, nil, nil},
		"NOT a":                      {false, false, false, true, true, true, nil, nil, nil},
		"a = b":                      {true, false, nil, false, true, nil, nil, nil, nil},
		"a IS DISTINCT FROM b":       {false, true, true, true, false, true, true, true, false},
		"a IS NOT DISTINCT FROM b":   {true, false, false, false, true, false, false, false, true},
		"a IN (TRUE)":                {true, true, true, false, false, false, nil, nil, nil},
		"a IN ()":                    {false, false, false, false, false, false, false, false, false},
		"a NOT IN ()":                {true, true, true, true, true, true, true, true, true},
		"a AND TRUE":                 {true, true, true, false, false, false, nil, nil, nil},
		"FALSE AND a":                {false, false, false, false, false, false, false, false, false},
		"a OR nullif(TRUE, TRUE)":    {true, true, true, nil, nil, nil, nil, nil, nil},
		"is_null(a) OR is_null(b)":   {false, false, true, false, false, true, true, true, true},
		"a IS DISTINCT FROM TRUE":    {false, false, false, true, true, true, true, true, true},
		"IF a THEN 1 ELSE 2 END = 1": {true, true, true, false, false, false, false, false, false},
	} {
		if got := w.run(t, src); !reflect.DeepEqual(got, want) {
			t.Errorf("%s\n got %v\nwant %v", src, got, want)
		}
	}
	if mustCheck(t, w, "a IS DISTINCT FROM b").Optional || mustCheck(t, w, "is_null(a)").Optional || !mustCheck(t, w, "a = b").Optional || mustCheck(t, w, "a IN ()").Optional {
		t.Error("optional: IS DISTINCT FROM and is_null never, = as its operands")
	}
}

func TestEveryOperandIsEvaluated(t *testing.T) {
	w := newWorld(col{name: "x", kind: types.I64, values: []any{int64(0), int64(2)}})
	for _, src := range []string{"FALSE AND 1 / x = 1", "TRUE OR 1 / x = 1", "coalesce(1, 1 / x) = 1", "1 / x BETWEEN 5 AND 3", "least(1, 1 / x) = 1", "1 / x IN ()"} {
		if got := w.run(t, src); got[0] != expr.DivisionByZero || got[1] == expr.DivisionByZero {
			t.Errorf("%s = %v", src, got)
		}
	}
}

func TestUnselectedArmsDoNotFail(t *testing.T) {
	w := newWorld(col{name: "x", kind: types.I64, values: []any{int64(0), int64(2), int64(0), int64(5)}}, col{name: "s", kind: types.String, values: []any{"a", "12", "b", "x"}})
	for src, want := range map[string][]any{
		"IF x = 0 THEN 0 ELSE 10 / x END":                                              {int64(0), int64(5), int64(0), int64(2)},
		"CASE WHEN x = 0 THEN -1 WHEN 10 / x = 5 THEN 1 ELSE 2 END":                    {int64(-1), int64(1), int64(-1), int64(2)},
		"CASE x WHEN 0 THEN 1 WHEN 2 THEN s AS I64 END":                                {int64(1), int64(12), int64(1), nil},
		"CASE WHEN s = '12' THEN s AS I64 ELSE NULL END":                               {nil, int64(12), nil, nil},
		"IF TRUE THEN 1 ELSE 1 / 0 END":                                                {int64(1), int64(1), int64(1), int64(1)},
		"IF x = 0 THEN 1 / 0 ELSE 2 END":                                               {expr.DivisionByZero, int64(2), expr.DivisionByZero, int64(2)},
		"IF x > 0 THEN IF x > 2 THEN 10 / (x - 2) ELSE 10 / x END ELSE 0 END":          {int64(0), int64(5), int64(0), int64(3)},
		"CASE WHEN x = 0 THEN upper(s) WHEN x = 2 THEN concat(s, '!') ELSE 'none' END": {"A", "12!", "B", "none"},
		"CASE 10 / x WHEN 5 THEN TRUE ELSE FALSE END":                                  {expr.DivisionByZero, true, expr.DivisionByZero, false},
	} {
		if got := w.run(t, src); !reflect.DeepEqual(got, want) {
			t.Errorf("%s\n got %v\nwant %v", src, got, want)
		}
	}
}

func TestConditionalTypes(t *testing.T) {
	w := newWorld(col{name: "x", kind: types.I64}, col{name: "o", kind: types.I64, optional: true}, col{name: "s", kind: types.String, sensitive: true})
	for src, optional := range map[string]bool{
		"IF x = 1 THEN x ELSE 2 END": false, "IF x = 1 THEN x ELSE o END": true, "IF o = 1 THEN x ELSE 2 END": false, "CASE WHEN x = 1 THEN x END": true,
		"CASE o WHEN 1 THEN x ELSE NULL END": true, "CASE x WHEN 1 THEN x ELSE 2 END": false,
	} {
		if got := mustCheck(t, w, src).Optional; got != optional {
			t.Errorf("%s: optional %v", src, got)
		}
	}
	if !mustCheck(t, w, "IF s = 'a' THEN 1 ELSE 2 END").Sensitive {
		t.Error("a sensitive condition makes the result sensitive")
	}
	for _, src := range []string{
		"IF x THEN 1 ELSE 2 END", "IF x = 1 THEN 1 ELSE 'a' END", "IF x = 1 THEN NULL ELSE NULL END", "CASE x WHEN 'a' THEN 1 END", "CASE x WHEN NULL THEN 1 END", "NULL = x", "coalesce(x, NULL)", "NULL",
	} {
		refused(t, w, src)
	}
}

func TestFloatComparison(t *testing.T) {
	nan := math.NaN()
	w := newWorld(
		col{name: "a", kind: types.F64, values: []any{nan, nan, 0.0, 1.0, math.Inf(1)}},
		col{name: "b", kind: types.F64, values: []any{nan, 1.0, math.Copysign(0, -1), 2.0, math.Inf(1)}},
	)
	for src, want := range map[string][]any{
		"a = b":                    {false, false, true, false, true},
		"a != b":                   {true, true, false, true, false},
		"a < b":                    {false, false, false, true, false},
		"a >= b":                   {false, false, true, false, true},
		"a <= b":                   {false, false, true, true, true},
		"a > b":                    {false, false, false, false, false},
		"a BETWEEN 0.0 AND b":      {false, false, true, true, true},
		"a NOT BETWEEN 0.0 AND b":  {true, true, false, false, false},
		"a IS DISTINCT FROM b":     {true, true, false, true, false},
		"a IN (0.0, 'NaN' AS F64)": {false, false, true, false, false},
		"a != 1.0":                 {true, true, true, false, true},
		"greatest(a, b) = a":       {false, false, true, false, true},
		"least(a, b) = 1.0":        {false, true, false, true, false},
	} {
		if got := w.run(t, src); !reflect.DeepEqual(got, want) {
			t.Errorf("%s\n got %v\nwant %v", src, got, want)
		}
	}
}

func TestMembership(t *testing.T) {
	w := newWorld(
		col{name: "s", kind: types.String, optional: true, values: []any{"a", "", nil, "zz"}}, col{name: "i", kind: types.I32, values: []any{int32(1), int32(-2), int32(9), int32(17)}},
		col{name: "t", kind: types.Datetime, values: []any{int64(0), int64(1), int64(2), int64(3)}},
	)
	long := "s IN ('q','w','e','r','t','y','u','i','o','p','a')"
	for src, want := range map[string][]any{
		"s IN ('a', 'b')":    {true, false, nil, false},
		"s NOT IN ('a', '')": {false, false, nil, true},
		long:                 {true, false, nil, false},
		"i IN (-2 AS I32)":   {false, true, false, false},
		"i IN (1 AS I32,)":   {true, false, false, false},
		"i IN ('9' AS I32)":  {false, false, true, false},
		"t IN ('1970-01-01T00:00:00Z' AS DATETIME)": {true, false, false, false},
		"i IN (TRY_CAST('17' AS I32), 1 AS I32)":    {true, false, false, true},
	} {
		if got := w.run(t, src); !reflect.DeepEqual(got, want) {
			t.Errorf("%s\n got %v\nwant %v", src, got, want)
		}
	}
	for _, src := range []string{"i IN (1)", "s IN (NULL)", "i IN ('x' AS I32)", "i IN (TRY_CAST('x' AS I32))", "s IN ('a', 1)"} {
		if faults := refused(t, w, src); len(faults) > 0 && faults[0].Span.Length == 0 {
			t.Errorf("%s: no span", src)
		}
	}
}

func TestTextOrder(t *testing.T) {
	w := newWorld(col{name: "s", kind: types.String, values: []any{"a", "Z", "ä", "", "aa"}})
	for src, want := range map[string][]any{
		"s < 'a'":              {false, true, false, true, false},
		"s >= 'a'":             {true, false, true, false, true},
		"'a' < s":              {false, false, true, false, true},
		"s = 'a'":              {true, false, false, false, false},
		"s BETWEEN '' AND 'a'": {true, true, false, true, false},
		"s != s":               {false, false, false, false, false},
	} {
		if got := w.run(t, src); !reflect.DeepEqual(got, want) {
			t.Errorf("%s\n got %v\nwant %v", src, got, want)
		}
	}
}

func TestDiagnostics(t *testing.T) {
	w := newWorld(col{name: "price", kind: types.I64}, col{name: "label", kind: types.String}, col{name: "at", kind: types.Datetime}, col{name: "ok", kind: types.Bool})
	cases := []struct {
		src  string
		code fault.Code
		at   string
		text []string
	}{
		{"prize + 1", fault.ExprField, "prize", []string{"price"}},
		{"uper(label)", fault.ExprFunction, "uper", []string{"`uper`", "upper"}},
		{"lower()", fault.ExprArguments, "lower()", []string{"1 argument"}},
		{"substr(label, 1, 2, 3)", fault.ExprArguments, "substr(label, 1, 2, 3)", []string{"2 to 3"}},
		{"now(1)", fault.ExprArguments, "now(1)", []string{"no arguments"}},
		{"price + label", fault.ExprType, "label", []string{"STRING", "concat"}},
		{"price = 1.0", fault.ExprType, "=", []string{"I64", "F64"}},
		{"price > 5 AS I32", fault.ExprType, ">", []string{"I64", "I32"}},
		{"at + at", fault.ExprType, "at", []string{"DATETIME"}},
		{"ok < ok", fault.ExprType, "<", []string{"BOOL"}},
		{"length(price)", fault.ExprType, "price", []string{"length", "STRING", "I64"}},
		{"price = NULL", fault.ExprNull, "NULL", []string{"is_null"}},
		{"ok AND price", fault.ExprType, "price", []string{"AND", "I64"}},
		{"price BETWEEN 1 AND 'a'", fault.ExprType, "'a'", []string{"BETWEEN"}},
		{"[1, 2]", fault.ExprType, "[1, 2]", []string{"not available"}},
	}
	for _, c := range cases {
		faults := refused(t, w, c.src)
		if len(faults) != 1 {
			t.Errorf("%s: %d diagnostics: %v", c.src, len(faults), faults)
			continue
		}
		d := faults[0]
		at := c.src[d.Span.Offset:d.Span.End()]
		if d.Code != c.code || at != c.at || !d.Located {
			t.Errorf("%s: [%s] at %q, want [%s] at %q", c.src, d.Code, at, c.code, c.at)
		}
		for _, text := range c.text {
			if !strings.Contains(d.Message+d.Hint, text) {
				t.Errorf("%s: %q does not say %q", c.src, d.Message+" / "+d.Hint, text)
			}
		}
	}
	if faults := refused(t, w, "nope + uper(label) + length(price) AS F64"); len(faults) != 3 {
		t.Errorf("all defects are listed, got %v", faults)
	}
}

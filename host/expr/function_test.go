// SPDX-License-Identifier: Apache-2.0

package expr_test

import (
	"math"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/nervix-go/nervix/host/expr"
	"github.com/nervix-go/nervix/host/kernel/types"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

func TestNullFunctions(t *testing.T) {
	w := newWorld(
		col{name: "a", kind: types.I64, optional: true, values: []any{int64(1), nil, nil, int64(4)}},
		col{name: "b", kind: types.I64, optional: true, values: []any{int64(1), int64(2), nil, int64(5)}},
		col{name: "s", kind: types.String, optional: true, values: []any{"x", nil, "", nil}},
		col{name: "p", kind: types.Bool, optional: true, values: []any{true, nil, false, nil}},
		col{name: "r", kind: types.I64, values: []any{int64(9), int64(9), int64(9), int64(9)}},
	).withBranch(col{name: "k", kind: types.I64, optional: true, values: []any{nil}}, col{name: "c", kind: types.String, values: []any{"key"}})
	for src, want := range map[string][]any{
		"coalesce(a, b, 7)":          {int64(1), int64(2), int64(7), int64(4)},
		"coalesce(a, b)":             {int64(1), int64(2), nil, int64(4)},
		"coalesce(branch.k, a, r)":   {int64(1), int64(9), int64(9), int64(4)},
		"coalesce(s, branch.c)":      {"x", "key", "", "key"},
		"coalesce(p, TRUE)":          {true, true, false, true},
		"coalesce(r, a)":             {int64(9), int64(9), int64(9), int64(9)},
		"is_null(a)":                 {false, true, true, false},
		"is_null(branch.k)":          {true, true, true, true},
		"nullif(a, b)":               {nil, nil, nil, int64(4)},
		"nullif(b, a)":               {nil, int64(2), nil, int64(5)},
		"nullif(9, b)":               {int64(9), int64(9), int64(9), int64(9)},
		"nullif(1, b)":               {nil, int64(1), int64(1), int64(1)},
		"nullif(s, 'x')":             {nil, nil, "", nil},
		"greatest(a, b)":             {int64(1), int64(2), nil, int64(5)},
		"least(a, b, r)":             {int64(1), int64(2), int64(9), int64(4)},
		"least(s, branch.c)":         {"key", "key", "", "key"},
		"greatest(p, FALSE)":         {true, false, false, false},
		"greatest(branch.k, a)":      {int64(1), nil, nil, int64(4)},
		"leak_sensitive(a)":          {int64(1), nil, nil, int64(4)},
		"concat(s, '-', branch.c)":   {"x-key", "-key", "-key", "-key"},
		"concat(s)":                  {"x", "", "", ""},
		"IF p THEN s ELSE 'no' END":  {"x", "no", "no", "no"},
		"is_null(coalesce(a, b))":    {false, false, true, false},
		"a AS STRING":                {"1", nil, nil, "4"},
		"coalesce(a AS STRING, 'n')": {"1", "n", "n", "4"},
	} {
		if got := w.run(t, src); !reflect.DeepEqual(got, want) {
			t.Errorf("%s\n got %v\nwant %v", src, got, want)
		}
	}
	for src, optional := range map[string]bool{
		"coalesce(a, b)": true, "coalesce(a, r)": false, "nullif(r, r)": true, "greatest(a, r)": false, "least(a, b)": true, "is_null(a)": false, "concat(s, 'a')": true, "concat('a', 'b')": false,
		"lower(s)": true, "now()": false, "uuid_v7()": false,
	} {
		if got := mustCheck(t, w, src).Optional; got != optional {
			t.Errorf("%s: optional is %v", src, got)
		}
	}
}

func TestExtremaOfFloats(t *testing.T) {
	nan, neg := math.NaN(), math.Copysign(0, -1)
	w := newWorld(col{name: "a", kind: types.F64, values: []any{nan, 1.0, neg, 0.0}}, col{name: "b", kind: types.F64, values: []any{1.0, nan, 0.0, neg}})
	if got := w.run(t, "greatest(a, b)"); !same(got[0], nan) || !same(got[1], nan) || !same(got[2], neg) || !same(got[3], 0.0) {
		t.Errorf("greatest: %v", got)
	}
	if got := w.run(t, "least(a, b)"); got[0] != 1.0 || got[1] != 1.0 || !same(got[2], neg) || !same(got[3], 0.0) {
		t.Errorf("least: %v", got)
	}
}

func TestText(t *testing.T) {
	for src, want := range map[string]any{
		"upper('straße é ﬁ')":                          "STRASSE É FI",
		"lower('ΟΔΟΣ ÀÉ İ')":                           "οδος àé i̇",
		"upper('abc@[`{z019')":                         "ABC@[`{Z019",
		"lower('ABC@[`{Z019')":                         "abc@[`{z019",
		"upper('ŉ')":                                   "ʼN",
		"trim($$  a b\t\n$$)":                          "a b",
		"trim('\u00a0\u2003x\u0085')":                  "x",
		"trim('   ')":                                  "",
		"length('')":                                   int64(0),
		"length('aß€𝄞')":                               int64(4),
		"substr('aß€𝄞z', 2, 3)":                        "ß€𝄞",
		"substr('abc', 0)":                             "abc",
		"substr('abc', -5, 2)":                         "ab",
		"substr('abc', 4)":                             "",
		"substr('abc', 2, -1)":                         "",
		"substr('abc', 2, 0)":                          "",
		"substring('abc', 3, 9)":                       "c",
		"substr('abc', 2 AS U8, 9223372036854775807)":  "bc",
		"substr('abc', (-9223372036854775807) - 1)":    "abc",
		"substr('abc', '18446744073709551615' AS U64)": "",
		"concat('a', '', 'ß')":                         "aß",
		"contains('abc', '')":                          true,
		"contains('', '')":                             true,
		"contains('', 'a')":                            false,
		"contains('aab', 'ab')":                        true,
		"contains('Abc', 'abc')":                       false,
		"starts_with('ßa', 'ß')":                       true,
		"starts_with('a', 'ab')":                       false,
		"ends_with('aß', 'ß')":                         true,
		"ends_with('', '')":                            true,
	} {
		if got := one(t, src); !same(got, want) {
			t.Errorf("%s = %q, want %q", src, got, want)
		}
	}
}

// TestSearchAcrossRows: the text of all rows is searched at once, so hits that reach over a row's end, hits in nulls and several hits a row matter.
func TestSearchAcrossRows(t *testing.T) {
	values := []any{"xa", "b", "abab", nil, "", "a", "ba", "aaab", "ab", "a", "b"}
	w := newWorld(col{name: "s", kind: types.String, optional: true, values: values}, col{name: "n", kind: types.String, values: []any{"a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a"}})
	w.env.Columns[expr.RecordInput][0] = build(types.String, values, 5)
	for _, needle := range []string{"ab", "a", "b", "aa", "xab", "skipped"} {
		got := w.run(t, "contains(s, '"+needle+"')")
		for i, v := range values {
			var want any
			if v != nil {
				want = strings.Contains(v.(string), needle)
			}
			if got[i] != want {
				t.Errorf("contains(%v, %q) = %v", v, needle, got[i])
			}
		}
	}
	if got := w.run(t, "contains(s, n)"); got[0] != true || got[1] != false || got[3] != nil {
		t.Errorf("per-row needle: %v", got)
	}
}

func TestNumbers(t *testing.T) {
	invalid, over := expr.InvalidArgument, expr.Overflow
	for src, want := range map[string]any{
		"abs(-5)": int64(5), "abs(-0.0)": 0.0, "abs((-128) AS I8)": over, "abs(5 AS U8)": uint8(5), "abs('-inf' AS F64)": math.Inf(1),
		"floor(-1.5)": -2.0, "floor(7)": int64(7), "floor('NaN' AS F64)": invalid, "floor(1.5 AS F32)": float32(1),
		"round(2.5)": 3.0, "round(-2.5)": -3.0, "round(-0.3)": math.Copysign(0, -1), "round('inf' AS F64)": invalid, "round(0.49999999999999994)": 0.0, "round(9)": int64(9),
		"round(2.675, 2)": 2.67, "round(-0.125, 2)": -0.13, "round(1.005, 2)": 1.0, "round(0.5, 0)": 1.0, "round(2.5, 0)": 3.0, "round(1234.5, -2)": 1200.0, "round(1250.0, -2)": 1300.0,
		"round(14.99999, -1)": 10.0, "round(15.0, -1)": 20.0, "round(-15.0, -1)": -20.0, "round(4.9, -1)": 0.0, "round(5.0, -1)": 10.0, "round(123.456, 400)": 123.456, "round(1.5, -400)": 0.0,
		"round(-1.5, -400)": math.Copysign(0, -1), "round('1.7e308' AS F64, -308)": invalid, "round('NaN' AS F64, 2)": invalid, "round(0.1 AS F32, 3)": float32(0.1),
		"round(125, -1)": int64(130), "round(-125, -1)": int64(-130), "round(124, -1)": int64(120), "round(9223372036854775807, -1)": over, "round(9223372036854775807, -19)": over,
		"round(4999999999999999999, -19)": int64(0), "round(9223372036854775807, -20)": int64(0), "round(250 AS U8, -1)": uint8(250), "round(255 AS U8, -1)": over, "round(5, 3)": int64(5),
		"round('18446744073709551615' AS U64, -20)": uint64(0), "round('18446744073709551615' AS U64, -1)": over, "round((-128) AS I8, -1)": over, "round((-124) AS I8, -1)": int8(-120),
		"round(1.25, 1 AS U8)": 1.3, "round('562949953421312.125' AS F64, 2)": 562949953421312.13, "round('1125899906842624.25' AS F64, 1)": 1125899906842624.25,
	} {
		if got := one(t, src); !same(got, want) {
			t.Errorf("%s = %v, want %v", src, got, want)
		}
	}
}

func TestNowAndUUID(t *testing.T) {
	// req: C-113 half: who takes the snapshot; here two now() of one unit are equal
	// req: C-116 half: a paced domain that starts before 1970; here the functions at such an instant
	w := newWorld(col{name: "x", kind: types.I64, values: []any{int64(1), int64(2), int64(3)}})
	if got := w.run(t, "now()"); got[0] != int64(1_700_000_000_123_456_789) || got[2] != got[0] {
		t.Errorf("now() = %v", got)
	}
	form := regexp.MustCompile(`^018bcfe5-687b-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	got := w.run(t, "uuid_v7()")
	for i, v := range got {
		if !form.MatchString(v.(string)) {
			t.Errorf("row %d: %v", i, v)
		}
		for _, o := range got[:i] {
			if o == v {
				t.Errorf("row %d repeats %v", i, v)
			}
		}
	}
	if got := w.run(t, "now() = now()"); got[0] != true || got[2] != true {
		t.Errorf("now() = now(): %v", got)
	}
	w.env.Now = vtime.LogicalFromNS(-1)
	if got := w.run(t, "now()"); got[0] != int64(-1) {
		t.Errorf("now() before 1970: %v", got)
	}
	if got := w.run(t, "IF x = 2 THEN uuid_v7() ELSE 'none' END"); got[0] != "none" || got[1] != expr.Overflow {
		t.Errorf("before 1970: %v", got)
	}
	if c := mustCheck(t, w, "length(uuid_v7())"); !c.Volatile {
		t.Error("uuid_v7 is volatile")
	}
	if _, faults := expr.Check(mustParse(t, "concat('a', uuid_v7())"), w, expr.Options{Constant: true, Place: "DEFAULT"}); len(faults) != 1 {
		t.Errorf("DEFAULT takes constants only: %v", faults)
	}
}

// TestColumnLimit: the rows of one call share one column; a row that no longer fits overflows (nspl 7.5). A lower limit stands in for 2 GiB.
func TestColumnLimit(t *testing.T) {
	w := newWorld(col{name: "s", kind: types.String, values: []any{"äaaa", "bbbb", "c", "dddd"}}).withBranch(col{name: "k", kind: types.String, values: []any{"kkkkk"}})
	w.env.TextLimit = 10
	over := expr.Overflow
	for src, want := range map[string][]any{
		"upper(s)":                        {"ÄAAA", "BBBB", "C", over},
		"concat(s, '')":                   {"äaaa", "bbbb", "c", over},
		"IF s = 'c' THEN s ELSE 'zz' END": {"zz", "zz", "c", "zz"},
		"branch.k":                        {"kkkkk", "kkkkk", over, over},
		"coalesce(nullif(s, 'c'), 'xy')":  {"äaaa", "bbbb", over, over},
	} {
		got := w.run(t, src)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s\n got %v\nwant %v", src, got, want)
		}
	}
}

func TestSensitivity(t *testing.T) {
	w := newWorld(col{name: "s", kind: types.String, optional: true, sensitive: true}, col{name: "p", kind: types.String}, col{name: "n", kind: types.I64})
	for src, want := range map[string]bool{
		"s": true, "length(s)": true, "is_null(s)": true, "s = p": true, "concat(p, s)": true, "IF n = 1 THEN s ELSE p END": true, "IF is_null(s) THEN 1 ELSE 2 END": true,
		"CASE s WHEN 'a' THEN 1 ELSE 2 END": true, "s IN ('a')": true, "coalesce(s, p)": true, "TRY_CAST(s AS I64)": true, "p IS DISTINCT FROM s": true, "substr(p, length(s))": true,
		"leak_sensitive(s)": false, "length(leak_sensitive(s))": false, "concat(leak_sensitive(s), s)": true, "p": false, "now()": false, "'a'": false, "n BETWEEN 1 AND length(s)": true,
	} {
		if got := mustCheck(t, w, src).Sensitive; got != want {
			t.Errorf("%s: sensitive is %v", src, got)
		}
	}
}

func TestFunctionNames(t *testing.T) {
	if name, ok := expr.Canonical("substring"); name != "substr" || !ok {
		t.Errorf("substring is %s", name)
	}
	if _, ok := expr.Canonical("nope"); ok {
		t.Error("nope exists")
	}
	if len(expr.FunctionNames()) != 21 {
		t.Errorf("%d names", len(expr.FunctionNames()))
	}
}

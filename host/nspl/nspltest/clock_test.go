// SPDX-License-Identifier: Apache-2.0

package nspltest

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/nspl/parse"
)

func TestRates(t *testing.T) {
	// req: C-012 half: text only; the mapping itself is shown in package clock
	for text, want := range map[string]float64{
		"1": 1, "0.25": 0.25, "2.0": 2, "1e-3": 1e-3, "1E3": 1e3, "1e+3": 1e3, "5e-324": math.SmallestNonzeroFloat64, "3e-324": math.SmallestNonzeroFloat64,
		"1.7976931348623157e308": math.MaxFloat64, "18446744073709551616": 1 << 64, "1" + strings.Repeat("0", 300): 1e300, "007": 7,
	} {
		start := mustParse(t, "START AT NOW TIME RATE "+text).(*ast.Start)
		if start.Rate == nil || start.Rate.Value != want || start.Rate.Text != text {
			t.Errorf("%s: %+v", text, start.Rate)
		}
	}
	for text, reason := range map[string]string{
		"0": "must not be 0", "0.0": "must not be 0", "0e5": "must not be 0", "1e-400": "becomes 0", "2e-324": "becomes 0", "1e400": "too large",
		"1" + strings.Repeat("0", 400): "too large",
	} {
		d := mustRefuse(t, "START AT NOW TIME RATE "+text)
		if d.Code != fault.SyntaxNumber || !strings.Contains(d.Message, reason) || d.Hint == "" {
			t.Errorf("%s: %s / %s", text, d.Message, d.Hint)
		}
	}
	for _, text := range []string{"-1", "NaN", "Infinity", "inf", "'2'", "2x", "1s", "", "1 / 2"} {
		if d := mustRefuse(t, "START AT NOW TIME RATE "+text); d.Message == "" || text != "1 / 2" && d.Hint == "" {
			t.Errorf("%s: %s / %s", text, d.Message, d.Hint)
		}
	}
	for _, src := range []string{"START TIME RATE 2", "START AT NOW RATE 2", "START AT TIME RATE 2"} {
		if d := mustRefuse(t, src); !strings.Contains(d.Hint, "AT") {
			t.Errorf("%s: %s", src, d.Hint)
		}
	}
}

func TestInstantsAreExact(t *testing.T) {
	// req: C-017 half: what the language takes in; arithmetic is shown in package clock
	for text, want := range map[string]int64{
		"1970-01-01T00:00:00Z": 0, "1970-01-01T00:00:00.000000001Z": 1, "1969-12-31T23:59:59.999999999Z": -1, "1970-01-01t01:00:00+01:00": 0, "1970-01-01T00:00:00z": 0,
		"1969-12-31T00:01:00-23:59": 0, "1970-01-01T00:00:00.5Z": 5e8, "1970-01-01T00:00:00-00:00": 0, "1972-02-29T00:00:00Z": 68169600e9,
		"2262-04-11T23:47:16.854775807Z": math.MaxInt64, "1677-09-21T00:12:43.145224192Z": math.MinInt64, "2262-04-12T23:46:16.854775807+23:59": math.MaxInt64,
	} {
		start := mustParse(t, "START AT '"+text+"'").(*ast.Start)
		if start.At == nil || start.AtNS != want || start.AtNow || start.At.Value != text {
			t.Errorf("%s: %+v", text, start)
		}
	}
	const shape, none, offset, fine, far = "not an RFC 3339", "no such date", "no such offset", "more than nine fraction digits", "does not fit 64-bit"
	for text, reason := range map[string]string{
		"": shape, "now": shape, "2031-05-01": shape, "2031-05-01T06:00Z": shape, "2031-05-01T06:00:00": shape, "2031-05-01 06:00:00Z": shape, "2031-5-01T06:00:00Z": shape,
		"2031-05-01T6:00:00Z": shape, "2031-05-01T06:00:00,5Z": shape, "2031-05-01T06:00:00.Z": shape, "2031-05-01T06:00:00+0200": shape, "2031-05-01T06:00:00+02": shape,
		"2031-05-01T06:00:00Z ": shape, " 2031-05-01T06:00:00Z": shape, "12031-05-01T06:00:00Z": shape, "2031-05-01T06:00:00ZZ": shape, "1900000000": shape,
		"2031-13-01T06:00:00Z": none, "2031-00-01T06:00:00Z": none, "2031-02-29T06:00:00Z": none, "2031-05-00T06:00:00Z": none, "2031-05-01T24:00:00Z": none,
		"2031-05-01T06:60:00Z": none, "2016-12-31T23:59:60Z": none, "2031-05-01T06:00:00+24:00": offset, "2031-05-01T06:00:00-01:60": offset,
		"2031-05-01T06:00:00.1234567890Z": fine, "2031-05-01T06:00:00.0000000000Z": fine,
		"2262-04-11T23:47:16.854775808Z": far, "1677-09-21T00:12:43.145224191Z": far, "2262-04-11T23:47:16.854775807-00:01": far, "0000-01-01T00:00:00Z": far, "9999-12-31T23:59:59Z": far,
	} {
		src := "START AT '" + text + "' TIME RATE 2"
		d := mustRefuse(t, src)
		if d.Code != fault.SyntaxInstant || !strings.Contains(d.Message, reason) || d.Hint == "" || src[d.Span.Offset:d.Span.End()] != "'"+text+"'" {
			t.Errorf("%q: %s", text, d.Render(src))
		}
	}
}

// TestInstantsAgreeWithTheLibrary: both read the same instants (the library lets offsets of 24 hours pass, which are left out here).
func TestInstantsAgreeWithTheLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		two := func(name string, most int) string {
			return fmt.Sprintf("%02d", rapid.IntRange(0, most).Draw(t, name))
		}
		text := fmt.Sprintf("%04d", rapid.IntRange(1670, 2270).Draw(t, "year")) + "-" + two("month", 13) + "-" + two("day", 32) + "T" + two("hour", 24) + ":" + two("minute", 60) + ":" + two("second", 60) +
			rapid.StringMatching(`(\.[0-9]{1,9})?`).Draw(t, "fraction") + rapid.StringMatching(`Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9]`).Draw(t, "zone")
		want, err := time.Parse(time.RFC3339Nano, text)
		stmt, defects := parse.Statement("START AT '" + text + "'")
		fits := err == nil && !want.Before(time.Unix(0, math.MinInt64)) && !want.After(time.Unix(0, math.MaxInt64))
		if fits != (len(defects) == 0) {
			t.Fatalf("%s: the library says %v, we say %v", text, err, defects)
		}
		if fits && stmt.(*ast.Start).AtNS != want.UnixNano() {
			t.Fatalf("%s: %d, want %d", text, stmt.(*ast.Start).AtNS, want.UnixNano())
		}
	})
}

func TestPeriodsAndSkews(t *testing.T) {
	// req: C-017 half: periods and skews of 64 bits as text; arithmetic is shown in package clock
	for clause, want := range map[string][2]uint64{
		"PERIOD 1ns SKEW 0ns": {1, 0}, "PERIOD 250ms SKEW 0s": {250e6, 0}, "PERIOD 1d SKEW 1h30m": {86400e9, 5400e9},
		"PERIOD 18446744073709551615ns SKEW 18446744073709551615ns": {math.MaxUint64, math.MaxUint64},
	} {
		d := mustParse(t, "CREATE PACED DOMAIN d WITH "+clause).(*ast.CreateDomain)
		if d.Pace != ast.Paced || d.Period.NS != want[0] || d.Skew.NS != want[1] || d.Placement != ast.PlacementNeutral {
			t.Errorf("%s: %+v", clause, d)
		}
	}
	for clause, reason := range map[string]string{
		"PERIOD 0s SKEW 1s": "must not be zero", "PERIOD 18446744073709551616ns SKEW 0s": "too long", "PERIOD 1s SKEW 300000d": "too long",
	} {
		if d := mustRefuse(t, "CREATE PACED DOMAIN d WITH "+clause); !strings.Contains(d.Message, reason) || d.Hint == "" {
			t.Errorf("%s: %s / %s", clause, d.Message, d.Hint)
		}
	}
	if d := mustParse(t, "CREATE DOMAIN d").(*ast.CreateDomain); d.Pace != ast.Unpaced {
		t.Error("a domain is unpaced unless it says so")
	}
}

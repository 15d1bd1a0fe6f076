// SPDX-License-Identifier: Apache-2.0

package construct_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nervix-go/nervix/host/expr"
	"github.com/nervix-go/nervix/host/expr/construct"
	"github.com/nervix-go/nervix/host/kernel/fault"
)

// TestWalkThrough is the table of nspl 9.2.
func TestWalkThrough(t *testing.T) {
	b := newBench(t, "litres I64, source STRING", "litres I64, source STRING, doubled I64")
	got, failed := b.run(`INHERIT litres SET litres = message.litres + 4, doubled = litres * 2, source = message.source, litres = input.litres WHERE litres < doubled`,
		2, table{"litres": {int64(3), int64(-9)}, "source": {"well", "tap"}})
	if want := "litres=3 source=well doubled=14\n"; got != want || failed != "" {
		t.Errorf("got %q, failures %q", got, failed)
	}
}

func TestInherit(t *testing.T) {
	b := newBench(t, "a I64, b STRING OPTIONAL, c F64, extra BOOL, s STRING SENSITIVE", "a I64, b STRING OPTIONAL, c F64 OPTIONAL, s STRING SENSITIVE, only I64 OPTIONAL")
	data := table{"a": {int64(1)}, "b": {nil}, "c": {1.5}, "extra": {true}, "s": {"x"}}
	for src, want := range map[string]string{
		"INHERIT ALL": "a=1 b=(null) c=(null) s=x only=(null)\n",
		"INHERIT ALL EXCEPT extra, only, b SET c = input.c": "a=1 b=(null) c=1.5 s=x only=(null)\n",
		"INHERIT s, a": "a=1 b=(null) c=(null) s=x only=(null)\n",
		"SET s = input.s, a = 7, b = NULL, only = 3, only = NULL":     "a=7 b=(null) c=(null) s=x only=(null)\n",
		"INHERIT ALL SET b = 'q', b = concat(b, message.b, output.b)": "a=1 b=qqq c=(null) s=x only=(null)\n",
		"INHERIT ALL WHERE input.c > 2.0":                             "",
		"INHERIT ALL WHERE is_null(c) AND input.extra":                "a=1 b=(null) c=(null) s=x only=(null)\n",
	} {
		if got, failed := b.run(src, 1, data); got != want || failed != "" {
			t.Errorf("%s: %q, failures %q", src, got, failed)
		}
	}
	b.refuse("INHERIT c, a, s", false, fault.ConstructInherit)
	b.refuse("INHERIT a, s, only", false, fault.ConstructTarget)
	b.refuse("INHERIT a, s, extra", false, fault.ConstructTarget)
	b.refuse("INHERIT a, s, a", false, fault.ConstructInherit)
	if at := b.refuse("INHERIT ALL EXCEPT nothing", false, fault.ConstructTarget); at[0] != "nothing" {
		t.Errorf("at %q", at)
	}
}

func TestInheritIsARetain(t *testing.T) {
	b := newBench(t, "a I64", "a I64")
	plan, faults, _ := b.check("INHERIT ALL", false)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	env := expr.Env{Rows: 1, Alloc: b.mem}
	env.Columns[expr.RecordInput] = table{"a": {int64(1)}}.columns(t, b.in, b.mem)
	defer release(env.Columns[expr.RecordInput])
	var out construct.Outcome
	plan.Run(&env, &out)
	defer out.Release()
	if out.Columns[0] != env.Columns[expr.RecordInput][0] {
		t.Error("the column was copied")
	}
}

// TestReadingRules goes through rules 4, 5 and 7 of nspl 9.2.
func TestReadingRules(t *testing.T) {
	b := newBench(t, "same I64, shape I64, gone STRING, loose I64 OPTIONAL", "same I64, shape F64, own I64, loose I64")
	all := ", shape = 1.0, own = 1, loose = 1"
	for src, code := range map[string]fault.Code{
		"SET same = same" + all:                                          "",
		"SET same = message.same" + all:                                  "",
		"SET same = length(gone)" + all:                                  "", // Q13
		"SET same = length(message.gone)" + all:                          "",
		"SET same = shape" + all:                                         fault.ExprUnreadable,
		"SET same = input.shape" + all:                                   "",
		"SET shape = 1.0, same = shape AS I64, own = 1, loose = 1":       "",
		"SET same = own" + all:                                           fault.ExprUnreadable,
		"SET same = output.own" + all:                                    fault.ExprUnreadable,
		"SET own = 1, same = output.own + own, shape = 1.0, loose = 1":   "",
		"SET own = 1, same = coalesce(loose, 1), shape = 1.0, loose = 1": fault.ExprUnreadable, // nullability is part of the shape
		"SET same = nowhere" + all:                                       fault.ExprField,
		"SET same = input.own" + all:                                     fault.ExprField,
		"SET same = output.gone" + all:                                   fault.ExprField,
		"SET same = 1" + all + " WHERE gone = 'x'":                       fault.ExprField, // no fallback in WHERE
		"SET same = 1" + all + " WHERE input.gone = 'x'":                 "",
		"SET same = 1" + all + " WHERE message.same = output.same":       "",
		"SET same = 1" + all + " WHERE same":                             fault.ExprType,
	} {
		if code == "" {
			b.refuse(src, false)
		} else {
			b.refuse(src, false, code)
		}
	}
}

func TestAssignmentRules(t *testing.T) {
	b := newBench(t, "a I64, o I64 OPTIONAL, s STRING SENSITIVE", "a I64, o I64 OPTIONAL, p STRING OPTIONAL")
	for src, code := range map[string]fault.Code{
		"SET o = 1":                                 fault.ConstructUninitialised,
		"":                                          fault.ConstructUninitialised,
		"SET a = input.o":                           fault.ConstructNullable,
		"SET a = coalesce(input.o, 1)":              "",
		"SET a = NULL":                              fault.ConstructNullable,
		"SET a = 1, o = NULL":                       "",
		"SET a = 1, o = (NULL)":                     "",
		"SET a = 1.0":                               fault.ConstructType,
		"SET a = 1, zz = 2":                         fault.ConstructTarget,
		"SET a = 1, p = input.s":                    fault.ConstructSensitive,
		"SET a = length(input.s)":                   fault.ConstructSensitive,
		"SET a = 1, p = leak_sensitive(input.s)":    "",
		"SET a = 1 WHERE input.s = 'x'":             "", // testing is free
		"SET a = 1, p = upper(leak_sensitive(s))":   "",
		"SET a = CASE WHEN input.a = 1 THEN 2 END":  fault.ConstructNullable,
		"SET a = 1, o = CASE WHEN a = 1 THEN 2 END": "",
	} {
		if code == "" {
			b.refuse(src, false)
			continue
		}
		b.refuse(src, false, code)
	}
	if at := b.refuse("SET a = 1.0, o = 'x', zz = nope, p = input.s", false,
		fault.ConstructType, fault.ConstructType, fault.ConstructTarget, fault.ExprField, fault.ConstructSensitive); strings.Join(at, "|") != "1.0|'x'|zz|nope|input.s" {
		t.Errorf("all defects, each at its place: %q", at)
	}
	if at := b.refuse("SET o = 1", false, fault.ConstructUninitialised); at[0] != "r" {
		t.Errorf("an unset field is reported at the target: %q", at)
	}
}

// TestLeaving: what leaves the system needs an explicit leak even for a sensitive field (nspl 3.3).
func TestLeaving(t *testing.T) {
	b := newBench(t, "s STRING SENSITIVE, p STRING", "s STRING SENSITIVE, p STRING")
	b.refuse("INHERIT ALL", true, fault.ConstructSensitive)
	b.refuse("INHERIT s, p", true, fault.ConstructSensitive)
	b.refuse("INHERIT p SET s = input.s", true, fault.ConstructSensitive)
	b.refuse("INHERIT s LEAK SENSITIVE, p", true)
	b.refuse("INHERIT p SET s = leak_sensitive(input.s)", true)
	b.refuse("INHERIT ALL", false)
	plain := newBench(t, "s STRING SENSITIVE", "s STRING")
	plain.refuse("INHERIT ALL", false, fault.ConstructSensitive)
	plain.refuse("INHERIT s", false, fault.ConstructSensitive)
	plain.refuse("INHERIT s LEAK SENSITIVE", false)
	raise := newBench(t, "s STRING", "s STRING SENSITIVE")
	raise.refuse("INHERIT ALL", false)
}

func TestFailedRows(t *testing.T) {
	b := newBench(t, "n I64, d I64, s STRING", "q I64, r I64, s STRING, w I64 OPTIONAL")
	data := table{"n": {int64(8), int64(8), int64(8), int64(8), int64(8)}, "d": {int64(2), int64(0), int64(4), int64(8), int64(1)}, "s": {"1", "2", "x", "4", "5"}}
	src := "INHERIT s SET q = 10, q = input.n / input.d, r = input.s AS I64 WHERE 1 / (r - 4) <= 0 OR input.d = 4"
	got, failed := b.run(src, 5, data)
	if want := "q=4 r=1 s=1 w=(null)\n"; got != want {
		t.Errorf("kept %q", got)
	}
	want := "1 set/2 evaluation division_by_zero [input.d input.n output.q]: `/`: division by zero\n" +
		"2 set/3 evaluation cast_failed [input.s output.r]: conversion to I64: the text does not read as that type or is outside its range\n" +
		"3 route_where/-1 evaluation division_by_zero [input.d output.r]: `/`: division by zero\n"
	if diff := cmp.Diff(want, failed); diff != "" {
		t.Error(diff)
	}
}

func TestFailureMessage(t *testing.T) {
	f := construct.Failure{Operation: construct.OpSet, Kind: expr.Overflow, Reason: "`+`: result is outside the range of the type"}
	if got := f.Message("JUNCTION sort"); got != "JUNCTION sort: set: overflow: `+`: result is outside the range of the type" {
		t.Error(got)
	}
	f = construct.Failure{Operation: construct.OpFinalize, Reason: "r"}
	if got := f.Message("JUNCTION sort"); got != "JUNCTION sort: finalize: validation: r" {
		t.Error(got)
	}
}

// TestPartialOutput: it holds what was set when the row failed, also where a field was set twice.
func TestPartialOutput(t *testing.T) {
	b := newBench(t, "n I64, s STRING", "q I64, r I64, s STRING, z I64 OPTIONAL")
	plan, faults, _ := b.check("INHERIT s SET q = 10, r = 1 / input.n, q = input.s AS I64, z = 5 WHERE 1 / (r - 1) = 0", false)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	env := expr.Env{Rows: 4, Alloc: b.mem, Scratch: expr.NewScratch()}
	env.Columns[expr.RecordInput] = table{"n": {int64(0), int64(2), int64(1), int64(3)}, "s": {"7", "x", "9", "11"}}.columns(t, b.in, b.mem)
	defer release(env.Columns[expr.RecordInput])
	var out construct.Outcome
	plan.Run(&env, &out)
	defer out.Release()
	partial, err := plan.Partial(&env, &out)
	if err != nil {
		t.Fatal(err)
	}
	defer release(partial)
	want := "q=10 r=(null) s=7 z=(null)\n" + // r failed: neither it nor what follows is set
		"q=10 r=0 s=x z=(null)\n" + // the second q failed: the first is still there
		"q=9 r=1 s=9 z=5\n" // WHERE failed on the finished output
	if got := text(b.out, partial, []int{0, 1, 2}); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if out.Kept != 0 {
		t.Errorf("row 3 has 1/(0-1) = -1: %d kept", out.Kept)
	}
}

// TestRequiredNullFails: a null that comes in through a required field never goes on.
func TestRequiredNullFails(t *testing.T) {
	b := newBench(t, "a I64", "a I64")
	got, failed := b.run("INHERIT ALL", 3, table{"a": {int64(1), nil, int64(3)}})
	if got != "a=1\na=3\n" || failed != "1 finalize/-1 validation none [output.a]: the required field `a` is null\n" {
		t.Errorf("kept %q, failed %q", got, failed)
	}
}

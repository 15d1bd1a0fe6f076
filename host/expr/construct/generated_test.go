// SPDX-License-Identifier: Apache-2.0

package construct_test

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"pgregory.net/rapid"

	"github.com/nervix-go/nervix/host/expr"
	"github.com/nervix-go/nervix/host/expr/construct"
	"github.com/nervix-go/nervix/host/kernel/fault"
)

// generated is one set-only route over a record of out's schema.
func (b *bench) generated(src string) (*construct.Plan, fault.Diagnostics, string) {
	b.t.Helper()
	c, text := route(b.t, src)
	plan, faults := construct.CheckGenerated(construct.Route{
		Construct: c, Records: construct.Records{Place: "WASM processor", Branch: b.rec.Branch}, Output: b.out,
	})
	return plan, faults, text
}

// over runs a set-only route; a column that data does not have is uninitialised.
func (b *bench) over(src string, rows int, data table) (string, string) {
	b.t.Helper()
	plan, faults, _ := b.generated(src)
	if len(faults) > 0 {
		b.t.Fatalf("%s: %v", src, faults)
	}
	base, free := b.base(data)
	defer free()
	env := expr.Env{Rows: rows, Alloc: b.mem, Scratch: expr.NewScratch()}
	var out construct.Outcome
	for range 2 { // an Outcome is used again
		plan.RunOver(&env, base, &out)
	}
	defer out.Release()
	return text(b.out, out.Columns, kept(&out, rows)), failures(&out)
}

func (b *bench) base(data table) (columns []arrow.Array, free func()) {
	columns = data.columns(b.t, b.out, b.mem)
	for i, f := range b.out.Fields() {
		if _, ok := data[string(f.Name)]; !ok {
			columns[i].Release()
			columns[i] = nil
		}
	}
	return columns, func() {
		for _, c := range columns {
			if c != nil {
				c.Release()
			}
		}
	}
}

func TestGeneratedReads(t *testing.T) {
	// req: W-081
	b := newBench(t, "x I64", "a I64, o I64 OPTIONAL, s STRING OPTIONAL, flag BOOL OPTIONAL")
	two := table{"a": {int64(1), int64(2)}, "o": {nil, int64(9)}, "s": {"x", nil}}
	for src, want := range map[string]string{
		"":                          "a=1 o=(null) s=x flag=(null)\na=2 o=9 s=(null) flag=(null)\n",
		"SET a = a + 1":             "a=2 o=(null) s=x flag=(null)\na=3 o=9 s=(null) flag=(null)\n",
		"SET a = output.a":          "a=1 o=(null) s=x flag=(null)\na=2 o=9 s=(null) flag=(null)\n",
		"SET o = a, a = 7":          "a=7 o=1 s=x flag=(null)\na=7 o=2 s=(null) flag=(null)\n",
		"SET a = 7, o = a":          "a=7 o=7 s=x flag=(null)\na=7 o=7 s=(null) flag=(null)\n",
		"WHERE output.a > 1":        "a=2 o=9 s=(null) flag=(null)\n",
		"SET a = a * 2 WHERE a > 2": "a=4 o=9 s=(null) flag=(null)\n",
		"SET flag = is_null(flag)":  "a=1 o=(null) s=x flag=true\na=2 o=9 s=(null) flag=true\n",
		"SET flag = is_null(flag), o = coalesce(o, a) + 1": "a=1 o=2 s=x flag=true\na=2 o=10 s=(null) flag=true\n",
		"WHERE flag": "",
		"WHERE coalesce(flag, FALSE) OR is_null(output.flag)": "a=1 o=(null) s=x flag=(null)\na=2 o=9 s=(null) flag=(null)\n",
	} {
		if got, failed := b.over(src, 2, two); got != want || failed != "" {
			t.Errorf("%s: %q, failures %q", src, got, failed)
		}
	}
	// A required column is declared not null and is null all the same while it is uninitialised: nothing may rely on the declaration.
	rest := table{"o": {int64(5)}}
	for src, want := range map[string]string{
		"SET a = coalesce(a, 4)":                               "a=4 o=5 s=(null) flag=(null)\n",
		"SET flag = is_null(a), a = 1":                         "a=1 o=5 s=(null) flag=true\n",
		"SET flag = NOT is_null(a), o = coalesce(a, o), a = 2": "a=2 o=5 s=(null) flag=false\n",
		"SET a = IF is_null(a) THEN 3 ELSE a END":              "a=3 o=5 s=(null) flag=(null)\n",
		"SET flag = a IS DISTINCT FROM 1, a = 1":               "a=1 o=5 s=(null) flag=true\n",
		"SET s = s, flag = a = 1, a = 1":                       "a=1 o=5 s=(null) flag=(null)\n",
	} {
		if got, failed := b.over(src, 1, rest); got != want || failed != "" {
			t.Errorf("%s: %q, failures %q", src, got, failed)
		}
	}
}

func TestGeneratedBoundary(t *testing.T) {
	// req: W-082
	b := newBench(t, "x I64", "a I64, o I64 OPTIONAL, r STRING")
	data := table{"a": {int64(1), int64(2)}, "o": {int64(3), nil}, "r": {"x", "y"}}
	without := func(names ...string) table {
		out := table{}
		for name, column := range data {
			out[name] = column
		}
		for _, name := range names {
			delete(out, name)
		}
		return out
	}
	if got, failed := b.over("", 2, without("o")); got != "a=1 o=(null) r=x\na=2 o=(null) r=y\n" || failed != "" {
		t.Errorf("an untouched optional column: %q, failures %q", got, failed)
	}
	const untouched = "the required field `r` was left uninitialised and no SET gives it a value\n"
	want := "0 finalize/-1 validation none [output.r]: " + untouched + "1 finalize/-1 validation none [output.r]: " + untouched
	for _, src := range []string{"", "SET o = 1", "SET o = length(r)", "WHERE r = 'x' OR a = 1"} {
		if got, failed := b.over(src, 2, without("r")); got != "" || failed != want {
			t.Errorf("%s: kept %q, failures %q", src, got, failed)
		}
	}
	// A null that reaches a required field fails its row only.
	null := "0 finalize/-1 validation none [output.a]: the required field `a` is null\n" + "1 finalize/-1 validation none [output.a]: the required field `a` is null\n"
	if got, failed := b.over("SET a = a + 1", 2, without("a")); got != "" || failed != null {
		t.Errorf("kept %q, failures %q", got, failed)
	}
	data["a"][1] = nil
	if got, failed := b.over("", 2, data); got != "a=1 o=3 r=x\n" || !strings.HasPrefix(failed, "1 finalize") {
		t.Errorf("kept %q, failures %q", got, failed)
	}
	// Failures of expressions are those of every route.
	data["a"] = []any{int64(0), int64(2)}
	got, failed := b.over("SET o = 6 / a, a = a + 1 WHERE 1 / (o - 3) = 0", 2, data)
	if got != "" || failed != "0 set/0 evaluation division_by_zero [output.a output.o]: `/`: division by zero\n"+
		"1 route_where/-1 evaluation division_by_zero [output.o]: `/`: division by zero\n" {
		t.Errorf("kept %q, failures %q", got, failed)
	}
	if got, failed := b.over("", 0, table{}); got != "" || failed != "" {
		t.Errorf("no rows: %q %q", got, failed)
	}
}

// TestGeneratedByReference: a column without an assignment is the guest's own.
func TestGeneratedByReference(t *testing.T) {
	// req: W-080 half: that several routes get one column is shown where outputs are bound
	b := newBench(t, "x I64", "a I64, r STRING")
	base, free := b.base(table{"a": {int64(1), int64(2)}, "r": {"x", "y"}})
	defer free()
	for _, src := range []string{"", "WHERE a = 1", "SET a = a WHERE r = 'x'"} {
		plan, faults, _ := b.generated(src)
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		env := expr.Env{Rows: 2, Alloc: b.mem}
		var out construct.Outcome
		plan.RunOver(&env, base, &out)
		if out.Columns[0] != base[0] || out.Columns[1] != base[1] {
			t.Errorf("%s: a column was copied", src)
		}
		if plan.Filtered() && out.Kept != 1 || env.Columns[expr.RecordOutput] != nil {
			t.Errorf("%s: %d kept", src, out.Kept)
		}
		out.Release()
	}
}

// TestPassThroughAllocatesNothing: what a route costs that takes the guest's columns as they are.
func TestPassThroughAllocatesNothing(t *testing.T) {
	b := newBench(t, "x I64", "a I64, r STRING, o I64 OPTIONAL")
	plan, _, _ := b.generated("")
	base, free := b.base(table{"a": {int64(1), int64(2)}, "r": {"x", "y"}, "o": {nil, int64(1)}})
	defer free()
	env := expr.Env{Rows: 2, Alloc: b.mem}
	var out construct.Outcome
	defer out.Release()
	if n := testing.AllocsPerRun(20, func() { plan.RunOver(&env, base, &out) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestGeneratedScopes(t *testing.T) {
	b := newBench(t, "x I64", "a I64, o I64 OPTIONAL, p STRING OPTIONAL, secret STRING OPTIONAL SENSITIVE")
	b.rec.Branch = schema(t, "key", "bed STRING")
	for src, code := range map[string]fault.Code{
		"SET p = branch.bed":                  "",
		"WHERE branch.bed = 'n'":              "",
		"SET a = input.a":                     fault.ExprScope,
		"SET a = message.a":                   fault.ExprScope,
		"WHERE message.a = 1":                 fault.ExprScope,
		"WHERE input.a = 1":                   fault.ExprScope,
		"SET a = error.code":                  fault.ExprScope,
		"SET a = partial_output.a":            fault.ExprScope,
		"SET a = x":                           fault.ExprField,
		"SET x = 1":                           fault.ConstructTarget,
		"SET a = 1.0":                         fault.ConstructType,
		"SET a = o":                           fault.ConstructNullable,
		"SET a = NULL":                        fault.ConstructNullable,
		"SET o = NULL":                        "",
		"SET p = secret":                      fault.ConstructSensitive,
		"SET secret = p":                      "",
		"SET p = leak_sensitive(secret)":      "",
		"WHERE secret = 'x'":                  "",
		"WHERE a":                             fault.ExprType,
		"INHERIT a":                           fault.ExprPlace,
		"SET a = a, a = output.a WHERE a > 0": "",
	} {
		_, faults, text := b.generated(src)
		if code == "" && len(faults) > 0 || code != "" && (len(faults) != 1 || faults[0].Code != code) {
			t.Errorf("%s: %v, want %s", src, faults, code)
		}
		for _, f := range faults {
			if f.Hint == "" || !f.Located || text[f.Span.Offset:f.Span.End()] == "" {
				t.Errorf("%s: no place or no hint: %v", src, f)
			}
		}
	}
	_, faults, _ := b.generated("SET a = input.a")
	want := "readable here: bare fields, output, branch; a route reads what the node made, and only ON MESSAGE ERROR SEND TO reads input.a"
	if faults[0].Hint != want || !strings.Contains(faults[0].Message, "a WASM processor") {
		t.Errorf("%s / %s", faults[0].Message, faults[0].Hint)
	}
}

// TestGeneratedErrorRecord: the error record of a set-only route reads the selected source record, all null where there is none.
func TestGeneratedErrorRecord(t *testing.T) {
	// req: W-089 half: which row the source token selects is shown where tokens are
	in, out, target := schema(t, "source", "value I64"), schema(t, "target", "a I64"), schema(t, "problem", "was I64 OPTIONAL, made I64 OPTIONAL, why STRING")
	rec := construct.ErrorRecords{Records: construct.Records{Place: "WASM processor", Input: in}, Output: out, OptionalInput: true}
	plan, faults := construct.CheckErrorRecord(set(t, "was = input.value, made = partial_output.a, why = error.message"), rec, target, fault.Span{})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	b := newBench(t, "n I64", "n I64")
	env := expr.Env{Rows: 2, Alloc: b.mem}
	env.Columns[expr.RecordInput] = table{"value": {int64(8), nil}}.columns(t, in, b.mem)
	env.Columns[expr.RecordPartialOutput] = table{"a": {nil, int64(1)}}.columns(t, construct.PartialSchema(out), b.mem)
	env.Columns[expr.RecordError] = table{"message": {"x", "y"}}.columns(t, construct.ErrorSchema, b.mem)
	for _, r := range []expr.RecordID{expr.RecordInput, expr.RecordPartialOutput, expr.RecordError} {
		defer release(env.Columns[r])
	}
	var got construct.Outcome
	plan.Run(&env, &got)
	defer got.Release()
	if s := text(target, got.Columns, kept(&got, 2)); s != "was=8 made=(null) why=x\nwas=(null) made=1 why=y\n" {
		t.Errorf("got %q", s)
	}
}

// TestGeneratedEqualsNulls: an uninitialised column and a column of nulls give the same rows, but for the reason of a failure.
func TestGeneratedEqualsNulls(t *testing.T) {
	// req: W-081
	exprs := []string{"a", "o", "output.a + o", "coalesce(o, a)", "coalesce(a, 3)", "length(s)", "nullif(a, 1)", "IF is_null(a) THEN o ELSE a * 2 END", "10 / a", "s AS I64",
		"greatest(a, o)", "CASE WHEN a > 1 THEN 1 WHEN is_null(s) THEN 2 ELSE 3 END"}
	rapid.Check(t, func(rt *rapid.T) {
		b := newBench(t, "x I64", "a I64 OPTIONAL, o I64 OPTIONAL, s STRING OPTIONAL")
		src := "SET " + rapid.SampledFrom([]string{"a", "o"}).Draw(rt, "t1") + " = " + rapid.SampledFrom(exprs).Draw(rt, "e1") +
			", " + rapid.SampledFrom([]string{"a", "o"}).Draw(rt, "t2") + " = " + rapid.SampledFrom(exprs).Draw(rt, "e2") +
			rapid.SampledFrom([]string{"", " WHERE is_null(a)", " WHERE a < 3 OR is_null(o)"}).Draw(rt, "where")
		rows := rapid.IntRange(0, 20).Draw(rt, "rows")
		data, nulls := table{}, table{}
		for i, f := range b.out.Fields() {
			name := string(f.Name)
			nulls[name] = make([]any, rows)
			if rapid.Bool().Draw(rt, "initialised") {
				column := make([]any, rows)
				for row := range column {
					switch n := rapid.IntRange(-1, 3).Draw(rt, "value"); {
					case n < 0:
					case i == 2:
						column[row] = string(rune('0' + n))
					default:
						column[row] = int64(n)
					}
				}
				data[name], nulls[name] = column, column
			}
		}
		k1, f1 := b.over(src, rows, data)
		k2, f2 := b.over(src, rows, nulls)
		if k1 != k2 || f1 != f2 {
			rt.Fatalf("%s: uninitialised %q %q, nulls %q %q", src, k1, f1, k2, f2)
		}
	})
}

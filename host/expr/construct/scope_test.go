// SPDX-License-Identifier: Apache-2.0

package construct_test

import (
	"strings"
	"testing"

	"github.com/nervix-go/nervix/host/expr"
	"github.com/nervix-go/nervix/host/expr/construct"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/nspl/parse"
)

func TestBranchScope(t *testing.T) {
	// req: R-015 half: that a node hands its concrete key to the programs is shown where nodes run
	in, key := "n I64", "bed STRING, row I64"
	b := newBench(t, in, "bed STRING, n I64")
	b.refuse("INHERIT n SET bed = branch.bed", false, fault.ExprScope) // unbranched: there are none
	b.rec.Branch = schema(t, "key", key)
	b.refuse("INHERIT n SET bed = branch.bed", false)
	_, faults, _ := b.check("INHERIT n SET bed = concat(row AS STRING)", false) // a bare name never means a key field
	if len(faults) != 1 || faults[0].Code != fault.ExprField || !strings.Contains(faults[0].Hint, "branch.row") {
		t.Errorf("got %v", faults)
	}
	plan, faults, _ := b.check("INHERIT n SET bed = branch.bed WHERE branch.row > 3", false)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	env := expr.Env{Rows: 2, Alloc: b.mem}
	env.Columns[expr.RecordInput] = table{"n": {int64(1), int64(2)}}.columns(t, b.in, b.mem)
	env.Columns[expr.RecordBranch] = table{"bed": {"north"}, "row": {int64(4)}}.columns(t, b.rec.Branch, b.mem)
	defer release(env.Columns[expr.RecordInput])
	defer release(env.Columns[expr.RecordBranch])
	var out construct.Outcome
	plan.Run(&env, &out)
	defer out.Release()
	if got := text(b.out, out.Columns, kept(&out, 2)); got != "bed=north n=1\nbed=north n=2\n" {
		t.Errorf("got %q", got)
	}
	// The success expressions of an emitter get no key: their Records have no branch.
	emitter := construct.Records{Place: "emitter", Input: b.in}
	if _, faults := filter(t, construct.EmitterFilterScope(emitter), "branch.bed = 'x'"); len(faults) != 1 || !strings.Contains(faults[0].Message, "an emitter") {
		t.Errorf("got %v", faults)
	}
}

func filter(t *testing.T, scope expr.Scope, src string) (*expr.Program, fault.Diagnostics) {
	t.Helper()
	e, faults := parse.Expr(src)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return construct.CheckFilter(e, scope)
}

func TestScopesOfPlaces(t *testing.T) {
	in, meta := schema(t, "source", "n I64"), schema(t, "facts", "path STRING, line I64")
	ingestor := construct.Records{Place: "ingestor", Input: in, Metadata: meta}
	junction := construct.Records{Place: "junction", Input: in}
	out, key, faultRow := schema(t, "target", "n I64, p STRING"), schema(t, "key", "n I64, m I64"), schema(t, "problem", "why STRING, n I64, p STRING OPTIONAL")
	places := map[string]expr.Scope{
		"ingestor filter": construct.FilterScope(ingestor),
		"junction filter": construct.FilterScope(junction),
		"emitter filter":  construct.EmitterFilterScope(construct.Records{Place: "emitter", Input: in}),
		"ingestor route":  construct.NewTransformScope(ingestor, out),
		"key":             construct.KeyScope(ingestor, out, key),
		"error record":    construct.ErrorScope(construct.ErrorRecords{Records: ingestor, Output: out}, faultRow),
	}
	for src, allowed := range map[string]string{
		"n = 1":                           "ingestor filter, junction filter, emitter filter, ingestor route, key, error record",
		"input.n = 1":                     "ingestor filter, junction filter, emitter filter, ingestor route, key, error record",
		"message.n = 1":                   "emitter filter, ingestor route, key",
		"metadata.line = 1":               "ingestor filter, ingestor route, key, error record",
		"error.code = 'a'":                "error record",
		"length(error.message) = 1":       "error record",
		"is_null(partial_output.p)":       "error record",
		"left.n = 1":                      "",
		"right.n = 1":                     "",
		"relay_state.r.n = 1":             "",
		"message.p = 'a'":                 "key", // set in the finished output only
		"is_null(error.operation_index)":  "error record",
		"error.occurred_at > now()":       "error record",
		"contains(metadata.path, 'x')":    "ingestor filter, ingestor route, key, error record",
		"partial_output.n = 1 AND n != 2": "error record",
	} {
		for name, scope := range places {
			_, faults := filter(t, scope, src)
			want := strings.Contains(", "+allowed+", ", ", "+name+", ")
			if want != (len(faults) == 0) {
				t.Errorf("%s in %s: %v", src, name, faults)
			}
			for _, f := range faults {
				if f.Code == fault.ExprScope && !strings.Contains(f.Message+f.Hint, strings.Fields(name)[0]) && name != "key" && name != "error record" {
					t.Errorf("%s in %s does not name the node kind: %s", src, name, f.Message)
				}
			}
		}
	}
}

// TestKey: the key reads fields set so far, then the finished output; every field has to be set.
func TestKey(t *testing.T) {
	in, out, key := schema(t, "source", "n I64"), schema(t, "target", "n I64, city STRING, secret STRING SENSITIVE"), schema(t, "key", "n I64, city STRING OPTIONAL")
	rec := construct.Records{Place: "ingestor", Input: in}
	span := fault.Span{Offset: 1, Length: 2}
	check := func(src string) (*construct.Plan, fault.Diagnostics) {
		return construct.CheckKey(set(t, src), rec, out, key, span)
	}
	for src, code := range map[string]fault.Code{
		"n = 1":                                  fault.ConstructUninitialised, // optional key fields too
		"n = 1, city = NULL":                     "",
		"n = message.n, city = message.city":     "",
		"n = input.n, city = city":               "",
		"n = 1, city = 'x', other = 1":           fault.ConstructTarget,
		"n = 1.0, city = 'x'":                    fault.ConstructType,
		"n = 1, city = secret":                   fault.ConstructSensitive,
		"n = output.n, city = 'x'":               fault.ExprScope,
		"n = nullif(1, 2), city = city":          fault.ConstructNullable,
		"n = length(city), city = n AS STRING":   "",
		"n = 7, city = concat(n AS STRING, 'k')": "",
	} {
		_, faults := check(src)
		if code == "" && len(faults) > 0 || code != "" && (len(faults) != 1 || faults[0].Code != code) {
			t.Errorf("%s: %v, want %s", src, faults, code)
		}
	}
	plan, faults := check("n = message.n * 2, city = IF n = 4 THEN city ELSE 'rest' END")
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	b := newBench(t, "n I64", "n I64")
	env := expr.Env{Rows: 2, Alloc: b.mem}
	env.Columns[expr.RecordOutput] = table{"n": {int64(2), int64(3)}, "city": {"bern", "rome"}, "secret": {"", ""}}.columns(t, out, b.mem)
	defer release(env.Columns[expr.RecordOutput])
	var got construct.Outcome
	plan.Run(&env, &got)
	defer got.Release()
	if s := text(key, got.Columns, kept(&got, 2)); s != "n=4 city=bern\nn=6 city=rest\n" {
		t.Errorf("got %q", s)
	}
	failing, faults := check("n = 1 / (message.n - 2), city = 'x'")
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	failing.Run(&env, &got)
	if s := failures(&got); s != "0 branch/0 evaluation division_by_zero [branch.n output.n]: `/`: division by zero\n" {
		t.Errorf("got %q", s)
	}
}

// TestErrorRecord: assignments may read earlier ones; in an ingestor every input field may be null (nspl 9.4).
func TestErrorRecord(t *testing.T) {
	in, out, target := schema(t, "source", "bed STRING, wet F64"), schema(t, "target", "bed STRING, moisture F64"),
		schema(t, "soil_fault", "why STRING, twice STRING, bed STRING OPTIONAL, wet F64 OPTIONAL")
	rec := construct.ErrorRecords{Records: construct.Records{Place: "ingestor", Input: in}, Output: out, OptionalInput: true}
	plan, faults := construct.CheckErrorRecord(
		set(t, "why = concat(error.code, '/', error.operation), twice = concat(why, why), bed = input.bed, wet = partial_output.moisture"), rec, target, fault.Span{})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	b := newBench(t, "n I64", "n I64")
	env := expr.Env{Rows: 1, Alloc: b.mem}
	errors := construct.ErrorSchema
	env.Columns[expr.RecordInput] = table{"bed": {nil}, "wet": {nil}}.columns(t, in, b.mem)
	env.Columns[expr.RecordPartialOutput] = table{"bed": {nil}, "moisture": {0.5}}.columns(t, construct.PartialSchema(out), b.mem)
	env.Columns[expr.RecordError] = table{"code": {"evaluation"}, "operation": {"set"}}.columns(t, errors, b.mem)
	for _, r := range []expr.RecordID{expr.RecordInput, expr.RecordPartialOutput, expr.RecordError} {
		defer release(env.Columns[r])
	}
	var got construct.Outcome
	plan.Run(&env, &got)
	defer got.Release()
	if s := text(target, got.Columns, kept(&got, 1)); s != "why=evaluation/set twice=evaluation/setevaluation/set bed=(null) wet=0.5\n" {
		t.Errorf("got %q", s)
	}
	strict := schema(t, "strict", "bed STRING")
	if _, faults := construct.CheckErrorRecord(set(t, "bed = input.bed"), rec, strict, fault.Span{}); len(faults) != 1 || faults[0].Code != fault.ConstructNullable {
		t.Errorf("got %v", faults)
	}
	rec.OptionalInput = false
	if _, faults := construct.CheckErrorRecord(set(t, "bed = input.bed"), rec, strict, fault.Span{}); len(faults) != 0 {
		t.Errorf("got %v", faults)
	}
	if _, faults := construct.CheckErrorRecord(set(t, "bed = NULL"), rec, target, fault.Span{}); len(faults) != 1 || faults[0].Code != fault.ConstructUninitialised {
		t.Errorf("got %v", faults)
	}
}

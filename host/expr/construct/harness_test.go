// SPDX-License-Identifier: Apache-2.0

package construct_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/host/expr"
	"github.com/nervix-go/nervix/host/expr/construct"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/types"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/nspl/parse"
)

// schema reads `name TYPE [OPTIONAL] [SENSITIVE], ...`.
func schema(t testing.TB, name, fields string) *types.Schema {
	t.Helper()
	stmt, faults := parse.Statement("CREATE SCHEMA " + name + " (" + fields + ")")
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	var out []types.Field
	for _, f := range stmt.(*ast.CreateSchema).Fields {
		out = append(out, types.Field{Name: f.Name.Name, Type: f.Type, Optional: f.Optional, Sensitive: f.Sensitive})
	}
	return types.NewSchema(ident.Name(name), out)
}

const head = "CREATE JUNCTION j FROM a UNBRANCHED TO r "

// route reads a construction; the text is given back for spans.
func route(t testing.TB, src string) (ast.Construct, string) {
	t.Helper()
	text := head + src + " FLUSH IMMEDIATE ON MESSAGE ERROR LOG"
	stmt, faults := parse.Statement(text)
	if len(faults) > 0 {
		t.Fatalf("%s: %v", src, faults)
	}
	return stmt.(*ast.CreateJunction).Routes[0].Construct, text
}

// set reads the assignments of an error record or a key.
func set(t testing.TB, src string) []ast.Assignment {
	t.Helper()
	c, _ := route(t, "SET "+src)
	return c.Set
}

// table is a record batch as columns of Go values: nil, int64, string, bool, float64.
type table map[string][]any

func (b table) columns(t testing.TB, s *types.Schema, mem memory.Allocator) []arrow.Array {
	t.Helper()
	out := make([]arrow.Array, s.Len())
	for i, f := range s.Fields() {
		builder := array.NewBuilder(mem, f.Type.Arrow())
		for _, v := range b[string(f.Name)] {
			switch v := v.(type) {
			case nil:
				builder.AppendNull()
			case int64:
				builder.(*array.Int64Builder).Append(v)
			case string:
				builder.(*array.StringBuilder).Append(v)
			case bool:
				builder.(*array.BooleanBuilder).Append(v)
			case float64:
				builder.(*array.Float64Builder).Append(v)
			default:
				t.Fatalf("no column for %T", v)
			}
		}
		out[i] = builder.NewArray()
		builder.Release()
	}
	return out
}

// text prints columns row by row, for comparison.
func text(s *types.Schema, columns []arrow.Array, rows []int) string {
	var b strings.Builder
	for _, row := range rows {
		var cells []string
		for i, c := range columns {
			cells = append(cells, string(s.Field(i).Name)+"="+c.ValueStr(row))
		}
		b.WriteString(strings.Join(cells, " ") + "\n")
	}
	return b.String()
}

func kept(out *construct.Outcome, rows int) []int {
	var list []int
	for i := range rows {
		if out.All || out.Keep[i>>3]>>(i&7)&1 == 1 {
			list = append(list, i)
		}
	}
	if len(list) != out.Kept {
		panic(fmt.Sprintf("%d rows are kept, Kept is %d", len(list), out.Kept))
	}
	return list
}

func failures(out *construct.Outcome) string {
	var b strings.Builder
	for _, f := range out.Failures {
		fmt.Fprintf(&b, "%d %s/%d %s %s %v: %s\n", f.Row, f.Operation, f.Index, f.Code(), f.Kind, f.Fields, f.Reason)
	}
	return b.String()
}

// bench is one route with its input.
type bench struct {
	t       *testing.T
	in, out *types.Schema
	rec     construct.Records
	mem     *memory.CheckedAllocator
}

func newBench(t *testing.T, in, out string) *bench {
	b := &bench{t: t, in: schema(t, "source", in), out: schema(t, "target", out), mem: memory.NewCheckedAllocator(memory.DefaultAllocator)}
	b.rec = construct.Records{Place: "junction", Input: b.in}
	t.Cleanup(func() { b.mem.AssertSize(t, 0) })
	return b
}

func (b *bench) check(src string, leaving bool) (*construct.Plan, fault.Diagnostics, string) {
	b.t.Helper()
	c, text := route(b.t, src)
	plan, faults := construct.Check(construct.Route{
		Construct: c, Records: b.rec, Output: b.out, Span: fault.Span{Offset: len(head) - 2, Length: 1}, Leaving: leaving,
	})
	return plan, faults, text
}

// run gives the kept rows and the failures as text.
func (b *bench) run(src string, rows int, data table) (string, string) {
	b.t.Helper()
	plan, faults, _ := b.check(src, false)
	if len(faults) > 0 {
		b.t.Fatalf("%s: %v", src, faults)
	}
	env := expr.Env{Rows: rows, Now: vtime.LogicalFromNS(1), Alloc: b.mem, Scratch: expr.NewScratch()}
	env.Columns[expr.RecordInput] = data.columns(b.t, b.in, b.mem)
	defer release(env.Columns[expr.RecordInput])
	var out construct.Outcome
	for range 2 { // an Outcome is used again
		plan.Run(&env, &out)
	}
	defer out.Release()
	return text(b.out, out.Columns, kept(&out, rows)), failures(&out)
}

func release(columns []arrow.Array) {
	for _, c := range columns {
		c.Release()
	}
}

// refuse demands exactly these codes, each with a span, and gives the texts at the spans.
func (b *bench) refuse(src string, leaving bool, codes ...fault.Code) []string {
	b.t.Helper()
	plan, faults, text := b.check(src, leaving)
	if plan != nil && len(codes) > 0 {
		b.t.Errorf("%s was accepted", src)
		return nil
	}
	var got []fault.Code
	var at []string
	for _, f := range faults {
		got = append(got, f.Code)
		at = append(at, text[f.Span.Offset:f.Span.End()])
		if !f.Located || f.Hint == "" {
			b.t.Errorf("%s: %q has no span or no hint", src, f.Message)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(codes) {
		b.t.Errorf("%s: %v, want %v: %v", src, got, codes, faults)
	}
	return at
}

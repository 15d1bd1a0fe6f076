// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/host/expr"
	"github.com/nervix-go/nervix/host/expr/construct"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

func TestRowsOfASelection(t *testing.T) {
	for n := range 40 {
		for _, step := range []int{1, 2, 3, 7, 41} {
			mask := make([]byte, (n+7)/8)
			want := []uint32{}
			for i := 0; i < n; i += step {
				mask[i>>3] |= 1 << (i & 7)
				want = append(want, uint32(i))
			}
			got, all := RowsOf(mask, n)
			if all != (len(want) == n) || !all && !slices.Equal(got, want) {
				t.Fatalf("%d rows, every %d: %v, all %v", n, step, got, all)
			}
		}
	}
}

// The columns of `error` say what nspl 9.5 lists, and every failure has a reference of its own that carries its time.
func TestErrorColumns(t *testing.T) {
	alloc := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer alloc.AssertSize(t, 0)
	next := byte(0)
	w := &Workbench{alloc: alloc, scratch: expr.NewScratch(), random: func(b []byte) {
		next++
		for i := range b {
			b[i] = next
		}
	}}
	node := ident.Ref{Domain: "farm", Kind: ident.KindEmitter, Name: "sink"}
	predicate := FromPredicate(nil, OpSourceWhere, []string{"input.n", "input.wet"}, &expr.Failures{Rows: []expr.Failure{{Row: 3, Kind: expr.DivisionByZero, Text: "division by zero"}}})
	failures := FromConstruct(predicate, []construct.Failure{
		{Row: 5, Operation: construct.OpSet, Index: 2, Kind: expr.DivisionByZero, Fields: []string{"input.n", "output.level"}, Reason: "why"},
		{Row: 6, Operation: construct.OpFinalize, Index: construct.NoIndex, Fields: []string{"output.bed"}, Reason: "`bed` was not set"},
	})
	now := vtime.LogicalFromNS(1_700_000_000_123_456_789)
	columns := errorColumns(node, failures, now, w)
	for _, c := range columns {
		defer c.Release()
	}
	text := func(c, row int) string { return columns[c].ValueStr(row) }
	want := [][]string{
		{"evaluation", "source_where", array.NullValueStr, `["input.n","input.wet"]`, "EMITTER sink: source_where: " + expr.DivisionByZero.String() + ": division by zero"},
		{"evaluation", "set", "2", `["input.n","output.level"]`, "EMITTER sink: set: division_by_zero: why"},
		{"validation", "finalize", array.NullValueStr, `["output.bed"]`, "EMITTER sink: finalize: `bed` was not set"},
	}
	seen := map[string]bool{}
	for row, cells := range want {
		got := []string{text(construct.ErrorCode, row), text(construct.ErrorOperation, row), text(construct.ErrorOperationIndex, row), text(construct.ErrorFields, row),
			text(construct.ErrorMessage, row)}
		if !slices.Equal(got, cells) {
			t.Errorf("row %d: %q, want %q", row, got, cells)
		}
		if at := columns[construct.ErrorOccurredAt].(*array.Timestamp).Value(row); int64(at) != now.NS() {
			t.Errorf("row %d occurred at %d", row, at)
		}
		reference, err := ident.ParseReference(text(construct.ErrorReference, row))
		if err != nil || reference.UnixMilli() != now.NS()/1e6 || seen[reference.String()] {
			t.Errorf("row %d: reference %s, %v", row, reference, err)
		}
		seen[reference.String()] = true
	}
	if failures[0].Class != expr.DivisionByZero.String() || failures[1].Class != expr.DivisionByZero.String() || failures[2].Class != "finalize" {
		t.Errorf("classes %q %q %q", failures[0].Class, failures[1].Class, failures[2].Class)
	}
}

// SPDX-License-Identifier: Apache-2.0

package lineage

import (
	"testing"
)

func TestAppendMergesNeighbours(t *testing.T) {
	b := newLedger(0)
	l := Of(b, 1000)
	var merged Lineage
	for i := range 1000 {
		var head Lineage
		head, l = l.Split(1)
		merged = merged.Append(head, i, 1)
	}
	l.Settle()
	if n := len(merged.Runs()); n != 1 {
		t.Fatalf("a batch cut into rows and joined again has %d runs, want 1", n)
	}
	if b.holds != 1 {
		t.Fatalf("the merged run owns %d holds, want 1", b.holds)
	}
	merged.Settle()
	if b.settled != 1 {
		t.Fatalf("settled %d times", b.settled)
	}
}

func TestAppendKeepsUntrackedRowsBetweenTracked(t *testing.T) {
	a, b := newLedger(0), newLedger(1)
	l := Of(a, 2).Append(Lineage{}, 2, 3).Append(Of(b, 1), 5, 1)
	got := expand(l)
	want := []row{{a, 0}, {a, 1}, {}, {}, {}, {b, 0}}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("row %d is %v, want %v", i, got[i], want[i])
		}
	}
	l.FailRows([]uint32{1, 3, 5}, errRow)
	if a.failed[1] != 1 || len(a.failed) != 1 || b.failed[0] != 1 || len(b.failed) != 1 {
		t.Fatalf("failed members: %v and %v", a.failed, b.failed)
	}
	l.Touch(7)
	if a.touched != 7 || b.touched != 7 {
		t.Fatalf("touched %d and %d", a.touched, b.touched)
	}
	l.Settle()
	if a.settled != 1 || b.settled != 1 {
		t.Fatalf("settled %d and %d times", a.settled, b.settled)
	}
}

func TestUntrackedStaysUntracked(t *testing.T) {
	var l Lineage
	head, tail := l.Split(3)
	joined := head.Append(tail, 3, 4).Select([]uint32{0, 6})
	if joined.Tracked() {
		t.Fatal("untracked rows became tracked")
	}
	joined.Share(3)
	joined.Touch(1)
	joined.Fail(errRow)
}

// An ingest batch without rows has nobody to wait for, but its first hold must not leak.
func TestRunsWithoutRowsReleaseTheirHold(t *testing.T) {
	for _, end := range []struct {
		name string
		end  func(Lineage)
	}{
		{"settle", func(l Lineage) { l.Settle() }},
		{"select", func(l Lineage) { l.Select([]uint32{}).Settle() }},
		{"split", func(l Lineage) {
			head, tail := l.Split(0)
			head.Settle()
			tail.Settle()
		}},
		{"append", func(l Lineage) { l.Append(Lineage{}, 0, 2).Settle() }},
		{"appended", func(l Lineage) { Of(newLedger(9), 2).Append(l, 2, 0).Settle() }},
	} {
		t.Run(end.name, func(t *testing.T) {
			b := newLedger(0)
			end.end(Of(b, 0))
			if b.settled != 1 || len(b.misuse) > 0 {
				t.Fatalf("settled %d times, misuse %v", b.settled, b.misuse)
			}
		})
	}
}

func TestSharingCostsOneOperationARun(t *testing.T) {
	b := &counting{}
	l := Of(b, 1024)
	l.Share(5)
	if b.holds != 1 {
		t.Fatalf("sharing 1,024 rows among five took %d operations, want 1", b.holds)
	}
	l.Settle()
	if b.releases != 1 {
		t.Fatalf("settling 1,024 rows took %d operations, want 1", b.releases)
	}
}

// A selection of consecutive rows must not list members: a filter that passes ranges would else pay by row.
func TestConsecutiveSelectionStaysARange(t *testing.T) {
	rows := make([]uint32, 500)
	for i := range rows {
		rows[i] = uint32(i + 100)
	}
	l := Of(&counting{}, 1024).Select(rows)
	if m := l.Runs()[0].Members; m.List != nil || m.First != 100 || m.Rows != 500 {
		t.Fatalf("members %+v, want a range from 100 of 500", m)
	}
}

type counting struct{ holds, releases int }

func (c *counting) Hold(int)            { c.holds++ }
func (c *counting) Release()            { c.releases++ }
func (c *counting) Fail(Members, error) {}
func (c *counting) Touch(int64)         {}

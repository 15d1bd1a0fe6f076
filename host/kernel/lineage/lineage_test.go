// SPDX-License-Identifier: Apache-2.0

package lineage

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// ledger is a block that notices every misuse of its holds.
type ledger struct {
	name    int
	holds   int
	settled int
	failed  map[uint32]int
	touched int64
	misuse  []string
}

func newLedger(name int) *ledger { return &ledger{name: name, holds: 1, failed: map[uint32]int{}} }

func (b *ledger) Hold(n int) {
	if b.holds < 1 || n < 1 {
		b.misuse = append(b.misuse, "hold without owning one")
	}
	b.holds += n
}

func (b *ledger) Release() {
	if b.holds--; b.holds == 0 {
		b.settled++
	} else if b.holds < 0 {
		b.misuse = append(b.misuse, "released too often")
	}
}

func (b *ledger) Fail(members Members, _ error) {
	if b.holds < 1 {
		b.misuse = append(b.misuse, "failed without owning a hold")
	}
	for i := range members.Len() {
		b.failed[members.At(i)]++
	}
}

func (b *ledger) Touch(ns int64) { b.touched = max(b.touched, ns) }

var _ Block = (*ledger)(nil)

// row is what the slow reference keeps for every row: its block and member, or no block.
type row struct {
	block  *ledger
	member uint32
}

// live is a lineage beside the reference's opinion of its rows.
type live struct {
	lin  Lineage
	rows []row
}

// world is a set of live lineages over some blocks.
type world struct {
	blocks []*ledger
	failed map[row]bool
	all    []live
}

func (w *world) block() *ledger {
	b := newLedger(len(w.blocks))
	w.blocks = append(w.blocks, b)
	return b
}

func (w *world) add(l live) { w.all = append(w.all, l) }

// take removes a random live lineage: the operation that follows ends it.
func (w *world) take(t *rapid.T) live {
	i := rapid.IntRange(0, len(w.all)-1).Draw(t, "lineage")
	l := w.all[i]
	w.all = slices.Delete(w.all, i, i+1)
	return l
}

func (w *world) look(t *rapid.T) live {
	return w.all[rapid.IntRange(0, len(w.all)-1).Draw(t, "lineage")]
}

// subset draws ascending row indexes.
func subset(t *rapid.T, n int) []uint32 {
	rows := []uint32{}
	for i := range n {
		if rapid.Bool().Draw(t, "keep") {
			rows = append(rows, uint32(i))
		}
	}
	return rows
}

// source makes a lineage of one block in up to three runs of different shapes, or an untracked one.
func (w *world) source(t *rapid.T) {
	if rapid.IntRange(0, 4).Draw(t, "tracked") == 0 {
		w.add(live{Lineage{}, make([]row, rapid.IntRange(1, 5).Draw(t, "rows"))})
		return
	}
	b := w.block()
	runs := make([]Run, rapid.IntRange(1, 3).Draw(t, "runs"))
	rows := []row{}
	next := uint32(0)
	for i := range runs {
		n := rapid.Uint32Range(1, 5).Draw(t, "rows")
		m := Members{First: next, Rows: n}
		switch rapid.SampledFrom([]string{"range", "one member", "list"}).Draw(t, "shape") {
		case "range":
			m.Step = 1
		case "list":
			m = Members{}
			for range n {
				m.List = append(m.List, rapid.Uint32Range(0, 9).Draw(t, "member"))
			}
		}
		for j := range int(n) {
			r := row{b, next}
			if m.List != nil {
				r.member = m.List[j]
			} else if m.Step == 1 {
				r.member += uint32(j)
			}
			rows = append(rows, r)
		}
		next += n
		runs[i] = Run{b, m}
	}
	b.holds = len(runs)
	w.add(live{Lineage{runs: runs}, rows})
}

var errRow = errors.New("row failed")

func (w *world) step(t *rapid.T) {
	if len(w.all) == 0 {
		w.source(t)
		return
	}
	switch rapid.SampledFrom([]string{"source", "share", "select", "split", "append", "append", "failrows", "settle", "fail"}).Draw(t, "op") {
	case "source":
		w.source(t)
	case "share":
		l, n := w.look(t), rapid.IntRange(0, 2).Draw(t, "copies")
		l.lin.Share(n)
		for range n {
			w.add(l)
		}
	case "select":
		l := w.take(t)
		keep := subset(t, len(l.rows))
		kept := make([]row, 0, len(keep))
		for _, r := range keep {
			kept = append(kept, l.rows[r])
		}
		w.add(live{l.lin.Select(keep), kept})
	case "split":
		l := w.take(t)
		at := rapid.IntRange(0, len(l.rows)).Draw(t, "at")
		head, tail := l.lin.Split(at)
		w.add(live{head, l.rows[:at:at]})
		w.add(live{tail, l.rows[at:]})
	case "append":
		a := w.take(t)
		if len(w.all) == 0 {
			w.add(a)
			return
		}
		b := w.take(t)
		w.add(live{a.lin.Append(b.lin, len(a.rows), len(b.rows)), slices.Concat(a.rows, b.rows)})
	case "failrows":
		l := w.look(t)
		rows := subset(t, len(l.rows))
		l.lin.FailRows(rows, errRow)
		for _, r := range rows {
			w.failed[l.rows[r]] = true
		}
	case "settle":
		w.take(t).lin.Settle()
	case "fail":
		l := w.take(t)
		l.lin.Fail(errRow)
		for _, r := range l.rows {
			w.failed[r] = true
		}
	}
}

// check compares every lineage and every block with the reference.
func (w *world) check(t *rapid.T) {
	runs, rows := map[*ledger]int{}, map[*ledger]int{}
	for _, l := range w.all {
		if l.lin.Tracked() {
			if got := expand(l.lin); !slices.Equal(got, l.rows) {
				t.Fatalf("rows name %v, want %v", got, l.rows)
			}
		}
		for _, r := range l.rows {
			if r.block != nil {
				rows[r.block]++
				if !l.lin.Tracked() {
					t.Fatalf("a tracked row is in an untracked lineage")
				}
			}
		}
		for _, r := range l.lin.Runs() {
			if r.Block != nil {
				runs[r.Block.(*ledger)]++
			}
		}
	}
	for _, b := range w.blocks {
		if len(b.misuse) > 0 {
			t.Fatalf("block %d: %v", b.name, b.misuse)
		}
		if b.holds != runs[b] {
			t.Fatalf("block %d has %d holds for %d runs", b.name, b.holds, runs[b])
		}
		if wantSettled := rows[b] == 0; wantSettled != (b.settled == 1) || b.settled > 1 {
			t.Fatalf("block %d: settled %d times while %d rows are live", b.name, b.settled, rows[b])
		}
		for m := range b.failed {
			if !w.failed[row{b, m}] {
				t.Fatalf("block %d: member %d failed without reason", b.name, m)
			}
		}
	}
	for r := range w.failed {
		if r.block != nil && r.block.failed[r.member] == 0 {
			t.Fatalf("block %d: member %d should have failed", r.block.name, r.member)
		}
	}
}

// expand lists block and member of every row of a tracked lineage, taking members one by one. The member of an untracked row means nothing.
func expand(l Lineage) []row {
	rows := []row{}
	for _, run := range l.Runs() {
		for i := range run.Members.Len() {
			if run.Block == nil {
				rows = append(rows, row{})
				continue
			}
			rows = append(rows, row{run.Block.(*ledger), run.Members.At(i)})
		}
	}
	return rows
}

func TestLineageAgreesWithPerRowReference(t *testing.T) {
	// req: R-025 half: the runs name one acknowledgement state a row; watermarks are tested in batch
	rapid.Check(t, func(t *rapid.T) {
		w := &world{failed: map[row]bool{}}
		w.source(t)
		w.source(t)
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			w.step(t)
			w.check(t)
		}
		for len(w.all) > 0 {
			w.take(t).lin.Settle()
			w.check(t)
		}
	})
}

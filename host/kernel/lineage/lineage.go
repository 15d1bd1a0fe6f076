// SPDX-License-Identifier: Apache-2.0

// Package lineage says which source deliveries the rows of a batch came from. Rows are named by runs: a block of acknowledgement
// state, the first member of the block and a count; nothing is counted per row here (architecture page, section 2; ADR 0001).
//
// Ownership: every run of a live lineage owns exactly one hold on its block. The functions of this package keep that true: they take a
// lineage by value, and afterwards only what they return is live. A lineage ends by Settle or Fail, or by being appended to another.
// A lineage without runs is untracked: nothing upstream waits for its rows.
package lineage

// Block is the acknowledgement state of the rows of one ingest batch; host/ack implements it. Member i is row i of that batch.
// All methods may be called from any lane.
type Block interface {
	// Hold adds n holds. The caller owns a hold already, so that the block cannot settle meanwhile.
	Hold(n int)
	// Release gives one hold back; the last one settles the block.
	Release()
	// Fail marks members as failed. It releases nothing. A failed member stays failed.
	Fail(members Members, reason error)
	// Touch reports the block's rows as alive at a monotonic time in nanoseconds.
	Touch(monoNS int64)
}

// Members names members of one block: an explicit list, or Rows members from First on, all the same one when Step is 0.
type Members struct {
	List  []uint32
	First uint32
	Rows  uint32
	Step  uint8
}

// Len is the number of rows named.
func (m Members) Len() int {
	if m.List != nil {
		return len(m.List)
	}
	return int(m.Rows)
}

// At is the member of the i-th row.
func (m Members) At(i int) uint32 {
	if m.List != nil {
		return m.List[i]
	}
	return m.First + uint32(i)*uint32(m.Step)
}

func (m Members) slice(from, to int) Members {
	if m.List != nil {
		return Members{List: m.List[from:to:to]}
	}
	m.First += uint32(from) * uint32(m.Step)
	m.Rows = uint32(to - from)
	return m
}

// Run is consecutive rows of a batch that belong to one block. A nil Block is a run of untracked rows between tracked ones.
type Run struct {
	Block   Block
	Members Members
}

// Lineage is the runs of a batch in row order. The zero value is untracked. The runs are immutable and may be shared by lineages that
// own a hold each.
type Lineage struct{ runs []Run }

// Of builds the lineage of an ingest batch: rows 0..rows-1 are the members of block, whose first hold passes to the lineage.
func Of(block Block, rows int) Lineage {
	return Lineage{runs: []Run{{Block: block, Members: Members{Rows: uint32(rows), Step: 1}}}}
}

// Tracked says whether anything upstream waits for these rows.
func (l Lineage) Tracked() bool { return l.runs != nil }

// Runs gives the runs for reading.
func (l Lineage) Runs() []Run { return l.runs }

// Share adds holds so that copies lineages equal to l may be live besides l: one atomic a run, whatever the number of rows.
func (l Lineage) Share(copies int) {
	if copies == 0 {
		return
	}
	for i := range l.runs {
		if b := l.runs[i].Block; b != nil {
			b.Hold(copies)
		}
	}
}

// Settle ends the lineage: what became of its rows here counts as success unless it was failed before.
func (l Lineage) Settle() {
	for i := range l.runs {
		if b := l.runs[i].Block; b != nil {
			b.Release()
		}
	}
}

// Fail marks every row as failed and ends the lineage.
func (l Lineage) Fail(reason error) {
	for i := range l.runs {
		if b := l.runs[i].Block; b != nil {
			b.Fail(l.runs[i].Members, reason)
			b.Release()
		}
	}
}

// Touch reports the rows as alive: they wait in a named buffer (data-plane 6.7).
func (l Lineage) Touch(monoNS int64) {
	for i := range l.runs {
		if b := l.runs[i].Block; b != nil {
			b.Touch(monoNS)
		}
	}
}

// FailRows marks the given rows (ascending) as failed; the lineage stays live.
func (l Lineage) FailRows(rows []uint32, reason error) {
	l.eachSelected(rows, func(run Run, list []uint32) {
		if run.Block != nil {
			run.Block.Fail(Members{List: list}, reason)
		}
	})
}

// Append joins o behind l and ends o. Neighbouring runs of one block that continue each other merge, so long chains of small batches do not grow.
func (l Lineage) Append(o Lineage, rows, oRows int) Lineage {
	if l.runs == nil && o.runs == nil {
		return Lineage{}
	}
	left, right := l.padded(rows), o.padded(oRows)
	out := make([]Run, 0, len(left)+len(right))
	out = append(out, left...)
	for _, r := range right {
		if n := len(out); n > 0 && continues(out[n-1], r) {
			out[n-1].Members.Rows += r.Members.Rows
			if r.Block != nil {
				r.Block.Release()
			}
			continue
		}
		out = append(out, r)
	}
	return Lineage{runs: out}
}

// padded gives the runs, or one untracked run for a lineage without any.
func (l Lineage) padded(rows int) []Run {
	if l.runs == nil && rows > 0 {
		return []Run{{Members: Members{Rows: uint32(rows)}}}
	}
	return l.runs
}

func continues(a, b Run) bool {
	if a.Block != b.Block || a.Members.List != nil || b.Members.List != nil {
		return false
	}
	if a.Block == nil {
		return true
	}
	return a.Members.Step == 1 && b.Members.Step == 1 && a.Members.First+a.Members.Rows == b.Members.First
}

// SPDX-License-Identifier: Apache-2.0

package lineage

// Select keeps the given rows (ascending indexes) and ends the rest as success. Runs that lose all rows release their hold.
func (l Lineage) Select(rows []uint32) Lineage {
	if l.runs == nil {
		return l
	}
	out := make([]Run, 0, len(l.runs))
	next := 0
	base := uint32(0)
	for _, run := range l.runs {
		n := uint32(run.Members.Len())
		from := next
		for next < len(rows) && rows[next] < base+n {
			next++
		}
		kept := rows[from:next]
		switch {
		case len(kept) == 0:
			if run.Block != nil {
				run.Block.Release()
			}
		case len(kept) == int(n):
			out = append(out, run)
		default:
			out = append(out, Run{Block: run.Block, Members: pick(run.Members, kept, base)})
		}
		base += n
	}
	return Lineage{runs: out}
}

// pick names the members of some rows of a run; consecutive rows stay a range and allocate nothing.
func pick(m Members, rows []uint32, base uint32) Members {
	first, last := rows[0]-base, rows[len(rows)-1]-base
	if int(last-first)+1 == len(rows) {
		return m.slice(int(first), int(last)+1)
	}
	if m.List == nil && m.Step == 0 {
		m.Rows = uint32(len(rows))
		return m
	}
	list := make([]uint32, len(rows))
	if m.List == nil {
		for i, r := range rows {
			list[i] = m.First + r - base
		}
	} else {
		for i, r := range rows {
			list[i] = m.List[r-base]
		}
	}
	return Members{List: list}
}

// Split divides the lineage before row at; both halves are live and l is not.
func (l Lineage) Split(at int) (head, tail Lineage) {
	if l.runs == nil {
		return l, l
	}
	base := 0
	for i, run := range l.runs {
		n := run.Members.Len()
		switch {
		case at == base:
			return Lineage{runs: l.runs[:i:i]}, Lineage{runs: l.runs[i:]}
		case at < base+n:
			if run.Block != nil {
				run.Block.Hold(1)
			}
			head.runs = append(append(head.runs, l.runs[:i]...), Run{run.Block, run.Members.slice(0, at-base)})
			tail.runs = append(append(tail.runs, Run{run.Block, run.Members.slice(at-base, n)}), l.runs[i+1:]...)
			return head, tail
		}
		base += n
	}
	return l, Lineage{runs: []Run{}}
}

// eachSelected calls visit with each run that holds selected rows, and their members.
func (l Lineage) eachSelected(rows []uint32, visit func(Run, []uint32)) {
	next := 0
	base := uint32(0)
	for _, run := range l.runs {
		n := uint32(run.Members.Len())
		from := next
		for next < len(rows) && rows[next] < base+n {
			next++
		}
		if next > from {
			list := make([]uint32, 0, next-from)
			for _, r := range rows[from:next] {
				list = append(list, run.Members.At(int(r-base)))
			}
			visit(run, list)
		}
		base += n
	}
}

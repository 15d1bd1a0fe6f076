// SPDX-License-Identifier: Apache-2.0

package protocol

// Selects says how the rows of an output lie in the inputs (W-110).
type Selects uint8

// The classes. SelectNothing: some row has no source token, so no column may come from the input. SelectAll: the rows are exactly those of
// one batch in their order, and columns are shared as they are. SelectSlice: consecutive rows of one batch, and columns are sliced.
// SelectRows: other rows of one batch. SelectAcross: rows of several batches.
const (
	SelectNothing Selects = iota
	SelectAll
	SelectSlice
	SelectRows
	SelectAcross
)

func (s Selects) String() string {
	return [...]string{"nothing", "all", "slice", "rows", "across"}[s%5]
}

// Selection is where the rows of one output come from.
type Selection struct {
	Class Selects
	// Batch is the first token of the batch (SelectAll, SelectSlice, SelectRows).
	Batch uint64
	// First is the first row (SelectAll, SelectSlice).
	First int
	// Count is the number of rows of the output.
	Count int
	// Rows are the rows of the batch (SelectRows).
	Rows []uint32
	// Places are the batch and row of each (SelectAcross).
	Places []Place
	// Plain says that each row carries its source token and no other, so that its lineage is that of the input row.
	Plain bool
}

// Place is one row of one input batch.
type Place struct {
	Batch uint64
	Row   uint32
}

// picker finds the cheapest class while rows are added, and only keeps lists when it must.
type picker struct {
	n      int
	class  Selects // SelectNothing until the first row
	batch  *held
	first  int
	next   int
	rows   []uint32
	places []Place
	holes  bool
	plain  bool
}

// skip notes a row without source.
func (p *picker) skip() { p.holes = true }

// add notes the source of row i. Rows before it were added or skipped.
func (p *picker) add(i int, b *held, at int) {
	switch {
	case p.holes:
		return
	case p.class == SelectSlice && b == p.batch && at == p.next:
		p.next++
		return
	case p.class == SelectNothing:
		p.class, p.batch, p.first, p.next = SelectSlice, b, at, at+1
		return
	}
	if p.class == SelectSlice {
		p.class = SelectRows
		p.rows = make([]uint32, 0, p.n)
		for row := p.first; row < p.next; row++ {
			p.rows = append(p.rows, uint32(row))
		}
	}
	if p.class == SelectRows && b != p.batch {
		p.class = SelectAcross
		p.places = make([]Place, 0, p.n)
		for _, row := range p.rows {
			p.places = append(p.places, Place{p.batch.first, row})
		}
		p.rows = nil
	}
	if p.class == SelectRows {
		p.rows = append(p.rows, uint32(at))
	} else {
		p.places = append(p.places, Place{b.first, uint32(at)})
	}
}

func (p *picker) done() Selection {
	if p.holes || p.class == SelectNothing {
		return Selection{Count: p.n}
	}
	s := Selection{Class: p.class, Count: p.n, Plain: p.plain}
	switch p.class {
	case SelectAcross:
		s.Places = p.places
		return s
	case SelectRows:
		s.Rows = p.rows
	default:
		s.First = p.first
		if p.n == p.batch.rows {
			s.Class = SelectAll
		}
	}
	s.Batch = p.batch.first
	return s
}

// SPDX-License-Identifier: Apache-2.0

package guest

import (
	"strconv"

	"github.com/nervix-go/nervix/wasm/guest/go/internal/flat"
)

// Entry is what one row stands for: the input tokens it carries, and the token that its input columns are read from. A guest hands it on whole
// and never makes one (W-307). It is lent by a batch until the callback returns; Held keeps it.
type Entry struct {
	tokens    []uint64
	source    uint64
	hasSource bool
}

// Tokens is how many inputs the row stands for; input rows have one.
func (e Entry) Tokens() int { return len(e.tokens) }

// Held keeps entries beyond the callback. The zero value is empty.
type Held struct {
	tokens  []uint64
	entries []heldEntry
}

type heldEntry struct {
	source       uint64
	first, count int
	hasSource    bool
}

// Hold copies an entry to the end.
func (h *Held) Hold(e Entry) {
	h.entries = append(h.entries, heldEntry{e.source, len(h.tokens), len(e.tokens), e.hasSource})
	h.tokens = append(h.tokens, e.tokens...)
}

// Len is how many are held.
func (h *Held) Len() int { return len(h.entries) }

// Entry lends entry i until the next Hold or Clear.
func (h *Held) Entry(i int) Entry {
	if i < 0 || i >= len(h.entries) {
		Panic("entry " + strconv.Itoa(i) + " of " + strconv.Itoa(len(h.entries)) + " held ones")
	}
	e := &h.entries[i]
	return Entry{h.tokens[e.first : e.first+e.count : e.first+e.count], e.source, e.hasSource}
}

// Clear forgets all and keeps the room.
func (h *Held) Clear() { h.tokens, h.entries = h.tokens[:0], h.entries[:0] }

// Batch is an input batch. All of it is lent until the callback returns.
type Batch struct {
	rows    int
	columns []Column
	message []byte
	entries uint32 // the offsets of their tables
}

// Rows is the number of rows.
func (b *Batch) Rows() int { return b.rows }

// Columns is the number of columns.
func (b *Batch) Columns() int { return len(b.columns) }

// Column is a column, numbered as in the input schema.
func (b *Batch) Column(i int) *Column {
	if i < 0 || i >= len(b.columns) {
		Panic("column " + strconv.Itoa(i) + " of a batch of " + strconv.Itoa(len(b.columns)))
	}
	return &b.columns[i]
}

// Entry is what a row stands for.
func (b *Batch) Entry(row int) Entry {
	if row < 0 || row >= b.rows {
		Panic("row " + strconv.Itoa(row) + " of a batch of " + strconv.Itoa(b.rows) + " rows")
	}
	at := b.entries + 4*uint32(row)
	at += flat.Get32(b.message[at:])
	table := b.message[at:]
	vtable := b.message[uint32(int64(at)-int64(int32(flat.Get32(table)))):]
	tokens := uint32(flat.Get16(vtable[4:]))
	var e Entry
	if flat.Get16(vtable) > 6 {
		if source := flat.Get16(vtable[6:]); source != 0 {
			e.source, e.hasSource = flat.Get64(table[source:]), true
		}
	}
	tokens += flat.Get32(table[tokens:])
	e.tokens = view[uint64](table[tokens+4:], flat.Get32(table[tokens:]))
	return e
}

// readEntries judges the rows of a sidecar.
func (b *Batch) readEntries(r *flat.Reader, sidecar *flat.Table) {
	rows := r.Vector(sidecar, 0, 4)
	var last flat.Table
	var tokens uint32
	for i := uint32(0); i < rows.Count && !r.Bad; i++ {
		if last.At() != 0 && last.At()%8 == 0 {
			if i += plainRows(r, rows.At+4*i, rows.Count-i, &last, tokens); i == rows.Count {
				break
			}
		}
		row := r.Element(rows, i, 2)
		r.Vector(&row, 0, 8)
		r.Member(&row, 1, 8)
		tokens = r.Member(&row, 0, 4) - row.At()
		last = row
	}
	b.entries, b.rows = rows.At, int(rows.Count)
}

// plainRows passes over rows that have the layout of the row before and one token each, and stops before the first other: hosts write nothing
// else, and judging each table anew is half the cost of a batch.
func plainRows(r *flat.Reader, at, n uint32, like *flat.Table, tokens uint32) uint32 {
	b, end := r.B, r.End
	inline := max(like.Size(), 12)
	if inline > uint32(len(b)) {
		return 0
	}
	last := uint32(len(b)) - inline
	passed := uint32(0)
	for ; passed < n; passed, at = passed+1, at+4 {
		row := at + flat.Get32(b[at:])
		if row <= at || row > last || row%8 != 0 || row-flat.Get32(b[row:]) != like.VTable() {
			break
		}
		list := row + tokens + flat.Get32(b[row+tokens:])
		if list <= row || list > last || list%8 != 4 || flat.Get32(b[list:]) != 1 {
			break
		}
		end = max(end, row+like.Size(), list+12)
	}
	r.End = end
	return passed
}

// readSets judges the decisions of a sidecar, of which an input has none.
func readSets(r *flat.Reader, sidecar *flat.Table) {
	for slot := uint32(1); slot < 4; slot++ {
		members := min(slot, 2)
		sets := r.Vector(sidecar, slot, 4)
		for i := uint32(0); i < sets.Count && !r.Bad; i++ {
			set := r.Element(sets, i, members)
			r.Vector(&set, 0, 8)
			if members == 2 {
				r.Text(&set, 1)
			}
		}
	}
}

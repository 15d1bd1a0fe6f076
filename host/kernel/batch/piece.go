// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Piece is some rows of a record that wait to become part of a batch. It owns one reference to the record. Copying of rows is put off until
// Gather, so that a row is copied once, however often it was filtered.
type Piece struct {
	Record arrow.RecordBatch
	// Rows are the chosen rows, ascending; nil stands for all of them.
	Rows []uint32
	// Low and High are indexed by row of Record.
	Low, High []int64
}

// Len is the number of chosen rows.
func (p Piece) Len() int {
	if p.Rows != nil {
		return len(p.Rows)
	}
	return int(p.Record.NumRows())
}

// Release gives the record back.
func (p Piece) Release() { p.Record.Release() }

// Gather joins pieces of one schema into a record and its watermarks, and releases the pieces. A single whole piece is passed on without copying.
func Gather(schema *arrow.Schema, pieces []Piece, alloc memory.Allocator) (record arrow.RecordBatch, low, high []int64) {
	if len(pieces) == 1 && pieces[0].Rows == nil {
		p := pieces[0]
		return p.Record, p.Low, p.High
	}
	rows := 0
	for i := range pieces {
		rows += pieces[i].Len()
	}
	columns := make([]arrow.Array, schema.NumFields())
	for c := range columns {
		columns[c] = gatherColumn(schema.Field(c).Type, c, pieces, rows, alloc)
	}
	low, high = gatherMarks(pieces, rows)
	record = array.NewRecordBatch(schema, columns, int64(rows))
	for _, c := range columns {
		c.Release()
	}
	for i := range pieces {
		pieces[i].Release()
	}
	return record, low, high
}

func gatherMarks(pieces []Piece, rows int) (low, high []int64) {
	same := true
	for i := range pieces {
		same = same && sameSlice(pieces[i].Low, pieces[i].High)
	}
	low = make([]int64, 0, rows)
	for i := range pieces {
		low = appendRows(low, pieces[i].Low, pieces[i].Rows)
	}
	if same {
		return low, low
	}
	high = make([]int64, 0, rows)
	for i := range pieces {
		high = appendRows(high, pieces[i].High, pieces[i].Rows)
	}
	return low, high
}

func sameSlice(a, b []int64) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

func appendRows[T any](dst, src []T, rows []uint32) []T {
	if rows == nil {
		return append(dst, src...)
	}
	for _, r := range rows {
		dst = append(dst, src[r])
	}
	return dst
}

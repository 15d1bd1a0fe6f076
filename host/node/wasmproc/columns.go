// SPDX-License-Identifier: Apache-2.0

package wasmproc

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/wasm/protocol"
)

// columnsOf makes the columns of an output before its route sees them: generated columns by identity (W-075), input columns as the selection has
// them (W-110), nil where the guest left one uninitialised. The caller releases them; the slice is columns, used again.
func (s *state) columnsOf(columns []arrow.Array, g *protocol.Group, out *protocol.Bound, sel *protocol.Selection, alloc memory.Allocator) []arrow.Array {
	columns = slices.Grow(columns[:0], len(out.Columns))[:len(out.Columns)]
	copied := false
	for i, c := range out.Columns {
		columns[i] = nil
		switch {
		case c.Source == protocol.Generated:
			columns[i] = g.Generated.Column(int(c.Index))
			columns[i].Retain()
		case c.Source == protocol.Input && sel.Class == protocol.SelectAll:
			columns[i] = find(s.inputs, sel.Batch).record.Column(int(c.Index))
			columns[i].Retain()
		case c.Source == protocol.Input && sel.Class == protocol.SelectSlice:
			columns[i] = array.NewSlice(find(s.inputs, sel.Batch).record.Column(int(c.Index)), int64(sel.First), int64(sel.First+sel.Count))
		case c.Source == protocol.Input:
			copied = true
		}
	}
	if copied {
		s.copyColumns(columns, out.Columns, sel, alloc)
	}
	return columns
}

// copyColumns fills the input columns of a selection whose rows are no stretch of one batch: in another order, with gaps or repetitions, or of
// several batches.
func (s *state) copyColumns(columns []arrow.Array, sources []protocol.Column, sel *protocol.Selection, alloc memory.Allocator) {
	from := s.stretches(sel)
	var fields []arrow.Field
	var indexes []int // of the fields in the input
	at := make(map[uint32]int)
	for _, c := range sources {
		if c.Source != protocol.Input {
			continue
		}
		if _, known := at[c.Index]; !known {
			at[c.Index] = len(fields)
			fields, indexes = append(fields, s.p.plan.InputSchema.Arrow().Field(int(c.Index))), append(indexes, int(c.Index))
		}
	}
	record := takeFields(fields, indexes, from, alloc)
	defer record.Release()
	for i, c := range sources {
		if c.Source == protocol.Input {
			columns[i] = record.Column(at[c.Index])
			columns[i].Retain()
		}
	}
}

// stretch is some rows of one input batch.
type stretch struct {
	in   *intake
	rows []uint32
}

func (s *state) stretches(sel *protocol.Selection) []stretch {
	if sel.Class == protocol.SelectRows {
		return []stretch{{find(s.inputs, sel.Batch), sel.Rows}}
	}
	var out []stretch
	rows := make([]uint32, len(sel.Places))
	start := 0
	for i, p := range sel.Places {
		rows[i] = p.Row
		if i+1 == len(sel.Places) || sel.Places[i+1].Batch != p.Batch {
			out = append(out, stretch{find(s.inputs, p.Batch), rows[start : i+1 : i+1]})
			start = i + 1
		}
	}
	return out
}

func takeFields(fields []arrow.Field, indexes []int, from []stretch, alloc memory.Allocator) arrow.RecordBatch {
	schema := arrow.NewSchema(fields, nil)
	pieces := make([]batch.Piece, len(from))
	for i, f := range from {
		columns := make([]arrow.Array, len(indexes))
		for k, c := range indexes {
			columns[k] = f.in.record.Column(c)
		}
		pieces[i] = batch.Piece{Record: array.NewRecordBatch(schema, columns, int64(f.in.rows)), Rows: f.rows, Low: f.in.low, High: f.in.low}
	}
	record, _, _ := batch.Gather(schema, pieces, alloc)
	return record
}

func releaseAll(columns []arrow.Array) {
	for _, c := range columns {
		if c != nil {
			c.Release()
		}
	}
}

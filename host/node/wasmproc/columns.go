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
	for i, c := range sources {
		if c.Source != protocol.Input {
			continue
		}
		field := s.p.plan.InputSchema.Arrow().Field(int(c.Index))
		if nested(field.Type) {
			columns[i] = takeLists(field.Type, int(c.Index), from, alloc)
		} else if _, known := at[c.Index]; !known {
			at[c.Index] = len(fields)
			fields, indexes = append(fields, field), append(indexes, int(c.Index))
		}
	}
	if len(fields) == 0 {
		return
	}
	record := takeFields(fields, indexes, from, alloc)
	defer record.Release()
	for i, c := range sources {
		if c.Source == protocol.Input && columns[i] == nil {
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

func nested(t arrow.DataType) bool { return t.ID() == arrow.LIST || t.ID() == arrow.FIXED_SIZE_LIST }

func anyNested(s *arrow.Schema) bool {
	for _, f := range s.Fields() {
		if nested(f.Type) {
			return true
		}
	}
	return false
}

// takeLists joins slices of one column, one for each run of consecutive rows.
func takeLists(t arrow.DataType, column int, from []stretch, alloc memory.Allocator) arrow.Array {
	var parts []arrow.Array
	for _, f := range from {
		parts = appendSlices(parts, f.in.record.Column(column), f.rows)
	}
	return join(t, parts, alloc)
}

func appendSlices(parts []arrow.Array, column arrow.Array, rows []uint32) []arrow.Array {
	for i := 0; i < len(rows); {
		end := i + 1
		for end < len(rows) && rows[end] == rows[end-1]+1 {
			end++
		}
		parts = append(parts, array.NewSlice(column, int64(rows[i]), int64(rows[i])+int64(end-i)))
		i = end
	}
	return parts
}

// join concatenates and releases parts.
func join(t arrow.DataType, parts []arrow.Array, alloc memory.Allocator) arrow.Array {
	defer releaseAll(parts)
	if len(parts) == 0 {
		return array.MakeArrayOfNull(alloc, t, 0)
	}
	out, err := array.Concatenate(parts, alloc)
	if err != nil { // parts have one type, and their sizes were checked
		panic("wasmproc: " + err.Error())
	}
	return out
}

// choose keeps the given rows of a record whose reference it takes. Lists are joined here because batch.Gather does not know them.
func choose(schema *arrow.Schema, p batch.Piece, alloc memory.Allocator) (record arrow.RecordBatch, low, high []int64) {
	if p.Rows == nil || !anyNested(schema) {
		return batch.Gather(schema, []batch.Piece{p}, alloc)
	}
	defer p.Release()
	columns := make([]arrow.Array, schema.NumFields())
	defer releaseAll(columns)
	for c := range columns {
		t := schema.Field(c).Type
		columns[c] = join(t, appendSlices(nil, p.Record.Column(c), p.Rows), alloc)
	}
	marks := &intake{low: p.Low, high: p.High}
	low, high = picked(marks, p.Rows)
	return array.NewRecordBatch(schema, columns, int64(len(p.Rows))), low, high
}

func releaseAll(columns []arrow.Array) {
	for _, c := range columns {
		if c != nil {
			c.Release()
		}
	}
}

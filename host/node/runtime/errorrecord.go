// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/nervix-go/nervix/host/expr"
	"github.com/nervix-go/nervix/host/expr/construct"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/types"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// pick gathers the failed rows of columns; absent columns read null.
func (f *Faults) pick(w *Workbench, columns []arrow.Array, schema *types.Schema, failures []Failure, owned *[]arrow.Array) []arrow.Array {
	if schema == nil {
		return nil
	}
	out := make([]arrow.Array, schema.Len())
	for c := range out {
		if columns == nil {
			out[c] = expr.Nulls(w.alloc, schema.Field(c).Type, len(failures))
		} else {
			picks := make([]expr.Pick, len(failures))
			for i, x := range failures {
				picks[i] = expr.Pick{Array: columns[c], Row: int(x.Row)}
			}
			picked, err := expr.Gather(w.alloc, schema.Field(c).Type, picks)
			if err != nil { // too much text for one column: such rows are told without it
				picked = expr.Nulls(w.alloc, schema.Field(c).Type, len(failures))
			}
			out[c] = picked
		}
	}
	*owned = append(*owned, out...)
	return out
}

// errorColumns makes the columns of `error`, in the order of construct.ErrorSchema. Every failure has a reference of its own.
func errorColumns(node ident.Ref, failures []Failure, now vtime.Logical, w *Workbench) []arrow.Array {
	b := array.NewRecordBuilder(w.alloc, construct.ErrorSchema.Arrow())
	defer b.Release()
	text := func(column int) *array.StringBuilder { return b.Field(column).(*array.StringBuilder) }
	fields := b.Field(construct.ErrorFields).(*array.ListBuilder)
	for _, x := range failures {
		text(construct.ErrorReference).Append(NewReference(now, w.random).String())
		text(construct.ErrorCode).Append(x.Code)
		text(construct.ErrorOperation).Append(x.Operation)
		text(construct.ErrorMessage).Append(x.Message(node))
		index := b.Field(construct.ErrorOperationIndex).(*array.Uint32Builder)
		if x.Index == construct.NoIndex {
			index.AppendNull()
		} else {
			index.Append(uint32(x.Index))
		}
		fields.Append(true)
		for _, path := range x.Fields {
			fields.ValueBuilder().(*array.StringBuilder).Append(path)
		}
		b.Field(construct.ErrorOccurredAt).(*array.TimestampBuilder).Append(arrow.Timestamp(now.NS()))
	}
	record := b.NewRecordBatch()
	defer record.Release()
	columns := record.Columns()
	for _, c := range columns {
		c.Retain()
	}
	return columns
}

// NewReference makes the UUIDv7 of a failure from its execution snapshot.
func NewReference(now vtime.Logical, random func([]byte)) ident.Reference {
	var r [10]byte
	random(r[:])
	return ident.NewReference(max(0, now.NS())/1e6, r)
}

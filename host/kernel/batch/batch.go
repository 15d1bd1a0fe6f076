// SPDX-License-Identifier: Apache-2.0

// Package batch is what travels on a relay: an Arrow record of one relay schema and one concrete branch, the lineage of its rows and two
// watermark columns beside it. No Go object exists per row.
//
// Ownership: a batch is immutable once built. Whoever holds a *Batch owns one reference to its record and one hold a run of its lineage,
// and passes both on by moving the pointer. Share makes more owners. An owner ends by one of: moving the batch, Settle, Fail.
package batch

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/host/kernel/lineage"
)

// Batch is the payload of a relay.
type Batch struct {
	// Record holds the columns in the order of the relay's schema.
	Record arrow.RecordBatch
	// Key is the concrete branch; nil when the relay is unbranched.
	Key *Key
	// Lineage names the source deliveries of the rows.
	Lineage lineage.Lineage
	// Low and High are the watermarks of each row in nanoseconds. They may be one slice, and views of a longer one.
	Low, High []int64
}

// New builds a batch that owns the reference to record it is given. Arrow counts the nulls of a slice when first asked and writes the count
// into the array; here it is asked, because consumers on several lanes will read the record at once.
func New(record arrow.RecordBatch, key *Key, lin lineage.Lineage, low, high []int64) *Batch {
	for _, c := range record.Columns() {
		c.NullN()
	}
	return &Batch{Record: record, Key: key, Lineage: lin, Low: low, High: high}
}

// Rows is the number of rows.
func (b *Batch) Rows() int { return int(b.Record.NumRows()) }

// Share prepares b for owners in all: one atomic operation on the record, one a run of the lineage, none a row.
func (b *Batch) Share(owners int) {
	for range owners - 1 {
		b.Record.Retain()
	}
	b.Lineage.Share(owners - 1)
}

// Untracked is the same batch for an owner whose outcome nobody upstream waits for. It owns a reference of its own.
func (b *Batch) Untracked() *Batch {
	b.Record.Retain()
	return &Batch{Record: b.Record, Key: b.Key, Low: b.Low, High: b.High}
}

// Select keeps the given rows (ascending) and ends the rest with success. It returns nil when no row is left; the batch has ended then.
func (b *Batch) Select(rows []uint32, alloc memory.Allocator) *Batch {
	if len(rows) == 0 {
		b.Settle()
		return nil
	}
	lin := b.Lineage.Select(rows)
	record, low, high := Gather(b.Record.Schema(), []Piece{{Record: b.Record, Rows: rows, Low: b.Low, High: b.High}}, alloc)
	return &Batch{Record: record, Key: b.Key, Lineage: lin, Low: low, High: high}
}

// Settle ends this owner's part with success.
func (b *Batch) Settle() {
	b.Record.Release()
	b.Lineage.Settle()
}

// Fail ends this owner's part; every row counts as failed.
func (b *Batch) Fail(reason error) {
	b.Record.Release()
	b.Lineage.Fail(reason)
}

// SPDX-License-Identifier: Apache-2.0

package wasmproc

import (
	"slices"
	"sort"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/host/kernel/lineage"
)

// intake is an input batch whose rows have tokens. Its columns stay as long as a token lives (W-110), its hold on the sources until the
// checkpoint that covers its last decision was committed.
type intake struct {
	first     uint64 // token of row 0; it names the batch in the ledger
	rows      int
	record    arrow.RecordBatch // nil when no token lives
	lin       lineage.Lineage
	low, high []int64
	// settled are the rows whose success is covered by a checkpoint while others still wait; nil for none. decided are those of the running
	// callback, which will be.
	settled []bool
	decided []uint32
	refused int // rows that the running callback acknowledged negatively
	dropped int // rows that ON GLOBAL ERROR IGNORE accepts once a checkpoint covers the failed callback
}

func intakeOf(b *batch.Batch, first uint64) intake {
	return intake{first: first, rows: b.Rows(), record: b.Record, lin: b.Lineage, low: b.Low, high: b.High}
}

// drop gives the columns back.
func (in *intake) drop() {
	if in.record != nil {
		in.record.Release()
		in.record = nil
	}
}

// cover notes that the checkpoint of the running callback covers what it decided.
func (in *intake) cover() {
	in.refused = 0
	if len(in.decided) == 0 {
		return
	}
	if in.settled == nil {
		in.settled = make([]bool, in.rows)
	}
	for _, row := range in.decided {
		in.settled[row] = true
	}
	in.decided = nil
}

// open counts the rows that are neither failed nor covered by a checkpoint.
func (in *intake) open() int {
	n := in.rows - in.refused
	for _, done := range in.settled {
		if done {
			n--
		}
	}
	return n
}

// ignore gives the columns back and notes what the policy drops.
func (in *intake) ignore() {
	in.dropped = in.open()
	in.drop()
}

// succeed ends the intake; every row that was not failed succeeded.
func (in *intake) succeed() {
	in.drop()
	in.lin.Settle()
}

// fail ends the intake; every row that no checkpoint covers failed. It tells how many had not failed before.
func (in *intake) fail(reason error) (failed int) {
	in.drop()
	if in.settled == nil {
		in.lin.Fail(reason)
		return in.rows - in.refused
	}
	var rows []uint32
	for row, done := range in.settled {
		if !done {
			rows = append(rows, uint32(row))
		}
	}
	in.lin.FailRows(rows, reason)
	in.lin.Settle()
	return len(rows) - in.refused
}

// find gives the intake of a batch of the ledger. The list is in the order of tokens.
func find(list []*intake, first uint64) *intake {
	if n := len(list); n > 0 && list[n-1].first == first { // nearly always the newest
		return list[n-1]
	}
	i := sort.Search(len(list), func(i int) bool { return list[i].first >= first })
	if i == len(list) || list[i].first != first {
		return nil
	}
	return list[i]
}

// remove takes the intake of a batch out of the list.
func remove(list []*intake, first uint64) ([]*intake, *intake) {
	in := find(list, first)
	if in == nil {
		return list, nil
	}
	return slices.DeleteFunc(list, func(x *intake) bool { return x == in }), in
}

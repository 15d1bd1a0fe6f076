// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/host/expr"
	"github.com/nervix-go/nervix/host/expr/construct"
	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/lanes"
)

// Workbench is the working memory of the programs on one lane. Every node on the lane uses it, one unit of work after the other, so
// it costs nothing per branch.
type Workbench struct {
	Env expr.Env
	// Out is the outcome of the present route, Key that of its branch key, Record that of an error record.
	Out, Key, Record construct.Outcome
	mask             []byte
	scratch          *expr.Scratch
	random           func([]byte)
	alloc            memory.Allocator
}

// Benches are the workbenches of all lanes.
type Benches []*Workbench

// NewBenches makes one workbench a lane. random fills slices with random bytes.
func NewBenches(exec *lanes.Executor, alloc memory.Allocator, random func([]byte)) Benches {
	b := make(Benches, exec.Len())
	for i := range b {
		b[i] = &Workbench{scratch: expr.NewScratch(), random: random, alloc: alloc}
	}
	return b
}

// At gives the workbench of a lane.
func (b Benches) At(l *lanes.Lane) *Workbench { return b[l.Index()] }

// Begin sets up a unit of work over the columns of an input record. key may be nil.
func (w *Workbench) Begin(input arrow.RecordBatch, key *batch.Key, now vtime.Logical) {
	w.Env = expr.Env{Rows: int(input.NumRows()), Now: now, Random: w.random, Alloc: w.alloc, Scratch: w.scratch}
	w.Env.Columns[expr.RecordInput] = input.Columns()
	if key != nil && key.Values != nil {
		w.Env.Columns[expr.RecordBranch] = key.Values.Columns()
	}
}

// BeginRows sets up a unit of work over rows that the node made itself, so that there is no input record. key may be nil.
func (w *Workbench) BeginRows(rows int, key *batch.Key, now vtime.Logical) {
	w.Env = expr.Env{Rows: rows, Now: now, Random: w.random, Alloc: w.alloc, Scratch: w.scratch}
	if key != nil && key.Values != nil {
		w.Env.Columns[expr.RecordBranch] = key.Values.Columns()
	}
}

// End lets go of the columns.
func (w *Workbench) End() {
	w.Out.Release()
	w.Key.Release()
	w.Env = expr.Env{}
}

// Alloc is where results live.
func (w *Workbench) Alloc() memory.Allocator { return w.alloc }

// Mask evaluates a predicate; the selection is valid until the next call.
func (w *Workbench) Mask(p *expr.Program) ([]byte, *expr.Failures) {
	mask, failed := p.EvalMask(&w.Env, w.mask)
	w.mask = mask
	return mask, failed
}

// RowsOf lists the rows of a selection of n rows; nil stands for all of them.
func RowsOf(mask []byte, n int) (rows []uint32, all bool) {
	count := 0
	for _, b := range mask {
		count += bits.OnesCount8(b)
	}
	if count == n {
		return nil, true
	}
	rows = make([]uint32, 0, count)
	for i, b := range mask {
		for ; b != 0; b &= b - 1 {
			rows = append(rows, uint32(i<<3+bits.TrailingZeros8(b)))
		}
	}
	return rows, false
}

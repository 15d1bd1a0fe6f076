// SPDX-License-Identifier: Apache-2.0

package guests

import (
	"fmt"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/host/kernel/lineage"
	"github.com/nervix-go/nervix/host/lanes"
	"github.com/nervix-go/nervix/host/node/runtime"
)

// Feed gives batches to a node, on the node's lane and one after the other, and counts what comes out. It stands in for the relay before the node:
// nothing is buffered and nothing of it allocates.
type Feed struct {
	Sink   *Sink
	world  *World
	input  *runtime.Input
	busy   func() bool
	schema *arrow.Schema
	block  *holds
	turn   int
	left   int
	wait   bool // the branch was not free
	given  []*batch.Batch
	done   chan struct{}
}

func newFeed(w *World, n *runtime.Node, busy func() bool, sink *Sink, schema *arrow.Schema) *Feed {
	f := &Feed{Sink: sink, world: w, input: n.Input(0), busy: busy, schema: schema, block: &holds{}, done: make(chan struct{})}
	f.input.Connect(f)
	return f
}

// Prepare makes the batches that Work gives in turn: one for each branch and number of rows.
func (f *Feed) Prepare(keys []*batch.Key, sizes ...int) {
	f.given, f.turn = nil, 0
	for _, n := range sizes {
		record := rows(f.schema, n)
		marks := make([]int64, n)
		lin := lineage.Of(f.block, n)
		for _, k := range keys {
			f.given = append(f.given, batch.New(record, k, lin, marks, marks))
		}
	}
}

// Input is the record of the first prepared batch.
func (f *Feed) Input() arrow.RecordBatch { return f.given[0].Record }

// Work gives n batches and returns when the last was worked. The batches are given again and again, so each must be through when its turn
// comes again: guests that hold rows need another feed.
func (f *Feed) Work(n int) {
	f.left = n
	f.world.exec.At(0).Post(f)
	<-f.done
}

// Run gives the next batch. When the last was given it waits until the node has worked it. It implements lanes.Task.
func (f *Feed) Run(l *lanes.Lane) {
	if f.left == 0 {
		if f.busy() {
			l.Post(f)
			return
		}
		f.done <- struct{}{}
		return
	}
	b := f.given[f.turn]
	b.Record.Retain()
	b.Lineage.Share(1)
	if !f.input.Offer(b, 0) { // its guest is in a long call, and the lane went on
		b.Settle()
		f.wait = true
		return
	}
	f.left--
	if f.turn++; f.turn == len(f.given) {
		f.turn = 0
	}
	l.Post(f)
}

// Started implements runtime.Upstream.
func (f *Feed) Started(uint64) {}

// Resume implements runtime.Upstream.
func (f *Feed) Resume() {
	if f.wait {
		f.wait = false
		f.world.exec.At(0).Post(f)
	}
}

// Leave implements runtime.Upstream.
func (f *Feed) Leave(error) {}

// Check says whether everything given came out, once, and nothing failed.
func (f *Feed) Check(batches, rows int64) error {
	switch {
	case f.block.failed.Load() > 0:
		return fmt.Errorf("%d times rows failed", f.block.failed.Load())
	case f.block.held.Load() != 0:
		return fmt.Errorf("%d holds are left", f.block.held.Load())
	case f.Sink.Batches.Load() != batches || f.Sink.Rows.Load() != rows:
		return fmt.Errorf("%d batches of %d rows came out, want %d of %d", f.Sink.Batches.Load(), f.Sink.Rows.Load(), batches, rows)
	}
	return nil
}

// holds is an acknowledgement block that only counts.
type holds struct{ held, failed atomic.Int64 }

// Hold implements lineage.Block.
func (h *holds) Hold(n int) { h.held.Add(int64(n)) }

// Release implements lineage.Block.
func (h *holds) Release() { h.held.Add(-1) }

// Fail implements lineage.Block.
func (h *holds) Fail(lineage.Members, error) { h.failed.Add(1) }

// Touch implements lineage.Block.
func (h *holds) Touch(int64) {}

// Sink is where a node's output goes. It settles everything at once.
type Sink struct {
	Batches, Rows atomic.Int64
	// See is shown each batch before it is settled; nil for nobody.
	See func(*batch.Batch)
}

// Publish implements runtime.Target.
func (s *Sink) Publish(p *batch.Publication) bool {
	s.Batches.Add(1)
	s.Rows.Add(int64(p.Batch.Rows()))
	if s.See != nil {
		s.See(p.Batch)
	}
	p.Batch.Settle()
	return true
}

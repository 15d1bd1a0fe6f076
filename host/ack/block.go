// SPDX-License-Identifier: Apache-2.0

// Package ack holds the acknowledgement state of rows on their way: blocks, which count the holders of an ingest batch, and the window
// of source deliveries, which turns settled blocks into acknowledged positions. It implements the handle that host/kernel/lineage
// names. Nothing here is stored, replicated or part of a snapshot.
//
// A block belongs to one batch that an ingest route flushed. Its members are the rows of that batch; each stands for a source delivery.
// Holders are counted for the whole block, with one atomic operation a batch and hop; only failures name members. A block settles
// when its last hold goes: every member that was not failed has then succeeded. Failures are reported at once. ADR 0001 has the reasons
// and the figures.
package ack

import (
	"sync/atomic"

	"github.com/nervix-go/nervix/host/kernel/lineage"
)

// Owner is told about a block by whichever lane releases or fails it. It must not block and must not call the block back from inside;
// an ingestor posts a message to its own lane.
type Owner interface {
	// BlockSettled is called once, after the last release.
	BlockSettled(b *Block)
	// BlockFailed is called after each Fail; it may be called before and never after BlockSettled.
	BlockFailed(b *Block)
}

// Block is the acknowledgement state of one ingest batch. A new block has one hold.
type Block struct {
	holds   atomic.Int64
	touched atomic.Int64
	failure atomic.Pointer[Failure]
	owner   Owner
	// Deliveries gives the delivery of each member; the owner wrote it before the block was shared and only reads it afterwards.
	Deliveries []uint64

	// Owner's bookkeeping, see Window.
	slot int
	seen *Failure
}

// Failure is one report of failed members; reports of a block form a list, newest first.
type Failure struct {
	Members lineage.Members
	Reason  error
	next    *Failure
}

// Next is the report before this one.
func (f *Failure) Next() *Failure { return f.next }

// NewBlock makes a block with one hold for the batch whose row i belongs to deliveries[i].
func NewBlock(owner Owner, deliveries []uint64, monoNS int64) *Block {
	b := &Block{owner: owner, Deliveries: deliveries}
	b.holds.Store(1)
	b.touched.Store(monoNS)
	return b
}

var _ lineage.Block = (*Block)(nil)

// Hold adds n holds.
func (b *Block) Hold(n int) { b.holds.Add(int64(n)) }

// Release gives one hold back and settles the block with the last one. A release too many is a defect of ours and panics, because a
// delivery would otherwise be acknowledged while its rows are still on their way.
func (b *Block) Release() {
	switch left := b.holds.Add(-1); {
	case left == 0:
		b.owner.BlockSettled(b)
	case left < 0:
		panic("ack: a block was released more often than held")
	}
}

// Fail records failed members and tells the owner.
func (b *Block) Fail(members lineage.Members, reason error) {
	f := &Failure{Members: members, Reason: reason}
	for {
		f.next = b.failure.Load()
		if b.failure.CompareAndSwap(f.next, f) {
			break
		}
	}
	b.owner.BlockFailed(b)
}

// Touch reports the rows as alive. A late reading does not undo a newer one.
func (b *Block) Touch(monoNS int64) {
	for {
		last := b.touched.Load()
		if last >= monoNS || b.touched.CompareAndSwap(last, monoNS) {
			return
		}
	}
}

// TouchedNS is the last sign of life, monotonic.
func (b *Block) TouchedNS() int64 { return b.touched.Load() }

// Failures is the newest report, nil if no member failed.
func (b *Block) Failures() *Failure { return b.failure.Load() }

// Holds is the number of holders, for tests and diagnostics.
func (b *Block) Holds() int64 { return b.holds.Load() }

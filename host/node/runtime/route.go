// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"sync/atomic"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/lineage"
)

// ImmediateWindow is the physical window of FLUSH IMMEDIATE (nspl 10.5).
const ImmediateWindow = 100 * time.Microsecond

// Flush says when buffered rows leave: at a size or at a deadline of domain time; or, for FLUSH IMMEDIATE, after a physical window.
type Flush struct {
	Immediate bool
	Each      time.Duration
	MaxBytes  int64
}

// Route is one way out of a node, shared by all its branches; it does not change while the node runs.
type Route struct {
	// Relay names the target.
	Relay  ident.Ref
	Target Target
	Schema *arrow.Schema
	Flush  Flush
	Clock  Clock
	Alloc  memory.Allocator
	// Track makes the lineage of a flushed ingest batch from the deliveries of its rows; nil in nodes that consume relays.
	Track func(deliveries []uint64) lineage.Lineage

	Sent Traffic
}

// Traffic counts what passed an edge.
type Traffic struct {
	Rows    atomic.Uint64
	Batches atomic.Uint64
}

// Passed is a copy of Traffic.
type Passed struct{ Rows, Batches uint64 }

// Passed reads the counters.
func (t *Traffic) Passed() Passed { return Passed{t.Rows.Load(), t.Batches.Load()} }

// Count adds one batch.
func (t *Traffic) Count(rows int) {
	t.Rows.Add(uint64(rows))
	t.Batches.Add(1)
}

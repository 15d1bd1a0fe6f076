// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/host/ack"
	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/lineage"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

var relay = ident.Ref{Domain: "d", Kind: ident.KindRelay, Name: "r"}

// bench is a relay with a clock, an allocator that notices leaks, and a record of what became of each batch.
type bench struct {
	t     *testing.T
	relay *Owner
	alloc *memory.CheckedAllocator
	now   atomic.Int64
	dead  atomic.Bool // the domain clock cannot be read
}

func newBench(t *testing.T, c Config) *bench {
	b := &bench{t: t, alloc: memory.NewCheckedAllocator(memory.NewGoAllocator())}
	c.Ref = relay
	c.Now = func() (vtime.Logical, bool) { return vtime.LogicalFromNS(b.now.Load()), !b.dead.Load() }
	b.relay = New(c)
	t.Cleanup(func() { b.alloc.AssertSize(t, 0) })
	return b
}

// fate is the owner of one block and remembers how it ended.
type fate struct {
	settled, failed atomic.Int64
	block           *ack.Block
}

func (f *fate) BlockSettled(*ack.Block) { f.settled.Add(1) }
func (f *fate) BlockFailed(*ack.Block)  { f.failed.Add(1) }

// reason is why the newest failed row failed.
func (f *fate) reason() error {
	if r := f.block.Failures(); r != nil {
		return r.Reason
	}
	return nil
}

func key(i int) *batch.Key {
	return &batch.Key{Branch: "b", Text: fmt.Sprintf(`{"k":%d}`, i), Hash: uint64(i)}
}

// parcel is a publication with its batch's fate. admitted counts the calls of Admitted.
type parcel struct {
	batch.Publication
	fate     *fate
	n        int64
	admitted atomic.Int64
}

// parcel makes a publication of one batch of two rows, which hold n, in branch k.
func (b *bench) parcel(k int, n int64) *parcel {
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)
	rb := array.NewRecordBuilder(b.alloc, schema)
	defer rb.Release()
	rb.Field(0).(*array.Int64Builder).AppendValues([]int64{n, n}, nil)
	p := &parcel{fate: &fate{}, n: n}
	p.fate.block = ack.NewBlock(p.fate, make([]uint64, 2), 0)
	marks := []int64{n, n}
	p.Batch = batch.New(rb.NewRecordBatch(), key(k), lineage.Of(p.fate.block, 2), marks, marks)
	p.Admitted = func() { p.admitted.Add(1) }
	return p
}

// publish publishes and wants the answer.
func (b *bench) publish(p *parcel, admitted bool) *parcel {
	b.t.Helper()
	if got := b.relay.Publish(&p.Publication); got != admitted {
		b.t.Fatalf("batch %d: admitted %v, want %v", p.n, got, admitted)
	}
	return p
}

func (b *bench) want(depth uint64, waiting int) {
	b.t.Helper()
	if o := b.relay.Observe(); o.Depth != depth || o.Waiting != waiting {
		b.t.Fatalf("depth %d and %d waiting, want %d and %d", o.Depth, o.Waiting, depth, waiting)
	}
}

// reader is a consumer that takes up to places batches of each branch and works only when told to.
type reader struct {
	sub    *Subscription
	places int

	mu      sync.Mutex
	held    []offer
	seen    []int64
	refused bool
	hook    func() // runs inside Offer
}

type offer struct {
	batch *batch.Batch
	seq   uint64
}

func (b *bench) reader(places int, attached bool) *reader {
	r := &reader{places: places}
	r.sub = b.relay.Attach(r, attached)
	return r
}

func (r *reader) Offer(b *batch.Batch, seq uint64) bool {
	if r.hook != nil {
		r.hook()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	same := 0
	for _, h := range r.held {
		if h.batch.Key.Equal(b.Key) {
			same++
		}
	}
	if same >= r.places {
		r.refused = true
		return false
	}
	r.held = append(r.held, offer{b, seq})
	r.seen = append(r.seen, number(b))
	return true
}

func number(b *batch.Batch) int64 { return b.Record.Column(0).(*array.Int64).Value(0) }

// work starts and settles up to n held batches, the oldest first.
func (r *reader) work(n int) {
	for range n {
		r.mu.Lock()
		if len(r.held) == 0 {
			r.mu.Unlock()
			return
		}
		h := r.held[0]
		r.held = r.held[1:]
		refused := r.refused
		r.refused = false
		r.mu.Unlock()
		r.sub.Started(h.seq)
		h.batch.Settle()
		if refused {
			r.sub.Resume()
		}
	}
}

// open lets the reader take up to places batches of a branch from now on.
func (r *reader) open(places int) {
	r.mu.Lock()
	r.places = places
	refused := r.refused
	r.refused = false
	r.mu.Unlock()
	if refused {
		r.sub.Resume()
	}
}

func (r *reader) numbers() []int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]int64(nil), r.seen...)
}

const hour = time.Hour

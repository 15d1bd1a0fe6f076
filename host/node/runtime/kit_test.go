// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"go.uber.org/goleak"

	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/lineage"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/lanes"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	nodeRef = ident.Ref{Domain: "d", Kind: ident.KindJunction, Name: "n"}
	numbers = arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)
	errGone = errors.New("gone")
)

func key(i int) *batch.Key {
	return &batch.Key{Branch: "b", Text: fmt.Sprintf(`{"k":%d}`, i), Hash: uint64(i) * 0x9e3779b97f4a7c15}
}

// record holds n in each of rows rows.
func record(alloc memory.Allocator, n int64, rows int) arrow.RecordBatch {
	b := array.NewRecordBuilder(alloc, numbers)
	defer b.Release()
	for range rows {
		b.Field(0).(*array.Int64Builder).Append(n)
	}
	return b.NewRecordBatch()
}

func piece(alloc memory.Allocator, n int64, rows int) batch.Piece {
	marks := make([]int64, rows)
	return batch.Piece{Record: record(alloc, n, rows), Low: marks, High: marks}
}

func input(alloc memory.Allocator, k *batch.Key, n int64) *batch.Batch {
	p := piece(alloc, n, 1)
	return batch.New(p.Record, k, lineage.Lineage{}, p.Low, p.High)
}

func number(b *batch.Batch) int64 { return b.Record.Column(0).(*array.Int64).Value(0) }

// column lists all values of a batch.
func column(b *batch.Batch) []int64 {
	return append([]int64(nil), b.Record.Column(0).(*array.Int64).Int64Values()...)
}

// upstream records what a node tells its relay.
type upstream struct {
	mu      sync.Mutex
	started []uint64
	resumed int
	left    error
}

func (u *upstream) Started(seq uint64) {
	u.mu.Lock()
	u.started = append(u.started, seq)
	u.mu.Unlock()
}

func (u *upstream) Resume() {
	u.mu.Lock()
	u.resumed++
	u.mu.Unlock()
}

func (u *upstream) Leave(reason error) {
	u.mu.Lock()
	u.left = reason
	u.mu.Unlock()
}

func (u *upstream) seen() (started, resumed int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.started), u.resumed
}

// target is a relay with room for so many batches; the rest waits.
type target struct {
	mu      sync.Mutex
	room    int
	got     []*batch.Batch
	waiting []*batch.Publication
}

func (t *target) Publish(p *batch.Publication) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.room == 0 {
		t.waiting = append(t.waiting, p)
		return false
	}
	t.room--
	t.got = append(t.got, p.Batch)
	return true
}

// admit makes room for n batches, which waiting publications take first.
func (t *target) admit(n int) {
	t.mu.Lock()
	var told []func()
	for ; n > 0 && len(t.waiting) > 0; n-- {
		p := t.waiting[0]
		t.waiting = t.waiting[1:]
		t.got = append(t.got, p.Batch)
		told = append(told, p.Admitted)
	}
	t.room += n
	t.mu.Unlock()
	for _, f := range told {
		f()
	}
}

// take returns what was published and settles it.
func (t *target) take() [][]int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out [][]int64
	for _, b := range t.got {
		out = append(out, column(b))
		b.Settle()
	}
	t.got = nil
	return out
}

func (t *target) counts() (got, waiting int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.got), len(t.waiting)
}

// clock is domain time that runs at rate from real (in tests: fake) time, and may be unreadable.
type clock struct {
	mu     sync.Mutex
	origin time.Time
	rate   float64
	broken bool
}

func newClock(rate float64) *clock { return &clock{origin: time.Now(), rate: rate} }

func (c *clock) now() vtime.Logical {
	return vtime.LogicalFromNS(int64(float64(time.Since(c.origin)) * c.rate))
}

func (c *clock) Snapshot() (vtime.Snapshot, error) { return vtime.Snapshot{Now: c.now()}, nil }

func (c *clock) Until(t vtime.Logical) (time.Duration, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken {
		return 0, errors.New("stale")
	}
	left, err := t.Sub(c.now())
	if err != nil || left <= 0 {
		return 0, err
	}
	return max(1, time.Duration(float64(left)/c.rate)), nil
}

func (c *clock) breakIt(broken bool) {
	c.mu.Lock()
	c.broken = broken
	c.mu.Unlock()
}

// on runs f on the lane and waits for it.
func on(l *lanes.Lane, f func(l *lanes.Lane)) {
	done := make(chan struct{})
	l.Post(lanes.Func(func(l *lanes.Lane) {
		f(l)
		close(done)
	}))
	<-done
}

func end(t *testing.T, e *lanes.Executor) {
	t.Helper()
	if err := e.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// tally is a block that counts.
type tally struct {
	mu                         sync.Mutex
	holds, failed, ended, last int
}

func (b *tally) Hold(n int) {
	b.mu.Lock()
	b.holds += n
	b.mu.Unlock()
}

func (b *tally) Release() {
	b.mu.Lock()
	if b.holds--; b.holds == 0 {
		b.ended++
	}
	b.mu.Unlock()
}

func (b *tally) Fail(m lineage.Members, _ error) {
	b.mu.Lock()
	b.failed += m.Len()
	b.mu.Unlock()
}

func (b *tally) Touch(ns int64) {
	b.mu.Lock()
	b.last = max(b.last, int(ns))
	b.mu.Unlock()
}

// tracked makes a lineage of rows rows and the block that hears of it.
func tracked(rows int) (lineage.Lineage, *tally) {
	b := &tally{holds: 1}
	return lineage.Of(b, rows), b
}

// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"math/rand/v2"
	goruntime "runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/host/ack"
	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/host/kernel/lineage"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/lanes"
	"github.com/nervix-go/nervix/host/relay/owner"
)

// ends counts the ends of blocks.
type ends struct{ settled, failed atomic.Int64 }

func (e *ends) BlockSettled(*ack.Block) { e.settled.Add(1) }
func (e *ends) BlockFailed(*ack.Block)  { e.failed.Add(1) }

// chain explores one seed: publishers, a relay, a node that buffers and forwards, a second relay with little room, and a last node. Every row
// must arrive once, in the order of its publisher and branch, and every block must settle. A lost wake-up is a deadlock of the bubble, because
// a route's deadline never comes here: rows leave by size.
func chain(t *testing.T, seed uint64) {
	rnd := rand.New(rand.NewPCG(seed, 1))
	exec := lanes.New(1 + rnd.IntN(4))
	alloc := memory.NewCheckedAllocator(memory.NewGoAllocator())
	now := func() (vtime.Logical, bool) { return vtime.Logical{}, true }
	first := owner.New(owner.Config{Capacity: 1 + rnd.Uint64N(4), Now: now})
	second := owner.New(owner.Config{Capacity: 1 + rnd.Uint64N(2), Now: now})
	forward, last := newWorker(t), newWorker(t)
	route := &Route{Target: second, Schema: numbers, Flush: Flush{Each: time.Hour, MaxBytes: 8 * int64(1+rnd.IntN(3))}, Clock: newClock(1), Alloc: alloc}
	var middle, sink *Node
	outlets := sync.Map{}
	forward.work = func(l *lanes.Lane, b *Branch, _ int, in *batch.Batch) {
		o, ok := outlets.Load(b)
		if !ok {
			o, _ = outlets.LoadOrStore(b, NewOutlet(route, b.Key, l, b, middle.Alive(l)))
		}
		o.(*Outlet).Add(l, batch.Piece{Record: in.Record, Low: in.Low, High: in.High}, in.Lineage, vtime.Logical{})
	}
	var mu sync.Mutex
	arrived := map[string][]int64{}
	last.work = func(_ *lanes.Lane, b *Branch, _ int, in *batch.Batch) {
		if !in.Key.Equal(b.Key) {
			t.Errorf("seed %d: a batch of %s in %s", seed, in.Key.Text, b.Key.Text)
		}
		goruntime.Gosched()
		mu.Lock()
		arrived[b.Key.Text] = append(arrived[b.Key.Text], column(in)...)
		mu.Unlock()
		in.Settle()
	}
	middle = NewNode(Config{Ref: nodeRef, Lanes: exec, Inputs: 1}, forward)
	sink = NewNode(Config{Ref: nodeRef, Lanes: exec, Inputs: 1}, last)
	middle.Input(0).Connect(first.Attach(middle.Input(0), true))
	sink.Input(0).Connect(second.Attach(sink.Input(0), true))

	const publishers, each = 3, 40
	keys := 1 + rnd.IntN(5)
	told := &ends{}
	var all sync.WaitGroup
	for p := range publishers {
		rnd := rand.New(rand.NewPCG(seed, uint64(10+p)))
		all.Go(func() {
			place := make(chan struct{}, 1)
			pub := &batch.Publication{Admitted: func() { place <- struct{}{} }}
			for i := range each {
				n := int64(p*each + i)
				b := input(alloc, key(rnd.IntN(keys)), n)
				b.Lineage = lineage.Of(ack.NewBlock(told, []uint64{uint64(n)}, 0), 1)
				pub.Batch = b
				if !first.Publish(pub) {
					<-place
				}
				if rnd.IntN(4) == 0 {
					goruntime.Gosched()
				}
			}
		})
	}
	all.Wait()
	for middle.Busy() || sink.Busy() || first.Observe().Depth+second.Observe().Depth > 0 {
		synctest.Wait()
		middle.ForceFlush() // what does not fill a batch
		synctest.Wait()
	}
	end(t, exec)
	if middle.mu.working != 0 || sink.mu.working != 0 {
		t.Fatalf("seed %d: %d and %d branches at work", seed, middle.mu.working, sink.mu.working)
	}
	check(t, seed, arrived, each)
	if told.settled.Load() != publishers*each || told.failed.Load() != 0 {
		t.Fatalf("seed %d: %d of %d blocks settled, %d failures", seed, told.settled.Load(), publishers*each, told.failed.Load())
	}
	alloc.AssertSize(t, 0)
}

func check(t *testing.T, seed uint64, arrived map[string][]int64, each int64) {
	t.Helper()
	seen := map[int64]bool{}
	for text, rows := range arrived {
		last := map[int64]int64{}
		for _, n := range rows {
			p := n / each
			if before, ok := last[p]; ok && before >= n {
				t.Fatalf("seed %d: branch %s out of order: %v", seed, text, rows)
			}
			last[p] = n
			seen[n] = true
		}
	}
	total := 0
	for _, rows := range arrived {
		total += len(rows)
	}
	if total != 3*int(each) || len(seen) != total {
		t.Fatalf("seed %d: %d rows arrived, %d different", seed, total, len(seen))
	}
}

func TestChainOfNodesLosesNothing(t *testing.T) {
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) { chain(t, seed) })
		if t.Failed() {
			return
		}
	}
}

func TestAliveListsOutletsThatHoldRows(t *testing.T) {
	var a Alive
	outlets := make([]*Outlet, 6)
	for i := range outlets {
		outlets[i] = &Outlet{}
	}
	rnd := rand.New(rand.NewPCG(7, 7))
	linked := map[*Outlet]bool{}
	for range 2000 {
		o := outlets[rnd.IntN(6)]
		if rnd.IntN(2) == 0 {
			a.link(o)
			linked[o] = true
		} else {
			a.unlink(o)
			delete(linked, o)
		}
		var listed []*Outlet
		a.Each(func(o *Outlet) { listed = append(listed, o) })
		for _, o := range listed {
			if !linked[o] {
				t.Fatal("an empty outlet is listed")
			}
		}
		if len(listed) != len(linked) || a.Len() != len(linked) || len(slices.Compact(listed)) != len(listed) {
			t.Fatalf("%d listed, %d counted, %d hold rows", len(listed), a.Len(), len(linked))
		}
	}
	a.Each(func(o *Outlet) { a.unlink(o) })
	if a.Len() != 0 {
		t.Fatal("visiting must allow emptying")
	}
}

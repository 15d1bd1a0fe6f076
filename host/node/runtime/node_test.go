// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/lanes"
)

// worker is a handler whose work is a function. It checks that a branch is opened once and worked by one lane at a time.
type worker struct {
	t     *testing.T
	work  func(l *lanes.Lane, b *Branch, input int, in *batch.Batch)
	quiet atomic.Bool

	mu   sync.Mutex
	seen map[string][]int64
}

// token is the state of a branch in these tests: whoever works the branch holds it.
type token struct{ held atomic.Int32 }

func newWorker(t *testing.T) *worker {
	w := &worker{t: t, seen: map[string][]int64{}}
	w.quiet.Store(true)
	return w
}

func text(k *batch.Key) string {
	if k == nil {
		return ""
	}
	return k.Text
}

func (w *worker) Open(l *lanes.Lane, b *Branch) {
	if b.State != nil || l != b.Lane() {
		w.t.Error("opened twice, or on a strange lane")
	}
	b.State = &token{}
}

func (w *worker) Handle(l *lanes.Lane, b *Branch, input int, in *batch.Batch) {
	held := &b.State.(*token).held
	if held.Add(1) != 1 || l != b.Lane() {
		w.t.Error("a branch is worked twice at a time, or on a strange lane")
	}
	w.mu.Lock()
	w.seen[text(b.Key)] = append(w.seen[text(b.Key)], number(in))
	w.mu.Unlock()
	if w.work != nil {
		w.work(l, b, input, in)
	} else {
		in.Settle()
	}
	held.Add(-1)
}

func (w *worker) Quiet(*Branch) bool { return w.quiet.Load() }

func (w *worker) numbers(k *batch.Key) []int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.seen[text(k)])
}

func newNode(exec *lanes.Executor, w *worker, inputs int) (*Node, []*upstream) {
	n := NewNode(Config{Ref: nodeRef, Lanes: exec, Inputs: inputs}, w)
	ups := make([]*upstream, inputs)
	for i := range ups {
		ups[i] = &upstream{}
		n.Input(i).Connect(ups[i])
	}
	return n, ups
}

var heap = memory.DefaultAllocator

// offer wants the input's answer.
func offer(t *testing.T, in *Input, k *batch.Key, n int64, taken bool) {
	t.Helper()
	b := input(heap, k, n)
	if got := in.Offer(b, uint64(n)); got != taken {
		t.Fatalf("batch %d: taken %v, want %v", n, got, taken)
	}
}

func TestOneInWorkAndOneWaiting(t *testing.T) {
	// req: R-010 half: a branch's batches keep their key and its buffering is its own
	synctest.Test(t, func(t *testing.T) {
		exec := lanes.New(1)
		w := newWorker(t)
		gate := make(chan struct{})
		w.work = func(_ *lanes.Lane, _ *Branch, _ int, in *batch.Batch) {
			<-gate
			in.Settle()
		}
		n, ups := newNode(exec, w, 2)
		offer(t, n.Input(0), key(1), 1, true)
		synctest.Wait()
		if s, _ := ups[0].seen(); s != 1 {
			t.Fatalf("work on %d batches has begun", s)
		}
		offer(t, n.Input(0), key(1), 2, true)  // waits
		offer(t, n.Input(0), key(1), 3, false) // no place
		offer(t, n.Input(1), key(1), 4, true)  // each input has its own place
		offer(t, n.Input(1), key(1), 5, false)
		offer(t, n.Input(0), key(2), 6, true) // and each branch
		if s, r := ups[0].seen(); s != 1 || r != 0 || !n.Busy() || n.Branches() != 2 {
			t.Fatalf("started %d, resumed %d, busy %v, %d branches", s, r, n.Busy(), n.Branches())
		}
		gate <- struct{}{}
		synctest.Wait()
		if s, r := ups[0].seen(); s != 2 || r != 1 {
			t.Fatalf("started %d, resumed %d: the freed place must be told once", s, r)
		}
		close(gate)
		synctest.Wait()
		offer(t, n.Input(0), key(1), 7, true)
		end(t, exec)
		if got := w.numbers(key(1)); !slices.Equal(got, []int64{1, 2, 4, 7}) {
			t.Fatalf("worked %v", got)
		}
		if s, r := ups[1].seen(); s != 1 || r != 1 || n.Busy() {
			t.Fatalf("second input: started %d, resumed %d, busy %v", s, r, n.Busy())
		}
		if s, r := ups[0].seen(); s != 4 || r != 1 {
			t.Fatalf("first input: started %d, resumed %d: a refusal is answered once", s, r)
		}
	})
}

func TestParkedBranchLetsOthersWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		exec := lanes.New(1)
		w := newWorker(t)
		stuck := key(1)
		var parked *Branch
		w.work = func(_ *lanes.Lane, b *Branch, _ int, in *batch.Batch) {
			if number(in) == 1 {
				parked = b
				b.Park()
				b.Park() // two publications wait
			}
			in.Settle()
		}
		n, ups := newNode(exec, w, 1)
		offer(t, n.Input(0), stuck, 1, true)
		synctest.Wait()
		offer(t, n.Input(0), stuck, 2, true)
		offer(t, n.Input(0), stuck, 3, false) // a parked branch holds its place
		offer(t, n.Input(0), key(2), 4, true)
		synctest.Wait()
		offer(t, n.Input(0), key(2), 5, true)
		synctest.Wait()
		if a, b := w.numbers(stuck), w.numbers(key(2)); !slices.Equal(a, []int64{1}) || !slices.Equal(b, []int64{4, 5}) {
			t.Fatalf("worked %v and %v", a, b)
		}
		if s, r := ups[0].seen(); s != 3 || r != 0 || !n.Busy() {
			t.Fatalf("started %d, resumed %d, busy %v", s, r, n.Busy())
		}
		on(exec.At(0), func(l *lanes.Lane) { parked.Unpark(l) })
		synctest.Wait()
		if got := w.numbers(stuck); !slices.Equal(got, []int64{1}) {
			t.Fatalf("worked %v with one publication still waiting", got)
		}
		on(exec.At(0), func(l *lanes.Lane) { parked.Unpark(l) })
		synctest.Wait()
		if got := w.numbers(stuck); !slices.Equal(got, []int64{1, 2}) || n.Busy() {
			t.Fatalf("worked %v, busy %v", got, n.Busy())
		}
		if s, r := ups[0].seen(); s != 4 || r != 1 {
			t.Fatalf("started %d, resumed %d", s, r)
		}
		on(exec.At(0), func(l *lanes.Lane) { // a flush deadline parks and unparks a branch without work
			parked.Park()
			parked.Unpark(l)
		})
		synctest.Wait()
		if n.mu.working != 0 {
			t.Fatalf("%d branches at work", n.mu.working)
		}
		end(t, exec)
	})
}

// Long queues of one branch must not keep the others of its lane waiting: after some batches it goes to the end of the line.
func TestBusyBranchTakesTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		exec := lanes.New(1)
		w := newWorker(t)
		var order []string
		var n *Node
		next := int64(10)
		w.work = func(_ *lanes.Lane, b *Branch, _ int, in *batch.Batch) {
			order = append(order, text(b.Key))
			in.Settle()
			if text(b.Key) == text(key(1)) && len(order) < 40 {
				next++
				offer(t, n.Input(0), key(1), next, true) // the relay never runs dry
			}
		}
		n, _ = newNode(exec, w, 1)
		on(exec.At(0), func(*lanes.Lane) { // both are queued before either runs
			offer(t, n.Input(0), key(1), 1, true)
			offer(t, n.Input(0), key(2), 2, true)
		})
		end(t, exec)
		if at := slices.Index(order, text(key(2))); at < 1 || at > turns {
			t.Fatalf("the other branch was worked after %d batches", at)
		}
	})
}

func TestMergedNodeIsOneUnit(t *testing.T) {
	// req: R-013 half: an emitter consumes the relay as a whole; keys through junctions are tested there
	synctest.Test(t, func(t *testing.T) {
		exec := lanes.New(4)
		w := newWorker(t)
		n := NewNode(Config{Ref: nodeRef, Lanes: exec, Inputs: 1, Merged: true}, w)
		n.Input(0).Connect(&upstream{})
		for i := range int64(20) {
			offer(t, n.Input(0), key(int(i)), i, true)
			synctest.Wait()
		}
		if got := w.numbers(nil); len(got) != 20 || !slices.IsSorted(got) || n.Branches() != 1 {
			t.Fatalf("worked %v in %d branches", got, n.Branches())
		}
		end(t, exec)
	})
}

func TestScanForgetsIdleBranches(t *testing.T) {
	// req: R-050 half: a node on one host; the relay owner has its own test
	// req: R-049
	synctest.Test(t, func(t *testing.T) {
		exec := lanes.New(2)
		w := newWorker(t)
		var now atomic.Int64
		n := NewNode(Config{Ref: nodeRef, Lanes: exec, Inputs: 1, TTL: 10, Now: func() (vtime.Logical, bool) {
			return vtime.LogicalFromNS(now.Load()), now.Load() >= 0
		}}, w)
		n.Input(0).Connect(&upstream{})
		scan := func(want int) {
			t.Helper()
			n.Scan()
			synctest.Wait()
			if n.Branches() != want {
				t.Fatalf("at %d: %d branches, want %d", now.Load(), n.Branches(), want)
			}
		}
		offer(t, n.Input(0), key(1), 1, true)
		offer(t, n.Input(0), key(2), 2, true)
		now.Store(9)
		synctest.Wait()
		offer(t, n.Input(0), key(2), 3, true) // accepted again
		scan(2)
		now.Store(-1)
		scan(2) // without a clock nothing is judged
		now.Store(10)
		w.quiet.Store(false)
		scan(2) // it still holds rows
		w.quiet.Store(true)
		scan(1)
		now.Store(18)
		scan(1)
		now.Store(19)
		scan(0)
		w.work = func(_ *lanes.Lane, b *Branch, _ int, in *batch.Batch) {
			if number(in) == 4 {
				b.Park()
			}
			in.Settle()
		}
		offer(t, n.Input(0), key(1), 4, true) // its state begins anew: Open checks that
		synctest.Wait()
		offer(t, n.Input(0), key(1), 5, true)
		now.Store(100)
		scan(1) // a batch still waits
		synctest.Wait()
		if got := w.numbers(key(1)); !slices.Equal(got, []int64{1, 4}) {
			t.Fatalf("worked %v", got)
		}
		if n.laneOf(key(1)) != exec.For(key(1).Hash) || n.laneOf(key(2)) != exec.For(key(2).Hash) {
			t.Fatal("a key that comes back may find its former work on another lane")
		}
		end(t, exec)
	})
}

func TestClosedNodeRefusesAndAbandonFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		exec := lanes.New(1)
		w := newWorker(t)
		alloc := memory.NewCheckedAllocator(memory.NewGoAllocator())
		var parked *Branch
		w.work = func(_ *lanes.Lane, b *Branch, _ int, in *batch.Batch) {
			parked = b
			b.Park()
			in.Settle()
		}
		n, ups := newNode(exec, w, 1)
		offer(t, n.Input(0), key(1), 1, true)
		synctest.Wait()
		lin, block := tracked(1)
		waits := input(alloc, key(1), 2)
		waits.Lineage = lin
		if !n.Input(0).Offer(waits, 2) {
			t.Fatal("no place for a waiting batch")
		}
		n.Close(errGone)
		if ups[0].left != errGone {
			t.Fatalf("left with %v", ups[0].left)
		}
		offer(t, n.Input(0), key(2), 3, false)
		n.Abandon(errGone)
		synctest.Wait()
		if block.ended != 1 || block.failed != 1 {
			t.Fatalf("the waiting batch: ended %d, failed %d", block.ended, block.failed)
		}
		alloc.AssertSize(t, 0)
		on(exec.At(0), func(l *lanes.Lane) { parked.Unpark(l) })
		synctest.Wait()
		if n.Busy() || !slices.Equal(w.numbers(key(1)), []int64{1}) {
			t.Fatalf("busy %v, worked %v", n.Busy(), w.numbers(key(1)))
		}
		end(t, exec)
	})
}

func TestTouchAndForceFlushReachBufferedRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		exec := lanes.New(4)
		w := newWorker(t)
		out := &target{room: 100}
		route := &Route{Target: out, Schema: numbers, Flush: Flush{Each: time.Hour, MaxBytes: 1 << 30}, Clock: newClock(1), Alloc: heap}
		var n *Node
		w.work = func(l *lanes.Lane, b *Branch, _ int, in *batch.Batch) {
			o := NewOutlet(route, b.Key, l, b, n.Alive(l))
			o.Add(l, batch.Piece{Record: in.Record, Low: in.Low, High: in.High}, in.Lineage, vtime.Logical{})
		}
		n, _ = newNode(exec, w, 1)
		var blocks []*tally
		for i := range 8 {
			lin, block := tracked(1)
			b := input(heap, key(i), int64(i))
			b.Lineage = lin
			blocks = append(blocks, block)
			n.Input(0).Offer(b, uint64(i))
		}
		synctest.Wait()
		if !n.Busy() {
			t.Fatal("buffered rows do not count")
		}
		n.Touch(77)
		n.ForceFlush()
		synctest.Wait()
		for i, b := range blocks {
			if b.last != 77 {
				t.Errorf("block %d was not touched", i)
			}
		}
		if got := out.take(); len(got) != 8 || n.Busy() {
			t.Fatalf("%d batches, busy %v: branches must not mix", len(got), n.Busy())
		}
		end(t, exec)
	})
}

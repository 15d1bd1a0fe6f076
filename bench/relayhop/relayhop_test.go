// SPDX-License-Identifier: Apache-2.0

// Package relayhop measures what one relay hop costs: prebuilt batches of 1,024 rows through a chain of three relays with two
// pass-through nodes and a sink, one producer, beside the same chain over buffered channels.
package relayhop

import (
	"context"
	"fmt"
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
	"github.com/nervix-go/nervix/host/lanes"
	"github.com/nervix-go/nervix/host/node/runtime"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/relay/owner"
)

const rows = 1024
const hops = 3
const capacity = 64

type clock struct{}

func (clock) Snapshot() (vtime.Snapshot, error) {
	return vtime.Snapshot{Now: vtime.UnpacedNow(osclock.UTC())}, nil
}
func (clock) Until(t vtime.Logical) (time.Duration, error) {
	return t.Sub(vtime.UnpacedNow(osclock.UTC()))
}

// pass is a node without work: every batch goes to its outlet, which a byte flush publishes at once.
type pass struct {
	route *runtime.Route
	alive []runtime.Alive
}

func (p *pass) Open(l *lanes.Lane, b *runtime.Branch) {
	b.State = runtime.NewOutlet(p.route, b.Key, l, b, &p.alive[l.Index()])
}

func (p *pass) Quiet(b *runtime.Branch) bool { return b.State.(*runtime.Outlet).Empty() }

func (p *pass) Handle(l *lanes.Lane, b *runtime.Branch, _ int, in *batch.Batch) {
	piece := batch.Piece{Record: in.Record, Low: in.Low, High: in.High}
	b.State.(*runtime.Outlet).Add(l, piece, in.Lineage, vtime.Logical{})
}

type sink struct{ seen atomic.Int64 }

func (s *sink) Open(*lanes.Lane, *runtime.Branch) {}
func (s *sink) Quiet(*runtime.Branch) bool        { return true }
func (s *sink) Handle(_ *lanes.Lane, _ *runtime.Branch, _ int, in *batch.Batch) {
	n := in.Rows()
	in.Settle()
	s.seen.Add(int64(n))
}

type settled struct{ blocks, failed atomic.Int64 }

func (s *settled) BlockSettled(*ack.Block) { s.blocks.Add(1) }
func (s *settled) BlockFailed(*ack.Block)  { s.failed.Add(1) }

func record() arrow.RecordBatch {
	schema := arrow.NewSchema([]arrow.Field{{Name: "v", Type: arrow.PrimitiveTypes.Int64}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for i := range rows {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
	}
	return b.NewRecordBatch()
}

func chain(b *testing.B, tracked bool, keys []*batch.Key) {
	exec := lanes.New(0)
	defer exec.Close(context.Background())
	rec := record()
	low := make([]int64, rows)
	relays := make([]*owner.Owner, hops)
	now := func() (vtime.Logical, bool) { return vtime.UnpacedNow(osclock.UTC()), true }
	for i := range relays {
		relays[i] = owner.New(owner.Config{Ref: ident.Ref{Kind: ident.KindRelay, Name: "r"}, Capacity: capacity, Now: now})
	}
	end := &sink{}
	for i := range relays {
		var h runtime.Handler = end
		if i+1 < hops {
			h = &pass{alive: make([]runtime.Alive, exec.Len()), route: &runtime.Route{
				Target: relays[i+1], Schema: rec.Schema(), Flush: runtime.Flush{Each: time.Second, MaxBytes: 1}, Clock: clock{}, Alloc: memory.DefaultAllocator,
			}}
		}
		n := runtime.NewNode(runtime.Config{Lanes: exec, Inputs: 1}, h)
		in := n.Input(0)
		in.Connect(relays[i].Attach(in, true))
	}
	out := &settled{}
	place := make(chan struct{}, 1)
	deliveries := make([]uint64, rows)
	b.ReportAllocs()
	b.ResetTimer()
	pub := &batch.Publication{Admitted: func() { place <- struct{}{} }}
	for i := range b.N {
		rec.Retain()
		var lin lineage.Lineage
		if tracked {
			lin = lineage.Of(ack.NewBlock(out, deliveries, 0), rows)
		}
		pub.Batch = batch.New(rec, keys[i%len(keys)], lin, low, low)
		if !relays[0].Publish(pub) {
			<-place
		}
	}
	for end.seen.Load() < int64(b.N)*rows {
		osclock.Wait(context.Background(), 20*time.Microsecond)
	}
	b.StopTimer()
	report(b)
	if tracked && out.blocks.Load() != int64(b.N) {
		b.Fatalf("%d of %d blocks settled", out.blocks.Load(), b.N)
	}
}

func report(b *testing.B) {
	perSecond := float64(b.N) * rows / b.Elapsed().Seconds()
	b.ReportMetric(perSecond/1e6, "Mrows/s")
	b.ReportMetric(0, "B/op")
}

func keys(n int) []*batch.Key {
	out := make([]*batch.Key, n)
	for i := range out {
		out[i] = &batch.Key{Branch: "k", Text: fmt.Sprintf(`{"k":%d}`, i), Hash: uint64(i) * 0x9e3779b97f4a7c15}
	}
	return out
}

func BenchmarkUntracked(b *testing.B)      { chain(b, false, keys(16)) }
func BenchmarkTracked(b *testing.B)        { chain(b, true, keys(16)) }
func BenchmarkTrackedOneKey(b *testing.B)  { chain(b, true, keys(1)) }
func BenchmarkTracked10kKeys(b *testing.B) { chain(b, true, keys(10_000)) }

// BenchmarkChannel is the baseline: the same batches over three buffered channels and goroutines, without any state.
func BenchmarkChannel(b *testing.B) {
	rec := record()
	low := make([]int64, rows)
	chans := make([]chan *batch.Batch, hops)
	for i := range chans {
		chans[i] = make(chan *batch.Batch, capacity)
	}
	done := make(chan int64)
	for i := range hops - 1 {
		go func() {
			for x := range chans[i] {
				chans[i+1] <- x
			}
			close(chans[i+1])
		}()
	}
	go func() {
		var n int64
		for x := range chans[hops-1] {
			n += int64(x.Rows())
			x.Settle()
		}
		done <- n
	}()
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		rec.Retain()
		chans[0] <- batch.New(rec, nil, lineage.Lineage{}, low, low)
	}
	close(chans[0])
	<-done
	b.StopTimer()
	report(b)
}

// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/nervix-go/nervix/host/ack"
	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/host/kernel/lineage"
	"github.com/nervix-go/nervix/host/node/nodetest"
	"github.com/nervix-go/nervix/host/node/runtime"
	"github.com/nervix-go/nervix/host/relay/owner"
)

// tap is a consumer that looks at what the relay hands over before it settles it.
type tap struct {
	sub  *owner.Subscription
	look func(b *batch.Batch)

	mu      sync.Mutex
	batches int
}

func (c *tap) Offer(b *batch.Batch, seq uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.batches++
	c.look(b)
	c.sub.Started(seq)
	b.Settle()
	return true
}

// do reads or changes what look uses.
func (c *tap) do(use func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	use()
}

func (c *tap) attach(relay *owner.Owner) *tap {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sub = relay.Attach(c, true)
	return c
}

// What a relay of a running domain hands to a consumer, behind an ingestor and a junction that joined rows of three moments into one batch.
func TestWhatTravelsOnARelay(t *testing.T) {
	// req: R-025
	text := "TO outs INHERIT ALL EXCEPT n SET n = input.n + 0 / (input.n - 13) FLUSH EACH 20s MAX BATCH SIZE 1MiB"
	bubble(t, func(n *node) {
		src := n.source("probes")
		n.define(replace(t, short, "TO outs INHERIT ALL EXCEPT n SET n = input.n + 0 / (input.n - 13) FLUSH IMMEDIATE", text))
		n.must(n.startDomain(false))
		x := n.e.execution(nodetest.Domain)
		var sent []int64
		var allocations float64
		bad := errors.New("the second row is bad")
		look := func(b *batch.Batch) {
			// An Arrow record of the relay's schema.
			if want := x.graph.Relay("outs").Schema.Arrow(); !b.Record.Schema().Equal(want) || b.Key.Text != `{"bed":"a"}` {
				t.Errorf("schema %s, branch %s", b.Record.Schema(), b.Key.Text)
			}
			if len(sent) == 0 { // the second row, once more
				return
			}
			// One acknowledgement state for each row, in blocks that the batch names by runs.
			states := 0
			for _, run := range b.Lineage.Runs() {
				if _, ok := run.Block.(*ack.Block); !ok {
					t.Errorf("the state of a row is a %T", run.Block)
				}
				states += run.Members.Len()
			}
			if b.Rows() != 3 || states != 3 || !b.Lineage.Tracked() {
				t.Errorf("%d rows with %d states", b.Rows(), states)
			}
			// Two buffers of nanoseconds, row by row when it was ingested, whatever happened to the rows since.
			if !slices.Equal(b.Low, sent) || !slices.Equal(b.High, sent) {
				t.Errorf("low %v, high %v, want %v", b.Low, b.High, sent)
			}
			now := time.Now().UnixNano()
			var latency, low, high int64
			allocations = testing.AllocsPerRun(100, func() {
				latency, low, high = 0, now, 0
				for i := range b.Low {
					latency, low, high = max(latency, now-b.High[i]), min(low, b.Low[i]), max(high, b.High[i])
				}
			})
			if waited := int64(20*time.Second + runtime.ImmediateWindow); latency != waited || low != sent[0] || high != sent[2] {
				t.Errorf("the oldest row is %d ns old; low %d, high %d", latency, low, high)
			}
			sent = nil
			b.Lineage.FailRows([]uint32{1}, bad)
		}
		c := (&tap{look: look}).attach(x.relays["outs"])
		for i := range 3 {
			c.do(func() { sent = append(sent, time.Now().UnixNano()) })
			src.Add(item("a", i+1))
			pass(time.Second)
		}
		pass(18 * time.Second)
		c.do(func() {
			if c.batches != 1 || allocations != 0 {
				t.Errorf("%d batches; reading watermarks and latency allocates %v times", c.batches, allocations)
			}
		})
		pass(time.Minute)
		// The failed row alone is sent again, and the position passes it only then.
		c.do(func() {
			if got := src.Rejects(); !slices.Equal(got, []int{2}) || c.batches != 2 || !slices.Contains(src.Acks(), 3) {
				t.Errorf("asked again for %v, %d batches, acknowledged %v", got, c.batches, src.Acks())
			}
		})
	})
}

// No part of a batch exists once a row: what a batch is made of, and what a hop over a running domain's relay allocates at any number of rows.
func TestNoObjectExistsForARow(t *testing.T) {
	// req: R-025
	kind := reflect.TypeFor[batch.Batch]()
	want := map[string]reflect.Type{
		"Record": reflect.TypeFor[arrow.RecordBatch](), "Key": reflect.TypeFor[*batch.Key](), "Lineage": reflect.TypeFor[lineage.Lineage](),
		"Low": reflect.TypeFor[[]int64](), "High": reflect.TypeFor[[]int64](),
	}
	for i := range kind.NumField() {
		if f := kind.Field(i); want[f.Name] != f.Type {
			t.Errorf("a batch has %s %s", f.Name, f.Type)
		}
	}
	hop := func(rows int) (allocations float64) {
		bubble(t, func(n *node) {
			n.source("probes")
			n.define(short)
			n.must(n.apply(n.puts("CREATE RELAY bare SCHEMA reading UNBRANCHED CAPACITY 2;", false)))
			n.must(n.startDomain(false))
			relay := n.e.execution(nodetest.Domain).relays["bare"]
			seen := 0
			(&tap{look: func(b *batch.Batch) {
				for i := range b.Low {
					seen += int(b.High[i] - b.Low[i])
				}
			}}).attach(relay)
			r := record(n.heap, rows)
			defer r.Release()
			low, high := make([]int64, rows), slices.Repeat([]int64{1}, rows)
			tokens, quiet := make([]uint64, rows), &nodetest.Fate{}
			allocations = testing.AllocsPerRun(100, func() {
				r.Retain()
				relay.Publish(&batch.Publication{Batch: batch.New(r, nil, lineage.Of(ack.NewBlock(quiet, tokens, 0), rows), low, high)})
			})
			if seen != 101*rows {
				t.Errorf("read %d rows", seen)
			}
		})
		return allocations
	}
	if few, many := hop(4), hop(4096); few != many {
		t.Fatalf("a hop of 4 rows allocates %v times, of 4,096 rows %v times", few, many)
	}
}

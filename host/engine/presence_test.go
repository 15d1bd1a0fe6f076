// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/host/branch"
	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/host/kernel/lineage"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/model"
	"github.com/nervix-go/nervix/host/node/nodetest"
	"github.com/nervix-go/nervix/host/node/runtime"
	"github.com/nervix-go/nervix/host/observe"
	"github.com/nervix-go/nervix/host/relay/owner"
	"github.com/nervix-go/nervix/host/timekeeper"
)

// three is one relay, all, that two ingestors and a junction write; a branch of it holds two instances.
var three = strings.Replace(schemas, "TTL 1m", "TTL 1m MAX INSTANCES 2 EVICT LRU", 1) + `
CREATE RELAY side SCHEMA reading BRANCHED BY by_bed CAPACITY 8;
CREATE RELAY all SCHEMA reading BRANCHED BY by_bed CAPACITY 8;
CREATE INGESTOR one` + fromFile + `TO all INHERIT ALL BRANCHED BY by_bed SET bed = message.bed FLUSH IMMEDIATE` + logAll + general + `
CREATE INGESTOR two` + fromFile + `TO all INHERIT ALL BRANCHED BY by_bed SET bed = message.bed FLUSH IMMEDIATE` + logAll + general + `
CREATE INGESTOR third` + fromFile + `TO side INHERIT ALL BRANCHED BY by_bed SET bed = message.bed FLUSH IMMEDIATE` + logAll + general + `
CREATE JUNCTION three FROM side BRANCHED BY by_bed TO all INHERIT ALL FLUSH IMMEDIATE` + logAll + `;
CREATE EMITTER sink FROM all` + toFile + `FLUSH IMMEDIATE` + logAll + general

// The cluster is this node, and its producers are all there are. None of them ever sends more branches than the limit allows; together they do.
func TestOwnerCountsBranchesOfAllProducers(t *testing.T) {
	// req: R-051
	bubble(t, func(n *node) {
		sources := map[string]*nodetest.Source{"one": n.source("one"), "two": n.source("two"), "third": n.source("third")}
		n.define(three)
		n.must(n.startDomain(false))
		all := n.e.execution(nodetest.Domain).relays["all"]
		send := func(producer, bed string) {
			t.Helper()
			sources[producer].Add(item(bed, 1))
			pass(time.Millisecond)
			if !all.Exists(`{"bed":"` + bed + `"}`) {
				t.Fatalf("branch %s does not exist after its row", bed)
			}
		}
		want := func(live, lru, ttl int, beds ...string) {
			t.Helper()
			o := all.Observe()
			if o.Branches != live || o.Evictions[branch.Evicted] != uint64(lru) || o.Evictions[branch.Expired] != uint64(ttl) {
				t.Fatalf("%d branches, %v", o.Branches, o.Evictions)
			}
			for _, bed := range beds {
				if !all.Exists(`{"bed":"` + bed + `"}`) {
					t.Fatalf("branch %s does not exist", bed)
				}
			}
		}
		send("one", "a")
		send("two", "b")
		send("third", "a") // through the junction: a is used after b
		want(2, 0, 0, "a", "b")
		send("two", "c") // the second branch of this producer, the third of the relay
		want(2, 1, 0, "a", "c")
		pass(50 * time.Second)
		send("third", "a")
		pass(15 * time.Second) // 65 s after the last row of c, and after the last row that one sent of a
		want(1, 1, 1, "a")
		pass(time.Minute)
		want(0, 1, 2)

		// Each end was counted once, by the owner.
		counted := map[string]float64{}
		for _, r := range n.e.Readings() {
			if r.Metric == observe.BranchEvictionsTotal && r.Labels[2] == "all" {
				counted[r.Labels[1]+" "+r.Labels[4]] += r.Value
			}
		}
		if len(counted) != 2 || counted["RELAY lru"] != 1 || counted["RELAY ttl"] != 2 {
			t.Fatalf("the metrics count %v", counted)
		}
		for name, src := range sources {
			if len(src.Rejects()) != 0 {
				t.Fatalf("%s was asked again for %v: a branch that ends loses no rows", name, src.Rejects())
			}
		}
	})
}

// scanTick is the interval of the maintenance scans that R-052 names.
const scanTick = 100 * time.Millisecond

// record is rows of one column.
func record(alloc memory.Allocator, rows int) arrow.RecordBatch {
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)
	b := array.NewRecordBuilder(alloc, schema)
	defer b.Release()
	b.Field(0).(*array.Int64Builder).AppendValues(make([]int64, rows), nil)
	return b.NewRecordBatch()
}

// firstScan is the physical time, since the scans began, of the first scan at or after d.
func firstScan(d time.Duration) time.Duration {
	return (d + scanTick - 1) / scanTick * scanTick
}

// The scans of an execution are physical; the time they judge by is the domain's. Here domain time runs at a rate of physical time.
func TestScansArePhysicalAndTTLIsDomainTime(t *testing.T) {
	// req: R-052
	const ttl = time.Second
	for _, rate := range []struct{ mul, div time.Duration }{{1, 4}, {1, 1}, {8, 1}, {1000, 1}} {
		bubble(t, func(n *node) {
			began := time.Now()
			x := newExecution(n.e, &model.Graph{Domain: nodetest.Domain}, 1)
			x.clock = timekeeper.Unpaced(nodetest.Domain, 1)
			domain := func(physical time.Duration) time.Duration { return physical * rate.mul / rate.div }
			relay := owner.New(owner.Config{Capacity: 1, TTL: ttl, Now: func() (vtime.Logical, bool) {
				return vtime.LogicalFromNS(int64(domain(time.Since(began)))), true
			}})
			x.relays["r"] = relay
			x.start(false)
			defer x.end(t.Context())
			boundary := ttl * rate.div / rate.mul
			for i, after := range []time.Duration{0, 1, 49 * time.Millisecond, 100*time.Millisecond - 1, 100*time.Millisecond - boundary%scanTick} {
				pass(firstScan(time.Since(began)+1) - time.Since(began) + after)
				accepted := time.Since(began)
				key := &batch.Key{Branch: "b", Text: "k", Hash: 1}
				relay.Publish(&batch.Publication{Batch: batch.New(record(n.heap, 1), key, lineage.Lineage{}, []int64{0}, []int64{0})})
				release := firstScan(accepted + boundary)
				for domain(release-scanTick)-domain(accepted) >= ttl { // domain time is whole nanoseconds too
					release -= scanTick
				}
				pass(release - time.Since(began) - 1)
				if !relay.Exists("k") {
					t.Fatalf("rate %d/%d, accepted at %v: gone before the scan at %v", rate.mul, rate.div, accepted, release)
				}
				pass(1)
				if relay.Exists("k") || relay.Observe().Evictions[branch.Expired] != uint64(i+1) {
					t.Fatalf("rate %d/%d, accepted at %v: still there after the scan at %v", rate.mul, rate.div, accepted, release)
				}
			}
		})
	}
}

// In a running domain, whose time is actual time: each branch is released by the first scan at which its idle time is TTL.
func TestBranchIsReleasedByTheFirstScan(t *testing.T) {
	// req: R-052
	bubble(t, func(n *node) {
		src := n.source("probes")
		n.define(short)
		pass(1234567 * time.Nanosecond)
		n.must(n.startDomain(false))
		began, ins := time.Now(), n.e.execution(nodetest.Domain).relays["ins"]
		for _, after := range []time.Duration{0, 37 * time.Millisecond, scanTick - 2*runtime.ImmediateWindow} {
			pass(firstScan(time.Since(began)+1) - time.Since(began) + after)
			src.Add(item("a", 1))
			for !ins.Exists(`{"bed":"a"}`) { // the row waits in the route for as long as the window of FLUSH IMMEDIATE
				pass(runtime.ImmediateWindow / 2)
			}
			release := firstScan(time.Since(began) + time.Minute)
			pass(release - time.Since(began) - 1)
			if !ins.Exists(`{"bed":"a"}`) {
				t.Fatalf("gone before the scan at %v", release)
			}
			pass(1)
			if ins.Exists(`{"bed":"a"}`) {
				t.Fatalf("still there after the scan at %v", release)
			}
		}
	})
}

// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"errors"
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/branch"
	"github.com/nervix-go/nervix/host/kernel/fault"
)

func TestDetachedConsumersAreAnsweredAtFanOut(t *testing.T) {
	b := newBench(t, Config{Capacity: 4})
	r := b.reader(0, false)
	p := b.publish(b.parcel(1, 1), true)
	if p.fate.settled.Load() != 1 || p.fate.failed.Load() != 0 {
		t.Fatal("upstream waits for a detached consumer")
	}
	b.want(1, 0) // it holds back its relay all the same
	r.open(1)
	if r.held[0].batch.Lineage.Tracked() {
		t.Fatal("a detached consumer got a share")
	}
	r.held[0].batch.Fail(errors.New("its own affair"))
	r.sub.Started(r.held[0].seq)
	if p.fate.settled.Load() != 1 || p.fate.failed.Load() != 0 {
		t.Fatal("the outcome of a detached consumer reached upstream")
	}
}

func TestAttachedConsumersDecideAlone(t *testing.T) {
	b := newBench(t, Config{Capacity: 4})
	detached, one, two := b.reader(1, false), b.reader(1, true), b.reader(1, true)
	p := b.publish(b.parcel(1, 1), true)
	detached.work(1)
	one.work(1)
	if p.fate.settled.Load() != 0 {
		t.Fatal("settled before the last attached consumer")
	}
	two.sub.Started(two.held[0].seq)
	two.held[0].batch.Fail(errLeft)
	if p.fate.settled.Load() != 1 || p.fate.failed.Load() != 1 {
		t.Fatalf("settled %d, failed %d", p.fate.settled.Load(), p.fate.failed.Load())
	}
	b.want(0, 0)
}

func TestRelayWithoutConsumerFailsRows(t *testing.T) {
	b := newBench(t, Config{Capacity: 1, TTL: hour})
	for i := range 3 { // more than CAPACITY: nothing stays in the buffer
		p := b.publish(b.parcel(1, int64(i)), true)
		if !fault.Has(p.fate.reason(), fault.RelayNoConsumer) || p.fate.settled.Load() != 1 {
			t.Fatalf("rows nobody reads: %v", p.fate.reason())
		}
	}
	b.want(0, 0)
	if !b.relay.Exists(key(1).Text) {
		t.Fatal("the batch was accepted, so its branch exists")
	}
	r := b.reader(1, true)
	p := b.publish(b.parcel(1, 9), true)
	r.sub.Leave(errLeft)
	r.work(1)
	if p.fate.reason() != nil || p.fate.settled.Load() != 1 {
		t.Fatalf("a batch taken before the consumer left: %v", p.fate.reason())
	}
}

func TestLastConsumerLeavesWhilePublicationsWait(t *testing.T) {
	b := newBench(t, Config{Capacity: 1})
	r := b.reader(0, true)
	buffered := b.publish(b.parcel(1, 0), true)
	waits := []*parcel{b.publish(b.parcel(1, 1), false), b.publish(b.parcel(1, 2), false)}
	r.sub.Leave(errLeft)
	b.want(0, 0)
	if !errors.Is(buffered.fate.reason(), errLeft) {
		t.Fatalf("buffered: %v", buffered.fate.reason())
	}
	for _, p := range waits {
		if !fault.Has(p.fate.reason(), fault.RelayNoConsumer) || p.admitted.Load() != 1 {
			t.Fatalf("waiting: %v, told %d times", p.fate.reason(), p.admitted.Load())
		}
	}
}

// The consumer leaves while it is being offered a batch that it then refuses: the batch's place must go to the next publication.
func TestLeaveDuringARefusedOffer(t *testing.T) {
	b := newBench(t, Config{Capacity: 1})
	r := b.reader(0, true)
	first := b.parcel(1, 0)
	waits := b.parcel(1, 1)
	r.hook = func() {
		r.hook = nil
		b.publish(waits, false)
		r.sub.Leave(errLeft)
	}
	b.publish(first, true)
	b.want(0, 0)
	if !errors.Is(first.fate.reason(), errLeft) || first.fate.settled.Load() != 1 {
		t.Fatalf("refused batch: %v, settled %d", first.fate.reason(), first.fate.settled.Load())
	}
	if waits.admitted.Load() != 1 || !fault.Has(waits.fate.reason(), fault.RelayNoConsumer) {
		t.Fatalf("waiting publication: told %d times, %v", waits.admitted.Load(), waits.fate.reason())
	}
}

func TestLeaveDuringATakenOffer(t *testing.T) {
	for _, attached := range []bool{true, false} {
		b := newBench(t, Config{Capacity: 2})
		r := b.reader(1, attached)
		p := b.parcel(1, 0)
		r.hook = func() { r.sub.Leave(errLeft) }
		b.publish(p, true)
		b.want(1, 0)
		r.work(1)
		b.want(0, 0)
		if p.fate.reason() != nil || p.fate.settled.Load() != 1 {
			t.Fatalf("attached %v: %v, settled %d", attached, p.fate.reason(), p.fate.settled.Load())
		}
	}
}

func TestClosedRelayRefuses(t *testing.T) {
	b := newBench(t, Config{Capacity: 1})
	r := b.reader(1, true)
	taken := b.publish(b.parcel(1, 0), true)
	r.sub.Leave(errLeft) // with a batch that it has not started, which therefore still has its place
	waits := b.publish(b.parcel(1, 1), false)
	b.relay.Close()
	late := b.publish(b.parcel(1, 2), true)
	for _, p := range []*parcel{waits, late} {
		if !fault.Has(p.fate.reason(), fault.RelayClosed) || p.fate.settled.Load() != 1 {
			t.Fatalf("batch %d: %v", p.n, p.fate.reason())
		}
	}
	if waits.admitted.Load() != 1 {
		t.Fatalf("told %d times", waits.admitted.Load())
	}
	b.want(1, 0)
	r.work(1)
	b.want(0, 0)
	if taken.fate.reason() != nil || taken.fate.settled.Load() != 1 {
		t.Fatalf("the batch under way: %v", taken.fate.reason())
	}
}

func TestPresenceFollowsAcceptance(t *testing.T) {
	// req
	// req: R-028 half: the key a batch came with is the key it is delivered with
	b := newBench(t, Config{Capacity: 4, TTL: time.Second})
	r := b.reader(9, true)
	exists := func(want bool) {
		t.Helper()
		if b.relay.Exists(key(1).Text) != want || b.relay.Observe().Branches != map[bool]int{true: 1}[want] {
			t.Fatalf("at %d: exists %v", b.now.Load(), !want)
		}
	}
	exists(false)
	p := b.publish(b.parcel(1, 0), true)
	exists(true)
	if r.held[0].batch.Key != p.Batch.Key {
		t.Fatal("the batch lost its key")
	}
	b.now.Store(int64(600 * time.Millisecond))
	b.publish(b.parcel(1, 1), true) // accepted again: the idle time starts anew
	b.now.Store(int64(1600*time.Millisecond) - 1)
	b.relay.Scan()
	exists(true)
	b.now.Store(int64(1600 * time.Millisecond))
	exists(true) // release is the scan's
	b.dead.Store(true)
	b.relay.Scan()
	exists(true) // without a clock nothing is judged
	b.dead.Store(false)
	b.relay.Scan()
	exists(false)
	if n := b.relay.Observe().Evictions[branch.Expired]; n != 1 {
		t.Fatalf("%d expiries counted", n)
	}
	r.work(9)
}

// A batch that waits for a place was not accepted: neither its branch nor its idle time begins.
func TestWaitingPublicationsDoNotTouchPresence(t *testing.T) {
	// req: R-066
	b := newBench(t, Config{Capacity: 1, TTL: hour})
	r := b.reader(1, true)
	b.publish(b.parcel(1, 0), true)
	b.publish(b.parcel(2, 1), false)
	if b.relay.Exists(key(2).Text) {
		t.Fatal("a waiting batch made its branch")
	}
	r.work(1)
	if !b.relay.Exists(key(2).Text) {
		t.Fatal("the admitted batch did not make its branch")
	}
	r.work(1)
}

func TestOwnerEnforcesInstancesOverAllProducers(t *testing.T) {
	// req: R-004
	// req: R-051 half: all producers of one host; those of other nodes come with the interconnect
	b := newBench(t, Config{Capacity: 9, TTL: hour, MaxInstances: 2})
	r := b.reader(9, true)
	for i, k := range []int{1, 2, 1, 3} { // each parcel is another producer
		b.publish(b.parcel(k, int64(i)), true)
	}
	for k, want := range map[int]bool{1: true, 2: false, 3: true} {
		if b.relay.Exists(key(k).Text) != want {
			t.Fatalf("branch %d exists: %v", k, !want)
		}
	}
	if o := b.relay.Observe(); o.Branches != 2 || o.Evictions[branch.Evicted] != 1 {
		t.Fatalf("%d branches, %v", o.Branches, o.Evictions)
	}
	r.work(9)
}

func TestTouchReachesBufferedAndWaitingRows(t *testing.T) {
	b := newBench(t, Config{Capacity: 1})
	r := b.reader(0, true)
	buffered, waiting := b.publish(b.parcel(1, 0), true), b.publish(b.parcel(1, 1), false)
	b.relay.Touch(77)
	if buffered.fate.block.TouchedNS() != 77 || waiting.fate.block.TouchedNS() != 77 {
		t.Fatalf("touched at %d and %d", buffered.fate.block.TouchedNS(), waiting.fate.block.TouchedNS())
	}
	r.open(1)
	r.work(2)
}

func TestDepthHistogram(t *testing.T) {
	var d Depths
	if d.Quantile(0.5) != 0 {
		t.Fatal("a quantile of nothing")
	}
	for i := range uint64(100) {
		d.Observe(i + 1)
	}
	for q, want := range map[float64][2]uint64{0: {1, 1}, 0.5: {50, 63}, 0.99: {99, 100}, 1: {100, 100}} {
		if got := d.Quantile(q); got < want[0] || got > want[1] {
			t.Errorf("quantile %v is %d, want between %d and %d", q, got, want[0], want[1])
		}
	}
	if d.Max != 100 || d.Count != 100 {
		t.Errorf("max %d, count %d", d.Max, d.Count)
	}
	d.Observe(1<<64 - 1)
	if got := d.Quantile(1); got != 1<<64-1 {
		t.Errorf("quantile 1 is %d", got)
	}
}

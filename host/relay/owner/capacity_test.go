// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"errors"
	"slices"
	"testing"
)

func TestOneSlotIsSharedByBranches(t *testing.T) {
	// req: R-012
	b := newBench(t, Config{Capacity: 1})
	r := b.reader(0, true)
	b.publish(b.parcel(1, 1), true)
	second := b.publish(b.parcel(2, 2), false)
	b.want(1, 1)
	r.open(1)
	r.work(1)
	b.want(1, 0)
	if second.admitted.Load() != 1 {
		t.Fatalf("the waiting publication was told %d times", second.admitted.Load())
	}
	r.work(1)
	b.want(0, 0)
}

func TestStalledConsumersHoldExactlyCapacity(t *testing.T) {
	// req
	// req: R-040 half: the buffer and the waiting producers of one node; remote nodes come with the interconnect
	for _, branches := range []int{1, 2, 7} {
		b := newBench(t, Config{Capacity: 3})
		fast, slow := b.reader(1, true), b.reader(0, true)
		var all []*parcel
		for i := range 6 {
			all = append(all, b.publish(b.parcel(i%branches, int64(i)), i < 3))
		}
		b.want(3, 3)
		fast.open(9)
		fast.work(9)
		b.want(3, 3) // the slowest governs
		slow.open(1)
		for step := range 6 {
			if n := all[min(step+3, 5)].admitted.Load(); step < 3 && n != 0 {
				t.Fatalf("publication %d went before its turn", step+3)
			}
			slow.work(1)
			fast.work(9)
			b.want(uint64(min(3, 5-step)), max(0, 2-step))
		}
		for i, p := range all {
			if want := int64(min(1, i/3)); p.admitted.Load() != want || p.fate.settled.Load() != 1 || p.fate.failed.Load() != 0 {
				t.Fatalf("batch %d: told %d times (want %d), settled %d, failed %d", i, p.admitted.Load(), want, p.fate.settled.Load(), p.fate.failed.Load())
			}
		}
		want := []int64{0, 1, 2, 3, 4, 5}
		if !slices.Equal(fast.seen, want) || !slices.Equal(slow.seen, want) {
			t.Fatalf("order %v and %v", fast.seen, slow.seen)
		}
		if o := b.relay.Observe(); o.Depths.Max != 3 || o.Batches != 6 || o.Rows != 12 {
			t.Fatalf("observed %+v", o)
		}
	}
}

func TestSlotsDoNotScaleWithConsumers(t *testing.T) {
	// req: R-041 half: consumers of one node; subscriptions and remote nodes come later
	b := newBench(t, Config{Capacity: 1})
	var readers []*reader
	for i := range 50 {
		readers = append(readers, b.reader(1, i%2 == 0))
	}
	first := b.publish(b.parcel(1, 1), true)
	b.publish(b.parcel(1, 2), false)
	b.want(1, 1)
	for i, r := range readers {
		if want := i == 49; want != (first.fate.settled.Load() == 1) { // consumer 49 is detached
			t.Fatalf("settled %v after %d consumers", !want, i)
		}
		r.work(1)
	}
	b.want(1, 0)
	for _, r := range readers {
		r.work(1)
	}
	b.want(0, 0)
}

func TestShrinkDeliversAllAndGrowthAdmitsAtOnce(t *testing.T) {
	// req: R-043
	// req: R-020 half: the buffer keeps its content; that ALTER finds the same owner is the engine's
	b := newBench(t, Config{Capacity: 4})
	r := b.reader(0, true)
	var buffered []*parcel
	for i := range 4 {
		buffered = append(buffered, b.publish(b.parcel(i, int64(i)), true))
	}
	b.relay.SetCapacity(1)
	b.publish(b.parcel(9, 4), false)
	b.publish(b.parcel(9, 5), false)
	b.publish(b.parcel(9, 6), false)
	r.open(1)
	for i := range 3 {
		b.want(uint64(4-i), 3)
		r.work(1)
	}
	b.want(1, 3) // the bound is 1, so nothing is admitted at depth 1
	r.work(1)
	b.want(1, 2)
	for i, p := range buffered {
		if p.fate.settled.Load() != 1 || p.fate.failed.Load() != 0 {
			t.Fatalf("batch %d was dropped by the shrink", i)
		}
	}
	b.relay.SetCapacity(2)
	b.want(2, 1)
	b.relay.SetCapacity(1 << 63)
	b.want(3, 0)
	r.work(9)
	b.want(0, 0)
	if want := []int64{0, 1, 2, 3, 4, 5, 6}; !slices.Equal(r.seen, want) {
		t.Fatalf("delivered %v", r.seen)
	}
}

func TestGreatestCapacity(t *testing.T) {
	// req: R-039 half: the buffer; storage and printing are the registry's
	b := newBench(t, Config{Capacity: 18446744073709551615})
	r := b.reader(1, true)
	b.publish(b.parcel(1, 1), true)
	if c := b.relay.Observe().Capacity; c != 18446744073709551615 {
		t.Fatalf("capacity %d", c)
	}
	r.work(1)
}

// A publication must not overtake another that waits, even when there is a place again.
func TestPublicationsAreAdmittedInOrder(t *testing.T) {
	b := newBench(t, Config{Capacity: 1})
	r := b.reader(0, true)
	b.publish(b.parcel(1, 0), true)
	first := b.parcel(1, 1)
	first.Admitted = func() { b.publish(b.parcel(1, 3), false) } // a producer that has its next batch ready
	b.publish(first, false)
	b.publish(b.parcel(1, 2), false)
	b.relay.SetCapacity(9)
	b.want(4, 0)
	r.open(1)
	r.work(4)
	if want := []int64{0, 1, 2, 3}; !slices.Equal(r.seen, want) {
		t.Fatalf("order %v, want %v", r.seen, want)
	}
	b.want(0, 0)
}

func TestHeadOfLine(t *testing.T) {
	b := newBench(t, Config{Capacity: 8})
	slots, other := b.reader(1, true), b.reader(8, true)
	b.publish(b.parcel(1, 0), true)
	b.publish(b.parcel(1, 1), true)
	b.publish(b.parcel(2, 2), true)
	if !slices.Equal(slots.numbers(), []int64{0}) {
		t.Fatalf("a consumer whose branch has no place took %v", slots.numbers())
	}
	if !slices.Equal(other.numbers(), []int64{0, 1, 2}) {
		t.Fatalf("another consumer waits too: %v", other.numbers())
	}
	slots.work(1)
	if !slices.Equal(slots.numbers(), []int64{0, 1, 2}) {
		t.Fatalf("after the place became free: %v", slots.numbers())
	}
	slots.work(2)
	b.want(3, 0)
	other.work(3)
	b.want(0, 0)
}

var errLeft = errors.New("moved away")

func TestLeavingConsumerFreesItsPlaces(t *testing.T) {
	// req: R-031 half: on one host; a delivery that lands at a node without its consumer comes with the interconnect
	b := newBench(t, Config{Capacity: 2})
	stays, leaves := b.reader(9, true), b.reader(1, true)
	taken := b.publish(b.parcel(1, 0), true)
	buffered := b.publish(b.parcel(1, 1), true)
	waits := b.publish(b.parcel(1, 2), false)
	stays.work(9)
	b.want(2, 1)
	leaves.sub.Leave(errLeft)
	leaves.sub.Leave(errors.New("again"))
	b.want(2, 0) // one batch it had taken, one that was waiting
	if !errors.Is(buffered.fate.reason(), errLeft) || buffered.fate.settled.Load() != 1 {
		t.Fatalf("the buffered batch: %v, settled %d", buffered.fate.reason(), buffered.fate.settled.Load())
	}
	stays.work(9)
	leaves.work(9) // what it had taken stays its own
	b.want(0, 0)
	for _, p := range []*parcel{taken, waits} {
		if p.fate.reason() != nil || p.fate.settled.Load() != 1 {
			t.Fatalf("batch %d: %v, settled %d", p.n, p.fate.reason(), p.fate.settled.Load())
		}
	}
	if !slices.Equal(stays.seen, []int64{0, 1, 2}) || !slices.Equal(leaves.seen, []int64{0}) {
		t.Fatalf("delivered %v and %v", stays.seen, leaves.seen)
	}
}

// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/nervix-go/nervix/host/kernel/batch"
)

// This file explores interleavings of the real owner: publishers, consumers that come and go, and changes of the capacity run as
// goroutines that yield at random, seeded points. They run in a synctest bubble, so that a lost wake-up is a reported deadlock and not a hang.

// jitter yields at random.
type jitter struct{ *rand.Rand }

func newJitter(seed uint64, who int) jitter { return jitter{rand.New(rand.NewPCG(seed, uint64(who)))} }

func (j jitter) step() {
	for range max(0, j.IntN(6)-3) {
		runtime.Gosched()
	}
}

// slotted is a consumer as the node runtime is one: one batch in work and one waiting for each branch, a worker that starts them in order.
type slotted struct {
	name     string
	sub      *Subscription
	attached bool
	j        jitter

	mu      sync.Mutex
	queue   []offer
	waiting map[string]bool
	refused string
	seen    []int64
	err     error
	offered atomic.Int32

	wake chan struct{}
	stop chan struct{}
	done chan struct{}
}

func newSlotted(o *Owner, name string, attached bool, j jitter) *slotted {
	s := &slotted{name: name, attached: attached, j: j, waiting: map[string]bool{}, wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	s.sub = o.Attach(s, attached)
	go s.loop()
	return s
}

func (s *slotted) Offer(b *batch.Batch, seq uint64) bool {
	if s.offered.Add(1) != 1 {
		s.fail("two goroutines offer at once")
	}
	defer s.offered.Add(-1)
	s.mu.Lock()
	if s.waiting[b.Key.Text] {
		s.refused = b.Key.Text
		s.mu.Unlock()
		if seq%2 == 0 {
			runtime.Gosched() // a Resume may come before the refusal is known to the relay
		}
		return false
	}
	if b.Lineage.Tracked() != s.attached {
		s.err = fmt.Errorf("tracked: %v", b.Lineage.Tracked())
	}
	s.waiting[b.Key.Text] = true
	s.queue = append(s.queue, offer{b, seq})
	s.seen = append(s.seen, number(b))
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return true
}

func (s *slotted) fail(text string) {
	s.mu.Lock()
	s.err = fmt.Errorf("%s: %s", s.name, text)
	s.mu.Unlock()
}

func (s *slotted) loop() {
	defer close(s.done)
	for {
		select {
		case <-s.wake:
			s.drain()
		case <-s.stop:
			s.drain()
			return
		}
	}
}

func (s *slotted) drain() {
	for {
		s.j.step()
		s.mu.Lock()
		if len(s.queue) == 0 {
			s.mu.Unlock()
			return
		}
		next := s.queue[0]
		s.queue = s.queue[1:]
		text := next.batch.Key.Text
		s.waiting[text] = false
		resume := s.refused == text
		if resume {
			s.refused = ""
		}
		s.mu.Unlock()
		s.sub.Started(next.seq)
		if resume {
			s.j.step()
			s.sub.Resume()
		}
		s.j.step()
		next.batch.Settle()
	}
}

func (s *slotted) end() {
	close(s.stop)
	<-s.done
}

// run explores one seed.
func run(t *testing.T, seed uint64) {
	j := newJitter(seed, 0)
	const most = 4
	b := newBench(t, Config{Capacity: 1 + j.Uint64N(most), TTL: hour, MaxInstances: j.Uint64N(3)})
	firm := []*slotted{newSlotted(b.relay, "firm", true, newJitter(seed, 1))}
	if j.IntN(2) == 0 {
		firm = append(firm, newSlotted(b.relay, "detached", false, newJitter(seed, 2)))
	}
	publishers, each := 1+j.IntN(3), 1+j.IntN(30)
	parcels := make([]*parcel, 0, publishers*each)
	for n := range publishers * each {
		parcels = append(parcels, b.parcel(j.IntN(3), int64(n)))
	}
	var work, others sync.WaitGroup
	for p := range publishers {
		j := newJitter(seed, 10+p)
		work.Go(func() {
			place := make(chan struct{}, 1)
			for _, one := range parcels[p*each : (p+1)*each] {
				one.Admitted = func() {
					one.admitted.Add(1)
					place <- struct{}{}
				}
				j.step()
				if !b.relay.Publish(&one.Publication) {
					<-place
				}
			}
		})
	}
	guests := make([]*slotted, j.IntN(3))
	for g := range guests {
		j := newJitter(seed, 20+g)
		others.Go(func() {
			j.step()
			s := newSlotted(b.relay, "guest", j.IntN(3) > 0, newJitter(seed, 30+g))
			guests[g] = s
			for range j.IntN(30) {
				runtime.Gosched()
			}
			s.sub.Leave(errLeft)
		})
	}
	if j.IntN(2) == 0 {
		j := newJitter(seed, 3)
		others.Go(func() {
			for range each {
				j.step()
				b.relay.SetCapacity(1 + j.Uint64N(most))
				if o := b.relay.Observe(); o.Depth > most {
					t.Errorf("seed %d: depth %d", seed, o.Depth)
				}
				b.relay.Touch(int64(j.IntN(100)))
				b.relay.Scan()
			}
		})
	}
	work.Wait()
	others.Wait()
	synctest.Wait() // every batch was admitted; the workers have now taken all they can
	for _, s := range append(firm, guests...) {
		s.end()
	}
	judge(t, seed, b, firm, guests, parcels, each)
}

func judge(t *testing.T, seed uint64, b *bench, firm, guests []*slotted, parcels []*parcel, each int) {
	t.Helper()
	order := firm[0].seen
	if sorted := slices.Sorted(slices.Values(order)); len(sorted) != len(parcels) || len(slices.Compact(sorted)) != len(parcels) {
		t.Fatalf("seed %d: %d of %d batches delivered: %v", seed, len(order), len(parcels), order)
	}
	last := map[int64]int64{}
	for _, n := range order {
		p := n / int64(each)
		if before, ok := last[p]; ok && before > n {
			t.Fatalf("seed %d: publisher %d out of order: %v", seed, p, order)
		}
		last[p] = n
	}
	for _, s := range append(firm[1:], guests...) {
		if s.err != nil {
			t.Fatalf("seed %d: %v", seed, s.err)
		}
		from := 0
		if len(s.seen) > 0 {
			from = slices.Index(order, s.seen[0])
		}
		if from < 0 || from+len(s.seen) > len(order) || !slices.Equal(s.seen, order[from:from+len(s.seen)]) {
			t.Fatalf("seed %d: %s saw %v of %v", seed, s.name, s.seen, order)
		}
	}
	for _, s := range firm[1:] {
		if len(s.seen) != len(order) {
			t.Fatalf("seed %d: %s missed batches", seed, s.name)
		}
	}
	for _, p := range parcels {
		if p.fate.settled.Load() != 1 || p.admitted.Load() > 1 || p.fate.block.Holds() != 0 {
			t.Fatalf("seed %d: batch %d settled %d times, admitted %d times", seed, p.n, p.fate.settled.Load(), p.admitted.Load())
		}
		if p.fate.failed.Load() == 0 {
			continue
		}
		missed := slices.ContainsFunc(guests, func(g *slotted) bool { return g.attached && !slices.Contains(g.seen, p.n) })
		if !missed {
			t.Fatalf("seed %d: batch %d failed although everybody took it", seed, p.n)
		}
	}
	if o := b.relay.Observe(); o.Depth != 0 || o.Waiting != 0 || o.Consumers != len(firm) || o.Depths.Max > 4 {
		t.Fatalf("seed %d: at the end %+v", seed, o)
	}
	b.alloc.AssertSize(t, 0)
}

func TestExploreInterleavings(t *testing.T) {
	// req
	// req: R-042 half: consumers and branches stay attached through changes of the capacity; subscriptions come with sessions
	for seed := range uint64(400) {
		synctest.Test(t, func(t *testing.T) { run(t, seed) })
		if t.Failed() {
			return
		}
	}
}

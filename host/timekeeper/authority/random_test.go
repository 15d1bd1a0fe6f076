// SPDX-License-Identifier: Apache-2.0

package authority

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// story plays random events of three domains and three peers. The rig checks each effect: one request a peer and domain, no successor beside its
// predecessor. At the end everybody answers, and every peer must have the newest tick of every producer.
func story(t *testing.T, seed uint64) *rig {
	rnd := rand.New(rand.NewPCG(seed, 1))
	quota := 1 + rnd.IntN(4)
	r := newRig(t, quota)
	domains := []ident.Domain{"a", "b", "c"}
	held := map[ident.Domain]clock.Lifecycle{}
	revision := ident.Revision(1)
	for _, d := range domains {
		held[d] = lifecycle(d, 1, 1, []float64{1e-6, 1, 1e6}[rnd.IntN(3)])
		r.install(held[d], revision)
	}
	for range 300 {
		d := domains[rnd.IntN(3)]
		node := ident.Node(2 + rnd.IntN(3))
		switch rnd.IntN(9) {
		case 0:
			revision++
			l := change(rnd, held[d])
			held[d] = l
			r.install(l, revision)
		case 1:
			r.peer(node, ident.Revision(rnd.IntN(int(revision)+1)), rnd.IntN(4) > 0)
		case 2:
			r.m.Peer(r.now, Peer{Node: node, Incarnation: ident.Incarnation(rnd.IntN(3)), Revision: revision, Live: true})
			r.take()
		case 3:
			r.m.Forget(r.now, node)
			r.take()
		case 4:
			r.now.UTC = vtime.UTCFromNS(r.now.UTC.NS() + rnd.Int64N(2e9) - 1e9) // a step
		case 5, 6:
			if all := r.numbers(); len(all) > 0 {
				n := all[rnd.IntN(len(all))]
				delete(r.under, n)
				delete(r.asked, n)
				r.m.Ended(r.now, n, rnd.IntN(3) > 0)
				r.take()
			}
		default:
			r.wake(time.Duration(rnd.Int64N(int64(3 * time.Second))))
		}
		if len(r.under) > quota || len(r.under) != r.m.UnderWay() {
			t.Fatalf("seed %d: %d requests, the machine knows %d, the quota is %d", seed, len(r.under), r.m.UnderWay(), quota)
		}
	}
	settle(t, seed, r, held, revision)
	return r
}

func change(rnd *rand.Rand, l clock.Lifecycle) clock.Lifecycle {
	switch rnd.IntN(4) {
	case 0:
		return clock.Stop(l)
	case 1:
		l.Fence = clock.Fence{Revision: l.Fence.Revision + 1, Authority: clock.Authority{Node: 1, Incarnation: ident.Incarnation(2 + rnd.IntN(3))}}
	default:
		l = lifecycle(l.Domain, l.Generation+1, l.Fence.Revision+1, []float64{1e-6, 1, 1e6}[rnd.IntN(3)])
	}
	return l
}

// settle lets everything end well.
func settle(t *testing.T, seed uint64, r *rig, held map[ident.Domain]clock.Lifecycle, revision ident.Revision) {
	for node := ident.Node(2); node < 5; node++ {
		r.m.Peer(r.now, Peer{Node: node, Incarnation: 9, Revision: revision, Live: true})
		r.take()
	}
	for range 100 {
		for _, n := range r.numbers() {
			delete(r.under, n)
			delete(r.asked, n)
			r.m.Ended(r.now, n, true)
			r.take()
		}
		r.wake(1)
	}
	var want []ident.Domain
	for d, l := range held {
		if r.m.owns(l) {
			want = append(want, d)
		}
	}
	slices.Sort(want)
	got := r.m.Producing()
	for _, d := range got {
		s := r.m.domains[d]
		if s.now.Lifecycle() != held[d] {
			t.Fatalf("seed %d: %s is produced for %+v, installed is %+v", seed, d, s.now.Lifecycle(), held[d])
		}
		for node, p := range s.now.pairs {
			if p.delivered+1 < s.now.newest.Tick.ID { // a tick of the last nanosecond may be under way
				t.Fatalf("seed %d: %s has tick %d of %s, the newest is %d", seed, node, p.delivered, d, s.now.newest.Tick.ID)
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("seed %d: %v are produced, want %v", seed, got, want)
	}
}

func TestRandomStories(t *testing.T) {
	// req: C-047, C-048, C-058, C-062
	for seed := range uint64(120) {
		first, again := story(t, seed), story(t, seed)
		if fmt.Sprint(first.told) != fmt.Sprint(again.told) {
			t.Fatalf("seed %d: the same events gave other effects", seed)
		}
	}
}

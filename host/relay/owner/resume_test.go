// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/nervix-go/nervix/host/kernel/batch"
)

// fickle refuses each batch once and has another goroutine resume while the refusal is still on its way back to the relay.
type fickle struct {
	sub    *Subscription
	resume chan struct{}
	taken  chan struct{}
	rnd    *rand.Rand
	last   uint64
	spin   atomic.Int64
}

// idle passes some time without giving up the processor.
func (f *fickle) idle(turns int) {
	for range turns {
		f.spin.Add(1)
	}
}

func (f *fickle) Offer(b *batch.Batch, seq uint64) bool {
	if seq != f.last {
		f.last = seq
		f.resume <- struct{}{}
		f.idle(f.rnd.IntN(3000)) // about the time a wake-up takes, so that Resume comes just before or after the refusal
		return false
	}
	f.sub.Started(seq)
	b.Settle()
	f.taken <- struct{}{}
	return true
}

// Resume races with the refusal it answers. A resume that is lost stops the relay for ever; the bubble reports that as a deadlock.
func TestResumeIsNeverLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Config{Capacity: 1})
		f := &fickle{resume: make(chan struct{}, 1), taken: make(chan struct{}, 1), rnd: rand.New(rand.NewPCG(1, 2)), last: 1 << 62}
		f.sub = b.relay.Attach(f, true)
		var helpers sync.WaitGroup
		helpers.Go(func() {
			for range f.resume {
				f.sub.Resume()
			}
		})
		for n := range int64(5000) {
			b.publish(b.parcel(1, n), true)
			<-f.taken
		}
		close(f.resume)
		helpers.Wait()
	})
}

// The same race with its one decisive order made certain: the place becomes free after the consumer refused and before the relay knows.
func TestResumeInsideTheRefusedOffer(t *testing.T) {
	b := newBench(t, Config{Capacity: 2})
	r := b.reader(0, true)
	offers := 0
	r.hook = func() {
		if offers++; offers == 1 {
			r.sub.Resume()
		}
	}
	b.publish(b.parcel(1, 0), true)
	b.publish(b.parcel(1, 1), true)
	if offers != 2 {
		t.Fatalf("%d offers, want the refused one, the resumed one and no more until another resume", offers)
	}
	r.open(2)
	r.work(2)
	b.want(0, 0)
}

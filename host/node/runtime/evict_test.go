// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/lanes"
)

// resident is a handler whose branches hold something until they are evicted.
type resident struct {
	mu    sync.Mutex
	opens []string
	ends  []string
	busy  map[string]bool
	park  bool
}

func (r *resident) note(list *[]string, b *Branch) {
	r.mu.Lock()
	*list = append(*list, b.Key.Text)
	r.mu.Unlock()
}

func (r *resident) Open(_ *lanes.Lane, b *Branch) { r.note(&r.opens, b) }

func (r *resident) Evicted(_ *lanes.Lane, b *Branch) { r.note(&r.ends, b) }

func (r *resident) Quiet(b *Branch) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.busy[b.Key.Text]
}

func (r *resident) Handle(_ *lanes.Lane, b *Branch, _ int, in *batch.Batch) {
	r.mu.Lock()
	if r.park {
		r.park = false
		b.Park()
	}
	r.mu.Unlock()
	in.Settle()
}

func (r *resident) set(change func()) {
	r.mu.Lock()
	change()
	r.mu.Unlock()
}

func TestBranchesGiveWay(t *testing.T) {
	// req: W-126 half: the node; what a guest loses is in host/node/wasmproc
	synctest.Test(t, func(t *testing.T) {
		exec := lanes.New(2)
		r := &resident{busy: map[string]bool{}}
		n := NewNode(Config{Ref: nodeRef, Lanes: exec, Inputs: 1, TTL: 100, MaxInstances: 2, Now: func() (vtime.Logical, bool) { return vtime.LogicalFromNS(1), true }}, r)
		n.Input(0).Connect(&upstream{})
		put := func(i int, ends ...int) {
			t.Helper()
			offer(t, n.Input(0), key(i), int64(i), true)
			synctest.Wait()
			var want []string
			for _, e := range ends {
				want = append(want, key(e).Text)
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			if !slices.Equal(r.ends, want) || n.Branches() > 2 {
				t.Fatalf("after %d: ended %v, want %v; %d branches", i, r.ends, want, n.Branches())
			}
		}
		put(1)
		put(2)
		put(1)
		put(3, 2) // the least recently used one gives way
		put(2, 2, 1)
		r.set(func() { r.busy[key(3).Text] = true })
		put(1, 2, 1) // 3 is not quiet: it leaves at a later scan
		n.Scan()
		synctest.Wait()
		r.set(func() { r.busy[key(3).Text] = false })
		n.Scan()
		synctest.Wait()
		put(1, 2, 1, 3)
		// A branch that comes back before it left is the same one.
		r.set(func() { r.busy[key(2).Text] = true })
		put(4, 2, 1, 3) // 2 is leaving
		put(2, 2, 1, 3, 1)
		r.set(func() { r.busy[key(2).Text] = false })
		n.Scan()
		synctest.Wait()
		put(2, 2, 1, 3, 1)
		r.mu.Lock()
		opened := slices.Clone(r.opens)
		r.park = true
		r.mu.Unlock()
		if want := []string{key(1).Text, key(2).Text, key(3).Text, key(2).Text, key(1).Text, key(4).Text}; !slices.Equal(opened, want) {
			t.Fatalf("opened %v, want %v", opened, want)
		}
		// A parked branch with work left stays, and what it has fails with the node.
		put(4, 2, 1, 3, 1)
		offer(t, n.Input(0), key(4), 9, true)
		put(2, 2, 1, 3, 1)
		put(5, 2, 1, 3, 1)
		n.Scan()
		put(2, 2, 1, 3, 1)
		n.Close(errGone)
		n.Abandon(errGone)
		end(t, exec)
	})
}

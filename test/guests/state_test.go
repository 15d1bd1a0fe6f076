// SPDX-License-Identifier: Apache-2.0

package guests

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nervix-go/nervix/test/nodes"
)

// TestEvictedBranchesGoOn lets branches end for their instance limit and their TTL, and come back.
func TestEvictedBranchesGoOn(t *testing.T) {
	t.Parallel()
	// req: W-003
	// req: W-116 half: after callbacks; not yet a handoff
	// req: W-117
	// req: W-126
	w := start(t)
	puppet := []file{{"puppet.wasm", wat(t, puppet())}}
	byLimit := func() {
		// Five branches take turns in two places. Their guests trap in flush, so that a flush would show.
		a := w.arena(t, "lru", arenaOptions{branch: "TTL 1h MAX INSTANCES 2 EVICT LRU", files: puppet})
		a.define(processor{name: "puppet", file: "puppet.wasm"}.text())
		var want []int
		for round := range 20 {
			for n := range 5 {
				a.feed(item{fmt.Sprintf("b%d %sf(x);", n, keyMark), ""})
			}
			want = append(want, round+1)
		}
		a.Do("START")
		a.Finish("feed")
		for bed, got := range a.counts("out") {
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s: %s", bed, d)
			}
		}
		d := a.describe("puppet")
		if d.LiveBranches > 2 || len(a.counts("out")) != 5 {
			t.Errorf("%d branches live, of %d", d.LiveBranches, len(a.counts("out")))
		}
		if got := a.failures("puppet"); len(got) > 0 {
			t.Errorf("a branch was flushed, or worse: %v", got)
		}
		a.Do("STOP")
	}
	byTime := func() {
		a := w.arena(t, "ttl", arenaOptions{branch: "TTL 200ms", follow: true, files: puppet})
		a.define(processor{name: "puppet", file: "puppet.wasm"}.text(), "START;")
		bed := "a " + keyMark + "f(x);"
		for range 3 {
			a.feed(item{bed, ""})
			a.settled()
			nodes.Eventually(t, "the branch has ended", func() bool { return a.describe("puppet").LiveBranches == 0 })
		}
		if d := cmp.Diff([]int{1, 2, 3}, a.counts("out")[bed]); d != "" {
			t.Error(d)
		}
		if got := a.failures("puppet"); len(got) > 0 {
			t.Errorf("a branch was flushed, or worse: %v", got)
		}
		a.Do("STOP")
	}
	byLimit()
	byTime()
	w.node.Stop()
}

// SPDX-License-Identifier: Apache-2.0

package authority

import (
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/clock"
)

// outcome is what the check decides for one request: whether its timeout wins, and how it ends.
type outcome int

const (
	answeredInTime outcome = iota
	failedInTime
	answeredLate // the timeout wins, the answer comes before the request has ended
	cancelled    // the timeout wins, and the request ends without an answer
	outcomes
)

// TestBothOutcomesOfEveryTimeout goes through all sequences of outcomes of five requests to one peer. The machine has no say in which of them comes: clocks are
// values, and the check moves them past a deadline or not. A timeout asks for the end of its request once and begins nothing beside it; a failure pauses; and
// what is sent next is the newest report.
func TestBothOutcomesOfEveryTimeout(t *testing.T) {
	// req: C-209 half: the timeouts of progress reports; the source check is in internal/clockowners
	const requests = 5
	paths := 1
	for range requests {
		paths *= int(outcomes)
	}
	var seen [outcomes]int
	for path := range paths {
		r := newRig(t, 1)
		r.install(lifecycle("a", 1, 1, 1), 1)
		r.peer(2, 1, true)
		rest := path
		for range requests {
			o := outcome(rest % int(outcomes))
			rest /= int(outcomes)
			seen[o]++
			underWay(r, path)
			follow(r, path, o)
		}
	}
	for o, n := range seen {
		if n != requests*paths/int(outcomes) {
			t.Errorf("outcome %d came %d times", o, n)
		}
	}
}

// underWay waits for ticks until a request is under way, and looks at it.
func underWay(r *rig, path int) {
	r.t.Helper()
	for range 20 {
		if len(r.under) > 0 {
			break
		}
		r.wake(100 * time.Millisecond)
	}
	all := r.numbers()
	if len(all) != 1 || r.m.UnderWay() != 1 {
		r.t.Fatalf("path %d: %d requests are under way", path, len(all))
	}
	if sent, newest := r.under[all[0]].Report, newestOf(r); sent != newest {
		r.t.Fatalf("path %d: %+v is sent, the newest is %+v", path, sent, newest)
	}
}

func newestOf(r *rig) clock.Progress { return r.reports[len(r.reports)-1] }

// follow lets the request that is under way end as the check decided.
func follow(r *rig, path int, o outcome) {
	r.t.Helper()
	number := r.numbers()[0]
	sent := r.under[number].Report
	if o == answeredLate || o == cancelled {
		r.wake(AttemptTimeout - 1)
		if r.asked[number] {
			r.t.Fatalf("path %d: a request is cancelled before its time", path)
		}
		r.wake(1)
		if !r.asked[number] || r.m.UnderWay() != 1 || len(r.under) != 1 {
			r.t.Fatalf("path %d: its time is over, and a request goes on", path)
		}
		r.wake(AttemptTimeout) // it may take its time to end
		if len(r.under) != 1 {
			r.t.Fatalf("path %d: another request began beside one that is cancelled", path)
		}
	} else if r.wake(10 * time.Millisecond); r.asked[number] {
		r.t.Fatalf("path %d: a request is cancelled early", path)
	}
	answered := o == answeredInTime || o == answeredLate
	r.end(2, answered)
	switch newer := newestOf(r).Tick.ID > sent.Tick.ID; {
	case answered && len(r.under) == 0 && newer:
		r.t.Fatalf("path %d: a newer report waits behind an answer", path)
	case answered && len(r.under) > 0 && !newer:
		r.t.Fatalf("path %d: an answered report is sent again", path)
	case !answered:
		r.wake(RetryPause - 1)
		if len(r.under) > 0 {
			r.t.Fatalf("path %d: no pause behind a failure", path)
		}
		r.wake(1)
		if len(r.under) != 1 {
			r.t.Fatalf("path %d: no retry behind the pause", path)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package control_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/control"
	"github.com/nervix-go/nervix/host/control/memlog"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/registry"
)

// paced opens a Control with settable candidates and a running paced domain d.
func paced(t *testing.T, voters ...clock.Authority) *script {
	t.Helper()
	s := &script{t: t, log: memlog.New(), node: &node{waiting: make(chan struct{}, 1)}}
	s.voters.Store(&voters)
	s.open(t)
	s.must(t, control.Request{User: "ann", Text: "CREATE PACED DOMAIN d WITH PERIOD 1s SKEW 0s"})
	s.must(t, in("START"))
	return s
}

func (s *script) fence() clock.Fence { return s.log.State().Domains["d"].Fence }

// elect sets the candidates and tells it.
func (s *script) elect(voters ...clock.Authority) {
	s.voters.Store(&voters)
	s.control.Reconcile()
}

func TestAuthorityFollowsTheCandidates(t *testing.T) {
	// req: C-035 half: domain state and candidates; leadership has no other source than the port here
	// req: C-039
	// req: C-041
	// req: C-043 half: the committed fence; that the clock is unavailable meanwhile is the timekeeper's
	synctest.Test(t, func(t *testing.T) {
		s := paced(t, self(1, 1))
		defer s.control.Close()
		begun := s.log.State().Domains["d"]
		if begun.Fence.Authority != self(1, 1) {
			t.Fatalf("started under %s", begun.Fence.Authority)
		}
		for _, step := range []struct {
			why    string
			voters []clock.Authority
			want   clock.Authority
			moves  uint64
		}{
			{"a voter beside it: it stays", []clock.Authority{self(1, 1), self(2, 1), self(3, 1)}, self(1, 1), 0},
			{"only others are left", []clock.Authority{self(2, 4)}, self(2, 4), 1},
			{"the same node started again", []clock.Authority{self(2, 5)}, self(2, 5), 1},
			{"an older observation of it beside: the newest counts", []clock.Authority{self(2, 4), self(2, 5)}, self(2, 5), 0},
			{"nobody is left", nil, clock.Authority{}, 1},
			{"still nobody", nil, clock.Authority{}, 0},
			{"somebody is back", []clock.Authority{self(3, 1)}, self(3, 1), 1},
		} {
			before := s.fence()
			s.elect(step.voters...)
			synctest.Wait()
			got := s.log.State().Domains["d"]
			if got.Fence.Authority != step.want || got.Fence.Revision != before.Revision+step.moves {
				t.Errorf("%s: %s by %d moves", step.why, got.Fence.Authority, got.Fence.Revision-before.Revision)
			}
			if got.Mapping != begun.Mapping || got.Generation != begun.Generation {
				t.Errorf("%s: mapping or generation changed", step.why)
			}
		}
		s.must(t, in("STOP"))
		stopped := s.fence()
		s.elect(self(1, 1))
		synctest.Wait()
		if s.fence() != stopped {
			t.Error("a stopped domain got an authority")
		}
	})
}

// TestCommittedDomainsAreReconciledWithoutANotice starts a domain under an authority that is no candidate by the time it is committed.
func TestCommittedDomainsAreReconciledWithoutANotice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := paced(t, self(1, 1))
		defer s.control.Close()
		s.must(t, in("STOP"))
		s.log.Judge(func(c *registry.Command) memlog.Fault {
			if _, start := c.Body.(*registry.Start); start {
				s.voters.Store(&[]clock.Authority{self(2, 1)})
			}
			return memlog.None
		})
		s.must(t, in("START"))
		synctest.Wait()
		if got := s.fence().Authority; got != self(2, 1) {
			t.Errorf("the authority is %s", got)
		}
	})
}

func TestReconciliationIsTriedAgain(t *testing.T) {
	// req: C-044
	// req: C-045 half: the refused first proposal; there is one node, so no election
	synctest.Test(t, func(t *testing.T) {
		s := paced(t, self(1, 1))
		defer s.control.Close()
		var mu sync.Mutex
		var at []time.Duration
		began := osclock.Mono()
		s.log.Judge(func(c *registry.Command) memlog.Fault {
			if _, ok := c.Body.(*registry.ReconcileAuthority); !ok {
				return memlog.None
			}
			mu.Lock()
			defer mu.Unlock()
			at = append(at, osclock.Mono().Sub(began))
			if len(at) < 4 {
				return memlog.Refuse
			}
			return memlog.None
		})
		synctest.Wait()
		s.elect(self(2, 1))
		_ = osclock.Wait(t.Context(), 10*time.Second)
		mu.Lock()
		defer mu.Unlock()
		want := []time.Duration{0, 200 * time.Millisecond, 400 * time.Millisecond, 600 * time.Millisecond}
		if len(at) != len(want) {
			t.Fatalf("tried at %v", at)
		}
		for i := range want {
			if at[i] != want[i] {
				t.Errorf("tried at %v, want %v", at, want)
			}
		}
		if got := s.fence().Authority; got != self(2, 1) {
			t.Errorf("the authority is %s", got)
		}
	})
}

// TestAllDomainsOfALostNodeMove loses the authority of many domains at once, with some proposals refused.
func TestAllDomainsOfALostNodeMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := paced(t, self(1, 1))
		defer s.control.Close()
		const domains = 100
		for n := range domains - 1 {
			d := fmt.Sprintf("d%d", n)
			s.must(t, control.Request{User: "ann", Text: "CREATE PACED DOMAIN " + d + " WITH PERIOD 1s SKEW 0s"})
			s.must(t, control.Request{User: "ann", Domain: ident.Name(d), Text: "START"})
		}
		synctest.Wait()
		var refusals atomic.Int32
		s.log.Judge(func(c *registry.Command) memlog.Fault {
			if _, ok := c.Body.(*registry.ReconcileAuthority); ok && refusals.Add(1) <= 10 {
				return memlog.Refuse
			}
			return memlog.None
		})
		s.elect(self(2, 1), self(3, 1))
		_ = osclock.Wait(t.Context(), time.Second)
		owned := map[clock.Authority]int{}
		for _, d := range s.log.State().Domains {
			owned[d.Fence.Authority]++
			if want, _ := clock.Select(d.Name, []clock.Authority{self(2, 1), self(3, 1)}); d.Fence.Authority != want {
				t.Errorf("domain %s is with %s, want %s", d.Name, d.Fence.Authority, want)
			}
		}
		if owned[self(2, 1)]+owned[self(3, 1)] != domains || len(owned) != 2 {
			t.Errorf("owned: %v", owned)
		}
	})
}

func TestOnlyTheLeaderReconciles(t *testing.T) {
	// req: C-042
	synctest.Test(t, func(t *testing.T) {
		var leads atomic.Bool
		s := &script{t: t, log: memlog.New(), node: &node{waiting: make(chan struct{}, 1)}, leads: leads.Load}
		s.voters.Store(&[]clock.Authority{self(1, 1)})
		s.open(t)
		defer s.control.Close()
		s.must(t, control.Request{User: "ann", Text: "CREATE PACED DOMAIN d WITH PERIOD 1s SKEW 0s"})
		s.must(t, in("START"))
		begun := s.log.State().Domains["d"]
		leads.Store(true)
		s.control.Reconcile()
		synctest.Wait()
		leads.Store(false)
		s.control.Reconcile()
		synctest.Wait()
		if got := s.log.State().Domains["d"]; got.Fence != begun.Fence || got.Mapping != begun.Mapping {
			t.Errorf("a transfer of leadership moved the clock to %+v", got.Clock())
		}
		s.elect(self(2, 1))
		_ = osclock.Wait(t.Context(), time.Minute)
		if s.fence() != begun.Fence {
			t.Error("a follower moved the authority")
		}
		leads.Store(true)
		s.control.Reconcile()
		synctest.Wait()
		if got := s.fence().Authority; got != self(2, 1) {
			t.Errorf("the new leader left the authority with %s", got)
		}
	})
}

// TestStaleReconciliationHasNoEffect proposes what a former leader computed.
func TestStaleReconciliationHasNoEffect(t *testing.T) {
	// req: C-040
	s := paced(t, self(1, 1))
	defer s.control.Close()
	d := s.log.State().Domains["d"]
	old := &registry.ReconcileAuthority{Domain: "d", Generation: d.Generation, Expected: d.Fence, Authority: self(3, 1)}
	s.elect(self(2, 1))
	s.wait(func(st *registry.State) bool { return st.Domains["d"].Fence.Authority == self(2, 1) })
	now := s.fence()
	res, err := s.log.Propose(t.Context(), registry.EncodeCommand(&registry.Command{Body: old}))
	if err != nil || res.Verdict != registry.Stale || res.Outcome.Failed() || s.fence() != now {
		t.Errorf("%+v, %v; the fence is %+v", res, err, s.fence())
	}
}

func TestNoStartWithoutAnAuthority(t *testing.T) {
	// req: C-022 half: the failure; who is a voter is the cluster's
	s := paced(t, self(1, 1))
	defer s.control.Close()
	s.must(t, in("STOP"))
	s.elect()
	for _, text := range []string{"START", "START AT NOW", "START AT '2000-01-01T00:00:00Z' TIME RATE 2"} {
		if out := s.control.Execute(t.Context(), in(text)); out.Code() != fault.ClockAuthority || out.Diagnostics[0].Hint == "" {
			t.Errorf("%s: %s %v", text, out.Disposition, out.Diagnostics)
		}
	}
	session := in("BEGIN; CREATE SCHEMA s (x I64); START")
	session.Transaction = s.must(t, session).Transaction
	session.Text = "COMMIT"
	out := s.control.Execute(t.Context(), session)
	if out.Code() != fault.ClockAuthority || out.Transaction.IsZero() {
		t.Errorf("COMMIT: %s %v", out.Disposition, out.Diagnostics)
	}
	d := s.log.State().Domains["d"]
	if d.Generation != 1 || len(d.Definitions) != 0 {
		t.Errorf("generation %d, %d definitions", d.Generation, len(d.Definitions))
	}
	s.elect(self(1, 1))
	s.must(t, session)
	s.must(t, in("STOP"))
	// An unpaced domain needs nobody.
	s.elect()
	s.must(t, control.Request{User: "ann", Text: "CREATE DOMAIN u"})
	s.must(t, control.Request{User: "ann", Domain: "u", Text: "START"})
}

// SPDX-License-Identifier: Apache-2.0

package control_test

import (
	"bytes"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nervix-go/nervix/host/control"
	"github.com/nervix-go/nervix/host/control/memlog"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/registry"
)

// world opens a Control with a domain d.
func world(t *testing.T) *script {
	t.Helper()
	s := &script{t: t, log: memlog.New(), node: &node{waiting: make(chan struct{}, 1)}}
	s.open(t)
	t.Cleanup(func() { s.control.Close() })
	s.must(t, control.Request{User: "ann", Text: "CREATE DOMAIN d"})
	return s
}

func (s *script) must(t *testing.T, req control.Request) control.Outcome {
	t.Helper()
	out := s.control.Execute(t.Context(), req)
	if out.Disposition != control.Completed {
		t.Fatalf("%s: %s %v", req.Text, out.Disposition, out.Diagnostics)
	}
	return out
}

func in(text string) control.Request { return control.Request{User: "ann", Domain: "d", Text: text} }

func TestIdleTransactionsExpire(t *testing.T) {
	// req: G-061
	synctest.Test(t, func(t *testing.T) {
		s := &script{t: t, log: memlog.New(), node: &node{waiting: make(chan struct{}, 1)}}
		s.open(t)
		defer s.control.Close()
		s.must(t, control.Request{User: "ann", Text: "CREATE DOMAIN d"})
		bound := s.must(t, in("BEGIN")).Transaction
		lost := s.must(t, in("BEGIN")).Transaction
		ended := s.must(t, in("BEGIN")).Transaction
		if err := s.control.EndSession(t.Context(), "ann", lost, false); err != nil {
			t.Fatal(err)
		}
		if err := s.control.EndSession(t.Context(), "ann", ended, true); err != nil {
			t.Fatal(err)
		}
		state := func(id ident.Reference) registry.TransactionState {
			tx, known := s.log.State().Transaction(id)
			if !known {
				return 0
			}
			return tx.State
		}
		if got := state(ended); got != registry.TransactionReverted {
			t.Errorf("a cleanly ended session leaves its transaction %s", got)
		}
		_ = osclock.Wait(t.Context(), 14*time.Minute+30*time.Second)
		if got := state(lost); got != registry.TransactionOpen {
			t.Errorf("before the idle limit an unbound transaction is %s", got)
		}
		_ = osclock.Wait(t.Context(), 2*time.Minute)
		if got := state(lost); got != registry.TransactionExpired {
			t.Errorf("after the idle limit an unbound transaction is %s", got)
		}
		_ = osclock.Wait(t.Context(), 30*time.Minute)
		if got := state(bound); got != registry.TransactionOpen {
			t.Errorf("a bound transaction is %s", got)
		}
		out := s.control.Execute(t.Context(), control.Request{User: "ann", Domain: "d", Text: "COMMIT", Transaction: lost})
		if out.Disposition != control.Failed || !out.Transaction.IsZero() {
			t.Errorf("COMMIT of an expired transaction: %s, still bound %v", out.Disposition, !out.Transaction.IsZero())
		}
	})
}

func TestRevisionsAreInstalledInOrderAndRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{t: t, log: memlog.New(), node: &node{waiting: make(chan struct{}, 1), failTimes: 3}}
		s.open(t)
		defer s.control.Close()
		s.must(t, control.Request{User: "ann", Text: "CREATE DOMAIN d"})
		s.node.mu.Lock()
		s.node.failTimes = 2
		s.node.mu.Unlock()
		s.must(t, in("CREATE SCHEMA s (x I64)"))
		s.node.mu.Lock()
		defer s.node.mu.Unlock()
		if !slices.IsSorted(s.node.installs) || len(slices.Compact(slices.Clone(s.node.installs))) != len(s.node.installs) {
			t.Errorf("installed %v", s.node.installs)
		}
		if last := s.node.installs[len(s.node.installs)-1]; last != s.log.State().Revision {
			t.Errorf("answered before revision %d was installed; the last is %d", s.log.State().Revision, last)
		}
	})
}

func TestOneChangeOfADomainAtATime(t *testing.T) {
	s := world(t)
	arrived, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	s.log.Judge(func(c *registry.Command) memlog.Fault {
		if _, change := c.Body.(*registry.MutateModels); change {
			once.Do(func() {
				close(arrived)
				<-release
			})
		}
		return memlog.None
	})
	first := make(chan control.Outcome)
	go func() { first <- s.control.Execute(t.Context(), in("CREATE SCHEMA a (x I64)")) }()
	<-arrived
	for _, text := range []string{"CREATE SCHEMA b (x I64)", "START", "DROP DOMAIN d"} {
		if out := s.control.Execute(t.Context(), in(text)); out.Code() != fault.DomainBusy {
			t.Errorf("%s meanwhile: %s %v", text, out.Disposition, out.Diagnostics)
		}
	}
	s.must(t, control.Request{User: "ann", Text: "CREATE DOMAIN other"})
	close(release)
	if out := <-first; out.Disposition != control.Completed {
		t.Errorf("the first change: %v", out.Diagnostics)
	}
	s.must(t, in("CREATE SCHEMA b (x I64)"))
}

func TestRepetitionsJoinOneExecution(t *testing.T) {
	// req: G-005
	s := world(t)
	req := in("CREATE SCHEMA a (x I64)")
	req.Reference = ident.NewReference(osclock.UTC().UnixMilli(), [10]byte{9: 1})
	var group sync.WaitGroup
	outs := make([]control.Outcome, 16)
	for i := range outs {
		group.Go(func() { outs[i] = s.control.Execute(t.Context(), req) })
	}
	group.Wait()
	fresh := 0
	for _, out := range outs {
		if out.Disposition != control.Completed || out.Text != outs[0].Text || out.Reference != req.Reference {
			t.Errorf("one answer is %s %q %v", out.Disposition, out.Text, out.Diagnostics)
		}
		if !out.Recovered {
			fresh++
		}
	}
	if fresh != 1 {
		t.Errorf("%d answers say that they executed", fresh)
	}
}

// TestPasswordsAreNowhere looks into everything that is stored.
func TestPasswordsAreNowhere(t *testing.T) {
	s := world(t)
	var mu sync.Mutex
	var stored [][]byte
	s.log.Judge(func(c *registry.Command) memlog.Fault {
		mu.Lock()
		defer mu.Unlock()
		stored = append(stored, registry.EncodeCommand(c))
		return memlog.None
	})
	out := s.must(t, control.Request{User: "ann", Text: "CREATE USER bob WITH PASSWORD 'hunter2'"})
	s.must(t, control.Request{User: "ann", Text: "ALTER USER bob WITH PASSWORD 'hunter2'"})
	stored = append(stored, registry.EncodeSnapshot(s.log.State()), []byte(out.Text))
	for _, b := range stored {
		if bytes.Contains(b, []byte("hunter2")) {
			t.Error("a password is stored")
		}
	}
	if len(stored) != 4 || !slices.Equal(s.node.hashed, []string{"hunter2", "hunter2"}) {
		t.Errorf("%d stored forms, %d hashes", len(stored), len(s.node.hashed))
	}
	// The same reference with another password is the same command: a digest of a password must not be stored.
	again := control.Request{User: "ann", Text: "CREATE USER eve WITH PASSWORD 'one'", Reference: ident.NewReference(osclock.UTC().UnixMilli(), [10]byte{9: 1})}
	s.must(t, again)
	again.Text = "CREATE USER eve WITH PASSWORD 'two'"
	if out := s.must(t, again); !out.Recovered {
		t.Error("the repetition was executed")
	}
}

func TestCloseEndsWaits(t *testing.T) {
	s := world(t)
	s.node.gate = make(chan struct{})
	out := make(chan control.Outcome)
	go func() { out <- s.control.Execute(t.Context(), in("START")) }()
	<-s.node.waiting
	s.control.Close()
	if got := <-out; got.Disposition != control.Unknown || got.Code() != fault.ControlUncertain {
		t.Errorf("a START cut off by Close: %s %v", got.Disposition, got.Diagnostics)
	}
	if got := s.control.Execute(t.Context(), in("STOP")); got.Code() != fault.ControlClosed {
		t.Errorf("after Close: %v", got.Diagnostics)
	}
}

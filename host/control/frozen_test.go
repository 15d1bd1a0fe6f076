// SPDX-License-Identifier: Apache-2.0

package control_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/control"
	"github.com/nervix-go/nervix/host/control/memlog"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/registry"
)

// module makes resource m with a completed version.
func (s *script) module(t *testing.T, versions ...byte) {
	t.Helper()
	for _, n := range versions {
		u := control.UploadRequest{Reference: ident.NewReference(epoch/1e6, [10]byte{9: n}), User: "ann", Domain: "d", Resource: "m"}
		got, err := s.control.AdmitUpload(t.Context(), u)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.control.CompleteUpload(t.Context(), u, control.UploadedVersion{Version: got.Version, Digest: [32]byte{n}}); err != nil {
			t.Fatal(err)
		}
	}
}

// guest binds the latest version of m.
const guest = "CREATE WASM PROCESSOR p FROM a USING RESOURCE m VERSION LATEST FILE 'f' MAX FUEL 5 MAX MEMORY 64KiB UNBRANCHED TO b ON MESSAGE ERROR LOG ON GLOBAL ERROR LOG"

func (s *script) relays(t *testing.T) {
	t.Helper()
	s.must(t, in("BEGIN; CREATE RESOURCE m; CREATE SCHEMA s (x I64); CREATE RELAY a SCHEMA s UNBRANCHED; CREATE RELAY b SCHEMA s UNBRANCHED; COMMIT"))
}

// TestARestartExecutesWhatTheCommitDecided ends the process between the admission of a COMMIT and its first step. Time, candidates and versions
// change before the next one opens.
func TestARestartExecutesWhatTheCommitDecided(t *testing.T) {
	// req: C-027
	s := &script{t: t, log: memlog.New(), node: &node{waiting: make(chan struct{}, 1)}}
	s.voters.Store(&[]clock.Authority{self(1, 1)})
	s.open(t)
	s.must(t, control.Request{User: "ann", Text: "CREATE PACED DOMAIN d WITH PERIOD 1s SKEW 0s"})
	s.relays(t)
	s.module(t, 1)
	session := in("BEGIN; " + guest + "; START AT '2000-01-01T00:00:00Z' TIME RATE 2.5; STOP; START")
	reading := vtime.LogicalFromNS(77)
	s.node.reading = &reading
	session.Transaction = s.must(t, session).Transaction

	var cut atomic.Bool
	arrived := make(chan struct{}, 1)
	s.log.Judge(func(c *registry.Command) memlog.Fault {
		if c.Step == nil {
			return memlog.None
		}
		if cut.CompareAndSwap(false, true) {
			arrived <- struct{}{}
		}
		return memlog.Hang
	})
	session.Text = "COMMIT"
	out := make(chan control.Outcome, 1)
	go func() { out <- s.control.Execute(context.Background(), session) }()
	<-arrived
	s.module(t, 2) // an upload does not wait for the COMMIT
	s.control.Close()
	if got := <-out; got.Disposition != control.Unknown {
		t.Fatalf("the cut COMMIT: %s %v", got.Disposition, got.Diagnostics)
	}

	var starts []*registry.Start
	s.log.Judge(func(c *registry.Command) memlog.Fault {
		if one, ok := c.Body.(*registry.Start); ok {
			starts = append(starts, one)
		}
		return memlog.None
	})
	s.node.utc += int64(time.Hour)
	later := vtime.LogicalFromNS(99)
	s.node.reading = &later
	s.voters.Store(&[]clock.Authority{self(2, 8)})
	s.open(t)
	defer s.control.Close()
	s.wait(func(st *registry.State) bool {
		tx, known := st.Transaction(session.Transaction)
		return known && tx.State.Finished() && st.Domains["d"].Fence.Authority == self(2, 8)
	})
	anchor := vtime.UTCFromNS(epoch)
	want := []clock.Mapping{
		{WallStartedAt: anchor, LogicalStart: vtime.LogicalFromNS(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()), Rate: 2.5},
		{WallStartedAt: anchor, LogicalStart: reading, Rate: 1},
	}
	if len(starts) != len(want) {
		t.Fatalf("%d starts were proposed", len(starts))
	}
	for i, one := range starts {
		if one.Mapping != want[i] || one.Authority != self(1, 1) {
			t.Errorf("start %d: %+v under %s", i, one.Mapping, one.Authority)
		}
	}
	d := s.log.State().Domains["d"]
	if tx, _ := s.log.State().Transaction(session.Transaction); tx.State != registry.TransactionCommitted {
		t.Fatalf("the transaction is %s: %s", tx.State, tx.Failure.Text)
	}
	if d.Generation != 2 || d.Mapping != want[1] {
		t.Errorf("generation %d, mapping %+v", d.Generation, d.Mapping)
	}
	session.Text = "SHOW CREATE WASM PROCESSOR p"
	session.Transaction = ident.Reference{}
	if got := s.must(t, session).Text; !containsLine(got, "  USING RESOURCE m VERSION 1") {
		t.Errorf("bound is\n%s", got)
	}
}

func containsLine(text, line string) bool { return slices.Contains(strings.Split(text, "\n"), line) }

// TestStartIsOneKindOfTransition compares a START that stands alone with one that is a step.
func TestStartIsOneKindOfTransition(t *testing.T) {
	// req: C-201
	// req: C-023
	s := paced(t, self(1, 1))
	defer s.control.Close()
	s.must(t, in("STOP"))
	var starts []*registry.Start
	s.log.Judge(func(c *registry.Command) memlog.Fault {
		if one, ok := c.Body.(*registry.Start); ok {
			starts = append(starts, one)
		}
		return memlog.None
	})
	before := s.log.State().Domains["d"]
	s.must(t, in("START AT '2000-01-01T00:00:00Z' TIME RATE 2"))
	alone := s.log.State().Domains["d"]
	s.must(t, in("STOP"))
	s.must(t, in("BEGIN; START AT '2000-01-01T00:00:00Z' TIME RATE 2; COMMIT"))
	if len(starts) != 2 {
		t.Fatalf("%d entries", len(starts))
	}
	if diff := cmp.Diff(starts[0], starts[1], cmpopts.EquateComparable(vtime.UTC{}, vtime.Logical{})); diff != "" {
		t.Error(diff)
	}
	if alone.Generation != before.Generation+1 || alone.Fence.Revision != before.Fence.Revision+1 || alone.Mapping != starts[0].Mapping {
		t.Errorf("one entry made %+v of %+v", alone.Clock(), before.Clock())
	}
	// An unpaced START has neither.
	s.must(t, control.Request{User: "ann", Text: "CREATE DOMAIN u"})
	s.must(t, control.Request{User: "ann", Domain: "u", Text: "START AT NOW"})
	if u := starts[2]; u.Mapping != (clock.Mapping{}) || !u.Authority.IsZero() || !u.RestartPositions {
		t.Errorf("the unpaced START is %+v", u)
	}
}

// meddler changes the models of the domain while a START is being planned, once.
type meddler struct {
	log  *memlog.Log
	done bool
}

func (m *meddler) Schedule(st *registry.State, d ident.Domain, nodes []registry.Key) []registry.Assignment {
	if !m.done {
		m.done = true
		put := registry.Put{Key: registry.Key{Kind: ident.KindSchema, Name: "other"}, Text: "CREATE SCHEMA other (x I64);", Grammar: 1}
		_, err := m.log.Propose(context.Background(), registry.EncodeCommand(&registry.Command{
			Body: &registry.MutateModels{Domain: d, Base: st.Domains[d].Model, Puts: []registry.Put{put}},
		}))
		if err != nil {
			panic(err)
		}
	}
	return nil
}

func TestAReplannedStartSamplesOnce(t *testing.T) {
	// req: C-019
	s := &script{t: t, log: memlog.New(), node: &node{waiting: make(chan struct{}, 1)}}
	s.scheduler = &meddler{log: s.log}
	s.open(t)
	defer s.control.Close()
	s.must(t, control.Request{User: "ann", Text: "CREATE PACED DOMAIN d WITH PERIOD 1s SKEW 0s"})
	s.must(t, in("START"))
	if d := s.log.State().Domains["d"]; len(d.Definitions) != 1 || d.Generation != 1 {
		t.Fatalf("%d definitions, generation %d: the START was not planned again", len(d.Definitions), d.Generation)
	}
	if s.node.samples != 1 {
		t.Errorf("UTC was sampled %d times", s.node.samples)
	}
}

// TestLatestIsTheLatestWhenItIsApplied completes a version while the module of the one before is judged.
func TestLatestIsTheLatestWhenItIsApplied(t *testing.T) {
	s := world(t)
	s.relays(t)
	s.module(t, 1)
	s.node.judging = func() { s.module(t, 2) }
	out := s.must(t, in(guest))
	if want := "WASM PROCESSOR p created; resource 'm' version 2 (latest); quiesce level: DYNAMIC"; out.Text != want {
		t.Errorf("%q", out.Text)
	}
	if len(s.node.prepared) != 2 {
		t.Errorf("judged %q", s.node.prepared)
	}
}

// TestAJudgedModuleHoldsUpNobodyElse keeps a compilation going: its own domain is busy, and everything else goes on.
func TestAJudgedModuleHoldsUpNobodyElse(t *testing.T) {
	s := world(t)
	s.relays(t)
	s.module(t, 1)
	s.must(t, control.Request{User: "ann", Text: "CREATE DOMAIN other"})
	arrived, release := make(chan struct{}), make(chan struct{})
	s.node.judging = func() {
		close(arrived)
		<-release
	}
	first := make(chan control.Outcome)
	go func() { first <- s.control.Execute(context.Background(), in(guest)) }()
	<-arrived
	other := in("CREATE SCHEMA s (x I64)")
	other.Domain = "other"
	s.must(t, other)
	other.Text = "START"
	s.must(t, other)
	s.module(t, 2)
	if out := s.control.Execute(t.Context(), in("CREATE SCHEMA t (x I64)")); out.Code() != fault.DomainBusy {
		t.Errorf("a change of the same domain: %s %v", out.Disposition, out.Diagnostics)
	}
	close(release)
	if out := <-first; out.Disposition != control.Completed {
		t.Errorf("%v", out.Diagnostics)
	}
}

// TestCloseEndsAJudgement stops the node while a module is compiled: nothing was committed.
func TestCloseEndsAJudgement(t *testing.T) {
	s := world(t)
	s.relays(t)
	s.module(t, 1)
	s.node.arrived = make(chan struct{})
	out := make(chan control.Outcome)
	go func() { out <- s.control.Execute(context.Background(), in(guest)) }()
	<-s.node.arrived
	s.control.Close()
	if got := <-out; got.Code() != fault.ControlClosed && got.Code() != fault.ControlUncertain {
		t.Errorf("%s %v", got.Disposition, got.Diagnostics)
	}
	if got := len(s.log.State().Domains["d"].Definitions); got != 4 {
		t.Errorf("%d definitions", got)
	}
	if _, err := s.control.AdmitUpload(t.Context(), control.UploadRequest{Reference: ident.NewReference(1, [10]byte{}), User: "ann", Domain: "d", Resource: "m"}); fault.CodeOf(err) != fault.ControlClosed {
		t.Errorf("an upload after Close: %v", err)
	}
}

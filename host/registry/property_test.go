// SPDX-License-Identifier: Apache-2.0

package registry_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/registry"
)

var times = cmpopts.EquateComparable(vtime.UTC{}, vtime.Logical{})

// TestReplicasAgree runs one command list on three replicas: one applies values, one applies stored entries, one is restored from a
// snapshot after every few of them.
func TestReplicasAgree(t *testing.T) {
	// req: G-013
	rapid.Check(t, func(t *rapid.T) {
		g := &generator{t: t, milli: epoch, state: registry.NewState()}
		plain, stored, restored := registry.NewState(), registry.NewState(), registry.NewState()
		for i := range rapid.IntRange(1, 60).Draw(t, "length") {
			c, at := g.first(i), ident.Revision(i+1)
			before := registry.EncodeSnapshot(plain)
			entry := registry.EncodeCommand(c)
			next, want, err := registry.Apply(plain, at, c)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(before, registry.EncodeSnapshot(plain)) {
				t.Fatalf("Apply changed its input by %T", c.Body)
			}
			for _, replica := range []**registry.State{&stored, &restored} {
				after, got, err := registry.ApplyBytes(*replica, at, entry)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("results differ for %T: %s", c.Body, diff)
				}
				*replica = after
			}
			plain, g.state = next, next
			if i%5 == 4 {
				if restored, err = registry.DecodeSnapshot(registry.EncodeSnapshot(restored)); err != nil {
					t.Fatal(err)
				}
			}
			snapshot := registry.EncodeSnapshot(plain)
			if !bytes.Equal(snapshot, registry.EncodeSnapshot(stored)) || !bytes.Equal(snapshot, registry.EncodeSnapshot(restored)) {
				t.Fatalf("states differ after %T", c.Body)
			}
		}
	})
}

// first begins most lists with what makes the rest meaningful.
func (g *generator) first(i int) *registry.Command {
	c := g.command()
	switch {
	case i == 0:
		c.Body, c.Step = g.bootstrap(), nil
	case i == 1:
		c.Body, c.Step = &registry.NodeStarted{Node: registry.Node{ID: 1, Incarnation: 1, Logical: "n1.node"}}, nil
	}
	return c
}

func TestFormsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := &generator{t: t, milli: epoch, state: registry.NewState()}
		c := g.command()
		back, err := registry.DecodeCommand(registry.EncodeCommand(c))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c, back, times); diff != "" {
			t.Fatal(diff)
		}
		res := registry.Result{Verdict: registry.Refused, Revision: 7, Outcome: g.outcome()}
		again, err := registry.DecodeResult(registry.EncodeResult(res))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(res, again); diff != "" {
			t.Fatal(diff)
		}
	})
}

// TestTransactionsMoveLegally watches every transaction over random commands: states follow the table, operations only grow while OPEN,
// progress only while COMMITTING, and a tombstone never changes.
func TestTransactionsMoveLegally(t *testing.T) {
	// req: G-055
	legal := map[registry.TransactionState][]registry.TransactionState{
		registry.TransactionOpen:       {registry.TransactionCommitting, registry.TransactionReverted, registry.TransactionExpired},
		registry.TransactionCommitting: {registry.TransactionCommitted, registry.TransactionFailed},
	}
	rapid.Check(t, func(t *rapid.T) {
		g := &generator{t: t, milli: epoch, state: registry.NewState()}
		for i := range rapid.IntRange(10, 80).Draw(t, "length") {
			c := g.first(i)
			if i == 2 {
				c.Body, c.Step = &registry.CreateDomain{Name: "a", Text: "D", Grammar: 1, Pace: registry.Unpaced, Placement: 1}, nil
			}
			next, _, err := registry.Apply(g.state, ident.Revision(i+1), c)
			if err != nil {
				t.Fatal(err)
			}
			open := 0
			for _, after := range next.Transactions() {
				if !after.State.Finished() {
					open++
				}
				before, known := g.state.Transaction(after.ID)
				if !known {
					if after.State != registry.TransactionOpen || after.Count != 0 {
						t.Fatalf("%s was born %s with %d operations", after.ID, after.State, after.Count)
					}
					continue
				}
				checkMove(t, legal, before, after)
			}
			if open != next.OpenTransactions() || open > int(next.Limits.Open) {
				t.Fatalf("%d open, counted %d, limit %d", open, next.OpenTransactions(), next.Limits.Open)
			}
			for _, before := range g.state.Transactions() {
				if _, kept := next.Transaction(before.ID); !kept && !before.State.Finished() {
					t.Fatalf("%s vanished while %s", before.ID, before.State)
				}
			}
			g.state = next
		}
	})
}

func checkMove(t *rapid.T, legal map[registry.TransactionState][]registry.TransactionState, before, after *registry.Transaction) {
	if before.State != after.State && !slices.Contains(legal[before.State], after.State) {
		t.Fatalf("%s moved from %s to %s", after.ID, before.State, after.State)
	}
	if before.State.Finished() && cmp.Diff(before, after, times) != "" {
		t.Fatalf("tombstone %s changed: %s", after.ID, cmp.Diff(before, after, times))
	}
	if after.Count != before.Count && (before.State != registry.TransactionOpen || after.Count != before.Count+1) {
		t.Fatalf("%s went from %d to %d operations while %s", after.ID, before.Count, after.Count, before.State)
	}
	if after.Progress < before.Progress || after.Progress > after.Count || after.Progress > before.Progress && before.State != registry.TransactionCommitting {
		t.Fatalf("%s progressed from %d to %d of %d while %s", after.ID, before.Progress, after.Progress, after.Count, before.State)
	}
	if after.State == registry.TransactionCommitted && after.Progress != after.Count {
		t.Fatalf("%s is COMMITTED after %d of %d", after.ID, after.Progress, after.Count)
	}
}

// SPDX-License-Identifier: Apache-2.0

package registry_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/registry"
)

// world applies commands one after another at a settable time.
type world struct {
	t     *testing.T
	state *registry.State
	milli int64
}

func newWorld(t *testing.T, limits registry.Limits) *world {
	w := &world{t: t, state: registry.NewState(), milli: epoch}
	w.do(&registry.Bootstrap{Cluster: "c", Limits: limits, Users: []registry.User{{Name: "ann", PHC: "$h"}}})
	w.do(&registry.CreateDomain{Name: "d", Text: "D", Grammar: 1, Pace: registry.Unpaced, Placement: registry.PlacementNeutral})
	return w
}

// do applies a body under a fresh reference, through the stored form.
func (w *world) do(b registry.Body) (registry.Result, ident.Reference) {
	w.t.Helper()
	index := w.state.Revision + 1
	ref := ident.NewReference(w.milli, [10]byte{7: byte(index >> 16), 8: byte(index >> 8), 9: byte(index)})
	c := &registry.Command{UTC: vtime.UTCFromNS(w.milli * 1e6), Reference: ref, User: "ann", Domain: "d", Body: b}
	next, res, err := registry.ApplyBytes(w.state, index, registry.EncodeCommand(c))
	if err != nil {
		w.t.Fatal(err)
	}
	w.state = next
	return res, ref
}

func (w *world) want(b registry.Body, code fault.Code) {
	w.t.Helper()
	if res, _ := w.do(b); res.Outcome.Code != code {
		w.t.Fatalf("%T gave %q, want %q (%s)", b, res.Outcome.Code, code, res.Outcome.Text)
	}
}

// TestDefaultLimits meets each limit of nspl 25 exactly and then exceeds it by one.
func TestDefaultLimits(t *testing.T) {
	// req: G-061
	t.Run("256 statements", func(t *testing.T) {
		w := newWorld(t, registry.DefaultLimits())
		_, tx := w.do(&registry.BeginTransaction{})
		for i := range uint32(256) {
			w.want(&registry.AppendStatement{Transaction: tx, Position: i + 1, Text: "S;", Grammar: 1}, "")
		}
		w.want(&registry.AppendStatement{Transaction: tx, Position: 257, Text: "S;", Grammar: 1}, fault.TransactionStatements)
	})
	t.Run("1 MiB of text", func(t *testing.T) {
		w := newWorld(t, registry.DefaultLimits())
		_, tx := w.do(&registry.BeginTransaction{})
		w.want(&registry.AppendStatement{Transaction: tx, Position: 1, Text: strings.Repeat("x", 1<<20-1), Grammar: 1}, "")
		w.want(&registry.AppendStatement{Transaction: tx, Position: 2, Text: "xx", Grammar: 1}, fault.TransactionSource)
		w.want(&registry.AppendStatement{Transaction: tx, Position: 2, Text: "x", Grammar: 1}, "")
	})
	t.Run("1,024 open", func(t *testing.T) {
		w := newWorld(t, registry.DefaultLimits())
		var last ident.Reference
		for range 1024 {
			res, ref := w.do(&registry.BeginTransaction{})
			if res.Outcome.Failed() {
				t.Fatal(res.Outcome.Text)
			}
			last = ref
		}
		w.want(&registry.BeginTransaction{}, fault.TransactionOpenLimit)
		w.want(&registry.SetTransactionState{Transaction: last, To: registry.TransactionReverted}, "")
		w.want(&registry.BeginTransaction{}, "")
	})
	t.Run("15 minutes idle, 15 minutes tombstone", func(t *testing.T) {
		w := newWorld(t, registry.DefaultLimits())
		_, tx := w.do(&registry.BeginTransaction{})
		expire := &registry.SetTransactionState{Transaction: tx, To: registry.TransactionExpired}
		w.milli += (15*time.Minute - time.Millisecond).Milliseconds()
		w.want(expire, fault.TransactionIdle)
		w.milli++
		w.want(expire, "")
		w.milli += (14 * time.Minute).Milliseconds()
		w.want(&registry.Conclude{}, "")
		if _, kept := w.state.Transaction(tx); !kept {
			t.Fatal("the tombstone left too early")
		}
		w.milli += (2 * time.Minute).Milliseconds()
		w.want(&registry.Conclude{}, "")
		if _, kept := w.state.Transaction(tx); kept {
			t.Fatal("the tombstone stayed")
		}
	})
	t.Run("all text together", func(t *testing.T) {
		limits := registry.DefaultLimits()
		limits.OpenSourceBytes, limits.DefinitionBytes = 5, 5
		w := newWorld(t, limits)
		_, one := w.do(&registry.BeginTransaction{})
		_, two := w.do(&registry.BeginTransaction{})
		w.want(&registry.AppendStatement{Transaction: one, Position: 1, Text: "123", Grammar: 1}, "")
		w.want(&registry.AppendStatement{Transaction: two, Position: 1, Text: "123", Grammar: 1}, fault.ControlStateFull)
		w.want(&registry.SetTransactionState{Transaction: one, To: registry.TransactionReverted}, "")
		w.want(&registry.AppendStatement{Transaction: two, Position: 1, Text: "123", Grammar: 1}, "")
		put := func(name ident.Name, text string) *registry.MutateModels {
			k := registry.Key{Kind: ident.KindSchema, Name: name}
			return &registry.MutateModels{Domain: "d", Base: w.state.Domains["d"].Model, Puts: []registry.Put{{Key: k, Text: text, Grammar: 1}}}
		}
		w.want(put("a", "1234"), "")
		w.want(put("b", "12"), fault.ControlStateFull)
		w.want(put("b", "1"), "")
	})
	t.Run("versions", func(t *testing.T) { versionLimits(t) })
	t.Run("configured", func(t *testing.T) {
		limits := registry.DefaultLimits()
		limits.Statements = 1
		w := newWorld(t, limits)
		_, tx := w.do(&registry.BeginTransaction{})
		w.want(&registry.AppendStatement{Transaction: tx, Position: 1, Text: "S;", Grammar: 1}, "")
		w.want(&registry.AppendStatement{Transaction: tx, Position: 2, Text: "S;", Grammar: 1}, fault.TransactionStatements)
	})
}

func TestReferencesAreBounded(t *testing.T) {
	w := newWorld(t, registry.DefaultLimits())
	kept := w.state.Executions()
	for i := range 65536 - kept {
		c := &registry.Command{UTC: vtime.UTCFromNS(w.milli * 1e6), User: "ann", Domain: "d", Body: &registry.Conclude{}}
		c.Reference = ident.NewReference(w.milli, [10]byte{1: 1, 7: byte(i >> 16), 8: byte(i >> 8), 9: byte(i)})
		next, res, err := registry.Apply(w.state, w.state.Revision+1, c)
		if err != nil || res.Outcome.Failed() {
			t.Fatal(err, res.Outcome.Text)
		}
		w.state = next
	}
	w.want(&registry.Conclude{}, fault.ControlReferencesFull)
	if w.state.Executions() != 65536 {
		t.Fatalf("%d are kept", w.state.Executions())
	}
	snapshot := registry.EncodeSnapshot(w.state)
	if _, err := registry.DecodeSnapshot(snapshot); err != nil {
		t.Fatalf("a full state does not load: %v", err)
	}
	w.milli += (16 * time.Minute).Milliseconds()
	w.want(&registry.Conclude{}, "")
	if w.state.Executions() != 1 {
		t.Fatalf("%d are kept after their time", w.state.Executions())
	}
}

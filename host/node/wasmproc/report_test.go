// SPDX-License-Identifier: Apache-2.0

package wasmproc_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/node/wasmproc"
)

// wantFirstRows compares the first rows that the reports name, oldest first, and that each names the module; the log says the same.
func (b *bench) wantFirstRows(want ...uint64) {
	b.T.Helper()
	var got []uint64
	for _, e := range b.p.Observe().Errors {
		got = append(got, e.FirstRow)
		words := []string{"a WASM processor failed", "module=" + content[:32]}
		if e.FirstRow > 0 {
			words = append(words, fmt.Sprintf("first_row=%d", e.FirstRow))
		}
		if e.Module != content[:32] || b.Logs.Count(words...) == 0 {
			b.T.Fatalf("module %q; the log has no %q:\n%s", e.Module, words, b.Logs)
		}
	}
	slices.Reverse(got)
	if !slices.Equal(got, want) {
		b.T.Fatalf("first rows %d, want %d", got, want)
	}
}

// Beside the fixed text of a diagnostic stand the module's content and the first row of the batch, in the count of the branch. Redelivered rows count
// again; a timeout and a flush have no batch.
func TestDiagnosticsNameModuleAndRow(t *testing.T) {
	// req: A01
	for _, c := range []struct {
		name string
		rows [][]string
		want []uint64
	}{
		{"trap in the first batch", [][]string{{"x", "trap"}}, []uint64{1}},
		{"trap later, and again", [][]string{{"x", "y", "z"}, {"trap"}, {"y"}, {"y", "trap"}}, []uint64{4, 6}},
		{"refused", [][]string{{"x"}, {"y"}, {"z", "no"}}, []uint64{3}},
		{"fuel", [][]string{{"x"}, {"fuel"}}, []uint64{2}},
		{"not valid", [][]string{{"x", "x"}, {"bad"}}, []uint64{3}},
		{"the node", [][]string{{"x"}, {"room"}}, []uint64{2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			run(t, 1, watch+logs, counting(), func(b *bench) {
				b.Reader("alarms")
				b.Reader("copies")
				for _, rows := range c.rows {
					b.Publish("readings", bedB, nil, "other|1|1") // another branch counts for itself
					b.say(rows...)
				}
				b.wantFirstRows(c.want...)
			})
		})
	}
}

// The stages around the callback: the instance, its restore, the save and the store belong to the batch too.
func TestDiagnosticsOfOtherStages(t *testing.T) {
	// req: A01
	s := counting()
	var init, dump int32
	s.init = func(*guest) int32 { return init }
	save := s.dump
	s.dump = func(g *guest) ([]byte, int32) {
		if dump != 0 {
			return nil, dump
		}
		return save(g)
	}
	s.flush = func(g *guest) int32 { return -4 }
	run(t, 1, watch+logs, s, func(b *bench) {
		b.Reader("alarms")
		init = -6
		b.say("x", "x")
		init = 0
		b.say("x")
		dump = -2
		b.say("x")
		dump = 0
		b.store.fail = errors.New("no space")
		b.say("x")
		b.store.fail = nil
		b.say("x")
		if !b.p.Quiesce() {
			b.T.Fatal("nothing to flush")
		}
		b.pass(time.Millisecond)
		b.wantFirstRows(1, 4, 5, 0)
	})
}

// A batch that is too large for one call counts on where its next part begins.
func TestFirstRowOfASplitBatch(t *testing.T) {
	// req: A01, A08
	s := counting()
	var parts []int
	s.batch = func(g *guest, in *given) int32 {
		if parts = append(parts, len(in.tokens)); len(parts) == 3 || in.text(0, 0) == "trap" {
			g.trap("unreachable executed")
		}
		g.emit(envelope().to("copies", "in0", "in1", "in2").acked(in.tokens...).message())
		return 0
	}
	run(t, 1, watch+logs, s, func(b *bench) {
		rows := slices.Repeat([]string{"a row of some thirty characters"}, 1<<14)
		b.say("x")
		b.say(rows...)
		b.say("trap")
		b.wantFirstRows(1+1+uint64(parts[1]), 1+1+1<<14)
	})
}

// A file that is no module has no content that the processor knows, and no branch that counts.
func TestDiagnosticWithoutModule(t *testing.T) {
	// req: A01, W-251
	run(t, 1, watch+logs, counting(), func(b *bench) {
		if err := b.p.Start(b.T.Context()); err == nil {
			b.T.Fatal("it starts")
		}
		if e := b.p.Observe().Errors; len(e) != 1 || e[0].Module != "" || e[0].FirstRow != 0 || b.Logs.Count("module=") != 0 || b.Logs.Count("first_row=") != 0 {
			b.T.Fatalf("%+v\n%s", e, b.Logs)
		}
		b.fakes.refuse = nil
		if err := b.p.Start(b.T.Context()); err != nil {
			b.T.Fatal(err)
		}
	}, func(_ *wasmproc.Config, b *bench) { b.fakes.refuse = errors.New("the file is empty") })
}

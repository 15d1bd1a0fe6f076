// SPDX-License-Identifier: Apache-2.0

package wasmproc_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/node/wasmproc"
)

// The processor's part of a reset that a guest asks for, and asks for again, in a callback of one of two branches: the instance is entered no more, nothing of
// the callback is saved or goes out, all inputs of the branch fail, what earlier callbacks did stands, and one request names this branch and its generation. The
// other branch goes on meanwhile. What a coordinator does between request and answer does not exist yet.
func TestWhatARequestedResetDoesToTheBranch(t *testing.T) {
	// req: W-158 half: what replaces the lifetime comes with the coordinator
	// req: W-159 half: that the import takes no argument is in wasm/protocol
	// req: W-164 half: the new lifetime, into which sources deliver again, comes with the coordinator
	// req: W-165 half: as W-158
	// req: W-167 half: as W-158
	// req: W-169 half: that one request is one replacement is the coordinator's
	r := &resets{}
	s := counting()
	plain := s.batch
	s.batch = func(g *guest, in *given) int32 {
		switch in.text(0, 0) {
		case "wait":
			g.kept = append(g.kept, keptRow{token: in.tokens[0]})
			g.after(int64(5 * time.Second))
			return 0
		case "ask":
			through(g, in)
			for range 5 {
				g.reset = true
			}
			return 0
		}
		return plain(g, in)
	}
	s.timeout = func(g *guest, handle int64) int32 { g.note("due " + strconv.FormatInt(handle, 10)); return 0 }
	run(t, 1, watch+logs, s, func(b *bench) {
		alarms, copies := b.Reader("alarms"), b.Reader("copies")
		other := b.Publish("readings", bedB, nil, "p|1|1") // guest 1
		b.pass(time.Millisecond)
		wantFate(b.T, other, true)
		first := b.say("x") // guest 2
		b.wantEnd(first, true)
		held, waits := b.say("hold"), b.say("wait")
		b.wantEnd(held, false)
		before := b.p.Observe()
		asked := b.say("ask", "y", "z")
		b.wantEnd(asked, true, 0, 1, 2)
		b.wantEnd(held, true, 0)
		b.wantEnd(waits, true, 0)
		b.wantEnd(first, true)
		// The request: one, of this branch, in the generation it ran in.
		var print string
		for _, d := range before.Details {
			if d.HeldRows == 2 {
				print = d.Fingerprint
			}
		}
		want := wasmproc.Place{Domain: "farm", Processor: "watch", Created: 12, Branch: print, Generation: 1}
		if print == "" || !slices.Equal(r.places, []wasmproc.Place{want}) {
			b.T.Fatalf("%+v, want %+v", r.places, want)
		}
		// Nothing enters the guest behind the callback, nothing of it is saved, and nothing of it goes out.
		calls := b.fakes.calls()
		at := len(calls) - 1
		wantRows(b.T, "the last calls", calls[at-1:], "2:nervix_process_batch", "2:close")
		wantRows(b.T, "alarms", alarms.Rows(), "p|1", "x|1")
		wantRows(b.T, "copies", copies.Rows())
		after := b.p.Observe()
		for i, d := range after.Details {
			if d.Committed != before.Details[i].Committed || d.Latest != before.Details[i].Latest || d.Generation != 1 {
				b.T.Fatalf("%+v became %+v", before.Details[i], d)
			}
		}
		// The other branch goes on; this one takes nothing, and its timeouts are gone.
		other = b.Publish("readings", bedB, nil, "q|1|1")
		b.wantEnd(b.say("v"), true, 0)
		b.pass(10 * time.Second)
		wantFate(b.T, other, true)
		wantRows(b.T, "alarms", alarms.Rows(), "p|1", "x|1", "q|2")
		for _, c := range b.fakes.calls()[at+1:] {
			if !strings.HasPrefix(c, "1:") {
				b.T.Fatalf("%q was called while the branch waits for its new lifetime", c)
			}
		}
		if len(r.places) != 1 {
			b.T.Fatalf("%d requests", len(r.places))
		}
		r.done(nil)
		b.pass(0)
		b.wantErrors()
	}, func(c *wasmproc.Config, _ *bench) { c.Resets = r })
}

// Saved state that a guest refuses stays as it is: every instance is offered the same bytes of the same revision, each input is told the same, and once the
// guest takes them it goes on from there.
func TestRefusedStateStays(t *testing.T) {
	// req: W-173
	for _, code := range []int32{-7, -8} {
		refuse := false
		var offered []string
		s := counting()
		load := s.load
		s.load = func(g *guest, state []byte) int32 {
			offered = append(offered, string(state))
			if refuse {
				return code
			}
			return load(g, state)
		}
		run(t, 1, watch+logs, s, func(b *bench) {
			alarms := b.Reader("alarms")
			b.wantEnd(b.say("x", "y"), true)
			b.wantEnd(b.say("z"), true)
			b.pass(61 * time.Second) // evicted: the next instance restores
			refuse = true
			const inputs = 6
			for i := range inputs {
				b.wantEnd(b.say("w"), true, 0)
				b.pass(6 * time.Second) // beyond the pause between instances
				if d := b.branchOf(0); d.Committed != 2 || d.Latest != 2 || d.Generation != 1 {
					b.T.Fatalf("input %d: %+v", i, d)
				}
			}
			reports := b.errorsOf()
			if len(reports) != inputs || len(slices.Compact(slices.Clone(reports))) != 1 || !strings.Contains(reports[0], "saved state revision 2)") {
				b.T.Fatalf("%q", reports)
			}
			if want := slices.Repeat([]string{"3"}, inputs); !slices.Equal(offered, want) {
				b.T.Fatalf("offered %q", offered)
			}
			refuse = false
			b.wantEnd(b.say("w"), true)
			wantRows(b.T, "alarms", alarms.Rows(), "x|1", "y|2", "z|3", "w|4")
		})
	}
}

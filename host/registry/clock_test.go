// SPDX-License-Identifier: Apache-2.0

package registry_test

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/registry"
)

// TestClocksMoveLegally watches the clock of every domain over random commands: each step is one of START, STOP, a reconciliation or nothing, and
// is what the pure decisions of host/clock say.
func TestClocksMoveLegally(t *testing.T) {
	// req: C-007
	// req: C-008
	// req: C-023
	// req: C-028 half: the committed transition; progress and waiters are the node's
	// req: C-040
	// req: C-041
	rapid.Check(t, func(t *rapid.T) {
		g := &generator{t: t, milli: epoch, state: registry.NewState()}
		for i := range rapid.IntRange(10, 80).Draw(t, "length") {
			c := g.first(i)
			if i == 2 {
				c.Body, c.Step = &registry.CreateDomain{Name: "a", Text: "D", Grammar: 1, Pace: registry.Paced, Pacing: clock.Pace{Period: 7}, Placement: 1}, nil
			}
			next, res, err := registry.Apply(g.state, ident.Revision(i+1), c)
			if err != nil {
				t.Fatal(err)
			}
			for name, d := range next.Domains {
				before, known := g.state.Domains[name]
				if !known || before.Created != d.Created {
					continue
				}
				checkClock(t, before.Clock(), d.Clock(), c, res)
			}
			g.state = next
		}
	})
}

func checkClock(t *rapid.T, before, after clock.Lifecycle, c *registry.Command, res registry.Result) {
	if !after.Paced && (after.Mapping != clock.Mapping{} || after.Fence != clock.Fence{}) {
		t.Fatalf("an unpaced domain has %+v", after)
	}
	if after.Paced && after.Running == after.Mapping.IsZero() {
		t.Fatalf("running %v, mapping %+v", after.Running, after.Mapping)
	}
	if before == after {
		return
	}
	if res.Verdict != registry.Applied {
		t.Fatalf("a command that is %s moved the clock", res.Verdict)
	}
	var want clock.Lifecycle
	switch b := c.Body.(type) {
	case *registry.Start:
		want = before
		want.Running, want.Generation = true, before.Generation+1
		if before.Paced {
			want.Mapping, want.Fence = b.Mapping, clock.Fence{Revision: before.Fence.Revision + 1, Authority: b.Authority}
		}
	case *registry.Stop:
		want = clock.Stop(before)
	case *registry.ReconcileAuthority:
		var ok bool
		next := clock.Fence{Revision: b.Expected.Revision + 1, Authority: b.Authority}
		if want, ok = clock.Reassign(before, b.Generation, b.Expected, next); !ok {
			t.Fatalf("%+v moved %+v", b, before)
		}
	}
	if after != want {
		t.Fatalf("%T made\n%+v of\n%+v, want\n%+v", c.Body, after, before, want)
	}
}

// TestOtherFormatsAreRefusedByName reads what an earlier version wrote.
func TestOtherFormatsAreRefusedByName(t *testing.T) {
	entry := registry.EncodeCommand(&registry.Command{UTC: vtime.UTCFromNS(1), Body: &registry.Stop{Domain: "d", Generation: 0x0101}})
	old := bytes.Replace(entry, []byte{2, 0, 0, 0}, []byte{1, 0, 0, 0}, 1)
	if _, err := registry.DecodeCommand(old); fault.CodeOf(err) != fault.ControlFormat {
		t.Errorf("a command of format 1: %v", err)
	}
	snapshot := registry.EncodeSnapshot(registry.NewState())
	for at, what := range map[int]string{4: "format", 8: "hard constants"} {
		old := bytes.Clone(snapshot)
		old[at] ^= 3
		if _, err := registry.DecodeSnapshot(old); fault.CodeOf(err) != fault.ControlFormat {
			t.Errorf("a snapshot with another %s: %v", what, err)
		}
	}
}

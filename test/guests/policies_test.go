// SPDX-License-Identifier: Apache-2.0

package guests

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nervix-go/nervix/test/nodes"
)

// Answers to one row.
func errs(relay, reason string) string {
	return "p(i" + envelope{numbers(), outputs(to(relay, plainColumns, refused(sidecar(), reason, rowToken)))}.pack().script() + ")"
}

func nacks(reason string) string {
	return "p(i" + envelope{numbers(), outputs(to("out", plainColumns, nacked(sidecar(), reason, rowToken)))}.pack().script() + ")"
}

func acks() string {
	return "p(i" + envelope{numbers(), outputs(to("out", plainColumns, acked(sidecar(), rowToken)))}.pack().script() + ")"
}

// status is what a source that has read everything says.
type status struct {
	Status     string
	Unresolved int
	Blocked    *struct {
		Line   int64
		Reason string
	}
}

// TestMessageErrorPolicies has a guest whose message errors and nacks meet each policy of its routes.
func TestMessageErrorPolicies(t *testing.T) {
	t.Parallel()
	// req: W-091
	// req: W-092
	// req: W-093
	// req: W-089 half: SEND TO
	w := start(t)
	files := []file{{"puppet.wasm", wat(t, puppet())}}
	rows := []item{{"a", ""}, {"b", errs("out", "too wet")}, {"c", acks()}, {"d", nacks("not mine")}, {"e", ""}}
	for _, c := range []struct {
		policy     string
		unresolved int    // beside the nacked row
		blocked    string // what the reason of the source holds
	}{
		{"IGNORE", 0, "not mine"},
		{"LOG", 1, "too wet"},
		{strings.TrimPrefix(sendFaults, "ON MESSAGE ERROR "), 0, "not mine"},
	} {
		name, _, _ := strings.Cut(c.policy, " ")
		a := w.arena(t, "policy_"+strings.ToLower(name), arenaOptions{window: 100, files: files})
		a.define(processor{name: "puppet", file: "puppet.wasm", routes: "TO out ON MESSAGE ERROR " + c.policy + " TO side ON MESSAGE ERROR LOG"}.text())
		a.feed(rows...)
		a.Do("START")
		var seen status
		nodes.Eventually(t, name+": all but what is refused is acknowledged", func() bool {
			a.Describe("INGESTOR feed", &seen)
			// Branches go their own ways: the row that blocks in the end may fail after a later one did.
			return seen.Status == "blocked" && seen.Unresolved == 1+c.unresolved && strings.Contains(seen.Blocked.Reason, c.blocked) && len(a.came("out")) >= 2
		})
		counts := a.counts("out")
		if d := cmp.Diff(map[string][]int{"a": {1}, "e": {1}}, counts); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		faults := lines[fault](t, a.at+"/faults.ndjson")
		if name != "SEND" && len(faults) > 0 || name == "SEND" && len(faults) != 1 {
			t.Fatalf("%s: the faults are %v", name, faults)
		}
		if name == "SEND" {
			if f := faults[0]; f.ID != 2 || f.Operation != "wasm" || f.Why != "WASM PROCESSOR puppet: wasm: too wet" || f.Code == "" || len(f.Ref) != 36 {
				t.Errorf("%+v", f)
			}
		}
		logged := 0
		for _, f := range a.failures("puppet") {
			if strings.Contains(f.Message, "wasm processor '") {
				t.Errorf("%s: a runtime error: %+v", name, f)
			}
			logged++
		}
		if (logged > 0) != (name == "LOG") {
			t.Errorf("%s: %d lines of the log", name, logged)
		}
		a.Do("STOP")
	}
	w.node.Stop()
}

// TestAttachment holds the source's acknowledgement or not.
func TestAttachment(t *testing.T) {
	t.Parallel()
	// req: W-197 half: a guest that keeps and one that fails; not yet a checkpoint that is held back
	w := start(t, "--drain-timeout", "1s")
	files := []file{{"puppet.wasm", wat(t, puppet())}}
	detached := w.arena(t, "detached", arenaOptions{window: 100, files: files})
	detached.define(processor{name: "puppet", file: "puppet.wasm", detached: true}.text())
	attached := w.arena(t, "attached", arenaOptions{window: 100, files: files})
	attached.define(processor{name: "puppet", file: "puppet.wasm"}.text())
	for _, a := range []*arena{detached, attached} {
		a.feed(item{"keeps", "p(h)"}, item{"traps", "p(x)"}, item{"nacks", nacks("no")}, item{"cannot save", "d(" + answers(-1) + ")"}, item{"good", ""})
		a.Do("START")
	}
	detached.Finish("feed")
	var seen status
	nodes.Eventually(t, "the attached source waits for four rows", func() bool {
		attached.Describe("INGESTOR feed", &seen)
		return seen.Unresolved == 4 && len(attached.counts("out")["good"]) == 1
	})
	detached.Do("STOP")
	w.node.Stop()
}

// TestUnbranchedGuest has one instance for everything.
func TestUnbranchedGuest(t *testing.T) {
	// req: W-247 half: unbranched
	t.Parallel()
	w := start(t)
	a := w.arena(t, "whole", arenaOptions{unbranched: true, files: []file{{"puppet.wasm", wat(t, puppet())}}})
	a.define(processor{name: "puppet", file: "puppet.wasm", detached: true}.text())
	a.feed(item{"a", ""}, item{"b", "p(x)"}, item{"c", ""})
	a.Do("START")
	a.Finish("feed")
	nodes.Eventually(t, "two rows are through", func() bool { return len(a.came("out")) == 2 })
	if d := cmp.Diff([]seen{{ID: 1, Bed: "a", N: 1}, {ID: 3, Bed: "c", N: 2}}, a.came("out")); d != "" {
		t.Error(d)
	}
	want := "wasm processor 'puppet' batch processing failed (unbranched, resource 'modules' version 1 file 'puppet.wasm', export 'nervix_process_batch'): wasm guest trapped: unreachable executed"
	if got := a.failures("puppet"); len(got) != 1 || got[0].Message != want {
		t.Errorf("%+v", got)
	}
	if d := a.describe("puppet"); len(d.Branches) != 1 || d.Branches[0].Fingerprint != "unbranched" || d.Branches[0].Instance != 2 {
		t.Errorf("%+v", d.Branches)
	}
	a.Do("STOP")
	w.node.Stop()
}

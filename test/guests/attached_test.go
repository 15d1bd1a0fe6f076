// SPDX-License-Identifier: Apache-2.0

package guests

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nervix-go/nervix/test/nodes"
	"github.com/nervix-go/nervix/wasm/protocol"
)

// offences are the cases that one row makes, of those that fail in the given stages first.
func offences(cases []hostile, stages ...protocol.Stage) []hostile {
	return slices.DeleteFunc(cases, func(c hostile) bool {
		return c.alone == "" || !slices.ContainsFunc(stages, func(s protocol.Stage) bool { return strings.HasPrefix(c.fails[0], string(s)+" ") })
	})
}

// offence is the row of such a case.
func (h hostile) offence() item { return item{h.bed(), strings.TrimSuffix(h.alone, ".")} }

// TestRefusedInputsBlockTheirSource has an attached processor that logs: what a guest fails is acknowledged negatively and comes again, and all
// else is through.
func TestRefusedInputsBlockTheirSource(t *testing.T) {
	t.Parallel()
	// req: W-019
	// req: W-021
	// req: W-098 half: LOG
	// req: W-185 half: what is not committed is not acknowledged; not yet held back by a store
	// req: A05
	// req: A20 half: LOG and IGNORE; there is no other policy
	w := start(t)
	a := w.arena(t, "refused", arenaOptions{window: 1000, files: []file{{"puppet.wasm", wat(t, puppet())}, {"calm.wasm", wat(t, calmPuppet())}}})
	a.define(processor{name: "puppet", file: "puppet.wasm"}.text(), processor{name: "calm", file: "calm.wasm", detached: true, routes: "TO calm ON MESSAGE ERROR LOG"}.text())
	bad := offences(slices.Concat(traps(), lies(), reasons(), shapes(), tokens()), protocol.StageBatch, protocol.StageOutput, protocol.StageInitialization, protocol.StageSnapshot)
	if len(bad) < 50 {
		t.Fatalf("%d cases", len(bad))
	}
	a.feed(item{"good", ""})
	for _, x := range bad {
		a.feed(x.offence(), item{"good", ""})
	}
	a.Do("START")
	var seen struct {
		Status     string
		Unresolved int
		Position   struct{ Line int64 }
		Blocked    *struct {
			Line   int64
			Reason string
		}
	}
	nodes.Eventually(t, "the source is blocked with what the guests refuse", func() bool {
		a.Describe("INGESTOR feed", &seen)
		return seen.Status == "blocked" && seen.Unresolved == len(bad)
	})
	// Branches go their own ways: a row that is not through has not failed yet.
	nodes.Eventually(t, "every refusal is in the log", func() bool {
		told := a.told("puppet")
		return !slices.ContainsFunc(bad, func(x hostile) bool { return len(of(told, x.bed())) == 0 })
	})
	nodes.Eventually(t, "the oldest blocks", func() bool {
		a.Describe("INGESTOR feed", &seen)
		return seen.Status == "blocked" && seen.Blocked != nil && seen.Blocked.Line == 2
	})
	if seen.Position.Line != 1 || seen.Blocked == nil || seen.Blocked.Line != 2 {
		t.Errorf("blocked: %+v", seen)
	} else if stage, _ := parseDiagnostic(t, tail(seen.Blocked.Reason, "wasm processor '"), bad[0].bed()); stage+" wasm.trap" != bad[0].fails[0] {
		t.Errorf("blocked by %s", seen.Blocked.Reason)
	}
	failures := a.failures("puppet")
	for _, x := range bad {
		got := of(failures, x.bed())
		if len(got) == 0 {
			t.Errorf("%s: nothing was reported", x.name)
			continue
		}
		if stage, _ := parseDiagnostic(t, got[0].Message, x.bed()); stage+" "+got[0].Code != x.fails[0] {
			t.Errorf("%s: %s %s", x.name, got[0].Code, got[0].Message)
		}
	}
	if d := cmp.Diff(upTo(len(bad)+1), a.counts("out")["good"]); d != "" {
		t.Errorf("the good branch: %s", d)
	}
	nodes.Eventually(t, "the good processor carried the good rows", func() bool { return len(a.counts("calm")["good"]) == len(bad)+1 })
	lastErrors(t, a, "puppet")
	a.Do("STOP")
	w.node.Stop()
}

// lastErrors holds DESCRIBE against the log.
func lastErrors(t *testing.T, a *arena, name string) {
	t.Helper()
	d := a.describe(name)
	if len(d.LastErrors) != 16 {
		t.Errorf("%d errors are described", len(d.LastErrors))
	}
	all := a.failures(name)
	for i, e := range d.LastErrors {
		if !slices.ContainsFunc(all, func(f failure) bool { return f.Code == e.Code && f.Message == e.Message }) {
			t.Errorf("this is not in the log: %+v", e)
		}
		if i > 0 && e.At.After(d.LastErrors[i-1].At) {
			t.Errorf("%s is newer than the one above it", e.At)
		}
	}
}

// tail is a text from a part of it on.
func tail(text, from string) string {
	if at := strings.Index(text, from); at >= 0 {
		return text[at:]
	}
	return text
}

// TestIgnoredFailuresAccept has an attached processor that ignores: everything a guest fails is accepted, and nothing is reported.
func TestIgnoredFailuresAccept(t *testing.T) {
	t.Parallel()
	// req: W-019
	// req: W-098 half: IGNORE, but for the flush
	// req: W-188 half: inputs that IGNORE accepts
	w := start(t)
	a := w.arena(t, "ignored", arenaOptions{window: 1000, files: []file{{"puppet.wasm", wat(t, puppet())}}})
	a.define(processor{name: "puppet", file: "puppet.wasm", ignore: true}.text())
	bad := offences(every(), protocol.StageBatch, protocol.StageOutput, protocol.StageInitialization, protocol.StageTimeout)
	for _, x := range bad {
		a.feed(x.offence(), item{"good", ""})
	}
	a.Do("START")
	a.Finish("feed")
	if d := cmp.Diff(upTo(len(bad)), a.counts("out")["good"]); d != "" {
		t.Errorf("the good branch: %s", d)
	}
	a.Do("STOP")
	if got := a.failures("puppet"); len(got) > 0 {
		t.Errorf("%d reports: %v", len(got), got[0])
	}
	w.node.Stop()
}

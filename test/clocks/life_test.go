// SPDX-License-Identifier: Apache-2.0

package clocks

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nervix-go/nervix/client"
	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/osclock"
)

// followersSeeALife: three followers with objects and one with lines, from before the first START to the removal of the domain.
func followersSeeALife(t *testing.T, w *world) {
	// req: C-007
	// req: C-020 half: what several followers of one node see
	// req: C-021 half: the clock of a stopped domain cannot be read, so the anchor is the origin
	// req: C-053
	// req: C-083
	// req: C-084 half: several followers of one node
	// req: C-094 half: no state is told twice
	// req: C-100 half: the end of the attachment, and a later one
	// req: C-102 half: one schedule
	// req: C-201 half: mappings of START alone and in a transaction
	// req: X-181 half: one schedule
	// req: X-182
	// req: X-183 half: drop and create again
	// req: X-294 half: generations
	// req: X-295
	// req: X-296 half: the removal
	s := w.session(t, "life")
	s.Do("CREATE PACED DOMAIN life WITH PERIOD 20ms SKEW 5ms")
	all := []*follower{w.jsonl(t, "life"), w.jsonl(t, "LIFE"), w.jsonl(t, "life"), w.follow(t, "life")}
	each := func(what string, is func(event) bool) {
		t.Helper()
		for _, f := range all {
			f.sees(what, is)
		}
	}
	each("a domain that was never started", observed(0, "stopped"))
	s.Do("START AT '2012-01-01T01:00:00.25+01:00' TIME RATE 2.5")
	each("ticks of the first generation", ticked(1, 3))
	s.Do("BEGIN;\nSTOP;\nSTART AT NOW;\nSTOP;\nSTART AT '1969-12-31T23:59:59.999999999Z' TIME RATE 3.0;\nCOMMIT;\n")
	each("ticks of the third generation", ticked(3, 3))
	s.Do("STOP")
	each("the stop", observed(3, "stopped"))
	s.Do("START")
	each("ticks of the fourth generation", ticked(4, 2))
	if got := entry(t, s, "life"); *got.PeriodNS != 20_000_000 || *got.SkewNS != 5_000_000 || got.Pace != "PACED" || got.Status != "RUNNING" || got.StartVersion != 4 {
		t.Errorf("%+v", got)
	}
	s.Do("STOP;\nDROP DOMAIN life;\n")
	mappings := map[uint64]event{}
	for _, f := range all {
		if code := f.ends(); code != 0 || f.stderr.String() != "" {
			t.Errorf("exit %d: %s", code, f.stderr.String())
		}
		events := f.holds()
		if last := events[len(events)-1]; last.kind != "ended" || last.reason != "domain removed" {
			t.Errorf("the last line is %+v", last)
		}
		for _, e := range events {
			if e.state != "paced" {
				continue
			}
			if told, ok := mappings[e.generation]; ok && told != e.clock() {
				t.Errorf("two followers of generation %d: %+v, %+v", e.generation, told, e.clock())
			}
			mappings[e.generation] = e.clock()
		}
	}
	for generation, want := range map[uint64]struct {
		start int64
		rate  float64
	}{1: {1_325_376_000_250_000_000, 2.5}, 3: {-1, 3}, 4: {mappings[4].startedAt, 1}} {
		if got := mappings[generation]; got.logicalStart != want.start || got.rate != want.rate || got.period != 20_000_000 || got.skew != 5_000_000 {
			t.Errorf("generation %d: %+v", generation, got)
		}
	}
	if mappings[1].startedAt >= mappings[3].startedAt || mappings[3].startedAt >= mappings[4].startedAt {
		t.Errorf("anchors: %+v", mappings)
	}
	if told := s.Refused("ATTACH DOMAIN CLOCK"); !strings.Contains(told, "there is no domain life") {
		t.Error(told)
	}
	s.Do("CREATE DOMAIN life")
	again := w.jsonl(t, "life")
	again.sees("the new domain of this name", observed(0, "stopped"))
	s.Do("START")
	again.sees("an unpaced clock", observed(1, "unpaced"))
	s.Do("STOP;\nDROP DOMAIN life;\n")
	if code := again.ends(); code != 0 {
		t.Errorf("exit %d", code)
	}
	for _, e := range again.holds() {
		if e.kind == "tick" {
			t.Errorf("an unpaced domain has no ticks: %+v", e) // req: C-010 half: no ticks
		}
	}
}

// ends are the ways a follower ends, but for the removal.
func ends(t *testing.T, w *world) {
	// req: X-296
	s := w.session(t, "ends")
	s.Do("CREATE PACED DOMAIN ends WITH PERIOD 10ms SKEW 0s;\nSTART AT '2012-01-01T00:00:00Z';\n")
	interrupted, terminated, bounded, once := w.jsonl(t, "ends"), w.follow(t, "ends"), w.jsonl(t, "ends", "--for", "1ms"), w.follow(t, "ends", "--follow=false")
	interrupted.sees("a tick", ticked(1, 1))
	interrupted.signal(syscall.SIGINT)
	terminated.sees("a tick", ticked(1, 1))
	terminated.signal(syscall.SIGTERM)
	for name, f := range map[string]*follower{"Ctrl-C": interrupted, "SIGTERM": terminated, "--for": bounded, "--follow=false": once} {
		if code := f.ends(); code != 0 || f.stderr.String() != "" {
			t.Errorf("%s: exit %d: %s", name, code, f.stderr.String())
		}
		f.holds()
	}
	if got := once.events(); len(got) != 1 {
		t.Errorf("%+v", got)
	}
	unknown := w.jsonl(t, "nowhere")
	if code := unknown.ends(); code != 1 || unknown.out.String() != "" || !strings.Contains(unknown.stderr.String(), "no such domain") || !strings.Contains(unknown.stderr.String(), "LIST DOMAINS") {
		t.Errorf("exit %d: %s%s", code, unknown.out.String(), unknown.stderr.String()) // req: X-294 half: a missing domain
	}
	for _, arguments := range [][]string{{"--for", "0s"}, {"--for", "5"}, {"--format", "xml"}, {"extra"}} {
		f := w.follow(t, "ends", arguments...)
		if code := f.ends(); code != 2 || f.out.String() != "" {
			t.Errorf("%v: exit %d: %s", arguments, code, f.out.String())
		}
	}
}

// attachments are the statements, as a session sends them.
func attachments(t *testing.T, w *world) {
	// req: C-088
	// req: C-089
	// req: C-091
	// req: X-172 half: the statements
	// req: X-174
	s := w.session(t, "one")
	s.Do("CREATE DOMAIN one;\nCREATE DOMAIN two;\nATTACH DOMAIN CLOCK;\nUSE two;\nATTACH DOMAIN CLOCK;\nUSE one;\n")
	refused := func(text string, want ...string) {
		t.Helper()
		told := s.Refused(text)
		for _, part := range want {
			if !strings.Contains(told, part) {
				t.Errorf("%s: %s", text, told)
			}
		}
	}
	refused("ATTACH DOMAIN CLOCK", "session.clock_attached", "one")
	s.Do("BEGIN")
	refused("ATTACH DOMAIN CLOCK", "session.in_transaction", "COMMIT or REVERT first")
	refused("DETACH DOMAIN CLOCK", "session.in_transaction", "COMMIT or REVERT first")
	s.Do("REVERT;\nDETACH DOMAIN CLOCK;\n")
	refused("DETACH DOMAIN CLOCK", "session.clock_not_attached", "ATTACH DOMAIN CLOCK first")
	s.Do("USE two;\nDETACH DOMAIN CLOCK;\n")
	s.Use("nowhere")
	refused("ATTACH DOMAIN CLOCK", "session.domain_unknown", "nowhere", "LIST DOMAINS")
}

// aClientComputes: the Go client answers domain time, waits and windows from what it was told.
func aClientComputes(t *testing.T, w *world) {
	// req: C-111 half: against the formula
	// req: X-195 half: the wait
	// req: C-214 half: a client that paces events by its clock, on one node
	s := w.session(t, "paces")
	s.Do("CREATE PACED DOMAIN paces WITH PERIOD 10s SKEW 0s;\nSTART AT '1960-01-01T00:00:00Z' TIME RATE 1000.0;\n")
	ctx := t.Context()
	followed, err := s.AttachDomainClock(ctx, "paces")
	if err != nil {
		t.Fatal(err)
	}
	m := event{period: followed.Pace.Period, logicalStart: followed.Mapping.LogicalStart.NS(), startedAt: followed.Mapping.WallStartedAt.NS(), rate: followed.Mapping.Rate}
	target := followed.Mapping.LogicalStart
	for range 20 {
		// The instant of a tick that is yet to come, or has just come.
		if target, err = target.Add(50 * time.Second); err != nil {
			t.Fatal(err)
		}
		if err := s.WaitForDomainTime(ctx, "paces", followed.Generation, target, osclock.UTC); err != nil {
			t.Fatal(err)
		}
		e, err := s.NextClockEvent(ctx)
		for err == nil && (e.Kind != client.ClockTicked || e.Tick.Boundary.NS() < target.NS()) {
			e, err = s.NextClockEvent(ctx)
		}
		if err != nil {
			t.Fatal(err)
		}
		if want := m.due(e.Tick.AuthorityUTC.NS()); e.Tick.ID != want {
			t.Errorf("tick %d, due %d", e.Tick.ID, want)
		}
		got, err := followed.At(e.Tick.AuthorityUTC)
		if want := m.project(e.Tick.AuthorityUTC.NS()); err != nil || want.Int64() != got.NS() {
			t.Errorf("%d %v, want %s", got.NS(), err, want)
		}
		if ok, err := followed.Admits(e.Tick.AuthorityUTC, e.Tick.Boundary); !ok || err != nil {
			t.Errorf("the newest boundary is not admitted: %v", err)
		}
	}
	s.Do("STOP")
	if target, err = target.Add(1 << 60); err != nil {
		t.Fatal(err)
	}
	if err := s.WaitForDomainTime(ctx, "paces", followed.Generation, target, osclock.UTC); !errors.Is(err, clock.ErrStopped) {
		t.Errorf("a wait on a stopped clock: %v", err)
	}
}

// TestOneNode has what needs a node and no particular one.
func TestOneNode(t *testing.T) {
	t.Parallel()
	w := start(t)
	for name, test := range map[string]func(*testing.T, *world){
		"life": followersSeeALife, "ends": ends, "attachments": attachments, "client": aClientComputes, "refusals": refusals,
		"edges": edges, "window": movingWindow, "policies": policies, "instants": instants, "fast": fastTime, "slow": slowTime, "range": outOfRange, "run": runs,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, w)
		})
	}
}

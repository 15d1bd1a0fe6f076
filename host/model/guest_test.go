// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/google/go-cmp/cmp"

	"github.com/nervix-go/nervix/host/expr"
	"github.com/nervix-go/nervix/host/expr/construct"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/model"
)

// guestText adds a WASM processor between alarms and leaks to the base.
const guestText = `
	CREATE RESOURCE leak_guest;
	CREATE SCHEMA leak (bed STRING, score F64, note STRING OPTIONAL, secret STRING OPTIONAL SENSITIVE);
	CREATE RELAY leaks SCHEMA leak BRANCHED BY by_bed;
	CREATE RELAY echoes SCHEMA alarm BRANCHED BY by_bed;
	CREATE DETACHED WASM PROCESSOR leak_model FROM alarms WHERE level > 1.0 FILTER WHERE NOT is_null(input.who)
	  USING RESOURCE leak_guest VERSION 3 FILE 'guests/leak.wasm' MAX FUEL 400 MAX MEMORY 32MiB BRANCHED BY by_bed
	  TO leaks SET score = coalesce(score, 0.5), note = branch.bed WHERE output.score > 0.1
	    ON MESSAGE ERROR SEND TO bed_flaws SET ref = error.reference, why = error.message, bed = input.bed
	  TO echoes ON MESSAGE ERROR LOG
	  ON REJECTED STATE RESET ON GLOBAL ERROR LOG;
	CREATE JUNCTION after FROM leaks BRANCHED BY by_bed TO last INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG;
	CREATE RELAY last SCHEMA leak BRANCHED BY by_bed;`

func TestGuestPlan(t *testing.T) {
	// req: W-089 half: the record that a source token selects is shown where tokens are
	g := build(t, newDomain(t, baseText(t)+guestText))
	w := g.WASM("leak_model")
	if w.Module != (model.Module{Resource: "leak_guest", Version: 3, File: "guests/leak.wasm"}) || w.MaxFuel != 400 || w.MaxMemory != 32<<20 {
		t.Errorf("module %+v", w)
	}
	if w.Attached || w.Branch != g.Branch("by_bed") || w.InputSchema != g.Schema("alarm") || w.Filter == nil || w.Inputs[0].Where == nil || !w.ResetRejected || !w.GlobalLog {
		t.Errorf("processor %+v", w)
	}
	if len(w.Routes) != 2 || w.Routes[0].Relay != g.Relay("leaks") || w.Routes[1].Relay != g.Relay("echoes") || w.Routes[1].Index != 1 || w.Routes[1].Policy.Kind != model.PolicyLog {
		t.Errorf("routes %+v", w.Routes)
	}
	if p := w.Routes[0].Policy; p.Relay != g.Relay("bed_flaws") || p.Record.Target() != g.Schema("flaw") {
		t.Errorf("policy %+v", p)
	}
	for _, r := range w.Routes { // also the one without SET and WHERE
		if r.Construct == nil || r.Construct.Target() != r.Relay.Schema {
			t.Errorf("construct of %s", r.Relay.Ref.Name)
		}
	}
	if g.Resource("leak_guest") == nil || g.Resource("leak") != nil || g.WASM("leak") != nil {
		t.Error("finders")
	}
	var out construct.Outcome
	defer out.Release()
	env := expr.Env{Rows: 2}
	w.Routes[1].Construct.RunOver(&env, make([]arrow.Array, 3), &out)
	if len(out.Failures) != 2 || out.Failures[0].Code() != "validation" {
		t.Errorf("a bare route does not finish its columns: %+v", out.Failures)
	}
}

func TestGuestInTheGraph(t *testing.T) {
	g := build(t, newDomain(t, baseText(t)+guestText))
	want := []model.Reader{{Ref: ident.Ref{Domain: "farm", Kind: ident.KindWASM, Name: "leak_model"}}, {Ref: ident.Ref{Domain: "farm", Kind: ident.KindEmitter, Name: "alarms_out"}, Attached: true}}
	if diff := cmp.Diff(want, g.Readers("alarms")); diff != "" {
		t.Error(diff)
	}
	var order []string
	for _, r := range g.Runtime() {
		order = append(order, string(r.Name))
	}
	if got := strings.Join(order, " "); got != "alarms bed_flaws echoes flaws last leaks readings alarms_out flaws_out after leak_model watch probes" {
		t.Errorf("order %s", got)
	}
}

// TestGuestFingerprintsAndLevels: what depends on the change has another fingerprint, and the level is that of nspl 2.6.
func TestGuestFingerprintsAndLevels(t *testing.T) {
	const head = "CREATE DETACHED WASM PROCESSOR leak_model FROM alarms WHERE level > 1.0 FILTER WHERE NOT is_null(input.who) USING RESOURCE leak_guest "
	const first = ` TO leaks SET score = coalesce(score, 0.5), note = branch.bed WHERE output.score > 0.1
		ON MESSAGE ERROR SEND TO bed_flaws SET ref = error.reference, why = error.message, bed = input.bed`
	const second, tail = " TO echoes ON MESSAGE ERROR LOG", " ON REJECTED STATE RESET ON GLOBAL ERROR LOG"
	const module = "VERSION 3 FILE 'guests/leak.wasm' MAX FUEL 400 MAX MEMORY 32MiB BRANCHED BY by_bed"
	for _, test := range []struct {
		name, next, changed string
		level               model.Level
	}{
		{"nothing", head + module + first + second + tail, "", model.LevelDynamic},
		{"version", head + strings.Replace(module, "3", "4", 1) + first + second + tail, "leak_model", model.LevelEntityPause},
		{"file", head + strings.Replace(module, "leak.", "other.", 1) + first + second + tail, "leak_model", model.LevelEntityPause},
		{"fuel", head + strings.Replace(module, "400", "401", 1) + first + second + tail, "leak_model", model.LevelEntityPause},
		{"memory", head + strings.Replace(module, "32MiB", "33MiB", 1) + first + second + tail, "leak_model", model.LevelEntityPause},
		{"rejected", head + module + first + second + " ON GLOBAL ERROR LOG", "leak_model", model.LevelEntityPause},
		{"global", head + module + first + second + " ON REJECTED STATE RESET ON GLOBAL ERROR IGNORE", "leak_model", model.LevelEntityPause},
		{"attachment", strings.Replace(head, "DETACHED ", "", 1) + module + first + second + tail, "leak_model", model.LevelEntityPause},
		{"routes", head + module + first + tail, "leak_model", model.LevelEntityPause},
		{"order of routes", head + module + second + first + tail, "leak_model", model.LevelEntityPause},
		{"set", head + module + strings.Replace(first, "0.5", "0.6", 1) + second + tail, "leak_model", model.LevelDynamic},
		{"where", head + module + strings.Replace(first, " WHERE output.score > 0.1", "", 1) + second + tail, "leak_model", model.LevelDynamic},
		{"filter", strings.Replace(head, "NOT ", "", 1) + module + first + second + tail, "leak_model", model.LevelDynamic},
		{"policy", head + module + first + " TO echoes ON MESSAGE ERROR IGNORE" + tail, "leak_model", model.LevelDynamic},
		{"error relay", head + module + first + " TO echoes ON MESSAGE ERROR SEND TO bed_flaws SET ref = error.code, why = ''" + tail, "leak_model", model.LevelEntityPause},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := newDomain(t, baseText(t)+guestText)
			before := prints(build(t, d))
			text := "DROP WASM PROCESSOR leak_model;" + test.next
			c, faults := model.Check("farm", d.list(), statements(t, text))
			if len(faults) > 0 {
				t.Fatal(showFaults(text, c, faults))
			}
			d.apply(c)
			var changed []string
			for name, print := range prints(build(t, d)) {
				if before[name] != print {
					changed = append(changed, string(name))
				}
			}
			if got := sortedWords(changed); got != test.changed || c.Level(true) != test.level {
				t.Errorf("changed %q at level %s, want %q at %s", got, c.Level(true), test.changed, test.level)
			}
		})
	}
}

// TestLatestPasses: a check without a node knows no versions.
func TestLatestPasses(t *testing.T) {
	text := baseText(t) + strings.Replace(guestText, "VERSION 3", "VERSION LATEST", 1)
	c, faults := model.Check("farm", nil, statements(t, text))
	if len(faults) > 0 {
		t.Fatal(showFaults(text, c, faults))
	}
	if w := c.Graph.WASM("leak_model"); w.Module.Version != 0 {
		t.Errorf("version %d", w.Module.Version)
	}
}

func TestPacedIngestorsDeclareTheirTime(t *testing.T) {
	// req: C-134 half: sources of clients are not part of the language yet
	text := strings.Replace(baseText(t), " TIMESTAMP AT taken_at", "", 1)
	stmts := statements(t, text)
	for _, options := range [][]model.Option{nil, {model.Paced(false)}} {
		if _, faults := model.Check("farm", nil, stmts, options...); len(faults) > 0 {
			t.Errorf("an unpaced domain refuses it: %v", faults)
		}
	}
	c, faults := model.Check("farm", nil, stmts, model.Paced(true))
	if len(faults) != 1 || faults[0].Code != fault.ModelTimestamp || !strings.Contains(faults[0].Message, "INGESTOR probes") || !strings.Contains(faults[0].Hint, "TIMESTAMP NOW") {
		t.Fatal(faults)
	}
	if at := text[faults[0].Span.Offset:faults[0].Span.End()]; at != "probes" || c.At[0] < 0 {
		t.Errorf("told at %q", at)
	}
	for _, clause := range []string{" TIMESTAMP NOW", " TIMESTAMP AT taken_at"} {
		d := newDomain(t, strings.Replace(baseText(t), " TIMESTAMP AT taken_at", clause, 1))
		if _, faults := model.Build("farm", d.list(), model.Paced(true)); len(faults) > 0 {
			t.Errorf("%s: %v", clause, faults)
		}
	}
	d := newDomain(t, text)
	if g, faults := model.Build("farm", d.list(), model.Paced(true)); g != nil || len(faults) != 1 {
		t.Errorf("Build: %v", faults)
	}
}

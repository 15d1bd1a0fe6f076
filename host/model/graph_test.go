// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/model"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/nspl/parse"
)

func build(t *testing.T, d *domain) *model.Graph {
	t.Helper()
	g, faults := model.Build("farm", d.list())
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return g
}

func TestPlansHoldWhatWasDeclared(t *testing.T) {
	// req: R-004 half: eviction is shown in package branch
	// req: R-009 half: the key is built for each record in the ingestor
	// req: R-045
	d := newDomain(t, baseText(t)+"CREATE RELAY plain SCHEMA alarm UNBRANCHED;")
	g := build(t, d)
	b := g.Branch("by_bed")
	if b.TTL != 2*time.Hour || b.MaxInstances != 100 || b.Schema.Name() != "bed_key" || g.Branch("by_other").MaxInstances != 0 {
		t.Errorf("branch %+v", b)
	}
	if r := g.Relay("plain"); r.Capacity != 1 || r.Branch != nil {
		t.Errorf("relay %+v", r)
	}
	i := g.Ingestor("probes")
	want := model.SourceMode{Ack: true, Parallel: true, Max: 4096, AckTimeout: 30 * time.Second, Retry: model.Retry{Backoff: 100 * time.Millisecond, MaxBackoff: 5 * time.Second}}
	if diff := cmp.Diff(want, i.Mode); diff != "" {
		t.Error(diff)
	}
	route := i.Routes[0]
	if i.Timestamp != (model.Timestamp{Declared: true, At: 1}) || !i.GeneralLog || i.Source.Options["path"] != "in/probes.ndjson" || i.Client.Config["root"] != "/data/farm" {
		t.Errorf("ingestor %+v", i)
	}
	if route.Branch != b || route.Key.Target() != b.Schema || route.Construct.Target() != g.Schema("reading") || route.Flush != (model.Flush{Each: time.Second, MaxBytes: 256 << 10}) {
		t.Errorf("route %+v", route)
	}
	if route.Policy.Kind != model.PolicySendTo || route.Policy.Relay != g.Relay("flaws") || route.Policy.Record.Target() != g.Schema("flaw") {
		t.Errorf("policy %+v", route.Policy)
	}
	j := g.Junction("watch")
	if !j.Attached || j.Branch != b || j.Inputs[0].Where == nil || j.Filter != nil || !j.Routes[0].Flush.Immediate || j.InputSchema != g.Schema("reading") {
		t.Errorf("junction %+v", j)
	}
	e := g.Emitter("alarms_out")
	if e.Sink.Kind != "file" || e.Codec != g.Codec("alarm_codec") || e.Policy.Kind != model.PolicyLog || e.Retry.MaxBackoff != 30*time.Second {
		t.Errorf("emitter %+v", e)
	}
	if g.Emitter("nothing") != nil || g.Relay("alarm") != nil || g.Wire(ident.KindWireJSON, "alarm_wire") == nil {
		t.Error("finders")
	}
}

func TestReadersAndOrder(t *testing.T) {
	d := newDomain(t, baseText(t)+`
		CREATE RELAY last SCHEMA alarm BRANCHED BY by_bed;
		CREATE DETACHED JUNCTION after FROM alarms BRANCHED BY by_bed TO last INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG;`)
	g := build(t, d)
	ref := func(kind ident.Kind, name ident.Name) ident.Ref {
		return ident.Ref{Domain: "farm", Kind: kind, Name: name}
	}
	want := []model.Reader{{Ref: ref(ident.KindJunction, "after")}, {Ref: ref(ident.KindEmitter, "alarms_out"), Attached: true}}
	if diff := cmp.Diff(want, g.Readers("alarms")); diff != "" {
		t.Error(diff)
	}
	if len(g.Readers("last")) != 0 {
		t.Error("last has no reader")
	}
	var order []string
	for _, r := range g.Runtime() {
		order = append(order, string(r.Name))
	}
	if got := strings.Join(order, " "); got != "alarms bed_flaws flaws last readings alarms_out flaws_out after watch probes" {
		t.Errorf("order %s", got)
	}
}

// prints gives the fingerprint of every plan.
func prints(g *model.Graph) map[ident.Name]model.Fingerprint {
	m := make(map[ident.Name]model.Fingerprint)
	for _, r := range g.Relays {
		m[r.Ref.Name] = r.Fingerprint
	}
	for _, i := range g.Ingestors {
		m[i.Ref.Name] = i.Fingerprint
	}
	for _, j := range g.Junctions {
		m[j.Ref.Name] = j.Fingerprint
	}
	for _, w := range g.WASMs {
		m[w.Ref.Name] = w.Fingerprint
	}
	for _, r := range g.Resources {
		m[r.Ref.Name] = r.Fingerprint
	}
	for _, e := range g.Emitters {
		m[e.Ref.Name] = e.Fingerprint
	}
	return m
}

// TestFingerprintsTellWhatChanged: after a change exactly the plans that depend on it have another fingerprint.
func TestFingerprintsTellWhatChanged(t *testing.T) {
	// req: R-020 half: the live buffer is shown in package owner
	for _, test := range []struct{ name, change, changed string }{
		{"capacity", "ALTER RELAY readings SET CAPACITY 7", ""},
		{"dropped and created again", "DROP BRANCH by_other; CREATE BRANCH by_other SCHEMA bed_key TTL 2h", ""},
		{"branch", "DROP BRANCH by_bed; CREATE BRANCH by_bed SCHEMA bed_key TTL 3h", "alarms alarms_out bed_flaws flaws_out probes readings watch"},
		{"client", "DROP CLIENT files; CREATE CLIENT files TYPE FILE CONFIG {'root' = '/other'}", "alarms_out flaws_out probes"},
		{"wire mode", `DROP WIRE JSON SCHEMA alarm_wire;
			CREATE WIRE JSON SCHEMA alarm_wire MODE LOOSE (bed STRING, level NUMBER, who STRING OPTIONAL)`, "alarms_out"},
		{"predicate", `DROP JUNCTION watch; CREATE JUNCTION watch FROM readings WHERE moisture < 41.0 BRANCHED BY by_bed
			TO alarms SET bed = branch.bed, level = input.moisture FLUSH IMMEDIATE ON MESSAGE ERROR LOG`, "watch"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := newDomain(t, baseText(t))
			before := prints(build(t, d))
			c, faults := model.Check("farm", d.list(), statements(t, test.change))
			if len(faults) > 0 {
				t.Fatal(showFaults(test.change, c, faults))
			}
			d.apply(c)
			after := prints(build(t, d))
			var changed []string
			for _, r := range c.Graph.Runtime() {
				if before[r.Name] != after[r.Name] {
					changed = append(changed, string(r.Name))
				}
				if after[r.Name] != prints(c.Graph)[r.Name] {
					t.Errorf("%v: the stored text gives another plan than the candidate", r)
				}
			}
			if got := sortedWords(changed); got != test.changed {
				t.Errorf("changed: %s\nwant:    %s", got, test.changed)
			}
		})
	}
}

// TestOrderOfStatementsDoesNotMatter: any order of the statements of a run gives one candidate.
func TestOrderOfStatementsDoesNotMatter(t *testing.T) {
	text := baseText(t) + guestText
	want := showCandidate(mustCheck(t, nil, statements(t, text)))
	rapid.Check(t, func(r *rapid.T) {
		list := rapid.Permutation(statements(t, text)).Draw(r, "order")
		c, faults := model.Check("farm", nil, list)
		if len(faults) > 0 {
			r.Fatal(faults)
		}
		c.Existed, c.Notices = nil, nil
		if got := showCandidate(c); got != want {
			r.Fatalf("%s", cmp.Diff(want, got))
		}
	})
}

// TestEveryDropIsWholeOrRefused: dropping any set of definitions either leaves a graph that builds, or is refused with the referrers.
func TestEveryDropIsWholeOrRefused(t *testing.T) {
	d := newDomain(t, baseText(t)+guestText)
	var refs []ident.Ref
	for ref := range d.defs {
		if ref.Kind != ident.KindResource { // never dropped
			refs = append(refs, ref)
		}
	}
	rapid.Check(t, func(r *rapid.T) {
		var changes []ast.Statement
		left := make(map[ident.Ref]ast.Definition)
		for ref, def := range d.defs {
			left[ref] = def
		}
		for _, ref := range rapid.SliceOfNDistinct(rapid.SampledFrom(refs), 1, 6, rapid.ID).Draw(r, "drops") {
			changes = append(changes, &ast.Drop{Kind: ref.Kind, Name: ast.Ident{Name: ref.Name}})
			delete(left, ref)
		}
		var rest []ast.Definition
		for _, def := range left {
			rest = append(rest, def)
		}
		_, broken := model.Build("farm", rest)
		c, faults := model.Check("farm", d.list(), changes)
		if (len(broken) > 0) != (len(faults) > 0) {
			r.Fatalf("check says %v, build %v", faults, broken)
		}
		for _, f := range faults {
			if f.Code != fault.ObjectReferenced || len(f.Related) == 0 {
				r.Fatalf("%v", f)
			}
		}
		if len(faults) == 0 && len(c.Drops) != len(changes) {
			r.Fatalf("%d of %d drops", len(c.Drops), len(changes))
		}
	})
}

func mustCheck(t *testing.T, base []ast.Definition, changes []ast.Statement) *model.Candidate {
	t.Helper()
	c, faults := model.Check("farm", base, changes)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	c.Existed, c.Notices = nil, nil
	return c
}

func TestKeyOfARelay(t *testing.T) {
	// req: R-065 half: who answers is shown in package control
	g := build(t, newDomain(t, `
		CREATE SCHEMA k (name STRING, row I16, big U64, seen DATETIME OPTIONAL, open BOOL);
		CREATE BRANCH b SCHEMA k TTL 1h;
		CREATE RELAY r SCHEMA k BRANCHED BY b;
		CREATE RELAY u SCHEMA k UNBRANCHED;`))
	for _, test := range []struct{ where, want string }{
		{"r WHERE (row = -5, name = 'a', big = 18446744073709551615, seen = '2024-01-02T03:04:05Z', open = TRUE)",
			`{"big":18446744073709551615,"name":"a","open":true,"row":-5,"seen":"2024-01-02T03:04:05+00:00"}`},
		{"r WHERE (row = 1, name = '', big = 0, seen = NULL, open = FALSE)", `{"big":0,"name":"","open":false,"row":1,"seen":null}`},
		{"r WHERE (row = 32768, name = 5, big = -1, seen = 'now', open = 1)",
			"key field name is STRING and takes no such literal; key field row is I16 and the number is out of its range; key field big is U64 and cannot be negative; " +
				"key field seen is DATETIME and needs an RFC 3339 time; key field open is BOOL and takes no such literal"},
		{"r WHERE (nme = 'a', row = 1, row = 2, name = NULL)",
			"BRANCH b has no key field nme; key field row is bound twice; key field name is not optional and cannot be NULL; key field big is not bound; " +
				"key field seen is not bound; key field open is not bound"},
		{"u WHERE (row = 1)", "RELAY u is UNBRANCHED: it has no branches to describe"},
	} {
		stmt, faults := parse.Statement("DESCRIBE RELAY " + test.where)
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		describe := stmt.(*ast.Describe)
		key, faults := g.Relay(describe.Name.Name).Key(describe.Bindings, describe.Name.Span)
		var got []string
		for _, f := range faults {
			got = append(got, f.Message)
		}
		if key != nil {
			got = []string{key.Text}
		}
		if diff := cmp.Diff(test.want, strings.Join(got, "; ")); diff != "" {
			t.Errorf("%s\n%s", test.where, diff)
		}
	}
}

func sortedWords(words []string) string {
	slices.Sort(words)
	return strings.Join(words, " ")
}

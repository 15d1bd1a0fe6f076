// SPDX-License-Identifier: Apache-2.0

package describe_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/describe"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/model"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/nspl/parse"
)

func graph(t *testing.T) *model.Graph {
	t.Helper()
	text, err := os.ReadFile("testdata/garden.nspl")
	if err != nil {
		t.Fatal(err)
	}
	parsed, faults := parse.Text(string(text))
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	var defs []ast.Definition
	for _, p := range parsed {
		defs = append(defs, p.Stmt.(ast.Definition))
	}
	g, faults := model.Build("garden", defs)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return g
}

func known(v float64) *float64 { return &v }

type rendering interface {
	Text() string
	JSON() []byte
}

var (
	here   = describe.Placement{Owner: "n1"}
	copied = describe.Placement{Owner: "n1", Replicas: []string{"n2", "n3"}}
	sent   = []describe.EdgeObservation{{Relay: "readings", Node: "n1", Total: 1200, Rates: describe.EdgeRates{Wall: known(12.5), Wall1m: known(10)}}}
)

// inspections are the cases of testdata/inspections.txt.
func inspections(t *testing.T) map[string]rendering {
	g := graph(t)
	buffer := &describe.RelayObservation{Node: "n1", Buffered: 3, Branches: 2, Wall: describe.Percentiles{P50Of1m: known(1), P99Of15m: known(31.5)}}
	running := describe.IngestorObservation{
		Status: describe.StatusRunning, Ready: true, Position: []describe.PositionField{{Name: "offset", Value: 4096}, {Name: "line", Value: 57}},
		Unresolved: 12, Rejected: map[string]uint64{"malformed": 2, "type": 1}, Sent: sent,
	}
	blocked := running
	blocked.Status, blocked.TransientError, blocked.ReconnectBackoff = describe.StatusBlocked, "", 5*time.Second
	blocked.Blocked = &describe.Blocked{
		At: []describe.PositionField{{Name: "offset", Value: 4100}, {Name: "line", Value: 58}}, Attempt: 4, Reason: "decode: field moisture has the wrong type",
	}
	return map[string]rendering{
		"relay":                  describe.Relay(g.Relay("readings"), here, buffer),
		"relay unbranched":       describe.Relay(g.Relay("flaws"), copied, nil),
		"relay not scheduled":    describe.Relay(g.Relay("flaws"), describe.Placement{}, nil),
		"branch exists":          describe.RelayBranch(g.Relay("readings"), here, describe.BranchObservation{Key: "0f0f", Exists: true, Buffer: buffer}),
		"branch does not exist":  describe.RelayBranch(g.Relay("readings"), here, describe.BranchObservation{Key: "0f0f"}),
		"ingestor":               describe.Ingestor(g.Ingestor("probes"), here, running),
		"ingestor blocked":       describe.Ingestor(g.Ingestor("probes"), here, blocked),
		"ingestor stopped":       describe.Ingestor(g.Ingestor("probes"), here, describe.IngestorObservation{TransientError: "/data/in/probes.ndjson does not exist"}),
		"junction":               describe.Junction(g.Junction("watch"), here, describe.JunctionObservation{Received: sent, Sent: sent}),
		"wasm processor":         describe.WASM(g.WASM("leak_model"), here, guests(sent)),
		"wasm processor idle":    describe.WASM(g.WASM("leak_model"), here, describe.WASMObservation{}),
		"emitter":                describe.Emitter(g.Emitter("out"), here, describe.EmitterObservation{Status: describe.EmitterOK, Published: 1190, Received: sent}),
		"emitter in error":       describe.Emitter(g.Emitter("out"), here, describe.EmitterObservation{Status: describe.EmitterError, Detail: "no space\nleft on the device", TransientError: "no space left on the device", ReconnectBackoff: time.Second, ReconnectWait: 250 * time.Millisecond}),
		"ingestors":              describe.Ingestors([]describe.IngestorEntry{{Name: "probes", Owner: "n1", Status: describe.StatusFinished}, {Name: "weather"}}),
		"no ingestors":           describe.Ingestors(nil),
		"cluster":                cluster(),
		"cluster without leader": describe.Cluster(describe.ClusterStatus{}),
		"domains": describe.DomainList{
			{Name: "garden", Pace: "UNPACED", Status: "STOPPED"},
			{Name: "replay", Pace: "PACED", Cadence: &clock.Pace{Period: 1_000_000_000, Skew: 250_000_000}, Status: "RUNNING", Generation: 3},
		},
		"no domains": describe.DomainList{},
	}
}

func guests(edges []describe.EdgeObservation) describe.WASMObservation {
	return describe.WASMObservation{
		Received: edges, Sent: edges, Rejected: map[string]uint64{"wasm": 2}, Restarts: 1, Recycled: 3,
		Branches: []describe.WASMBranch{
			{Fingerprint: strings.Repeat("0a", 32), Generation: 1, Instance: 2, Callbacks: 17, Fuel: 52_310, Memory: 131_072, Committed: 16, Latest: 17, Stage: "CAPTURED", Known: true},
			{Fingerprint: strings.Repeat("ff", 32), Generation: 1, Stage: "EMPTY"},
		},
		Errors: []describe.WASMError{
			{
				At: vtime.UTCFromNS(1_780_000_000_000_000_000), Text: "wasm processor 'leak_model' batch processing failed (unbranched): the guest answered -3",
				Module: strings.Repeat("c4", 16), FirstRow: 65,
			},
			{At: vtime.UTCFromNS(1_780_000_000_000_000_000), Text: "wasm processor 'leak_model' module compilation failed (): the file is empty"},
		},
	}
}

func cluster() describe.Inspection {
	scheduled := func(kind ident.Kind, name ident.Name) describe.Scheduled {
		return describe.Scheduled{Ref: ident.Ref{Domain: "garden", Kind: kind, Name: name}, At: here}
	}
	return describe.Cluster(describe.ClusterStatus{
		Leader: "n1", Raft: describe.RaftStatus{Role: "leader", Term: 2, Index: 41, Applied: 41}, Voters: []string{"n1"},
		Domains:   []describe.DomainStatus{{Name: "garden", Pace: "UNPACED", Status: "RUNNING", Generation: 1}},
		Scheduled: []describe.Scheduled{scheduled(ident.KindRelay, "readings"), scheduled(ident.KindWASM, "score"), scheduled(ident.KindHashMap, "beds")},
	})
}

// TestInspections compares the renderings with testdata/inspections.txt: `text NAME` and `json NAME`.
func TestInspections(t *testing.T) {
	// req: R-001 half: that the owner is the scheduled one is shown in package control
	// req: R-064
	// req: R-066 half: the transitions are shown in package owner
	all := inspections(t)
	shown := make(map[string]bool)
	datadriven.RunTest(t, "testdata/inspections.txt", func(t *testing.T, td *datadriven.TestData) string {
		one, ok := all[td.Input]
		if !ok {
			t.Fatalf("no case %q", td.Input)
		}
		shown[td.Cmd+" "+td.Input] = true
		if td.Cmd == "text" {
			return one.Text()
		}
		var indented bytes.Buffer
		if err := json.Indent(&indented, one.JSON(), "", "  "); err != nil {
			t.Fatal(err)
		}
		return indented.String() + "\n"
	})
	for name := range all {
		if !shown["text "+name] {
			t.Errorf("the text of %q is not compared", name)
		}
	}
}

// TestBothFormsSayTheSame: every line `some words: value` of the text is the member "some_words" of the JSON object, in the same order.
func TestBothFormsSayTheSame(t *testing.T) {
	for name, one := range inspections(t) {
		if _, list := one.(describe.DomainList); list {
			continue // has no `words: value` lines: the golden file shows both forms
		}
		var object map[string]json.RawMessage
		if err := json.Unmarshal(one.JSON(), &object); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		last := -1
		for line := range strings.Lines(one.Text()) {
			words, _, found := strings.Cut(line, ":")
			if !found || strings.HasPrefix(line, " ") || strings.Contains(words, "=") {
				continue
			}
			key := strings.ReplaceAll(words, " ", "_")
			if _, ok := object[key]; !ok {
				t.Errorf("%s: no member %s", name, key)
			}
			at := bytes.Index(one.JSON(), []byte(`"`+key+`":`))
			if at <= last && key != "branch" {
				t.Errorf("%s: member %s is out of order", name, key)
			}
			last = max(last, at)
		}
	}
}

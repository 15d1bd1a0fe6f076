// SPDX-License-Identifier: Apache-2.0

// Package examples runs the programs below examples/ that the documentation shows, so that what it says stays true.
package examples

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nervix-go/nervix/test/nodes"
)

func TestMain(m *testing.M) { nodes.Main(m) }

const examples = "../../examples/"

// run puts the root into a program, runs it beside its data and gives the sorted lines of each file it wrote.
func run(t *testing.T, program, data string, flags ...string) map[string][]string {
	t.Helper()
	root := t.TempDir()
	nodes.WriteFile(t, filepath.Join(root, filepath.Base(data)), nodes.ReadFile(t, examples+data))
	file := filepath.Join(root, "program.nspl")
	nodes.WriteFile(t, file, []byte(strings.ReplaceAll(string(nodes.ReadFile(t, examples+program)), "@ROOT@", root)))
	done := nodes.Run(t, root, append([]string{"run", file, "--file-root", root}, flags...)...)
	if done.Code != 0 {
		t.Fatalf("exit %d\n%s%s", done.Code, done.Stdout, done.Stderr)
	}
	written := map[string][]string{}
	entries, err := os.ReadDir(filepath.Join(root, "out"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		lines := strings.Split(strings.TrimSuffix(string(nodes.ReadFile(t, filepath.Join(root, "out", e.Name()))), "\n"), "\n")
		slices.Sort(lines)
		written[e.Name()] = lines
	}
	return written
}

// compare wants exactly these files, each with lines that begin like this.
func compare(t *testing.T, got, want map[string][]string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("files %v", got)
	}
	for name, lines := range want {
		if !slices.EqualFunc(got[name], lines, strings.HasPrefix) {
			t.Errorf("%s:\n%s\nwant lines that begin with\n%s", name, strings.Join(got[name], "\n"), strings.Join(lines, "\n"))
		}
	}
}

// TestTour runs the programs of docs/nspl-tour.md.
func TestTour(t *testing.T) {
	for name, want := range map[string]map[string][]string{
		"first": {"first.ndjson": {
			`{"order":1,"customer":"ann","amount":12.5}`, `{"order":2,"customer":"bob","amount":250}`, `{"order":3,"customer":"cia","amount":99.9}`,
			`{"order":5,"customer":"eve","amount":1000.01}`, `{"order":6,"customer":"fay","amount":5}`, `{"order":7,"customer":"gil","amount":0}`,
		}},
		"ingestor": {
			"purchases.ndjson": {
				`{"order":1,"at":"2026-03-01T09:00:00+00:00","customer":"ann","country":"SE","amount":12.5,"card":"hidden","note":"a gift"}`,
				`{"order":2,"at":"2026-03-01T09:01:00+00:00","customer":"bob","country":"DE","amount":250,"card":"hidden"}`,
				`{"order":3,"at":"2026-03-01T09:02:00+00:00","customer":"cia","country":"SE","amount":99.9,"card":"hidden"}`,
				`{"order":5,"at":"2026-03-01T09:04:00+00:00","customer":"eve","country":"DE","amount":1000.01,"card":"hidden","note":"urgent"}`,
			},
			"audits.ndjson":  {`{"order":2,"last_digits":"0002"}`, `{"order":5,"last_digits":"4444"}`},
			"damaged.ndjson": {`{"line":4,"why":"INGESTOR reader: decode: line 4, offset 365: field \"amount\" must be NUMBER`, `{"line":6,"why":"INGESTOR reader: decode: line 6, offset 611: field \"country\" is required`},
		},
		"junction": {
			"large.ndjson":    {`{"order":2,"country":"DE","cents":25000,"rush":false}`, `{"order":5,"country":"DE","cents":100001,"rush":true}`},
			"receipts.ndjson": {`{"order":1,"text":"thank you, ann (with a note)","each":80}`, `{"order":2,"text":"thank you, bob","each":4}`, `{"order":5,"text":"thank you, eve (with a note)","each":0.9999`},
			"problems.ndjson": {`{"order":7,"why":"JUNCTION split: set: `},
		},
		"emitter": {
			"totals.ndjson":   {`{"order":1,"total":"12.5 SEK"}`, `{"order":2,"total":"250 EUR"}`, `{"order":3,"total":"99.9 SEK"}`, `{"order":5,"total":"1000.01 EUR"}`},
			"observed.ndjson": {`{"order":1,`, `{"order":3,`, `{"order":7,`},
		},
	} {
		t.Run(name, func(t *testing.T) { compare(t, run(t, "tour/"+name+".nspl", "tour/orders.ndjson"), want) })
	}
}

// TestConnector builds the connector of docs/connectors.md, installs it and runs its pipeline.
func TestConnector(t *testing.T) {
	folder := t.TempDir()
	binary := filepath.Join(folder, "file")
	build := exec.Command("go", "build", "-o", binary, "github.com/nervix-go/nervix/examples/csv")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	descriptor, err := exec.Command(binary, "--descriptor").Output()
	if err != nil {
		t.Fatal(err)
	}
	nodes.WriteFile(t, binary+".json", descriptor)
	compare(t, run(t, "csv/csv.nspl", "csv/orders.csv", "--connectors", folder), map[string][]string{
		"purchases.ndjson": {
			`{"order":1,"customer":"ann","amount":12.5}`, `{"order":2,"customer":"bob","amount":250}`, `{"order":3,"customer":"cia","amount":99.9}`,
			`{"order":5,"customer":"eve","amount":1000.01}`, `{"order":7,"customer":"gil","amount":0}`,
		},
		"damaged.ndjson": {`{"line":6,"why":"INGESTOR reader: set: cast_failed`, `{"line":8,"why":"INGESTOR reader: decode: line 8, offset 140: 3 cells; the header has 5`},
	})
}

// TestPages: the program that the tour shows as complete is the file, what it and the other pages quote of a file is in that file, and links lead somewhere.
func TestPages(t *testing.T) {
	tour := string(nodes.ReadFile(t, "../../docs/nspl-tour.md"))
	_, first, _ := strings.Cut(string(nodes.ReadFile(t, examples+"tour/first.nspl")), "\n")
	if !strings.Contains(tour, first) {
		t.Error("docs/nspl-tour.md does not show examples/tour/first.nspl as it is")
	}
	var programs strings.Builder
	for _, name := range []string{"first", "ingestor", "junction", "emitter"} {
		programs.Write(nodes.ReadFile(t, examples+"tour/"+name+".nspl"))
	}
	quoted(t, tour, "```sql", programs.String())
	var code strings.Builder
	for _, name := range []string{"main", "source", "sink"} {
		code.Write(nodes.ReadFile(t, examples+"csv/"+name+".go"))
	}
	connectors := string(nodes.ReadFile(t, "../../docs/connectors.md"))
	for _, function := range []string{"func (s *source) Read(", "func (s *sink) Publish("} {
		i := strings.Index(connectors, function)
		if i < 0 {
			t.Errorf("docs/connectors.md does not show %s", function)
			continue
		}
		text, _, _ := strings.Cut(connectors[i:], "```")
		if !strings.Contains(code.String(), text) {
			t.Errorf("docs/connectors.md shows %s otherwise than examples/csv", function)
		}
	}
	for _, page := range []string{"README.md", "docs/nspl-tour.md", "docs/operations.md", "docs/connectors.md", "docs/record-path.md"} {
		for _, link := range regexp.MustCompile(`\]\(([^)#:]+)\)`).FindAllStringSubmatch(string(nodes.ReadFile(t, "../../"+page)), -1) {
			if _, err := os.Stat(filepath.Join("../..", filepath.Dir(page), link[1])); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
}

// quoted checks that each line of the blocks of a page stands in the text, remarks at its end and spaces aside.
func quoted(t *testing.T, page, fence, text string) {
	t.Helper()
	lines := map[string]bool{}
	plain := func(line string) string {
		line, _, _ = strings.Cut(line, "--")
		return strings.TrimSpace(line)
	}
	for line := range strings.Lines(text) {
		lines[plain(line)] = true
	}
	for _, block := range strings.Split(page, fence)[1:] {
		block, _, _ = strings.Cut(block, "```")
		for line := range strings.Lines(block) {
			if line = plain(line); !lines[line] {
				t.Errorf("%q is in no example", line)
			}
		}
	}
}

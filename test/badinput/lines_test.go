// SPDX-License-Identifier: Apache-2.0

package badinput

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/nervix-go/nervix/test/nodes"
)

// badLines are lines that are no item, and what their error must name besides the line.
var badLines = []struct {
	name, line, reason string
}{
	{"broken JSON", `{"id":1,"bed":"b0","text":`, "end"},
	{"no JSON", `hello sekret`, ""},
	{"an array", `[{"id":1}]`, "object"},
	{"two values", `{"id":1,"bed":"b0","text":"a"} {"id":2}`, ""},
	{"a text for a number", `{"id":"sekret","bed":"b0","text":"a"}`, "id"},
	{"a fraction for an integer", `{"id":1.5,"bed":"b0","text":"a"}`, "id"},
	{"an integer out of range", `{"id":9223372036854775808,"bed":"b0","text":"a"}`, "id"},
	{"null for a value", `{"id":1,"bed":null,"text":"a"}`, "bed"},
	{"a missing member", `{"id":1,"bed":"b0"}`, "text"},
	{"an unknown member", `{"id":1,"bed":"b0","text":"a","colour":1}`, "colour"},
	{"invalid UTF-8", "{\"id\":1,\"bed\":\"b0\",\"text\":\"\xff\xfe\"}", "UTF-8"},
	{"a lone surrogate", `{"id":1,"bed":"b0","text":"\ud800"}`, "surrogate"},
	{"a surrogate pair cut in two", `{"id":1,"bed":"b0","text":"\ud83d sekret"}`, "surrogate"},
	{"a raw control character", "{\"id\":1,\"bed\":\"b0\",\"text\":\"a\tb\"}", ""},
	{"a NUL byte", "{\"id\":1,\"bed\":\"b0\",\"text\":\"a\x00b\"}", ""},
	{"an infinite number", `{"id":1,"bed":"b0","text":"a","amount":1e999}`, "amount"},
	{"a huge line", `{"id":1,"bed":"b0","text":"` + strings.Repeat("sekret", 1000) + `"}`, "max_line_bytes"},
	{"deep nesting", strings.Repeat(`[`, 3000), ""},
}

// TestBadLinesAmongGoodOnes runs a file of good and bad lines to its end: each bad line becomes one record that says what, where and why, and
// every good line gets through.
func TestBadLinesAmongGoodOnes(t *testing.T) {
	// req: P-020
	// req: K07
	// req: N07 half: JSON
	p := program{root: t.TempDir(), client: ", 'max_line_bytes' = 5000"}
	var in strings.Builder
	var want []string
	at := make(map[int64]string)
	in.WriteString("\xef\xbb\xbf")
	for n, bad := range badLines {
		in.WriteString(good(n) + "\r\n" + bad.line + "\n")
		want = append(want, good(n))
		at[int64(2*n+2)] = bad.name
	}
	in.WriteString("\n\n" + good(100)) // empty lines, and a last line without its end
	want = append(want, good(100))
	// Unusual and right: an escaped NUL, a surrogate pair, a solidus.
	in.WriteString("\n" + `{"id":101,"bed":"b0","text":"a\u0000b \ud83d\ude00 \/","amount":null}`)
	want = append(want, `{"id":101,"bed":"b0","text":"a\u0000b 😀 /"}`)
	nodes.WriteFile(t, p.root+"/in.ndjson", []byte(in.String()))

	done := apply(t, p)
	if done.Code != 0 {
		t.Fatalf("exit %d:\n%s%s", done.Code, done.Stdout, done.Stderr)
	}
	sameLines(t, p.root+"/out.ndjson", want...)
	expect(t, done.Stdout, fmt.Sprintf("ingestor d.feed: status=finished read=%d rejected=%d (", len(want)+len(badLines), len(badLines)),
		fmt.Sprintf("emitter d.out: emitted=%d rejected=0", len(want)), fmt.Sprintf("emitter d.faults: emitted=%d rejected=0", len(badLines)))
	for _, line := range lines(string(nodes.ReadFile(t, p.root+"/damaged.ndjson"))) {
		var f struct {
			Ref, Code, Operation, Why string
			Line                      int64
		}
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		name, known := at[f.Line]
		if !known {
			t.Errorf("line %d is good and was reported: %s", f.Line, f.Why)
			continue
		}
		delete(at, f.Line)
		if f.Code != "validation" || f.Operation != "decode" || len(f.Ref) != 36 {
			t.Errorf("%s: %s", name, line)
		}
		if strings.Contains(f.Why, "sekret") {
			t.Errorf("%s: the reason holds a part of the line: %s", name, f.Why)
		}
		expect(t, f.Why, "feed", fmt.Sprintf("line %d", f.Line), badLines[(f.Line-2)/2].reason)
		t.Logf("%s: %s", name, f.Why)
	}
	for line, name := range at {
		t.Errorf("%s, line %d, was not reported", name, line)
	}
	if strings.Contains(done.Stderr, "sekret") {
		t.Errorf("the log holds a part of a line:\n%s", done.Stderr)
	}
}

// TestPoisonLineBlocksUnderLog leaves a line unacknowledged for ever; the others go through, and the run ends with a failure that names
// the line.
func TestPoisonLineBlocksUnderLog(t *testing.T) {
	// req: K07
	p := program{root: t.TempDir(), policy: "LOG"}
	nodes.WriteFile(t, p.root+"/in.ndjson", []byte(goods(1, 40)+`{"id":"sekret"}`+"\n"+goods(41, 200)))
	done := apply(t, p)
	if done.Code != 1 {
		t.Errorf("exit %d, want 1", done.Code)
	}
	sameLines(t, p.root+"/out.ndjson", lines(goods(1, 200))...)
	expect(t, done.Stderr, "INGESTOR feed is blocked", "line=41", "id")
	expect(t, done.Stdout, "ingestor d.feed: status=blocked read=201", "emitter d.out: emitted=200")
	if strings.Contains(done.Stderr, "sekret") {
		t.Errorf("the log holds a part of a line:\n%s", done.Stderr)
	}
	t.Logf("%s", done.Stderr)
}

// TestPoisonLineInDescribe looks at a blocked source of a running node.
func TestPoisonLineInDescribe(t *testing.T) {
	p := program{root: t.TempDir(), policy: "LOG"}
	nodes.WriteFile(t, p.root+"/in.ndjson", []byte(goods(1, 40)+`{"id":"sekret"}`+"\n"+goods(41, 50)))
	n := nodes.Start(t, nodes.Options{Data: t.TempDir() + "/data", Root: p.root})
	s := n.Dial()
	s.Do(p.text())
	var seen struct {
		Status     string
		Unresolved int
		Position   struct{ Line int64 }
		Blocked    *struct {
			Line    int64
			Attempt int
			Reason  string
		}
	}
	nodes.Eventually(t, "the source is blocked with one line unresolved", func() bool {
		s.Describe("INGESTOR feed", &seen)
		return seen.Status == "blocked" && seen.Unresolved == 1
	})
	if b := seen.Blocked; b == nil || b.Line != 41 || b.Attempt < 3 || !strings.Contains(b.Reason, "id") || strings.Contains(b.Reason, "sekret") {
		t.Errorf("blocked: %+v", b)
	}
	if seen.Position.Line != 40 {
		t.Errorf("the position is line %d, want 40: the line before the blocked one", seen.Position.Line)
	}
	expect(t, s.Do("DESCRIBE INGESTOR feed").Text, "status: blocked", "line=41", "attempt=")
	expect(t, s.Do("SHOW INGESTORS").Text, "feed", "blocked")
	// The mended file is another one: it is read from its start, and the place where it was stuck is behind it.
	sameLines(t, p.root+"/out.ndjson", lines(goods(1, 50))...)
	n.Stop()
}

// TestIgnoreCounts passes over a bad line and counts it.
func TestIgnoreCounts(t *testing.T) {
	// req: K07
	p := program{root: t.TempDir(), policy: "IGNORE"}
	nodes.WriteFile(t, p.root+"/in.ndjson", []byte(goods(1, 40)+"{\n"+goods(41, 50)))
	done := apply(t, p, "--format", "jsonl")
	if done.Code != 0 {
		t.Fatalf("exit %d:\n%s%s", done.Code, done.Stdout, done.Stderr)
	}
	sameLines(t, p.root+"/out.ndjson", lines(goods(1, 50))...)
	var report struct {
		Kind, Name, Status string
		Read, Rejected     int
		Reasons            map[string]int
	}
	for _, line := range lines(done.Stdout) {
		if err := json.Unmarshal([]byte(line), &report); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if report.Kind == "ingestor" {
			break
		}
	}
	if report.Name != "feed" || report.Status != "finished" || report.Read != 51 || report.Rejected != 1 || len(report.Reasons) != 1 {
		t.Errorf("the summary is %+v", report)
	}
}

// SPDX-License-Identifier: Apache-2.0

package guests

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nervix-go/nervix/test/nodes"
	"github.com/nervix-go/nervix/wasm/protocol"
)

// rewrite has a name of its own, so that whoever writes the scripts of other packages anew does not write these files by the way.
var rewrite = flag.Bool("rewrite-diagnostics", false, "write the golden files of diagnostics anew; read the difference")

// every is all cases that a script makes.
func every() []hostile {
	return slices.Concat(traps(), limits(), lies(), verdicts(), reasons(), asks(), malformed(), pools(), shapes(), tokens())
}

// TestHostileGuests lets the guest of each case misbehave in a branch of its own, detached, so that each row is given once.
func TestHostileGuests(t *testing.T) {
	// req: W-013, W-014, W-020, W-021, W-027, W-028, W-029, W-030, W-031, W-032, W-033, W-036, W-037, W-039, W-041, W-044, W-060, W-066, W-067, W-069, W-072, W-073
	// req: W-076, W-078, W-079, W-087, W-088, W-096, W-097, W-100, W-102, W-104, W-105, W-106, W-107, W-109, W-112, W-113, W-114, W-115, W-118, W-119, W-127, W-128
	// req: W-129, W-246, W-249, W-250, W-256, W-306, W-309
	// req: A02, A03, A05, A10
	// req: W-063 half: types, not nullability
	// req: W-064 half: indexes out of range
	// req: W-065 half: the index
	// req: W-068 half: five types
	// req: W-074 half: type and nullability
	// req: W-075 half: that it is allowed
	// req: W-108 half: the output
	// req: W-111 half: missing members
	// req: W-187 half: detached
	// req: W-207 half: the state
	// req: W-233 half: dump and batch
	// req: W-236 half: what comes of it
	// req: W-245 half: what a host refuses
	// req: W-253 half: see TestStages
	// req: W-254 half: all but the export
	// req: A01
	t.Parallel()
	cases := every()
	w := start(t)
	module := wat(t, puppet())
	content := contentOf(module)
	a := w.arena(t, "hostile", arenaOptions{window: roundsWindow, files: []file{{"puppet.wasm", module}, {"calm.wasm", wat(t, calmPuppet())}}})
	a.define(processor{name: "puppet", file: "puppet.wasm", detached: true}.text(), processor{name: "calm", file: "calm.wasm", detached: true, routes: "TO calm ON MESSAGE ERROR LOG"}.text())
	// A good branch of the same processor works all the time, between the rows of the others.
	given := a.feedRounds(cases, hostile.bed, "")
	a.Do("START")
	a.Finish("feed")
	nodes.Eventually(t, "every row was given to a guest", func() bool { return a.describe("puppet").Rows.Given >= a.rows })
	a.Do("STOP") // everything under way is worked to its end

	all, counts := a.failures("puppet"), a.counts("out")
	var texts []string
	for _, c := range cases {
		bed := c.bed()
		if d := cmp.Diff(c.counts, counts[bed]); d != "" {
			t.Errorf("%s: the counters of the rows that came out: %s", c.name, d)
		}
		var got []string
		for _, f := range of(all, bed) {
			if strings.HasPrefix(f.Message, "wasm processor 'puppet' ") && !shape.MatchString(f.Message) && !strings.Contains(f.Message, " could not reset its state ") {
				t.Errorf("%s: no shape: %s", c.name, f.Message)
			}
			stage, text := parseDiagnostic(t, f.Message, bed)
			got = append(got, stage+" "+f.Code)
			a.wantPlace(c.name, stage, f, content, len(c.rows))
			texts = append(texts, c.name+": "+text)
		}
		if d := cmp.Diff(c.fails, got); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
	golden(t, "diagnostics.txt", slices.Compact(texts))
	for _, e := range a.describe("puppet").LastErrors {
		if e.Module != content {
			t.Errorf("DESCRIBE names module %q, want %q: %s", e.Module, content, e.Message)
		}
		if i := slices.IndexFunc(all, func(f failure) bool { return f.Message == e.Message && f.FirstRow == e.FirstRow }); i < 0 {
			t.Errorf("the log has no such failure with first row %d: %s", e.FirstRow, e.Message)
		}
	}
	if d := cmp.Diff(upTo(given), counts["good"]); d != "" {
		t.Errorf("the good branch: %s", d)
	}
	if f := of(all, "good"); len(f) > 0 {
		t.Errorf("the good branch failed: %v", f)
	}
	if got := a.failures("calm"); len(got) > 0 || len(a.came("calm")) != a.rows {
		t.Errorf("the good processor: %d rows, %v", len(a.came("calm")), got)
	}
	w.node.Stop()
}

// contentOf is what diagnostics call a module: the first half of its hash.
func contentOf(module []byte) string {
	sum := sha256.Sum256(module)
	return hex.EncodeToString(sum[:])[:32]
}

// wantPlace judges module and first row of a failure. Each of a case's rows is a batch of its own and is given once, so the first row is the number of
// the row; what no batch led to names none.
func (a *arena) wantPlace(name, stage string, f failure, content string, rows int) {
	a.t.Helper()
	if f.Module != content {
		a.t.Errorf("%s: module %q, want %q: %s", name, f.Module, content, f.Message)
	}
	switch protocol.Stage(stage) {
	case protocol.StageTimeout, protocol.StageFlush:
		rows = 0
	case protocol.StageBatch, protocol.StageInitialization, protocol.StageStateRestore, protocol.StageSnapshotDecoding, protocol.StageStateRestoration:
		if f.FirstRow < 1 {
			a.t.Errorf("%s: no first row: %s", name, f.Message)
		}
	}
	if f.FirstRow > rows {
		a.t.Errorf("%s: first row %d of %d: %s", name, f.FirstRow, rows, f.Message)
	}
}

// shape is that of W-246.
var shape = regexp.MustCompile(`^wasm processor '[^']+' [a-z -]+ failed \((branch [0-9a-f]{64}|unbranched), resource '[^']+' version [0-9]+ file '[^']+'(, export 'nervix_[a-z_]+')?(, saved state revision [0-9]+)?\): \S.*$`)

// aToken is what no other number in a diagnostic is as long as.
var aToken = regexp.MustCompile(`\b[0-9]{13,20}\b`)

// parseDiagnostic takes the one shape of W-246 apart: the stage, and the text without the fingerprint, which must be that of the bed.
func parseDiagnostic(t *testing.T, text, bed string) (stage, masked string) {
	t.Helper()
	masked = aToken.ReplaceAllString(strings.Replace(text, fingerprint(bed), "FINGERPRINT", 1), "TOKEN")
	rest, ok := strings.CutPrefix(text, "wasm processor 'puppet' ")
	if !ok {
		return "?", masked
	}
	stage, _, ok = strings.Cut(rest, " failed (branch "+fingerprint(bed)+", resource 'modules' version 1 file 'puppet.wasm'")
	if !ok {
		return "reset", masked
	}
	return stage, masked
}

// roundsWindow is PARALLEL MAX for feedRounds.
const roundsWindow = 100

// feedRounds writes the first row of each case, then the second of each, and so on, with the scripts followed by a text; it gives the number of rows
// of a good branch, which are between them. No two rows of a case are as near as the window of the source is long, so that each of them is a batch of its
// own.
func (a *arena) feedRounds(cases []hostile, bed func(hostile) string, behind string) (good int) {
	a.t.Helper()
	for round, some := 0, true; some; round++ {
		some = false
		rows := 0
		for _, c := range cases {
			if round < len(c.rows) {
				some = true
				a.feed(item{bed(c), c.rows[round] + behind}, item{"good", ""})
				good++
				rows += 2
			}
		}
		for ; rows < 2*roundsWindow; rows++ {
			a.feed(item{"good", ""})
			good++
		}
	}
	return good
}

// upTo is 1 to n.
func upTo(n int) (all []int) {
	for i := range n {
		all = append(all, i+1)
	}
	return all
}

// aMessage is the size of a message that the host encoded. The size is the encoder's affair and its tests', not that of a diagnostic.
var aMessage = regexp.MustCompile(`an input message of ([0-9]+ bytes)`)

// withoutSizes masks the size of the input wherever a diagnostic repeats it.
func withoutSizes(line string) string {
	if size := aMessage.FindStringSubmatch(line); size != nil {
		return strings.ReplaceAll(line, " of "+size[1], " of SIZE bytes")
	}
	return line
}

// golden compares lines with a file below testdata. Only the flag writes it, and no test that failed.
func golden(t *testing.T, name string, got []string) {
	t.Helper()
	path := "testdata/" + name
	lines := make([]string, len(got))
	for i, line := range got {
		lines[i] = withoutSizes(line)
	}
	text := strings.Join(slices.Compact(lines), "\n") + "\n"
	if *rewrite && !t.Failed() {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(strings.Split(string(nodes.ReadFile(t, path)), "\n"), strings.Split(text, "\n")); d != "" {
		t.Errorf("%s differs; -rewrite-diagnostics writes it anew:\n%s", path, d)
	}
}

// TestStages finds every stage in the golden files, but for those that need a second node or a store that fails.
func TestStages(t *testing.T) {
	// req: W-253 half: eleven of fifteen
	var text string
	for _, name := range []string{"diagnostics.txt", "refusals.txt", "singles.txt"} {
		text += string(nodes.ReadFile(t, "testdata/"+name))
	}
	var missing []protocol.Stage
	for _, s := range protocol.Stages() {
		if !strings.Contains(text, "' "+string(s)+" failed (") {
			missing = append(missing, s)
		}
	}
	if d := cmp.Diff([]protocol.Stage{protocol.StagePersistence, protocol.StageReplication, protocol.StageAuthority, protocol.StageRecovery}, missing); d != "" {
		t.Error(d)
	}
}

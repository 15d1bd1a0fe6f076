// SPDX-License-Identifier: Apache-2.0

package guests

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nervix-go/nervix/test/nodes"
	"github.com/nervix-go/nervix/wasm/engine/watguest"
)

// TestMoreBranchesThanGuests has a node that may run three guests, and five branches that want one.
func TestMoreBranchesThanGuests(t *testing.T) {
	t.Parallel() // it waits for branches to end
	// req: A17 half: the number of guests; the address space is the engine's
	for _, ignore := range []bool{false, true} {
		w := start(t, "--max-guests", "3", "--guest-profile", map[bool]string{false: "guard", true: "dense"}[ignore], "--drain-timeout", "1s")
		a := w.arena(t, "crowded", arenaOptions{window: 100, branch: "TTL 1s", follow: true, files: []file{{"puppet.wasm", wat(t, puppet())}}})
		a.define(processor{name: "puppet", file: "puppet.wasm", ignore: ignore}.text(), "START;")
		for n := range 5 {
			a.feed(item{fmt.Sprint("b", n), ""})
		}
		// No policy makes room, so the rows of the two others wait at their source; as branches end for their TTL they are through.
		a.settled()
		if got := a.counts("out"); len(got) != 5 {
			t.Errorf("what came out: %v", got)
		}
		failures := a.failures("puppet")
		if len(failures) == 0 {
			t.Error("nothing was reported")
		}
		for _, f := range failures {
			if f.Code != "wasm.budget" || !strings.HasSuffix(f.Message, "the node runs 3 guest instances, as many as it may") || !strings.Contains(f.Message, " instantiation failed (branch ") {
				t.Errorf("%+v", f)
			}
		}
		a.Do("STOP")
		w.node.Stop()
	}
	for _, bad := range [][]string{{"--max-guests", "0"}, {"--max-guests", "-1"}, {"--guest-profile", "sparse"}} {
		out := nodes.Run(t, t.TempDir(), append([]string{"dev", "--data", t.TempDir() + "/data"}, bad...)...)
		if out.Code != 2 || !strings.Contains(out.Stderr, bad[0]) {
			t.Errorf("%v: exit %d, %s", bad, out.Code, out.Stderr)
		}
	}
}

// TestLargeRows gives rows to guests whose memory they nearly fill, fill in company, or cannot fit.
func TestLargeRows(t *testing.T) {
	t.Parallel()
	// req: A08
	// req: W-042
	content, err := os.ReadFile("../../wasm/guest/testdata/c_passthrough.wasm")
	if err != nil {
		t.Fatal(err)
	}
	w := start(t)
	a := w.arena(t, "large", arenaOptions{window: 1000, files: []file{{"pass.wasm", content}}})
	a.define(`CREATE RELAY copies SCHEMA item BRANCHED BY by_bed CAPACITY 64;
CREATE EMITTER copies_file FROM copies
  TO FILE files PATH 'copies.ndjson' MODE ACK RETRY POLICY BACKOFF 50ms MAX 200ms ENCODE USING item_codec INHERIT ALL FLUSH IMMEDIATE
  ON MESSAGE ERROR LOG ON GENERAL ERROR LOG;`,
		processor{name: "pass", file: "pass.wasm", memory: "2MiB", fuel: "1000000000", detached: true, routes: "TO copies ON MESSAGE ERROR LOG"}.text())
	kib := func(n int) string { return strings.Repeat("0123456789abcdef", n*64) }
	rows := []item{{"one", kib(900)}, {"one", "small"}, {"too large", kib(2500)}, {"too large", "small"}}
	for range 10 {
		rows = append(rows, item{"many", kib(300)})
	}
	a.feed(rows...)
	a.Do("START")
	a.Finish("feed")
	nodes.Eventually(t, "every row was given", func() bool { return a.describe("pass").Rows.Given == len(rows) })
	a.Do("STOP")
	got := map[string]int{}
	for _, x := range lines[struct{ Bed, Act string }](t, a.at+"/copies.ndjson") {
		got[fmt.Sprintf("%s %d", x.Bed, len(x.Act)>>10)]++
	}
	if d := cmp.Diff(map[string]int{"one 900": 1, "one 0": 1, "too large 0": 1, "many 300": 10}, got); d != "" {
		t.Error(d)
	}
	var texts []string
	for _, f := range a.failures("pass") {
		texts = append(texts, f.Code+" "+f.Message)
	}
	if len(texts) != 1 || !strings.HasPrefix(texts[0], "wasm.buffer ") || !strings.Contains(texts[0], "for 1 row: guest buffer size 25") || !strings.HasSuffix(texts[0], " exceeds configured limit 2097152, which is MAX MEMORY") {
		t.Errorf("%q", texts)
	}
	w.node.Stop()
}

// TestLongCalls has a guest that fills memory for as long as it may, which costs no fuel to speak of. Everything else goes on meanwhile.
func TestLongCalls(t *testing.T) {
	// req: W-022 half: the bound of the node; the grammar is the language's
	// req: W-302 half: the others progress; their bound is not measured
	t.Parallel() // it waits for ten seconds
	w := start(t)
	a := w.arena(t, "long", arenaOptions{follow: true, files: []file{{"calm.wasm", wat(t, calmPuppet())}, {"spins.wasm", module(t, spins)}}})
	a.define(processor{name: "calm", file: "calm.wasm", routes: "TO calm ON MESSAGE ERROR LOG"}.text(),
		processor{name: "spins", file: "spins.wasm", where: "bed = 'slow'", detached: true, fuel: "1000000000000", routes: "TO out ON MESSAGE ERROR LOG"}.text(), "START;")
	a.feed(item{"slow", ""})
	a.settled() // the attached processor is through, whatever the other does
	for range 10 {
		a.feed(item{"a", ""}, item{"b", ""}, item{"slow2", ""})
		a.settled()
	}
	nodes.Eventually(t, "the long call has ended", func() bool { return len(a.told("spins")) > 0 })
	if f := a.failures("spins"); len(f) != 1 || len(of(f, "slow")) != 1 || f[0].Code != "wasm.time" || !strings.HasSuffix(f[0].Message, "): wasm guest ran longer than the 10s an operation may take") {
		t.Errorf("%+v", f)
	}
	w.node.Stop()
}

// spins fills memory for ever.
var spins = watguest.Guest{Memory: "100", Bodies: map[string]string{
	"nervix_alloc":         growing,
	"nervix_process_batch": "(loop $l (memory.fill (i32.const 65536) (i32.const 0) (i32.const 6000000)) (br $l)) unreachable",
}}

// TestStopWhileAGuestRuns ends a node whose guest would run on for a long time.
func TestStopWhileAGuestRuns(t *testing.T) {
	t.Parallel()
	w := start(t, "--drain-timeout", "1s")
	a := w.arena(t, "endless", arenaOptions{files: []file{{"spins.wasm", module(t, spins)}}})
	a.define(processor{name: "spins", file: "spins.wasm", fuel: "1000000000000", routes: "TO out ON MESSAGE ERROR LOG"}.text())
	a.feed(item{"a", ""})
	a.Do("START")
	nodes.Eventually(t, "the guest runs", func() bool { return a.describe("spins").Rows.Given >= 1 })
	w.node.Stop() // with exit 0; the row is read again after the next start
}

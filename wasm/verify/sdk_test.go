// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/wasm/engine"
	"github.com/nervix-go/nervix/wasm/protocol"
	"github.com/nervix-go/nervix/wasm/protocol/gen/nervix_wasm"
)

var probeSchemas = mustParse(`
CREATE SCHEMA input (text STRING, number I64 OPTIONAL);
CREATE SCHEMA filtered (text STRING);
CREATE SCHEMA mapped (text STRING, twice I64, note STRING OPTIONAL);`)

var probeScenario = scenario{name: "probe", schemas: probeSchemas, domain: testDomain, kind: testKind, key: testKey}

// probe runs f with a kit for the probe guest.
func probe(t *testing.T, f func(*kit)) {
	t.Helper()
	o := options()
	o.Schemas = probeSchemas
	o.Memory = 32 << 20
	probing(t, module(t, "tests/c_probe.wasm"), o, f)
}

func (k *kit) must(t *testing.T, c scenario) *guest {
	t.Helper()
	g, err := k.started(c)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// texts is a batch for the probe; numbers beyond the given ones are null.
func texts(mode string, rows int, numbers ...int64) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, probeSchemas.Input.Arrow())
	defer b.Release()
	for i := range rows {
		text := mode
		if i > 0 {
			text = fmt.Sprintf("t%d", i)
		}
		b.Field(0).(*array.StringBuilder).Append(text)
		if i < len(numbers) {
			b.Field(1).(*array.Int64Builder).Append(numbers[i])
		} else {
			b.Field(1).AppendNull()
		}
	}
	return b.NewRecordBatch()
}

// paired delivers a batch whose rows have two tokens each, i and i + rows.
func (g *guest) paired(batch arrow.RecordBatch) (string, error) {
	rows := int(batch.NumRows())
	first := g.ledger.Issue(2 * rows)
	plain, err := g.encoded(batch, first)
	if err != nil {
		return "", err
	}
	input, err := protocol.DecodeInput(plain)
	if err != nil {
		return "", err
	}
	var entries []*nervix_wasm.OutputRowT
	for i := range uint64(rows) {
		source := first + i
		entries = append(entries, &nervix_wasm.OutputRowT{Tokens: []uint64{source, first + uint64(rows) + i}, SourceToken: &source})
	}
	g.inputs[first] = batch
	g.begin(engine.OpBatch)
	a, err := g.Deliver(engine.ProcessBatch, packedInput(input.Arrow, entries))
	return g.finish(a, err)
}

func says(t *testing.T, want, got string, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	} else if d := difference(want, got); d != "" {
		t.Errorf("%s\n%s", d, got)
	}
}

// The helpers of the header keep entries whole: survivors have their two tokens and their source, dropped rows are acked with both.
func TestFilterAndMapKeepEntriesWhole(t *testing.T) {
	// req: W-305, W-307
	probe(t, func(k *kit) {
		g := k.must(t, probeScenario)
		said, err := g.paired(texts("filter", 5, 2, 3, 4))
		says(t, `envelope
  filtered: input 0
    row [0 5] <- 0 "filter"
    row [2 7] <- 2 "t2"
    acked [1 6 3 8 4 9]
`, said, err)
		said, err = g.paired(texts("map", 5, 7, -1, 101, 100))
		says(t, `envelope
  generated 0 int64 nullable=false: ["14", "200"]
  mapped: input 0 generated 0 uninitialized 0
    row [10 15] <- 10 "map"
    row [13 18] <- 13 "t3"
    acked [14 19]
    nacked [11 16] "row 1 is -1"
    message error [12 17] "row 2 is too large"
`, said, err)
		said, err = g.paired(texts("all", 2))
		says(t, "envelope\n  filtered: input 0\n    row [20 22] <- 20 \"all\"\n    row [21 23] <- 21 \"t1\"\n", said, err)
		said, err = g.batch(texts("again", 2))
		says(t, `envelope
  filtered: input 0
    row [24] <- 24 "again"
    row [25] <- 25 "t1"
    row [24] <- 24 "again"
    row [24] <- 24 "again"
    row [25] <- 25 "t1"
`, said, err)
		if n := g.ledger.Live(); n > 0 {
			t.Errorf("%d tokens are live", n)
		}
	})
}

// Held entries and copied values are right after the buffer was filled again and again, and moved.
func TestHeldRowsOutliveTheBuffer(t *testing.T) {
	// req: W-305
	probe(t, func(k *kit) {
		g := k.must(t, probeScenario)
		for i := range 3 {
			if said, err := g.paired(texts("hold", 2+i)); err != nil || said != "" {
				t.Fatal(said, err)
			}
			if _, err := g.batch(texts("all", 100)); err != nil {
				t.Fatal(err)
			}
			g.grant(uint32(70_000 * (i + 1)))
		}
		said, err := g.flush()
		says(t, `envelope
  generated 0 int64 nullable=false: ["0", "1", "2", "3", "4", "5", "6", "7", "8"]
  generated 1 utf8 nullable=true: ["hold", "t1", "hold", "t1", "t2", "hold", "t1", "t2", "t3"]
  mapped: input 0 generated 0 generated 1
    row [0 2] <- 0 "hold"
    row [1 3] <- 1 "t1"
    row [104 107] <- 104 "hold"
    row [105 108] <- 105 "t1"
    row [106 109] <- 106 "t2"
    row [210 214] <- 210 "hold"
    row [211 215] <- 211 "t1"
    row [212 216] <- 212 "t2"
    row [213 217] <- 213 "t3"
`, said, err)
	})
}

// What an author does wrong is told by the guest, before the host has to find it, and does not end the instance.
func TestMistakesOfTheAuthor(t *testing.T) {
	// req: W-245 half: items that the header can see
	const wrong = "the guest emits an output that is wrong: "
	probe(t, func(k *kit) {
		g := k.must(t, probeScenario)
		for mode, reason := range map[string]string{
			"wrong: fewer columns": wrong + "a route has fewer columns than its relay has fields",
			"wrong: more columns":  wrong + "a route has more columns than its relay has fields",
			"wrong: type":          wrong + "a column has another type or nullability than its field",
			"wrong: unused":        wrong + "a generated column is not used by any route",
			"wrong: value":         wrong + "a value of another type is put into a generated column",
			"wrong: null":          wrong + "a null is put into a generated column that is not optional",
			"wrong: list":          wrong + "a list is put into a generated column that has none",
			"wrong: rows":          wrong + "a generated column has another number of rows than its route",
			"wrong: source":        wrong + "a row without source stands beside columns of the input",
			"wrong: input":         wrong + "a route takes a column that the input does not have",
			"wrong: same":          wrong + "a route takes over rows that it cannot have",
			"late failure":         "the probe fails behind its output",
			"late report":          "the probe reports behind its output",
			"positive":             "a callback of the guest answered 5",
		} {
			said, err := g.batch(texts(mode, 2))
			if f, ok := refused(err); !ok || f.Reason != reason || said != "" {
				t.Errorf("%s: %q, %v", mode, said, err)
			}
		}
		if _, err := g.batch(texts("plain failure", 1)); err == nil || !strings.Contains(err.Error(), "-77") {
			t.Errorf("a code without reason: %v", err)
		}
		said, err := g.batch(texts("all", 1))
		says(t, fmt.Sprintf("envelope\n  filtered: input 0\n    row [%d] <- %d \"all\"\n", g.ledger.Next()-firstToken-1, g.ledger.Next()-firstToken-1), said, err)
	})
}

// A panic ends the instance, and its text reaches the diagnostic although the guest trapped.
func TestPanicsHaveTheirText(t *testing.T) {
	// req: A01 half: the text and the export; branch, module and row are the processor's to name
	probe(t, func(k *kit) {
		for mode, reason := range map[string]string{
			"panic": "the probe panics at row -1 of 3%",
			"row":   "row 3 of a column of 3 rows",
			"kind":  "a column of kind 7 is read as one of kind 13",
		} {
			g := k.must(t, probeScenario)
			_, err := g.batch(texts(mode, 3))
			var f *engine.Failure
			if !errors.As(err, &f) || !f.Gone || f.Export != engine.ProcessBatch || f.Reason != reason || fault.CodeOf(err) != fault.WasmTrap {
				t.Errorf("%s: %v", mode, err)
			}
		}
	})
}

// Memory grows in steps, is reused, and what cannot be had ends the operation with the host's message.
func TestMemoryOfTheGuest(t *testing.T) {
	// req: A07 half: the header's own memory; A16
	probe(t, func(k *kit) {
		g := k.must(t, probeScenario)
		g.mute = true
		small := g.MemoryBytes()
		if small > 128<<10 {
			t.Errorf("a new instance has %d bytes of memory", small)
		}
		for range 12 {
			if _, err := g.batch(texts("all", 3000)); err != nil {
				t.Fatal(err)
			}
		}
		if steady := g.MemoryBytes(); steady > 1<<20 || steady%(64<<10) != 0 {
			t.Errorf("batches of 3,000 rows take %d bytes of memory", steady)
		}
		var after [3]uint64
		for cycle := range after { // sizes of all kinds, again and again
			for i := range 40 {
				if _, err := g.batch(texts("all", 1+i*73)); err != nil {
					t.Fatal(err)
				}
			}
			after[cycle] = g.MemoryBytes()
		}
		if after[2] != after[0] || after[2] > 1<<20 {
			t.Errorf("the memory is %d bytes after cycles of the same batches", after)
		}
		_, err := g.batch(texts("grow", 1))
		var f *engine.Failure
		if !errors.As(err, &f) || !f.Gone || fault.CodeOf(err) != fault.WasmMemory {
			t.Errorf("40 MB below a limit of 32 MiB: %v", err)
		}
	})
}

// State written with the writer is read back, and other bytes are refused; instants and durations hold at their ends.
func TestStateAndTimeOfTheHeader(t *testing.T) {
	// req: W-029, W-124
	// req: W-311 half: see TestEveryTypeSurvives, TestNoRawInstants
	probe(t, func(k *kit) {
		if err := stateRoundTrip(k); err != nil {
			t.Error(err)
		}
		g := k.must(t, probeScenario)
		if _, err := g.timeout(1, g.now); err != nil {
			t.Error(err)
		}
		saved, err := g.dump()
		if err != nil {
			t.Fatal(err)
		}
		s, err := protocol.DecodeSnapshot(saved)
		if err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]struct {
			state  []byte
			reason string
		}{
			"cut":       {s.State[:len(s.State)-1], "the state ends early"},
			"extended":  {append(append([]byte{}, s.State...), 1, 2), "the state has 2 bytes more than this guest wrote"},
			"too long":  {append(append([]byte{}, s.State[:37]...), 255, 255, 255, 255), "the state ends early"},
			"different": {bytes.Replace(s.State, []byte("text"), []byte("tent"), 1), "the guest refuses the state"},
			"empty":     {nil, "the state ends early, after 0 bytes"},
		} {
			wrapped, err := protocol.EncodeSnapshot(protocol.Snapshot{Init: s.Init, State: c.state})
			if err != nil {
				t.Fatal(err)
			}
			g := k.must(t, probeScenario)
			f, ok := refused(g.load(wrapped))
			if !ok || f.Stage != protocol.StageStateRestoration || !strings.HasPrefix(f.Reason, c.reason) {
				t.Errorf("%s: %v", name, f)
			}
			if _, err := g.batch(texts("all", 1)); err == nil {
				t.Errorf("%s: the instance works after a refused restore", name)
			}
		}
		if _, err := g.batch(texts("reset", 1)); err != nil {
			t.Error(err)
		}
		if f, ok := refused(g.load(saved)); !ok || f.Stage != protocol.StageStateRestore {
			t.Errorf("a restore after a batch: %v", f)
		}
	})
}

// A reason latches until the host has taken it: no callback runs, and nothing that was emitted before it is left. Saving goes on and does not
// hold it. The module's error channel is renamed, so that the host does not take reasons.
func TestReasonsLatch(t *testing.T) {
	// req: W-243, W-121
	wasm := module(t, "c_reference.wasm")
	for old, hidden := range map[string]string{"nervix_global_error_": "nervix_hidden_error_", "nervix_clear_global_error": "nervix_clear_hidden_error"} {
		wasm = bytes.ReplaceAll(wasm, []byte(old), []byte(hidden))
	}
	probing(t, wasm, options(), func(k *kit) {
		for _, command := range []string{"!fail", "!report"} {
			g := k.must(t, jobScenario(testKey))
			batch := func(sensors ...string) (string, error) {
				var rows []jobInput
				for _, s := range sensors {
					rows = append(rows, jobInput{sensor: s})
				}
				return g.batch(jobBatch(jobOwn, rows))
			}
			if _, err := batch("north"); err != nil {
				t.Fatal(err)
			}
			before, err := g.dump()
			if err != nil {
				t.Fatal(err)
			}
			if said, err := batch(command); said != "" || (err == nil) != (command == "!report") {
				t.Errorf("%s: %q, %v", command, said, err)
			}
			if _, err := batch("south"); err == nil || !strings.Contains(err.Error(), "-6") {
				t.Errorf("%s: the next batch: %v", command, err)
			}
			if said, err := g.flush(); err == nil || said != "" {
				t.Errorf("%s: a flush: %q, %v", command, said, err)
			}
			if _, err := g.timeout(1, g.now); err == nil {
				t.Errorf("%s: a timeout runs", command)
			}
			if after, err := g.dump(); err != nil || !bytes.Equal(before, after) {
				t.Errorf("%s: the saved state changed, %v", command, err)
			}
		}
	})
}

// The guests without state wrap none, and refuse any.
func TestGuestsWithoutState(t *testing.T) {
	// req: W-310
	probing(t, module(t, "c_passthrough.wasm"), options(), func(k *kit) {
		c := k.main()
		g := k.must(t, c)
		saved, err := g.dump()
		if err != nil {
			t.Fatal(err)
		}
		s, err := protocol.DecodeSnapshot(saved)
		if err != nil || len(s.State) != 0 {
			t.Fatalf("%d bytes of state, %v", len(s.State), err)
		}
		if err := k.must(t, c).load(saved); err != nil {
			t.Error(err)
		}
		some, err := protocol.EncodeSnapshot(protocol.Snapshot{Init: s.Init, State: []byte{7}})
		if err != nil {
			t.Fatal(err)
		}
		f, ok := refused(k.must(t, c).load(some))
		if !ok || f.Stage != protocol.StageStateRestoration || f.Reason != "this guest saves no state and cannot take 1 bytes of it" {
			t.Errorf("%v", f)
		}
	})
}

// A pass-through names its columns: what it emits has no generated bytes, however large the values are.
func TestUnchangedColumnsAreNotSerialized(t *testing.T) {
	// req: W-245 half: re-serialised inputs
	probing(t, module(t, "c_passthrough.wasm"), options(), func(k *kit) {
		g := k.must(t, k.main())
		long := lengthened(made(g.scenario.schemas.Input, 4, 1, false), strings.Repeat("x", 100_000))
		message, err := g.encoded(long, g.ledger.Issue(4))
		if err != nil {
			t.Fatal(err)
		}
		g.begin(engine.OpBatch)
		a, err := g.Deliver(engine.ProcessBatch, message)
		if err != nil {
			t.Fatal(err)
		}
		out, err := protocol.DecodeOutput(a.Output.Bytes())
		if err != nil || len(out.Generated) != 0 || a.Output.Len() > 1000 {
			t.Errorf("%d bytes, %v", a.Output.Len(), err)
		}
	})
}

// Every value of every type comes back from a guest that reads and writes it, with the least, the greatest, the negative and the empty ones.
func TestEveryTypeSurvives(t *testing.T) {
	// req: W-056, W-057 half: the guest's side
	// req: W-311 half: values; TestNoRawInstants has the signatures
	probing(t, module(t, "tests/c_mirror.wasm"), options(), func(k *kit) {
		c := scenario{name: "types", schemas: own[3].schemas, domain: testDomain, kind: testKind}
		g := k.must(t, c)
		for seed := range uint64(16) {
			batch := made(c.schemas.Input, int(seed*7%40), seed, seed%2 == 0)
			said, err := g.batch(batch)
			if err != nil {
				t.Fatal(err)
			}
			var want strings.Builder
			want.WriteString("envelope\n")
			for i, column := range batch.Columns() {
				f := batch.Schema().Field(i)
				fmt.Fprintf(&want, "  generated %d %s nullable=%t: %s\n", i, f.Type, f.Nullable, values(column))
			}
			if got, _, _ := strings.Cut(said, "  out:"); got != want.String() {
				t.Fatalf("seed %d: %s", seed, difference(want.String(), got))
			}
		}
	})
}

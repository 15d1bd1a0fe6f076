// SPDX-License-Identifier: Apache-2.0

package wasmproc_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/node/wasmproc"
	"github.com/nervix-go/nervix/wasm/protocol"
)

func TestRowsPassThrough(t *testing.T) {
	// req: W-003, W-010 half: of the three sources the batch callback
	// req: W-086
	run(t, 2, watch+logs, script{batch: through}, func(b *bench) {
		copies := b.Reader("copies")
		copies.Keep()
		f := b.Publish("readings", bedA, nil, "x|0.5|1", "y|1.5|2", "z|2.5|"+null)
		g := b.Publish("readings", bedB, nil, "p|1|1")
		b.pass(time.Millisecond)
		if seen := copies.Seen(); len(seen) != 2 || !seen[0].Tracked {
			b.T.Fatalf("%+v", seen)
		}
		wantFate(b.T, f, false)
		copies.Let(nil)
		b.pass(0)
		wantFate(b.T, f, true)
		wantFate(b.T, g, true)
		b.wantErrors()
		o := b.p.Observe()
		if o.Branches != 2 || o.Received[0].Rows != 4 || o.Sent[0].Rows != 4 || o.Rows.Given != 4 || o.Instances != 2 {
			b.T.Fatalf("%+v", o)
		}
		if b.p.Busy() {
			b.T.Fatal("busy with nothing")
		}
	})
}

func TestInitPayload(t *testing.T) {
	// req: W-046, W-047, W-048, W-054 half: a key of one field; batch.KeyForm orders more
	// req: W-055
	run(t, 1, watch+logs, script{batch: through}, func(b *bench) {
		b.Reader("copies")
		b.Publish("readings", bedA, nil, "x|0.5|1")
		b.pass(time.Millisecond)
		plan := b.Graph.WASMs[0]
		want := &protocol.Init{
			DomainName: "farm", DomainType: "unpaced", BranchKey: []byte(`{"bed":"a"}`), Input: protocol.ShapeOf("reading", plan.InputSchema),
			Outputs: []protocol.Shape{protocol.ShapeOf("copies", plan.Routes[0].Relay.Schema), protocol.ShapeOf("alarms", plan.Routes[1].Relay.Schema)},
		}
		g := b.fakes.all()[0]
		if d := cmp.Diff(want, g.init); d != "" {
			b.T.Fatal(d)
		}
		if g.limits != (wasmproc.Limits{Fuel: 1000, Memory: 2 << 20, FirstHandle: 1, Alloc: b.Heap}) {
			b.T.Fatalf("%+v", g.limits)
		}
		if pin := (wasmproc.Pin{Domain: "farm", Resource: "leak_guest", Version: 3, File: "guests/leak.wasm"}); !slices.Equal(b.fakes.pins, []wasmproc.Pin{pin}) {
			b.T.Fatalf("%+v", b.fakes.pins)
		}
	})
	text := `CREATE RELAY plain SCHEMA reading UNBRANCHED; CREATE RELAY out SCHEMA reading UNBRANCHED;
	  CREATE WASM PROCESSOR watch FROM plain` + strings.Replace(module, "BRANCHED BY by_bed", "UNBRANCHED", 1) + `TO out ON MESSAGE ERROR LOG` + logs
	run(t, 1, text, script{batch: func(g *guest, in *given) int32 { return -3 }}, func(b *bench) {
		b.Publish("plain", nil, nil, "x|0.5|1")
		b.pass(time.Millisecond)
		if g := b.fakes.all()[0]; g.init.BranchKey != nil {
			b.T.Fatalf("an unbranched guest has the key %q", g.init.BranchKey)
		}
		b.wantErrors(marker + "batch processing failed (unbranched, resource 'leak_guest' version 3 file 'guests/leak.wasm', export 'nervix_process_batch'): wasm guest rejected...with code -3")
		if d := b.p.Observe().Details[0]; d.Fingerprint != "" {
			b.T.Fatalf("%+v", d)
		}
	})
}

func TestSourceWhereAndFilter(t *testing.T) {
	text := `CREATE WASM PROCESSOR watch FROM readings WHERE 1 / (n - 5) > 0 - 100, more FILTER WHERE input.wet < 4.0` + module + toBoth + logs
	run(t, 2, text, script{batch: through}, func(b *bench) {
		copies := b.Reader("copies")
		f := b.Publish("readings", bedA, nil, "x|1|1", "y|9|2", "z|1|5", "w|3|6")
		g := b.Publish("more", bedA, nil, "m|1|5", "n|5|5")
		h := b.Publish("more", bedA, nil, "q|9|5")
		b.pass(time.Millisecond)
		wantRows(b.T, "copies", copies.Rows(), "x|1|1", "w|3|6", "m|1|5")
		wantFate(b.T, f, true, 2)
		wantFate(b.T, g, true)
		wantFate(b.T, h, true)
		if o := b.p.Observe(); o.Received[0].Rows != 4 || o.Received[1].Rows != 3 || o.Rows.Given != 3 || o.Rejected["division_by_zero"] != 1 {
			b.T.Fatalf("%+v", o)
		}
		if b.Logs.Count("operation=source_where") != 1 {
			b.T.Fatal(b.Logs)
		}
	})
}

func TestDetachedProcessor(t *testing.T) {
	// req: W-197
	text := strings.Replace(watch, "CREATE WASM", "CREATE DETACHED WASM", 1) + logs
	run(t, 2, text, script{batch: through, dump: func(g *guest) ([]byte, int32) { return []byte("s"), 0 }}, func(b *bench) {
		copies := b.Reader("copies")
		copies.Judge = nil
		b.store.hold = true
		f := b.Publish("readings", bedA, nil, "x|1|1", "y|1|2")
		b.pass(time.Millisecond)
		wantFate(b.T, f, true) // while its checkpoint is on its way
		if rows := copies.Rows(); len(rows) != 2 || copies.Seen()[0].Tracked {
			b.T.Fatalf("%q", rows)
		}
		b.store.let(nil)
		b.pass(0)
		if d := b.p.Observe().Details[0]; d.Committed != 1 {
			b.T.Fatalf("%+v", d)
		}
	})
}

// A relay that has no place stops its branch and no other; nothing is lost and the order stays.
func TestFullRelayStopsTheBranchOnly(t *testing.T) {
	run(t, 1, watch+logs, script{batch: func(g *guest, in *given) int32 {
		relay := "copies"
		if strings.Contains(g.key(), "b") && !strings.Contains(g.key(), `"a"`) {
			g.emit(envelope().generated([]string{in.text(0, 0)}, []int64{1}).to("alarms", "gen0", "gen1").rows(in.tokens[0]).acked(in.tokens[1:]...).message())
			return 0
		}
		for i := range in.tokens { // a batch a row
			g.emit(envelope().to(relay, "in0", "in1", "in2").rows(in.tokens[i]).message())
		}
		return 0
	}}, func(b *bench) {
		copies, alarms := b.Reader("copies"), b.Reader("alarms")
		copies.Stall()
		f := b.Publish("readings", bedA, nil, "1|1|1", "2|1|1", "3|1|1", "4|1|1", "5|1|1", "6|1|1", "7|1|1")
		g := b.Publish("readings", bedA, nil, "8|1|1")
		b.pass(time.Millisecond)
		h := b.Publish("readings", bedB, nil, "b|1|1")
		b.pass(time.Millisecond)
		wantRows(b.T, "alarms", alarms.Rows(), "b|1")
		wantFate(b.T, h, true)
		if n := b.fakes.all()[0].number; n != 1 || slices.Contains(b.fakes.calls()[3:5], "1:nervix_process_batch") {
			b.T.Fatalf("%q", b.fakes.calls())
		}
		if !b.p.Busy() {
			b.T.Fatal("output that waits is work")
		}
		copies.Go()
		b.pass(time.Millisecond)
		wantRows(b.T, "copies", copies.Rows(), "1|1|1", "2|1|1", "3|1|1", "4|1|1", "5|1|1", "6|1|1", "7|1|1", "8|1|1")
		wantFate(b.T, f, true)
		wantFate(b.T, g, true)
		if b.p.Busy() {
			b.T.Fatal("busy with nothing")
		}
	})
}

func TestWithoutItsModuleTheProcessorWaits(t *testing.T) {
	// req: W-251 half: the text; the session is elsewhere
	cause := fault.New(fault.WasmModule, "test", ident.Ref{}, "the file is text", nil)
	refuse := func(_ *wasmproc.Config, b *bench) {
		b.fakes.refuse = &wasmproc.Failure{Stage: protocol.StageCompilation, Cause: cause}
	}
	run(t, 1, watch+logs, script{batch: through}, func(b *bench) {
		copies := b.Reader("copies")
		const want = "wasm processor 'watch' module compilation failed (resource 'leak_guest' version 3 file 'guests/leak.wasm'): the file is text"
		if err := b.p.Start(b.T.Context()); err == nil || err.Error() != want || fault.CodeOf(err) != fault.WasmModule {
			b.T.Fatal(err)
		}
		b.wantErrors(want)
		f := b.Publish("readings", bedA, nil, "x|1|1")
		g := b.Publish("readings", bedB, nil, "y|1|1")
		b.pass(time.Minute)
		wantFate(b.T, f, false)
		if len(copies.Rows()) != 0 || !b.p.Busy() {
			b.T.Fatal("worked without a module")
		}
		b.fakes.refuse = nil
		if err := b.p.Start(b.T.Context()); err != nil {
			b.T.Fatal(err)
		}
		b.pass(time.Millisecond)
		wantFate(b.T, f, true)
		wantFate(b.T, g, true)
		if b.p.Busy() || b.fakes.acquired != 1 {
			b.T.Fatalf("%d modules", b.fakes.acquired)
		}
	}, refuse)
	run(t, 1, watch+logs, script{}, func(b *bench) { // it ends without one
		f := b.Publish("readings", bedA, nil, "x|1|1")
		b.pass(time.Millisecond)
		b.stop()
		wantFate(b.T, f, true, 0)
	}, refuse)
}

func TestMissingClockFailsTheBatch(t *testing.T) {
	run(t, 2, watch+logs, script{batch: through}, func(b *bench) {
		copies := b.Reader("copies")
		b.Clock.End()
		f := b.Publish("readings", bedA, nil, "x|1|1")
		b.pass(time.Millisecond)
		wantFate(b.T, f, true, 0)
		if len(copies.Rows()) != 0 {
			b.T.Fatal("worked without a clock")
		}
	})
}

func TestObservation(t *testing.T) {
	// req: W-219, W-220, W-248 half: key values in reports; payloads are the guest's affair
	// req: W-247, W-215 half: one node has no replicas
	s := script{batch: func(g *guest, in *given) int32 {
		g.memory += 65536
		switch g.counter++; {
		case in.text(0, 0) == "bad":
			return -5
		default:
			return through(g, in)
		}
	}, dump: func(g *guest) ([]byte, int32) { return []byte("12345678"), 0 }}
	run(t, 3, watch+logs, s, func(b *bench) {
		b.Reader("copies")
		for i := range 200 {
			b.Publish("readings", []string{"secret" + string(rune('0'+i%10)) + string(rune('a'+i/10))}, nil, "x|1|1")
			b.pass(time.Millisecond)
		}
		for range 20 {
			b.Publish("readings", bedA, nil, "bad|1|1")
			b.pass(time.Millisecond)
		}
		o := b.p.Observe()
		if o.Branches != 201 || len(o.Details) != 128 || o.Omitted != 73 || len(o.Errors) != 16 || o.ErrorsTotal != 20 || o.Errors[0].At.NS() <= o.Errors[15].At.NS() {
			b.T.Fatalf("%d branches, %d details, %d omitted, %d errors of %d", o.Branches, len(o.Details), o.Omitted, len(o.Errors), o.ErrorsTotal)
		}
		for i, d := range o.Details {
			if len(d.Fingerprint) != 64 || strings.Trim(d.Fingerprint, "0123456789abcdef") != "" || i > 0 && o.Details[i-1].Fingerprint >= d.Fingerprint {
				b.T.Fatalf("%+v", d)
			}
			if d.Generation != 1 || d.Instance != 1 || d.Stage.String() != "REPLICA_CONFIRMED" || d.Committed != d.Latest || d.Committed != d.Callbacks || d.FuelUsed == 0 || d.MemoryBytes < 131072 {
				b.T.Fatalf("%+v", d)
			}
		}
		for _, text := range append(b.errorsOf(), b.Logs.String()) {
			if strings.Contains(text, "secret") || strings.Contains(text, `"a"`) {
				b.T.Fatal(text)
			}
		}
		if b.Logs.Count("code=wasm.result", "domain=farm", `kind="WASM PROCESSOR"`, "name=watch", `message="wasm processor 'watch' batch processing failed (branch `) != 20 {
			b.T.Fatal(b.Logs)
		}
	})
}

// Two routes get one generated column, and what one of them sets changes nothing for the other.
func TestGeneratedColumnsAndRoutes(t *testing.T) {
	// req: W-051, W-080, W-081, W-082
	text := `CREATE WASM PROCESSOR watch FROM readings` + module + `TO copies SET wet = wet * 2.0 WHERE n > 1 ON MESSAGE ERROR LOG
	  TO alarms SET level = coalesce(level, 4), bed = upper(bed) ON MESSAGE ERROR LOG` + logs
	run(t, 1, text, script{batch: func(g *guest, in *given) int32 {
		names := []string{}
		for i := range in.tokens {
			names = append(names, "g"+in.text(0, i))
		}
		g.emit(envelope().generated(names).to("copies", "gen0", "in1", "in2").rows(in.tokens...).to("alarms", "gen0", "none").rows(in.tokens...).message())
		return 0
	}}, func(b *bench) {
		copies, alarms := b.Reader("copies"), b.Reader("alarms")
		f := b.Publish("readings", bedA, []int64{5, 6, 7}, "x|1|1", "y|2|2", "z|3|3")
		b.pass(time.Millisecond)
		wantRows(b.T, "copies", copies.Rows(), "gy|4|2", "gz|6|3")
		wantRows(b.T, "alarms", alarms.Rows(), "GX|4", "GY|4", "GZ|4")
		if s := copies.Seen()[0]; !slices.Equal(s.Low, []int64{6, 7}) || !slices.Equal(s.High, []int64{6, 7}) {
			b.T.Fatalf("%+v", s)
		}
		wantFate(b.T, f, true)
	})
}

// An uninitialised required column fails its rows, an optional one is null (W-082).
func TestUninitialisedColumns(t *testing.T) {
	// req: W-084
	run(t, 1, watch+logs, script{batch: func(g *guest, in *given) int32 {
		g.emit(envelope().generated([]string{"u", "v"}).to("copies", "gen0", "in1", "none").rows(in.tokens[:2]...).message())
		g.emit(envelope().generated([]string{"w"}).to("alarms", "gen0", "none").rows(in.tokens[2]).message())
		return 0
	}}, func(b *bench) {
		copies, alarms := b.Reader("copies"), b.Reader("alarms")
		f := b.Publish("readings", bedA, nil, "x|1|1", "y|2|2", "z|3|3")
		b.pass(time.Millisecond)
		wantRows(b.T, "copies", copies.Rows(), "u|1|"+null, "v|2|"+null)
		wantFate(b.T, f, true, 2)
		if len(alarms.Rows()) != 0 || b.Logs.Count("operation=finalize") != 1 || b.p.Observe().Rejected["finalize"] != 1 {
			b.T.Fatal(b.Logs)
		}
		b.wantErrors()
	})
}

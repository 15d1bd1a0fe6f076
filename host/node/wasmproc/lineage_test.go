// SPDX-License-Identifier: Apache-2.0

package wasmproc_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/node/nodetest"
)

var errLost = errors.New("lost")

// collector buffers the rows of `in` batches until a batch with the row `go` comes; then emit gets everything.
func collector(emit func(g *guest)) func(g *guest, in *given) int32 {
	return func(g *guest, in *given) int32 {
		for i, t := range in.tokens {
			g.kept = append(g.kept, keptRow{t, in.text(0, i)})
		}
		if in.text(0, 0) == "go" {
			emit(g)
			g.kept = nil
		}
		return 0
	}
}

func tokensOf(g *guest, texts ...string) (out []uint64) {
	for _, text := range texts {
		for _, k := range g.kept {
			if k.text == text {
				out = append(out, k.token)
			}
		}
	}
	return out
}

const copyColumns = "in0 in1 in2"

func copied(o *output) *routed { return o.to("copies", strings.Fields(copyColumns)...) }

// Selections of every shape give the right values, watermarks and lineage.
func TestSelections(t *testing.T) {
	// req: W-110 half: values and fates; that identity and stretches share memory is TestColumnsAreShared
	// req: W-077, W-079, W-237 half: from a batch; from a timeout in TestTimeouts
	for _, c := range []struct {
		name string
		rows []string // of the output, by the text of their input
	}{
		{"all of the second", []string{"d", "e"}},
		{"a stretch", []string{"b", "c"}},
		{"gaps", []string{"a", "c"}},
		{"backwards", []string{"c", "b", "a"}},
		{"twice", []string{"b", "b", "a"}},
		{"across", []string{"a", "b", "d", "e"}},
		{"across and back", []string{"d", "a", "e", "b"}},
		{"across with gaps", []string{"a", "c", "e"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			emit := func(g *guest) {
				all := tokensOf(g, "a", "b", "c", "d", "e", "go")
				used := tokensOf(g, c.rows...)
				var rest []uint64
				for _, x := range all {
					if !slices.Contains(used, x) {
						rest = append(rest, x)
					}
				}
				o := copied(envelope())
				o.rows(used...)
				o.acked(rest...)
				g.emit(o.message())
			}
			run(t, 2, watch+logs, script{batch: collector(emit)}, func(b *bench) {
				copies := b.Reader("copies")
				copies.Keep()
				f1 := b.Publish("readings", bedA, []int64{10, 11, 12}, "a|1|1", "b|2|"+null, "c|3|3")
				f2 := b.Publish("readings", bedA, []int64{13, 14}, "d|4|4", "e|5|5")
				b.pass(time.Millisecond)
				wantFate(b.T, f1, false)
				f3 := b.Publish("readings", bedA, nil, "go|0|0")
				b.pass(time.Millisecond)
				values := map[string]string{"a": "a|1|1", "b": "b|2|" + null, "c": "c|3|3", "d": "d|4|4", "e": "e|5|5"}
				marks := map[string]int64{"a": 10, "b": 11, "c": 12, "d": 13, "e": 14}
				var rows []string
				var low []int64
				for _, r := range c.rows {
					rows, low = append(rows, values[r]), append(low, marks[r])
				}
				wantRows(b.T, "copies", copies.Rows(), rows...)
				if s := copies.Seen()[0]; !slices.Equal(s.Low, low) || !slices.Equal(s.High, low) {
					b.T.Fatalf("watermarks %v, want %v", s.Low, low)
				}
				wantFate(b.T, f1, !slices.ContainsFunc(c.rows, func(r string) bool { return r < "d" }))
				copies.Let(nil)
				b.pass(0)
				for _, f := range []*nodetest.Fate{f1, f2, f3} {
					wantFate(b.T, f, true)
				}
			})
		})
	}
}

// A row that fails behind the processor fails exactly the inputs it stands for.
func TestRowsFailByTheirInputs(t *testing.T) {
	// req: W-103, W-108, W-090
	type out struct {
		source string
		inputs []string
	}
	for _, c := range []struct {
		name   string
		rows   []out
		first  []int // rows of the first batch that fail
		second []int
	}{
		{"one to many", []out{{"a", []string{"a"}}, {"a", []string{"a"}}, {"b", []string{"b"}}}, []int{0, 1}, nil},
		{"many to one", []out{{"a", []string{"a", "b", "d"}}, {"", []string{"e"}}, {"", nil}}, []int{0, 1}, []int{0, 1}},
		{"generated", []out{{"", nil}, {"", nil}}, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			emit := func(g *guest) {
				o := envelope()
				var names []string
				for i := range c.rows {
					names = append(names, string(rune('p'+i)))
				}
				o.generated(names, make([]int64, len(names)))
				x := o.to("alarms", "gen0", "gen1")
				used := []uint64{}
				for _, r := range c.rows {
					tokens := tokensOf(g, r.inputs...)
					used = append(used, tokens...)
					var source uint64
					if r.source != "" {
						source = tokensOf(g, r.source)[0]
					}
					x.row(source, tokens...)
				}
				for _, k := range g.kept {
					if !slices.Contains(used, k.token) {
						x.acked(k.token)
					}
				}
				g.emit(x.message())
			}
			for _, good := range []bool{true, false} {
				run(t, 2, watch+logs, script{batch: collector(emit)}, func(b *bench) {
					alarms := b.Reader("alarms")
					alarms.Keep()
					f1 := b.Publish("readings", bedA, []int64{10, 11, 12}, "a|1|1", "b|2|2", "c|3|3")
					f2 := b.Publish("readings", bedA, []int64{3, 4}, "d|4|4", "e|5|5")
					b.pass(time.Millisecond)
					f3 := b.Publish("readings", bedA, nil, "go|0|0")
					b.pass(time.Millisecond)
					if n := len(alarms.Rows()); n != len(c.rows) {
						b.T.Fatalf("%d rows", n)
					}
					if s := alarms.Seen()[0]; c.name == "many to one" && (s.Low[0] != 3 || s.High[0] != 11 || s.Low[1] != 4) {
						b.T.Fatalf("watermarks %v %v", s.Low, s.High)
					}
					if good {
						alarms.Let(nil)
						b.pass(0)
						wantFate(b.T, f1, true)
						wantFate(b.T, f2, true)
					} else {
						alarms.Let(errLost)
						b.pass(0)
						wantFate(b.T, f1, true, c.first...)
						wantFate(b.T, f2, true, c.second...)
					}
					wantFate(b.T, f3, true)
				})
			}
		})
	}
}

// One input goes to two routes: it succeeds when both did (W-103).
func TestFanOutWaitsForEveryRoute(t *testing.T) {
	run(t, 2, watch+logs, script{batch: func(g *guest, in *given) int32 {
		o := envelope().generated(make([]int64, len(in.tokens)))
		o.to("copies", "in0", "in1", "in2").rows(in.tokens...)
		o.to("alarms", "in0", "gen0").rows(in.tokens...)
		g.emit(o.message())
		return 0
	}}, func(b *bench) {
		copies, alarms := b.Reader("copies"), b.Reader("alarms")
		copies.Keep()
		alarms.Keep()
		f := b.Publish("readings", bedA, nil, "x|1|1", "y|1|2")
		b.pass(time.Millisecond)
		copies.Let(nil)
		b.pass(0)
		wantFate(b.T, f, false)
		alarms.Let(nil)
		b.pass(0)
		wantFate(b.T, f, true)
	})
}

func TestNacksAndMessageErrors(t *testing.T) {
	// req: W-085, W-091, W-092, W-093, W-089 half: message errors; failed output rows in TestErrorRecordsOfOutputRows
	s := script{batch: func(g *guest, in *given) int32 {
		x := envelope().to("alarms", "none", "none")
		for i, t := range in.tokens {
			switch name := in.text(0, i); name[0] {
			case 'n':
				x.nacked("it is "+name, t)
			case 'e':
				x.failed("it cannot be "+name, t)
			default:
				x.acked(t)
			}
		}
		g.emit(x.message())
		return 0
	}}
	policy := func(p string) string {
		return `CREATE WASM PROCESSOR watch FROM readings` + module + ` TO copies ON MESSAGE ERROR LOG TO alarms ON MESSAGE ERROR ` + p + logs
	}
	rows := []string{"a|1|1", "n1|1|2", "e1|1|3", "b|1|4", "e2|7|5"}
	run(t, 1, policy("LOG"), s, func(b *bench) {
		f := b.Publish("readings", bedA, nil, rows...)
		b.pass(time.Millisecond)
		wantFate(b.T, f, true, 1, 2, 4)
		if !strings.Contains(f.Failed()[1], "it is n1") || !strings.Contains(f.Failed()[4], "wasm: it cannot be e2") && !strings.Contains(f.Failed()[4], "it cannot be e2") {
			b.T.Fatalf("%v", f.Failed())
		}
		if b.Logs.Count("operation=wasm", "rows=2") != 1 {
			b.T.Fatal(b.Logs)
		}
		if o := b.p.Observe(); o.Rows.Given != 5 || o.Rows.Acked != 2 || o.Rows.Nacked != 1 || o.Rows.Failed != 2 || o.Rejected["wasm"] != 2 {
			b.T.Fatalf("%+v", o)
		}
	})
	run(t, 1, policy("IGNORE"), s, func(b *bench) {
		f := b.Publish("readings", bedA, nil, rows...)
		b.pass(time.Millisecond)
		wantFate(b.T, f, true, 1)
		if b.Logs.String() != "" {
			b.T.Fatal(b.Logs)
		}
	})
	send := `SEND TO flaws SET ref = error.reference, code = error.code, op = error.operation, why = error.message, key = branch.bed, bed = input.bed, level = input.n, step = error.operation_index`
	run(t, 1, policy(send), s, func(b *bench) {
		flaws := b.Reader("flaws")
		flaws.Keep()
		f := b.Publish("readings", bedA, nil, rows...)
		b.pass(time.Millisecond)
		wantFate(b.T, f, false, 1)
		var got []string
		for _, r := range flaws.Rows() {
			_, rest, _ := strings.Cut(r, "|")
			got = append(got, rest)
		}
		wantRows(b.T, "flaws", got, "external|wasm|WASM PROCESSOR watch: wasm: it cannot be e1|a|e1|3|"+null+"|"+null,
			"external|wasm|WASM PROCESSOR watch: wasm: it cannot be e2|a|e2|5|"+null+"|"+null)
		flaws.Let(errLost)
		b.pass(0)
		wantFate(b.T, f, true, 1, 2, 4)
	})
}

// The record of a row that a route fails for shows the input that its source token selected, and partial_output.
func TestErrorRecordsOfOutputRows(t *testing.T) {
	// req: W-089
	text := `CREATE WASM PROCESSOR watch FROM readings` + module + `TO alarms SET level = 10 / level
	  ON MESSAGE ERROR SEND TO flaws SET ref = error.reference, code = error.code, op = error.operation, why = error.message, key = branch.bed, bed = input.bed, level = input.n` + logs
	run(t, 1, text, script{batch: func(g *guest, in *given) int32 {
		x := envelope().generated([]string{"p", "q", "r", "s"}, []int64{0, 5, 0, 0}).to("alarms", "gen0", "gen1")
		x.rows(in.tokens[1], in.tokens[0])
		x.row(0, in.tokens[2])
		x.row(in.tokens[2], in.tokens[2])
		g.emit(x.message())
		return 0
	}}, func(b *bench) {
		alarms, flaws := b.Reader("alarms"), b.Reader("flaws")
		flaws.Keep()
		f := b.Publish("readings", bedA, []int64{7, 8, 9}, "x|1|1", "y|1|2", "z|1|3")
		b.pass(time.Millisecond)
		wantRows(b.T, "alarms", alarms.Rows(), "q|2")
		var got []string
		for _, r := range flaws.Rows() {
			parts := strings.Split(r, "|")
			got = append(got, parts[1]+" "+parts[2]+" "+parts[5]+" "+parts[6])
		}
		wantRows(b.T, "flaws", got, "evaluation set y 2", "evaluation set "+null+" "+null, "evaluation set z 3")
		if s := flaws.Seen()[0]; !slices.Equal(s.Low, []int64{8, 9, 9}) {
			b.T.Fatalf("%+v", s)
		}
		flaws.Let(errLost)
		b.pass(0)
		wantFate(b.T, f, true, 1, 2)
	})
}

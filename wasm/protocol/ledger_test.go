// SPDX-License-Identifier: Apache-2.0

package protocol_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/wasm/protocol"
	"github.com/nervix-go/nervix/wasm/protocol/gen/nervix_wasm"
)

// groupOf sends sidecars through a message and gives them back as the group that Bind would make.
func groupOf(t interface{ Fatal(...any) }, usesInput bool, acks ...*nervix_wasm.AckSidecarT) *protocol.Group {
	o := &nervix_wasm.OutputEnvelopeT{GeneratedArrowIpcBatch: []byte{}, Outputs: []*nervix_wasm.RoutedOutputT{}}
	for _, a := range acks {
		o.Outputs = append(o.Outputs, &nervix_wasm.RoutedOutputT{OutputRelay: "r", Columns: []*nervix_wasm.OutputColumnRefT{}, Acks: a})
	}
	got, err := protocol.DecodeOutput(packOutput(o))
	if err != nil {
		t.Fatal(err)
	}
	g := &protocol.Group{UsesInput: usesInput}
	for _, r := range got.Routed {
		g.Outputs = append(g.Outputs, protocol.Bound{Acks: r.Acks})
	}
	return g
}

// TestLedger runs scripts: issue N, check with outputs, settle. In an output `rows=1,2:3@2,4:,-` are four rows: token 1 as its own source, tokens 2
// and 3 with source 2, token 4 without source, no token; acked, nacked and failed are lists of sets.
func TestLedger(t *testing.T) {
	// req: W-087, W-088, W-104, W-106, W-107
	// req: W-108, W-306 half: the verdict; acknowledging once and dispatching nothing are the node's part
	// req: W-102 half: the ledger of the next instance does not know old tokens; that they are kept nowhere is the node's part
	// req: W-103 half: uses are counted over all outputs; completing them is the node's part
	// req: W-109 half: nothing is noted after an error; that nothing is dispatched is the node's part
	// req: W-112 half: source tokens; see TestOutputRules
	datadriven.Walk(t, "testdata/ledger", func(t *testing.T, path string) {
		var l *protocol.Ledger
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "ledger":
				first := uint64(1)
				if l != nil {
					first = l.Next()
				}
				l = protocol.NewLedger(first)
				return fmt.Sprintf("next %d\n", l.Next())
			case "issue":
				n, _ := strconv.Atoi(d.CmdArgs[0].Key)
				return fmt.Sprintf("first %d, next %d, live %d\n", l.Issue(n), l.Next(), l.Live())
			case "check":
				s, err := l.Check(parseGroups(t, d.Input))
				if err != nil {
					if !fault.Has(err, fault.WasmToken) {
						t.Fatal(err)
					}
					return protocol.Plain(err) + "\n" + fates(l)
				}
				return showSelections(s) + fates(l)
			case "settle":
				var gone []string
				l.Settle(func(first uint64) { gone = append(gone, fmt.Sprint(first)) })
				return fmt.Sprintf("gone %v, live %d\n", gone, l.Live())
			case "forget":
				l.Forget()
				return fates(l)
			}
			t.Fatalf("unknown command %s", d.Cmd)
			return ""
		})
	})
}

func parseGroups(t *testing.T, text string) []*protocol.Group {
	var groups []*protocol.Group
	var acks []*nervix_wasm.AckSidecarT
	input, begun := false, false
	end := func() {
		if begun {
			groups = append(groups, groupOf(t, input, acks...))
		}
		acks, begun = nil, true
	}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if words[0] == "group" {
			end()
			input = len(words) > 1 && words[1] == "input"
			continue
		}
		a := sidecar([]*nervix_wasm.OutputRowT{})
		for _, word := range words[1:] {
			key, value, _ := strings.Cut(word, "=")
			for one := range strings.SplitSeq(value, ",") {
				switch key {
				case "rows":
					a.Rows = append(a.Rows, parseRow(one))
				case "acked":
					a.Acked = append(a.Acked, &nervix_wasm.AckTokenSetT{Tokens: parseTokens(one)})
				case "nacked":
					a.Nacked = append(a.Nacked, &nervix_wasm.NackSetT{Tokens: parseTokens(one), Reason: "no"})
				case "failed":
					a.MessageErrors = append(a.MessageErrors, &nervix_wasm.MessageErrorSetT{Tokens: parseTokens(one), Reason: "bad"})
				}
			}
		}
		acks = append(acks, a)
	}
	end()
	return groups
}

func parseTokens(text string) []uint64 {
	out := []uint64{}
	for word := range strings.SplitSeq(text, ":") {
		if n, err := strconv.ParseUint(word, 10, 64); err == nil {
			out = append(out, n)
		}
	}
	return out
}

func parseRow(text string) *nervix_wasm.OutputRowT {
	list, source, has := strings.Cut(text, "@")
	r := &nervix_wasm.OutputRowT{Tokens: parseTokens(list)}
	switch {
	case has:
		r.SourceToken = ptr(parseTokens(source)[0])
	case !strings.Contains(list, ":") && len(r.Tokens) == 1:
		r.SourceToken = ptr(r.Tokens[0])
	}
	return r
}

func showSelections(all [][]protocol.Selection) string {
	var b strings.Builder
	for g, outputs := range all {
		for o, s := range outputs {
			fmt.Fprintf(&b, "%d.%d: %v of %d rows", g, o, s.Class, s.Count)
			switch s.Class {
			case protocol.SelectAll, protocol.SelectSlice:
				fmt.Fprintf(&b, ", batch %d from row %d", s.Batch, s.First)
			case protocol.SelectRows:
				fmt.Fprintf(&b, ", batch %d rows %v", s.Batch, s.Rows)
			case protocol.SelectAcross:
				fmt.Fprintf(&b, ", %v", s.Places)
			}
			if s.Plain {
				b.WriteString(", plain")
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

func fates(l *protocol.Ledger) string {
	var b strings.Builder
	l.Batches(func(first uint64, fates []protocol.Fate) {
		fmt.Fprintf(&b, "batch %d:", first)
		for _, f := range fates {
			b.WriteString(" " + fateName(f))
		}
		b.WriteString("\n")
	})
	return b.String()
}

func fateName(f protocol.Fate) string {
	names := map[protocol.Fate]string{protocol.FateLive: "live", protocol.FateAcked: "acked", protocol.FateNacked: "nacked", protocol.FateFailed: "failed", protocol.FatePast: "past"}
	if name, ok := names[f]; ok {
		return name
	}
	return fmt.Sprintf("carried*%d", f.Carried())
}

// TestLedgerAgreesWithTheRules compares the ledger with the rules as the chapter writes them, over callbacks of a careless guest.
func TestLedgerAgreesWithTheRules(t *testing.T) {
	// req: W-110 half: which class a selection has, and that it names the right rows; the arrays are the node's part
	refused, accepted := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		l := protocol.NewLedger(rapid.Uint64Range(1, 1<<40).Draw(t, "begin"))
		live := map[uint64]bool{}
		at := map[uint64]protocol.Place{}
		sizes := map[uint64]int{}
		for range rapid.IntRange(1, 5).Draw(t, "callbacks") {
			n := rapid.IntRange(0, 5).Draw(t, "rows")
			first := l.Issue(n)
			sizes[first] = n
			for i := range n {
				live[first+uint64(i)] = true
				at[first+uint64(i)] = protocol.Place{Batch: first, Row: uint32(i)}
			}
			acks, input := drawCallback(t, l.Next(), live)
			want, fate := modelCheck(acks, input, live)
			s, err := l.Check([]*protocol.Group{groupOf(t, input, acks...)})
			if (err == nil) != want {
				t.Fatalf("the ledger says %v, the rules say %v", err, want)
			}
			if err != nil {
				refused++
				if l.Live() != len(live) {
					t.Fatal("a refused callback changed what is live")
				}
				continue
			}
			accepted++
			for i, a := range acks {
				checkSelection(t, s[0][i], a, at, sizes)
			}
			for token := range live {
				if place, ok := l.Locate(token); !ok || place != at[token] {
					t.Fatalf("token %d is at %v, want %v", token, place, at[token])
				}
			}
			if _, ok := l.Locate(l.Next()); ok {
				t.Fatal("a token that was never issued has a place")
			}
			got := map[uint64]string{}
			l.Touched(func(first uint64, fates []protocol.Fate) {
				for i, f := range fates {
					if f != protocol.FatePast && f != protocol.FateLive {
						got[first+uint64(i)] = fateName(f)
					}
				}
			})
			if d := cmp.Diff(fate, got); d != "" {
				t.Fatal(d)
			}
			l.Settle(nil)
			for token := range fate {
				delete(live, token)
			}
			if l.Live() != len(live) {
				t.Fatalf("%d live, want %d", l.Live(), len(live))
			}
		}
	})
	if refused < 20 || accepted < 20 {
		t.Fatalf("the property saw %d refused and %d accepted callbacks", refused, accepted)
	}
}

// drawCallback draws two outputs; mostly of live tokens.
func drawCallback(t *rapid.T, next uint64, live map[uint64]bool) (acks []*nervix_wasm.AckSidecarT, input bool) {
	known := slices.Sorted(maps.Keys(live))
	token := func() uint64 {
		if len(known) == 0 || rapid.IntRange(0, 40).Draw(t, "strange") == 0 {
			return rapid.Uint64Range(0, next+2).Draw(t, "token")
		}
		return rapid.SampledFrom(known).Draw(t, "token")
	}
	for range 2 {
		a := sidecar([]*nervix_wasm.OutputRowT{})
		sorted := rapid.Bool().Draw(t, "sorted")
		for i := range rapid.IntRange(0, 4).Draw(t, "rows") {
			one := row(token())
			if sorted && i < len(known) {
				one = row(known[i])
			}
			switch rapid.IntRange(0, 12).Draw(t, "kind") {
			case 0:
				one.Tokens = append(one.Tokens, token())
			case 1:
				one.SourceToken = nil
			case 2:
				one.SourceToken = ptr(token())
			}
			a.Rows = append(a.Rows, one)
		}
		for range rapid.IntRange(0, 5).Draw(t, "decisions") / 4 {
			set := []uint64{token()}
			switch rapid.IntRange(0, 2).Draw(t, "decision") {
			case 0:
				a.Acked = append(a.Acked, &nervix_wasm.AckTokenSetT{Tokens: set})
			case 1:
				a.Nacked = append(a.Nacked, &nervix_wasm.NackSetT{Tokens: set, Reason: "r"})
			default:
				a.MessageErrors = append(a.MessageErrors, &nervix_wasm.MessageErrorSetT{Tokens: set, Reason: "r"})
			}
		}
		acks = append(acks, a)
	}
	return acks, rapid.Bool().Draw(t, "input")
}

// modelCheck is the text of the chapter.
func modelCheck(acks []*nervix_wasm.AckSidecarT, input bool, live map[uint64]bool) (bool, map[uint64]string) {
	carried, decided := map[uint64]int{}, map[uint64]string{}
	for _, a := range acks {
		for _, r := range a.Rows {
			for _, token := range r.Tokens {
				carried[token]++
			}
			if r.SourceToken == nil && input || r.SourceToken != nil && !slices.Contains(r.Tokens, *r.SourceToken) {
				return false, nil
			}
		}
		decide := func(set []uint64, name string) bool {
			for _, token := range set {
				if decided[token] != "" {
					return false
				}
				decided[token] = name
			}
			return true
		}
		for _, x := range a.Acked {
			if !decide(x.Tokens, "acked") {
				return false, nil
			}
		}
		for _, x := range a.Nacked {
			if !decide(x.Tokens, "nacked") {
				return false, nil
			}
		}
		for _, x := range a.MessageErrors {
			if !decide(x.Tokens, "failed") {
				return false, nil
			}
		}
	}
	for token, n := range carried {
		if !live[token] || decided[token] != "" {
			return false, nil
		}
		decided[token] = fmt.Sprintf("carried*%d", n)
	}
	for token := range decided {
		if !live[token] {
			return false, nil
		}
	}
	return true, decided
}

// checkSelection expands a selection and compares it row by row; the class must be the cheapest.
func checkSelection(t *rapid.T, s protocol.Selection, a *nervix_wasm.AckSidecarT, at map[uint64]protocol.Place, sizes map[uint64]int) {
	var want []protocol.Place
	plain := true
	for _, r := range a.Rows {
		if r.SourceToken == nil {
			want = nil
			break
		}
		plain = plain && len(r.Tokens) == 1
		want = append(want, at[*r.SourceToken])
	}
	class := protocol.SelectNothing
	if len(want) > 0 && len(want) == len(a.Rows) {
		class = protocol.SelectSlice
		for i, p := range want {
			if p.Batch != want[0].Batch {
				class = protocol.SelectAcross
				break
			}
			if int(p.Row) != int(want[0].Row)+i {
				class = protocol.SelectRows
			}
		}
		if class == protocol.SelectSlice && len(want) == sizes[want[0].Batch] {
			class = protocol.SelectAll
		}
	}
	var got []protocol.Place
	switch s.Class {
	case protocol.SelectAll, protocol.SelectSlice:
		for i := range s.Count {
			got = append(got, protocol.Place{Batch: s.Batch, Row: uint32(s.First + i)})
		}
	case protocol.SelectRows:
		for _, r := range s.Rows {
			got = append(got, protocol.Place{Batch: s.Batch, Row: r})
		}
	case protocol.SelectAcross:
		got = s.Places
	}
	if s.Class != class || s.Count != len(a.Rows) || class != protocol.SelectNothing && (!slices.Equal(got, want) || s.Plain != plain) {
		t.Fatalf("selection %+v, want %v of %v, plain %v", s, class, want, plain)
	}
}

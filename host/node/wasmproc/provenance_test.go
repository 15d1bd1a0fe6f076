// SPDX-License-Identifier: Apache-2.0

package wasmproc

import (
	"errors"
	"slices"
	"testing"

	flatbuffers "github.com/google/flatbuffers/go"
	"pgregory.net/rapid"

	"github.com/nervix-go/nervix/host/kernel/lineage"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/wasm/protocol"
	"github.com/nervix-go/nervix/wasm/protocol/gen/nervix_wasm"
)

// counted is a block that counts holds and notes failed members.
type counted struct {
	holds   int
	failed  map[uint32]bool
	touched int64
	settled int
}

func (c *counted) Hold(n int) { c.holds += n }

func (c *counted) Release() {
	if c.holds--; c.holds == 0 {
		c.settled++
	}
}

func (c *counted) Fail(m lineage.Members, _ error) {
	for i := range m.Len() {
		c.failed[m.At(i)] = true
	}
}

func (c *counted) Touch(ns int64) { c.touched = ns }

// origin is where an input row came from; block is nil for rows that nobody upstream waits for.
type origin struct {
	block  *counted
	member uint32
}

// sources draws intakes whose lineages have several runs, and tells the origin of each row.
func sources(t *rapid.T, s *state, ledger *protocol.Ledger) (blocks []*counted, origins map[uint64]origin) {
	origins = map[uint64]origin{}
	for range rapid.IntRange(1, 3).Draw(t, "batches") {
		var lin lineage.Lineage
		var rows int
		var from []origin
		for range rapid.IntRange(1, 4).Draw(t, "runs") {
			n := rapid.IntRange(1, 4).Draw(t, "rows")
			if rapid.IntRange(0, 4).Draw(t, "untracked") == 0 {
				lin = lin.Append(lineage.Lineage{}, rows, n)
				from = append(from, slices.Repeat([]origin{{}}, n)...)
			} else {
				b := &counted{holds: 1, failed: map[uint32]bool{}}
				blocks = append(blocks, b)
				lin = lin.Append(lineage.Of(b, n), rows, n)
				for i := range n {
					from = append(from, origin{b, uint32(i)})
				}
			}
			rows += n
		}
		first := ledger.Issue(rows)
		in := &intake{first: first, rows: rows, lin: lin}
		for i := range rows {
			origins[first+uint64(i)] = from[i]
			in.low, in.high = append(in.low, rapid.Int64Range(0, 99).Draw(t, "low")), append(in.high, rapid.Int64Range(100, 199).Draw(t, "high"))
		}
		s.inputs = append(s.inputs, in)
	}
	return blocks, origins
}

// Rows of any shape fail exactly the inputs they stand for, have their watermarks, and hold and release what they must.
func TestProvenanceAgreesWithPerRowReference(t *testing.T) {
	// req: W-103, W-108
	rapid.Check(t, func(t *rapid.T) {
		s := &state{now: vtime.LogicalFromNS(1000)}
		s.ledger = protocol.NewLedger(rapid.Uint64Range(1, 1<<40).Draw(t, "first"))
		blocks, origins := sources(t, s, s.ledger)
		var live []uint64
		for token := range origins {
			live = append(live, token)
		}
		slices.Sort(live)
		var rows [][]uint64 // by output row: tokens, the first of which is the source; none for a generated row
		switch rapid.IntRange(0, 3).Draw(t, "shape") {
		case 0: // all of one batch, or a stretch
			in := s.inputs[rapid.IntRange(0, len(s.inputs)-1).Draw(t, "batch")]
			from := rapid.IntRange(0, in.rows-1).Draw(t, "from")
			for i := from; i < rapid.IntRange(from+1, in.rows).Draw(t, "to"); i++ {
				rows = append(rows, []uint64{in.first + uint64(i)})
			}
		case 1: // some, in order
			for _, token := range live {
				if rapid.Bool().Draw(t, "kept") {
					rows = append(rows, []uint64{token})
				}
			}
		default:
			for range rapid.IntRange(1, 9).Draw(t, "rows") {
				row := rapid.SliceOfNDistinct(rapid.SampledFrom(live), 0, min(3, len(live)), rapid.ID).Draw(t, "row")
				rows = append(rows, row)
			}
		}
		if len(rows) == 0 {
			return
		}
		p := provenanceOf(t, s, rows)
		check(t, s, blocks, origins, rows, p)
	})
}

func provenanceOf(t *rapid.T, s *state, rows [][]uint64) provenance {
	output, err := protocol.DecodeOutput(carrying(rows))
	if err != nil {
		t.Fatal(err)
	}
	acks := output.Routed[0].Acks
	selections, err := s.ledger.Check([]*protocol.Group{{Outputs: []protocol.Bound{{Acks: acks}}}})
	if err != nil {
		t.Fatal(err)
	}
	return s.provenanceOf(&selections[0][0], &acks)
}

func check(t *rapid.T, s *state, blocks []*counted, origins map[uint64]origin, rows [][]uint64, p provenance) {
	for i, row := range rows {
		low, high := s.now.NS(), s.now.NS()
		for k, token := range row {
			in := s.inputs[0]
			for _, x := range s.inputs {
				if x.first <= token {
					in = x
				}
			}
			l, h := in.low[token-in.first], in.high[token-in.first]
			if k == 0 {
				low, high = l, h
			}
			low, high = min(low, l), max(high, h)
		}
		if p.low[i] != low || p.high[i] != high {
			t.Fatalf("row %d: watermarks %d and %d, want %d and %d", i, p.low[i], p.high[i], low, high)
		}
	}
	used := map[*counted]bool{}
	for _, row := range rows {
		for _, token := range row {
			used[origins[token].block] = true
		}
	}
	p.lin.Touch(7)
	for i, b := range blocks {
		if (b.touched == 7) != used[b] {
			t.Fatalf("block %d touched %d, used %v", i, b.touched, used[b])
		}
	}
	for _, in := range s.inputs { // the inputs end first: the output holds what it stands for
		in.lin.Settle()
	}
	for i, b := range blocks {
		if (b.settled == 0) != used[b] {
			t.Fatalf("block %d settled %d times, used %v", i, b.settled, used[b])
		}
	}
	bad := rapid.SliceOfDistinct(rapid.IntRange(0, len(rows)-1), rapid.ID).Draw(t, "bad")
	slices.Sort(bad)
	want := map[origin]bool{}
	var list []uint32
	for _, i := range bad {
		list = append(list, uint32(i))
		for _, token := range rows[i] {
			if o := origins[token]; o.block != nil {
				want[o] = true
			}
		}
	}
	if len(list) > 0 {
		p.lin.FailRows(list, errors.New("lost"))
	}
	p.lin.Share(2)
	p.lin.Settle()
	p.lin.Settle()
	p.lin.Settle()
	for i, b := range blocks {
		if b.settled != 1 || b.holds != 0 {
			t.Fatalf("block %d settled %d times, %d holds", i, b.settled, b.holds)
		}
		for m := range b.failed {
			if !want[origin{b, m}] {
				t.Fatalf("block %d member %d failed", i, m)
			}
		}
	}
	for o := range want {
		if !o.block.failed[o.member] {
			t.Fatal("an input of a failed row did not fail")
		}
	}
}

// carrying is an output message whose rows carry tokens; the first of a row is its source.
func carrying(rows [][]uint64) []byte {
	acks := &nervix_wasm.AckSidecarT{
		Rows: []*nervix_wasm.OutputRowT{}, Acked: []*nervix_wasm.AckTokenSetT{}, Nacked: []*nervix_wasm.NackSetT{}, MessageErrors: []*nervix_wasm.MessageErrorSetT{},
	}
	for _, tokens := range rows {
		row := &nervix_wasm.OutputRowT{Tokens: append([]uint64{}, tokens...)}
		if len(tokens) > 0 {
			row.SourceToken = &tokens[0]
		}
		acks.Rows = append(acks.Rows, row)
	}
	envelope := &nervix_wasm.OutputEnvelopeT{
		GeneratedArrowIpcBatch: []byte{}, Outputs: []*nervix_wasm.RoutedOutputT{{Columns: []*nervix_wasm.OutputColumnRefT{}, Acks: acks}},
	}
	b := flatbuffers.NewBuilder(256)
	m := &nervix_wasm.MessageT{Payload: &nervix_wasm.MessagePayloadT{Type: nervix_wasm.MessagePayloadOutputEnvelope, Value: envelope}}
	b.FinishSizePrefixedWithFileIdentifier(m.Pack(b), []byte(protocol.Identifier))
	return b.FinishedBytes()
}

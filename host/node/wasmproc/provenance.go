// SPDX-License-Identifier: Apache-2.0

package wasmproc

import (
	"github.com/nervix-go/nervix/host/kernel/lineage"
	"github.com/nervix-go/nervix/wasm/protocol"
)

// provenance is where the rows of one output come from: a lineage with holds of its own, and the watermarks by row. A row of several inputs has
// the lowest and the highest of theirs, a row of none the execution snapshot.
type provenance struct {
	lin       lineage.Lineage
	low, high []int64
}

// maxRuns bounds the runs that are joined one by one; more interleaved rows get a joint.
const maxRuns = 64

// provenanceOf judges by selection: the shapes of guests that keep rows in order cost nothing by row.
func (s *state) provenanceOf(sel *protocol.Selection, acks *protocol.Sidecar) provenance {
	if !sel.Plain {
		return s.joined(acks)
	}
	switch sel.Class {
	case protocol.SelectAll:
		in := find(s.inputs, sel.Batch)
		in.lin.Share(1)
		return provenance{in.lin, in.low, in.high}
	case protocol.SelectSlice:
		in := find(s.inputs, sel.Batch)
		end := sel.First + sel.Count
		return provenance{sliceOf(in.lin, sel.First, end), in.low[sel.First:end:end], in.high[sel.First:end:end]}
	case protocol.SelectRows:
		if ascending(sel.Rows) {
			in := find(s.inputs, sel.Batch)
			in.lin.Share(1)
			low, high := picked(in, sel.Rows)
			return provenance{in.lin.Select(sel.Rows), low, high}
		}
	case protocol.SelectAcross:
		if groups := grouped(sel.Places); groups != nil {
			return s.appended(groups)
		}
	}
	return s.joined(acks)
}

// sliceOf is a live lineage of consecutive rows, beside l.
func sliceOf(l lineage.Lineage, from, to int) lineage.Lineage {
	l.Share(1)
	head, rest := l.Split(from)
	mid, tail := rest.Split(to - from)
	head.Settle()
	tail.Settle()
	return mid
}

func ascending(rows []uint32) bool {
	for i := 1; i < len(rows); i++ {
		if rows[i] <= rows[i-1] {
			return false
		}
	}
	return true
}

func sameSlice(a, b []int64) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

func picked(in *intake, rows []uint32) (low, high []int64) {
	low = make([]int64, len(rows))
	for i, r := range rows {
		low[i] = in.low[r]
	}
	if sameSlice(in.low, in.high) {
		return low, low
	}
	high = make([]int64, len(rows))
	for i, r := range rows {
		high[i] = in.high[r]
	}
	return low, high
}

// group is consecutive places of one batch.
type group struct {
	batch uint64
	rows  []uint32
}

// grouped cuts places into stretches of one batch in ascending order; nil if there would be too many.
func grouped(places []protocol.Place) []group {
	count := 0
	for i, p := range places {
		if i == 0 || p.Batch != places[i-1].Batch || p.Row <= places[i-1].Row {
			if count++; count > maxRuns {
				return nil
			}
		}
	}
	groups := make([]group, 0, count)
	rows := make([]uint32, 0, len(places))
	start := 0
	for i, p := range places {
		if i > 0 && (p.Batch != places[i-1].Batch || p.Row <= places[i-1].Row) {
			groups = append(groups, group{places[i-1].Batch, rows[start:i:i]})
			start = i
		}
		rows = append(rows, p.Row)
	}
	return append(groups, group{places[len(places)-1].Batch, rows[start:]})
}

func (s *state) appended(groups []group) provenance {
	var p provenance
	rows := 0
	for _, g := range groups {
		in := find(s.inputs, g.batch)
		in.lin.Share(1)
		low, high := picked(in, g.rows)
		p.lin = p.lin.Append(in.lin.Select(g.rows), rows, len(g.rows))
		p.low, p.high = append(p.low, low...), append(p.high, high...)
		rows += len(g.rows)
	}
	return p
}

// joined reads the tokens of each row.
func (s *state) joined(acks *protocol.Sidecar) provenance {
	n := acks.Rows()
	p := provenance{low: make([]int64, n), high: make([]int64, n)}
	j := newJoiner(n)
	var in *intake
	for i := range n {
		tokens := acks.Row(i).Tokens
		p.low[i], p.high[i] = s.now.NS(), s.now.NS()
		for k := range tokens.Len() {
			place, _ := s.ledger.Locate(tokens.At(k)) // the ledger has passed it
			if in == nil || in.first != place.Batch {
				in = find(s.inputs, place.Batch)
			}
			j.add(in, int(place.Row))
			low, high := in.low[place.Row], in.high[place.Row]
			if k == 0 {
				p.low[i], p.high[i] = low, high
			} else {
				p.low[i], p.high[i] = min(p.low[i], low), max(p.high[i], high)
			}
		}
		j.next()
	}
	p.lin = j.done()
	return p
}

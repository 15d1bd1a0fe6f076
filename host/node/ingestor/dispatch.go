// SPDX-License-Identifier: Apache-2.0

package ingestor

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/nervix-go/nervix/host/expr"
	"github.com/nervix-go/nervix/host/expr/construct"
	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/lanes"
	"github.com/nervix-go/nervix/host/node/runtime"
)

func identName(s string) ident.Name { return ident.Name(s) }

// keep narrows the message to some of its rows.
func (m *message) keep(rows []uint32, g *group) {
	record, marks, _ := batch.Gather(m.record.Schema(), []batch.Piece{{Record: m.record, Rows: rows, Low: m.marks, High: m.marks}}, g.i.config.Alloc)
	source := make([]int32, len(rows))
	for n, r := range rows {
		source[n] = m.rows[r]
	}
	m.record, m.marks, m.rows = record, marks, source
	if m.metadata == nil {
		return
	}
	picks := make([]int32, len(rows))
	for n, r := range rows {
		picks[n] = int32(r)
	}
	kept := make([]arrow.Array, len(m.metadata))
	for c, column := range m.metadata {
		kept[c] = batch.TakeColumn(column, picks, g.i.config.Alloc)
	}
	m.releaseMetadata()
	m.metadata = kept
}

// source is where rows of the message came from, for error policies.
func (g *group) source(m *message, partial func() ([]arrow.Array, error)) runtime.Source {
	return runtime.Source{Input: m.record.Columns(), Metadata: m.metadata, Partial: partial, Now: g.now, Low: m.marks, High: m.marks}
}

// filter applies FILTER WHERE; a row it fails for goes to the policy of every route. It returns how many rows it left out without failing.
func (g *group) filter(l *lanes.Lane, m *message) (dropped int) {
	where := g.i.plan.Filter
	if where == nil {
		return 0
	}
	before := int(m.record.NumRows())
	w := g.i.config.Benches.At(l)
	w.Begin(m.record, nil, g.now)
	w.Env.Columns[expr.RecordMetadata] = m.metadata
	mask, failed := w.Mask(where)
	rows, all := runtime.RowsOf(mask, int(m.record.NumRows()))
	failures := runtime.FromPredicate(nil, runtime.OpFilterWhere, where.Reads(), failed)
	w.End()
	g.report(l, failures, g.source(m, nil), nil, m.rows)
	if !all {
		m.keep(rows, g)
	}
	return before - int(m.record.NumRows()) - len(failures)
}

// route constructs the rows of one route, builds their keys and buffers what is kept.
func (g *group) route(l *lanes.Lane, w *runtime.Workbench, r *route, m *message) {
	plan := r.plan.Construct
	plan.Run(&w.Env, &w.Out)
	if len(w.Out.Failures) > 0 {
		partial := func() ([]arrow.Array, error) { return plan.Partial(&w.Env, &w.Out) }
		g.report(l, runtime.FromConstruct(nil, w.Out.Failures), g.source(m, partial), r, m.rows)
	}
	if w.Out.Kept == 0 {
		return
	}
	n := int(m.record.NumRows())
	var rows []uint32
	if !w.Out.All {
		rows, _ = runtime.RowsOf(w.Out.Keep, n)
	}
	record := array.NewRecordBatch(r.shared.Schema, w.Out.Columns, int64(n))
	defer record.Release()
	if r.root != nil {
		g.add(l, r.root, record, rows, m)
		return
	}
	g.branches(l, w, r, m, record, rows)
}

// branches splits the kept rows by key.
func (g *group) branches(l *lanes.Lane, w *runtime.Workbench, r *route, m *message, record arrow.RecordBatch, rows []uint32) {
	w.Env.Columns[expr.RecordOutput] = w.Out.Columns
	r.plan.Key.Run(&w.Env, &w.Key)
	w.Env.Columns[expr.RecordOutput] = nil
	bad := g.keyFailures(l, w, r, m, rows)
	columns := w.Key.Columns
	last, lastRow := (*keyed)(nil), 0
	visit := func(row int) {
		if bad[row] {
			return
		}
		if last == nil || !r.form.Same(columns, lastRow, row) {
			g.text = r.form.AppendText(g.text[:0], columns, row)
			last = g.i.branch(r, g.text, func(text string) *batch.Key { return r.form.Key(text, columns, row) })
		}
		if len(last.rows) == 0 {
			g.touched = append(g.touched, last)
		}
		lastRow = row
		last.rows = append(last.rows, uint32(row))
	}
	if rows == nil {
		for row := range int(record.NumRows()) {
			visit(row)
		}
	} else {
		for _, row := range rows {
			visit(int(row))
		}
	}
	for n, k := range g.touched {
		chosen := append([]uint32(nil), k.rows...)
		k.rows = k.rows[:0]
		g.touched[n] = nil
		if len(chosen) == int(record.NumRows()) {
			chosen = nil
		}
		g.add(l, k.outlet, record, chosen, m)
	}
	g.touched = g.touched[:0]
}

// keyFailures reports kept rows whose key could not be built and returns them as a set.
func (g *group) keyFailures(l *lanes.Lane, w *runtime.Workbench, r *route, m *message, rows []uint32) map[int]bool {
	if len(w.Key.Failures) == 0 {
		return nil
	}
	kept := func(row int) bool { return rows == nil || w.Out.Keep[row>>3]>>(row&7)&1 != 0 }
	bad := make(map[int]bool)
	var failures []construct.Failure
	for _, f := range w.Key.Failures {
		if kept(f.Row) {
			bad[f.Row] = true
			failures = append(failures, f)
		}
	}
	g.report(l, runtime.FromConstruct(nil, failures), g.source(m, nil), r, m.rows)
	return bad
}

// add buffers rows of a record on an outlet; each row is expected by its delivery.
func (g *group) add(l *lanes.Lane, outlet *runtime.Outlet, record arrow.RecordBatch, rows []uint32, m *message) {
	record.Retain()
	piece := batch.Piece{Record: record, Rows: rows, Low: m.marks, High: m.marks}
	tokens := make([]uint64, piece.Len())
	for n := range tokens {
		row := n
		if rows != nil {
			row = int(rows[n])
		}
		tokens[n] = g.tokens[int(m.rows[row])-g.first]
		g.i.window.Expect(tokens[n])
	}
	outlet.AddDeliveries(l, piece, tokens, g.now)
}

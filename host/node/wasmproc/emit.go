// SPDX-License-Identifier: Apache-2.0

package wasmproc

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/nervix-go/nervix/host/expr"
	"github.com/nervix-go/nervix/host/expr/construct"
	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/lineage"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/lanes"
	"github.com/nervix-go/nervix/host/model"
	"github.com/nervix-go/nervix/host/node/runtime"
	"github.com/nervix-go/nervix/wasm/protocol"
)

// opWASM is error.operation of a guest's message errors (W-093).
const opWASM = "wasm"

// sift applies source WHERE and FILTER. A row they fail for is logged and not acknowledged (nspl 9.4); nil means that no row is left.
func (p *Processor) sift(l *lanes.Lane, input int, in *batch.Batch, now vtime.Logical) *batch.Batch {
	if in.Rows() == 0 {
		in.Settle()
		return nil
	}
	if in = p.where(l, p.plan.Inputs[input].Where, runtime.OpSourceWhere, in, now); in == nil {
		return nil
	}
	return p.where(l, p.plan.Filter, runtime.OpFilterWhere, in, now)
}

func (p *Processor) where(l *lanes.Lane, where *expr.Program, operation string, in *batch.Batch, now vtime.Logical) *batch.Batch {
	if where == nil {
		return in
	}
	w := p.config.Benches.At(l)
	defer w.End()
	w.Begin(in.Record, in.Key, now)
	mask, failed := w.Mask(where)
	if failures := runtime.FromPredicate(nil, operation, where.Reads(), failed); len(failures) > 0 {
		policy := runtime.Faults{Node: p.plan.Ref, Policy: &model.Policy{Kind: model.PolicyLog}, Log: p.config.Log, Count: p.reject}
		policy.Report(nil, w, failures, runtime.Source{}, runtime.LineageAnswers{Lineage: in.Lineage, Failures: failures})
	}
	rows, all := runtime.RowsOf(mask, in.Rows())
	if all {
		return in
	}
	return in.Select(rows, w.Alloc())
}

// dispatch sends the rows of the callback's output, carries out nacks and message errors, and takes the inputs it decided out of the guest's hands.
// Their success waits for the checkpoint (W-188).
func (s *state) dispatch(l *lanes.Lane) {
	kit := s.p.kit(l)
	out := &kit.out
	w := s.p.config.Benches.At(l)
	for i, g := range out.groups {
		for k := range g.Outputs {
			s.emit(l, w, g, &g.Outputs[k], &out.selections[i][k])
		}
	}
	for _, g := range out.groups {
		for k := range g.Outputs {
			s.decide(l, w, &g.Outputs[k])
		}
	}
	kit.at = s
	s.ledger.Touched(kit.touched)
	s.ledger.Settle(kit.gone)
	kit.at = nil
	out.release()
	s.current = nil
}

// emit sends the rows of one routed output through its route.
func (s *state) emit(l *lanes.Lane, w *runtime.Workbench, g *protocol.Group, out *protocol.Bound, sel *protocol.Selection) {
	n := sel.Count
	if n == 0 {
		return
	}
	r := s.p.routes[out.Route]
	from := s.provenanceOf(sel, &out.Acks)
	kit := s.p.kit(l)
	kit.columns = s.columnsOf(kit.columns, g, out, sel, w.Alloc())
	w.BeginRows(n, s.b.Key, s.now)
	defer w.End()
	r.plan.Construct.RunOver(&w.Env, kit.columns, &w.Out)
	releaseAll(kit.columns)
	clear(kit.columns)
	if len(w.Out.Failures) > 0 {
		s.failRows(l, w, out, &from)
	}
	if w.Out.Kept == 0 {
		from.lin.Settle()
		return
	}
	record := array.NewRecordBatch(r.schema, w.Out.Columns, int64(n))
	if !w.Out.All {
		rows, _ := runtime.RowsOf(w.Out.Keep, n)
		from.lin = from.lin.Select(rows)
		record, from.low, from.high = batch.Gather(r.schema, []batch.Piece{{Record: record, Rows: rows, Low: from.low, High: from.high}}, w.Alloc())
	}
	s.sender(out.Route).send(batch.New(record, s.b.Key, from.lin, from.low, from.high))
}

func (s *state) sender(route int) *sender {
	if s.senders == nil {
		s.senders = make([]*sender, len(s.p.routes))
	}
	if s.senders[route] == nil {
		s.senders[route] = newSender(s, s.p.routes[route])
	}
	return s.senders[route]
}

// failRows applies the route's policy to rows that its SET, WHERE or schema failed for.
func (s *state) failRows(l *lanes.Lane, w *runtime.Workbench, out *protocol.Bound, from *provenance) {
	r := s.p.routes[out.Route]
	failures := runtime.FromConstruct(nil, w.Out.Failures)
	src := runtime.Source{Key: s.b.Key, Now: s.now}
	a := outputAnswers{lin: from.lin, rows: make([]uint32, len(failures))}
	for i := range failures {
		a.rows[i] = failures[i].Row
		src.Low, src.High = append(src.Low, from.low[a.rows[i]]), append(src.High, from.high[a.rows[i]])
		failures[i].Row = uint32(i)
	}
	if r.errors != nil {
		plan := r.plan.Construct
		src.Input = s.sources(&out.Acks, a.rows, w)
		defer releaseAll(src.Input)
		src.Partial = func() ([]arrow.Array, error) { return plan.Partial(&w.Env, &w.Out) }
	}
	s.tell(l, w, out.Route, failures, src, a)
}

// sources are the input records that the source tokens of output rows select, one row each; all null for a row without one (W-089).
func (s *state) sources(acks *protocol.Sidecar, rows []uint32, w *runtime.Workbench) []arrow.Array {
	schema := s.p.plan.InputSchema
	columns := make([]arrow.Array, schema.Len())
	picks := make([]expr.Pick, len(rows))
	for c := range columns {
		for i, row := range rows {
			picks[i] = expr.Pick{}
			if entry := acks.Row(int(row)); entry.HasSource {
				place, _ := s.ledger.Locate(entry.Source)
				picks[i] = expr.Pick{Array: find(s.inputs, place.Batch).record.Column(c), Row: int(place.Row)}
			}
		}
		var err error
		if columns[c], err = expr.Gather(w.Alloc(), schema.Field(c).Type, picks); err != nil { // too much text for one column: the rows are told without it
			columns[c] = expr.Nulls(w.Alloc(), schema.Field(c).Type, len(rows))
		}
	}
	return columns
}

// tell hands failures to the route's policy and lets error records go at once.
func (s *state) tell(l *lanes.Lane, w *runtime.Workbench, route int, failures []runtime.Failure, src runtime.Source, a runtime.Answers) {
	f := s.policy(l, route)
	f.Report(l, w, failures, src, a)
	if f.Outlet != nil {
		f.Outlet.Flush(l)
	}
}

func (s *state) policy(l *lanes.Lane, route int) *runtime.Faults {
	if s.faults == nil {
		s.faults = make([]*runtime.Faults, len(s.p.routes))
	}
	if f := s.faults[route]; f != nil {
		return f
	}
	p, r := s.p, s.p.routes[route]
	f := &runtime.Faults{
		Node: p.plan.Ref, Policy: &r.plan.Policy, Log: p.config.Log, Input: p.plan.InputSchema, Output: r.plan.Relay.Schema, Count: p.reject,
	}
	if r.errors != nil {
		f.Outlet = runtime.NewOutlet(r.errors, s.b.Key, l, s, p.node.Alive(l))
	}
	s.faults[route] = f
	return f
}

// outputAnswers settles failed rows of an output: failure i is about its row rows[i].
type outputAnswers struct {
	lin  lineage.Lineage
	rows []uint32
}

// Refuse implements runtime.Answers.
func (a outputAnswers) Refuse(i int, reason error) { a.lin.FailRows([]uint32{a.rows[i]}, reason) }

// Move implements runtime.Answers.
func (a outputAnswers) Move(l *lanes.Lane, outlet *runtime.Outlet, piece batch.Piece, records []int, now vtime.Logical) {
	rows := make([]uint32, len(records))
	for i, r := range records {
		rows[i] = a.rows[r]
	}
	a.lin.Share(1)
	outlet.Add(l, piece, a.lin.Select(rows), now)
}

// decide carries out the decisions of one routed output. Rows it dropped need nothing: they succeed with their batch.
func (s *state) decide(l *lanes.Lane, w *runtime.Workbench, out *protocol.Bound) {
	acks := &out.Acks
	for i := range acks.Acked() {
		s.p.rows.acked.Add(uint64(acks.AckedSet(i).Len()))
	}
	for i := range acks.Nacked() {
		tokens, text := acks.NackedSet(i)
		s.p.rows.nacked.Add(uint64(tokens.Len()))
		reason := fault.New(fault.WasmNacked, "wasmproc.decide", s.p.plan.Ref, "the guest refused the input: "+reasonOf(text), nil)
		s.byBatch(tokens, func(in *intake, rows []uint32) {
			in.refused += len(rows)
			in.lin.FailRows(rows, reason)
		})
	}
	if acks.Failed() > 0 {
		s.messageErrors(l, w, out)
	}
}

// messageErrors hands what the guest calls faulty to the route's policy, batch by batch.
func (s *state) messageErrors(l *lanes.Lane, w *runtime.Workbench, out *protocol.Bound) {
	failed := make(map[*intake][]runtime.Failure)
	var order []*intake
	for i := range out.Acks.Failed() {
		tokens, text := out.Acks.FailedSet(i)
		s.p.rows.failed.Add(uint64(tokens.Len()))
		reason := reasonOf(text)
		s.byBatch(tokens, func(in *intake, rows []uint32) {
			if failed[in] == nil {
				order = append(order, in)
			}
			for _, row := range rows {
				failed[in] = append(failed[in], runtime.Failure{
					Row: row, Code: runtime.CodeExternal, Operation: opWASM, Index: construct.NoIndex, Reason: reason, Class: opWASM,
				})
			}
		})
	}
	for _, in := range order {
		failures := failed[in]
		slices.SortFunc(failures, func(a, b runtime.Failure) int { return int(a.Row) - int(b.Row) })
		src := runtime.Source{Input: in.record.Columns(), Key: s.b.Key, Now: s.now, Low: in.low, High: in.high}
		s.tell(l, w, out.Route, failures, src, runtime.LineageAnswers{Lineage: in.lin, Failures: failures})
	}
}

// byBatch calls visit for each batch that has some of the tokens, with their rows in order.
func (s *state) byBatch(tokens protocol.Tokens, visit func(in *intake, rows []uint32)) {
	places := make([]protocol.Place, tokens.Len())
	for i := range places {
		places[i], _ = s.ledger.Locate(tokens.At(i))
	}
	slices.SortFunc(places, func(a, b protocol.Place) int {
		if a.Batch != b.Batch {
			return map[bool]int{true: -1, false: 1}[a.Batch < b.Batch]
		}
		return int(a.Row) - int(b.Row)
	})
	for i := 0; i < len(places); {
		var rows []uint32
		first := places[i].Batch
		for ; i < len(places) && places[i].Batch == first; i++ {
			rows = append(rows, places[i].Row)
		}
		visit(find(s.inputs, first), rows)
	}
}

// reasonOf is the guest's own text.
func reasonOf(text []byte) string {
	reason, err := protocol.Reason(text)
	if err != nil {
		return protocol.Plain(err)
	}
	return reason
}

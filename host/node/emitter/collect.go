// SPDX-License-Identifier: Apache-2.0

package emitter

import (
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/nervix-go/nervix/host/codec"
	"github.com/nervix-go/nervix/host/expr/construct"
	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/lanes"
	"github.com/nervix-go/nervix/host/model"
	"github.com/nervix-go/nervix/host/node/runtime"
)

const immediateWindow = runtime.ImmediateWindow

// clockRetry is the pause before a flush deadline is tried again while the domain clock cannot be read.
const clockRetry = 50 * time.Millisecond

// Handle implements runtime.Handler: it collects one batch. Construction and encoding happen now, under this batch's snapshot; only the
// publishing waits for the flush.
func (e *Emitter) Handle(l *lanes.Lane, b *runtime.Branch, input int, in *batch.Batch) {
	if e.closed {
		in.Fail(errEnded)
		return
	}
	snapshot, err := e.config.Clock.Snapshot()
	if err != nil {
		in.Fail(err)
		return
	}
	received := in.Rows()
	e.inputs[input].Count(received)
	w := e.config.Benches.At(l)
	w.Begin(in.Record, nil, snapshot.Now)
	defer w.End()
	in = e.source(l, w, input, in)
	if in == nil {
		e.stats.collected(received, 0)
		return
	}
	if in.Rows() < received {
		w.Begin(in.Record, nil, snapshot.Now)
	}
	e.plan.Construct.Run(&w.Env, &w.Out)
	e.report(l, w, runtime.FromConstruct(nil, w.Out.Failures), e.origin(w, in, snapshot.Now, true),
		runtime.LineageAnswers{Lineage: in.Lineage, Failures: runtime.FromConstruct(nil, w.Out.Failures)})
	kept := e.encode(l, w, in, snapshot.Now)
	e.stats.collected(received, kept)
}

// source applies the source WHERE; nil means that no row is left and the batch has ended.
func (e *Emitter) source(l *lanes.Lane, w *runtime.Workbench, input int, in *batch.Batch) *batch.Batch {
	where := e.plan.Inputs[input].Where
	if where == nil {
		return in
	}
	mask, failed := w.Mask(where)
	failures := runtime.FromPredicate(nil, runtime.OpSourceWhere, where.Reads(), failed)
	if len(failures) > 0 {
		e.report(l, w, failures, e.origin(w, in, w.Env.Now, false), runtime.LineageAnswers{Lineage: in.Lineage, Failures: failures})
	}
	rows, all := runtime.RowsOf(mask, in.Rows())
	if all {
		return in
	}
	return in.Select(rows, w.Alloc())
}

// origin is where rows of an input batch came from, for the error policy.
func (e *Emitter) origin(w *runtime.Workbench, in *batch.Batch, now vtime.Logical, constructed bool) runtime.Source {
	src := runtime.Source{Input: in.Record.Columns(), Key: in.Key, Now: now, Low: in.Low, High: in.High}
	if constructed {
		src.Partial = func() ([]arrow.Array, error) { return e.plan.Construct.Partial(&w.Env, &w.Out) }
	}
	return src
}

// encode turns the constructed rows into payloads that are held until they are answered. It returns how many there are.
func (e *Emitter) encode(l *lanes.Lane, w *runtime.Workbench, in *batch.Batch, now vtime.Logical) int {
	record := array.NewRecordBatch(e.plan.Codec.Schema.Arrow(), w.Out.Columns, int64(in.Rows()))
	defer record.Release()
	var wanted []int32
	if !w.Out.All {
		rows, _ := runtime.RowsOf(w.Out.Keep, in.Rows())
		if len(rows) == 0 {
			in.Settle()
			return 0
		}
		wanted = make([]int32, len(rows))
		for i, r := range rows {
			wanted[i] = int32(r)
		}
	}
	encoded, err := e.encoder.Encode(w.Alloc(), record, wanted)
	if err != nil {
		e.config.Log.Error("a batch could not be encoded", "emitter", e.plan.Ref.Name, "domain", e.plan.Ref.Domain, "error", err)
		e.stats.reject("encode", in.Rows())
		in.Fail(err)
		return 0
	}
	defer encoded.Release()
	if len(encoded.Rejects) > 0 {
		failures := encodeFailures(encoded.Rejects)
		e.report(l, w, failures, e.origin(w, in, now, false), runtime.LineageAnswers{Lineage: in.Lineage, Failures: failures})
	}
	if len(encoded.Rows) == 0 {
		in.Settle()
		return 0
	}
	e.hold(l, in, encoded, now)
	return len(encoded.Rows)
}

func encodeFailures(rejects []codec.Reject) []runtime.Failure {
	out := make([]runtime.Failure, len(rejects))
	for i, r := range rejects {
		out[i] = runtime.Failure{
			Row: uint32(r.Row), Code: runtime.CodeValidation, Operation: runtime.OpEncode, Index: construct.NoIndex, Reason: r.Text, Class: r.Reason.String(),
		}
	}
	return out
}

// hold keeps encoded payloads until they are answered.
func (e *Emitter) hold(l *lanes.Lane, in *batch.Batch, encoded codec.Encoded, now vtime.Logical) {
	rows := len(encoded.Rows)
	ids := array.NewUint64Builder(e.config.Alloc)
	ids.Reserve(rows)
	for i := range rows {
		ids.UnsafeAppend(e.nextID + uint64(i))
	}
	idColumn := ids.NewArray()
	ids.Release()
	p := &payloads{firstID: e.nextID, rows: rows, open: rows, source: in.Record, now: now, low: in.Low, high: in.High, key: in.Key}
	p.record = array.NewRecordBatch(sinkSchema, []arrow.Array{idColumn, encoded.Payloads}, int64(rows))
	idColumn.Release()
	e.nextID += uint64(rows)
	if rows == in.Rows() {
		p.lineage = in.Lineage
	} else {
		p.origin = make([]uint32, rows)
		for i, r := range encoded.Rows {
			p.origin[i] = uint32(r)
		}
		p.lineage = in.Lineage.Select(p.origin)
	}
	if len(e.held) == 0 {
		e.arm(l, now)
	}
	if e.plan.Policy.Kind != model.PolicySendTo {
		p.source = nil
		in.Record.Release() // nothing reads the source rows again: wide rows with small payloads do not pile up
	}
	e.held = append(e.held, p)
	e.bytes += batch.Piece{Record: p.record}.Bytes()
	if f := e.plan.Flush; !f.Immediate && e.bytes >= f.MaxBytes {
		e.due = true
		e.publish(l)
	}
}

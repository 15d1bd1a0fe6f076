// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"log/slog"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/nervix-go/nervix/host/expr"
	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/types"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/lanes"
	"github.com/nervix-go/nervix/host/model"
)

// Faults carries out the message-error policy of one route in one concrete branch (nspl 9.4, 9.5).
type Faults struct {
	Node   ident.Ref
	Policy *model.Policy
	// Outlet is the buffer of error records, nil unless the policy is SEND TO.
	Outlet *Outlet
	Log    *slog.Logger
	// Input, Metadata and Output are the schemas an error record can read; nil where the scope does not exist.
	Input, Metadata, Output *types.Schema
	// Count is told each group of failures by class.
	Count func(class string, rows int)
}

// Source is where failed rows came from.
type Source struct {
	// Input and Metadata are the columns Failure.Row points into. Input nil means that the payload could not be decoded: input.f reads null.
	Input    []arrow.Array
	Metadata []arrow.Array
	// Partial gives the columns of partial_output, one row a failure; nil means that nothing was initialised.
	Partial func() ([]arrow.Array, error)
	Key     *batch.Key
	Now     vtime.Logical
	// Low and High are the watermarks by row.
	Low, High []int64
}

// Answers is how the acknowledgement of failed rows is settled. i counts the failures handed to Report.
type Answers interface {
	// Refuse acknowledges failure i negatively.
	Refuse(i int, reason error)
	// Move makes the error records the rows' way to settlement: record j of the piece stands for failure records[j] (nspl Q55).
	Move(l *lanes.Lane, outlet *Outlet, piece batch.Piece, records []int, now vtime.Logical)
}

// Report applies the policy to failed rows. Rows under IGNORE need nothing: they count as success when their batch settles.
func (f *Faults) Report(l *lanes.Lane, w *Workbench, failures []Failure, src Source, answers Answers) {
	if len(failures) == 0 {
		return
	}
	classes := make(map[string]int, 1)
	for _, x := range failures {
		classes[x.Class]++
	}
	for class, n := range classes {
		f.Count(class, n)
	}
	switch f.Policy.Kind {
	case model.PolicyIgnore:
	case model.PolicyLog:
		f.refuse(failures, answers)
	case model.PolicySendTo:
		f.send(l, w, failures, src, answers)
	}
}

// refuse logs one line for the group and acknowledges every row negatively.
func (f *Faults) refuse(failures []Failure, answers Answers) {
	f.log("rows failed and are not acknowledged", failures)
	for i := range failures {
		answers.Refuse(i, failures[i].Err(f.Node))
	}
}

func (f *Faults) log(text string, failures []Failure) {
	f.Log.Error(text, "domain", f.Node.Domain, "kind", f.Node.Kind.String(), "name", f.Node.Name, "operation", failures[0].Operation,
		"code", failures[0].Code, "reason", failures[0].Reason, "rows", len(failures))
}

// send builds the error records and buffers them on the route's error outlet. A record that cannot be built is logged and its row is
// not acknowledged; the policy is not applied again.
func (f *Faults) send(l *lanes.Lane, w *Workbench, failures []Failure, src Source, answers Answers) {
	env, release, err := f.environment(w, failures, src)
	if err != nil {
		f.refuse(failures, answers)
		return
	}
	defer release()
	plan := f.Policy.Record
	plan.Run(&env, &w.Record)
	defer w.Record.Release()
	if len(w.Record.Failures) > 0 {
		var broken []Failure
		for _, x := range w.Record.Failures {
			broken = append(broken, FromConstruct(nil, w.Record.Failures[:1])...)
			answers.Refuse(x.Row, failures[x.Row].Err(f.Node))
		}
		f.log("error records could not be built; their rows are not acknowledged", broken)
	}
	if w.Record.Kept == 0 {
		return
	}
	var rows []uint32
	if !w.Record.All {
		rows, _ = RowsOf(w.Record.Keep, env.Rows)
	}
	record := array.NewRecordBatch(plan.Target().Arrow(), w.Record.Columns, int64(env.Rows))
	piece := batch.Piece{Record: record, Rows: rows, Low: pickMarks(src.Low, failures, src.Now), High: pickMarks(src.High, failures, src.Now)}
	records := make([]int, 0, piece.Len())
	for i := range piece.Len() {
		if rows != nil {
			i = int(rows[i])
		}
		records = append(records, i)
	}
	answers.Move(l, f.Outlet, piece, records, src.Now)
}

func pickMarks(marks []int64, failures []Failure, now vtime.Logical) []int64 {
	out := make([]int64, len(failures))
	for i, f := range failures {
		if marks == nil {
			out[i] = now.NS()
		} else {
			out[i] = marks[f.Row]
		}
	}
	return out
}

// environment gathers what the assignments of the error record can read.
func (f *Faults) environment(w *Workbench, failures []Failure, src Source) (expr.Env, func(), error) {
	env := expr.Env{Rows: len(failures), Now: src.Now, Random: w.random, Alloc: w.alloc, Scratch: w.scratch}
	var owned []arrow.Array
	release := func() {
		for _, a := range owned {
			a.Release()
		}
	}
	env.Columns[expr.RecordInput] = f.pick(w, src.Input, f.Input, failures, &owned)
	env.Columns[expr.RecordMetadata] = f.pick(w, src.Metadata, f.Metadata, failures, &owned)
	if src.Key != nil && src.Key.Values != nil {
		env.Columns[expr.RecordBranch] = src.Key.Values.Columns()
	}
	env.Columns[expr.RecordError] = errorColumns(f.Node, failures, src.Now, w)
	owned = append(owned, env.Columns[expr.RecordError]...)
	if f.Output == nil {
		return env, release, nil
	}
	if src.Partial == nil {
		env.Columns[expr.RecordPartialOutput] = f.pick(w, nil, f.Output, failures, &owned)
		return env, release, nil
	}
	partial, err := src.Partial()
	if err != nil {
		release()
		return env, nil, err
	}
	owned = append(owned, partial...)
	env.Columns[expr.RecordPartialOutput] = partial
	return env, release, nil
}

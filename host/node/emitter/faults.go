// SPDX-License-Identifier: Apache-2.0

package emitter

import (
	"github.com/nervix-go/nervix/host/expr/construct"
	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/host/lanes"
	"github.com/nervix-go/nervix/host/node/runtime"
)

// maxIdleKeys bounds the branches whose error outlets are remembered although they hold nothing.
const maxIdleKeys = 1024

// rejected applies the policy to a payload that the sink refused.
func (e *Emitter) rejected(l *lanes.Lane, p *payloads, row int, reason string) {
	source := row
	if p.origin != nil {
		source = int(p.origin[row])
	}
	failures := []runtime.Failure{{
		Row: uint32(source), Code: runtime.CodeExternal, Operation: runtime.OpPublish, Index: construct.NoIndex, Reason: reason, Class: "rejected by the sink",
	}}
	answers := []runtime.Failure{failures[0]}
	answers[0].Row = uint32(row) // the lineage counts payloads, not source rows
	src := runtime.Source{Key: p.key, Now: p.now, Low: p.low, High: p.high}
	if p.source != nil {
		src.Input = p.source.Columns()
	}
	e.report(l, e.config.Benches.At(l), failures, src, runtime.LineageAnswers{Lineage: p.lineage, Failures: answers})
}

// report applies the policy. Error records stay in the branch of their rows (P-042), so each branch has an outlet of its own.
func (e *Emitter) report(l *lanes.Lane, w *runtime.Workbench, failures []runtime.Failure, src runtime.Source, answers runtime.Answers) {
	if len(failures) == 0 {
		return
	}
	f := *e.faults
	if e.errors != nil {
		f.Outlet = e.errorOutlet(l, src.Key)
	}
	f.Report(l, w, failures, src, answers)
}

func (e *Emitter) errorOutlet(l *lanes.Lane, key *batch.Key) *runtime.Outlet {
	text := ""
	if key != nil {
		text = key.Text
	}
	if o := e.outlets[text]; o != nil {
		return o
	}
	if len(e.outlets) >= maxIdleKeys {
		for text, o := range e.outlets {
			if o.Empty() {
				delete(e.outlets, text)
			}
		}
	}
	o := runtime.NewOutlet(e.errors, key, l, e.branch, e.node.Alive(l))
	e.outlets[text] = o
	return o
}

// newFaults makes the policy of this emitter; error records leave on the emitter's own FLUSH.
func (e *Emitter) newFaults() *runtime.Faults {
	if e.config.Error != nil {
		e.outlets = make(map[string]*runtime.Outlet)
		e.errors = &runtime.Route{
			Relay: e.plan.Policy.Relay.Ref, Target: e.config.Error, Schema: e.plan.Policy.Relay.Schema.Arrow(),
			Flush: runtime.Flush(e.plan.Flush), Clock: e.config.Clock, Alloc: e.config.Alloc,
		}
	}
	return &runtime.Faults{
		Node: e.plan.Ref, Policy: &e.plan.Policy, Log: e.config.Log, Input: e.plan.InputSchema, Output: e.plan.Codec.Schema, Count: e.stats.reject,
	}
}

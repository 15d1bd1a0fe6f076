// SPDX-License-Identifier: Apache-2.0

// Package junction is the stateless transforming fan-out: every row of its inputs is offered to every route (nspl 15.1, 9.2). It works
// on whole record batches and merges compatible ones of a branch in its route buffers.
package junction

import (
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/host/expr"
	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/lanes"
	"github.com/nervix-go/nervix/host/model"
	"github.com/nervix-go/nervix/host/node/runtime"
)

// Target is where one route leads: its relay, and the relay of its error records (nil unless the policy is SEND TO).
type Target struct {
	Relay runtime.Target
	Error runtime.Target
}

// Config is what a junction is built from. Nothing in it changes while it runs.
type Config struct {
	Plan    *model.Junction
	Targets []Target // one a route
	Clock   runtime.Clock
	Now     func() (vtime.Logical, bool)
	Lanes   *lanes.Executor
	Benches runtime.Benches
	Alloc   memory.Allocator
	Log     *slog.Logger
}

// Junction is a running junction.
type Junction struct {
	plan   *model.Junction
	config Config
	node   *runtime.Node
	routes []*runtime.Route
	errors []*runtime.Route

	received []runtime.Traffic // one an input
	mu       sync.Mutex
	rejected map[string]uint64
}

// state is a branch's own: its outlets.
type state struct {
	outlets []*runtime.Outlet
	faults  []*runtime.Faults
}

// New builds a junction without inputs attached.
func New(c Config) *Junction {
	j := &Junction{plan: c.Plan, config: c, rejected: make(map[string]uint64), received: make([]runtime.Traffic, len(c.Plan.Inputs))}
	var ttl time.Duration
	if c.Plan.Branch != nil {
		ttl = c.Plan.Branch.TTL
	}
	j.node = runtime.NewNode(runtime.Config{Ref: c.Plan.Ref, Lanes: c.Lanes, Inputs: len(c.Plan.Inputs), TTL: ttl, Now: c.Now}, j)
	for i := range c.Plan.Routes {
		r := &c.Plan.Routes[i]
		j.routes = append(j.routes, j.route(r.Relay, c.Targets[i].Relay, r.Flush))
		if r.Policy.Relay == nil {
			j.errors = append(j.errors, nil)
			continue
		}
		j.errors = append(j.errors, j.route(r.Policy.Relay, c.Targets[i].Error, r.Flush))
	}
	return j
}

func (j *Junction) route(relay *model.Relay, target runtime.Target, flush model.Flush) *runtime.Route {
	return &runtime.Route{
		Relay: relay.Ref, Target: target, Schema: relay.Schema.Arrow(), Flush: runtime.Flush(flush), Clock: j.config.Clock, Alloc: j.config.Alloc,
	}
}

// Node is the part that relays and upkeep talk to.
func (j *Junction) Node() *runtime.Node { return j.node }

// Open implements runtime.Handler.
func (j *Junction) Open(l *lanes.Lane, b *runtime.Branch) {
	s := &state{}
	alive := j.node.Alive(l)
	for i := range j.routes {
		s.outlets = append(s.outlets, runtime.NewOutlet(j.routes[i], b.Key, l, b, alive))
		f := &runtime.Faults{
			Node: j.plan.Ref, Policy: &j.plan.Routes[i].Policy, Log: j.config.Log, Input: j.plan.InputSchema, Output: j.plan.Routes[i].Relay.Schema, Count: j.reject,
		}
		if j.errors[i] != nil {
			f.Outlet = runtime.NewOutlet(j.errors[i], b.Key, l, b, alive)
		}
		s.faults = append(s.faults, f)
	}
	b.State = s
}

// Quiet implements runtime.Handler.
func (j *Junction) Quiet(b *runtime.Branch) bool {
	s, ok := b.State.(*state)
	if !ok {
		return true
	}
	for i, o := range s.outlets {
		if !o.Empty() || s.faults[i].Outlet != nil && !s.faults[i].Outlet.Empty() {
			return false
		}
	}
	return true
}

// Handle implements runtime.Handler.
func (j *Junction) Handle(l *lanes.Lane, b *runtime.Branch, input int, in *batch.Batch) {
	j.received[input].Count(in.Rows())
	snapshot, err := j.config.Clock.Snapshot()
	if err != nil {
		in.Fail(err)
		return
	}
	w := j.config.Benches.At(l)
	defer w.End()
	if in = j.choose(w, j.plan.Inputs[input].Where, runtime.OpSourceWhere, in, snapshot.Now); in == nil {
		return
	}
	if in = j.choose(w, j.plan.Filter, runtime.OpFilterWhere, in, snapshot.Now); in == nil {
		return
	}
	w.Begin(in.Record, b.Key, snapshot.Now)
	s := b.State.(*state)
	for i := range j.routes {
		j.send(l, w, s, i, in, snapshot.Now)
	}
	in.Settle()
}

// choose applies a predicate of the node. A row it fails for is logged and not acknowledged (nspl 9.4); nil means that no row is left.
func (j *Junction) choose(w *runtime.Workbench, where *expr.Program, operation string, in *batch.Batch, now vtime.Logical) *batch.Batch {
	if where == nil {
		return in
	}
	w.Begin(in.Record, in.Key, now)
	mask, failed := w.Mask(where)
	if failures := runtime.FromPredicate(nil, operation, where.Reads(), failed); len(failures) > 0 {
		policy := runtime.Faults{Node: j.plan.Ref, Policy: &model.Policy{Kind: model.PolicyLog}, Log: j.config.Log, Count: j.reject}
		policy.Report(nil, w, failures, runtime.Source{}, runtime.LineageAnswers{Lineage: in.Lineage, Failures: failures})
	}
	rows, all := runtime.RowsOf(mask, in.Rows())
	if all {
		return in
	}
	return in.Select(rows, w.Alloc())
}

// send constructs the rows of one route and buffers what it keeps.
func (j *Junction) send(l *lanes.Lane, w *runtime.Workbench, s *state, route int, in *batch.Batch, now vtime.Logical) {
	plan := j.plan.Routes[route].Construct
	plan.Run(&w.Env, &w.Out)
	if len(w.Out.Failures) > 0 {
		failures := runtime.FromConstruct(nil, w.Out.Failures)
		src := runtime.Source{
			Input: in.Record.Columns(), Key: in.Key, Now: now, Low: in.Low, High: in.High,
			Partial: func() ([]arrow.Array, error) { return plan.Partial(&w.Env, &w.Out) },
		}
		s.faults[route].Report(l, w, failures, src, runtime.LineageAnswers{Lineage: in.Lineage, Failures: failures})
	}
	if w.Out.Kept == 0 {
		return
	}
	var rows []uint32
	lin := in.Lineage
	lin.Share(1)
	if !w.Out.All {
		rows, _ = runtime.RowsOf(w.Out.Keep, in.Rows())
		lin = lin.Select(rows)
	}
	record := array.NewRecordBatch(j.routes[route].Schema, w.Out.Columns, int64(in.Rows()))
	s.outlets[route].Add(l, batch.Piece{Record: record, Rows: rows, Low: in.Low, High: in.High}, lin, now)
}

func (j *Junction) reject(class string, rows int) {
	j.mu.Lock()
	j.rejected[class] += uint64(rows)
	j.mu.Unlock()
}

// Observation is a copy of what a junction knows about itself.
type Observation struct {
	// Received counts what each input brought, Sent what each route published.
	Received, Sent []runtime.Passed
	// Rejected counts failed rows by class.
	Rejected map[string]uint64
	Branches int
}

// Observe copies the state.
func (j *Junction) Observe() Observation {
	o := Observation{Branches: j.node.Branches()}
	for i := range j.received {
		o.Received = append(o.Received, j.received[i].Passed())
	}
	for _, r := range j.routes {
		o.Sent = append(o.Sent, r.Sent.Passed())
	}
	j.mu.Lock()
	o.Rejected = maps.Clone(j.rejected)
	j.mu.Unlock()
	return o
}

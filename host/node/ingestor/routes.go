// SPDX-License-Identifier: Apache-2.0

package ingestor

import (
	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/lanes"
	"github.com/nervix-go/nervix/host/model"
	"github.com/nervix-go/nervix/host/node/runtime"
)

// maxIdleKeys bounds the branches a route remembers although they hold nothing; beyond it the idle ones are forgotten together.
const maxIdleKeys = 4096

// route is one way out of the ingestor with the outlets of its concrete branches.
type route struct {
	plan    *model.IngestRoute
	shared  *runtime.Route
	faults  *runtime.Faults
	form    *batch.KeyForm // nil when unbranched
	outlets map[string]*keyed
	root    *runtime.Outlet // unbranched
}

// keyed is a concrete branch of a route.
type keyed struct {
	key    *batch.Key
	outlet *runtime.Outlet
	rows   []uint32 // of the present group
}

func (i *Ingestor) openRoutes() {
	for n := range i.plan.Routes {
		p := &i.plan.Routes[n]
		r := &route{plan: p, shared: i.sharedRoute(p.Relay, i.config.Targets[n].Relay, p.Flush)}
		r.faults = &runtime.Faults{
			Node: i.plan.Ref, Policy: &p.Policy, Log: i.config.Log, Count: i.reject,
			Input: i.plan.Codec.Schema, Metadata: i.plan.Source.Metadata, Output: p.Relay.Schema,
		}
		if p.Policy.Relay != nil {
			errors := i.sharedRoute(p.Policy.Relay, i.config.Targets[n].Error, p.Flush)
			r.faults.Outlet = runtime.NewOutlet(errors, nil, i.lane, i, &i.alive)
		}
		if p.Branch == nil {
			r.root = runtime.NewOutlet(r.shared, nil, i.lane, i, &i.alive)
		} else {
			r.form = batch.NewKeyForm(p.Branch.Ref.Name, p.Branch.Schema)
			r.outlets = make(map[string]*keyed)
		}
		i.routes = append(i.routes, r)
	}
}

func (i *Ingestor) sharedRoute(relay *model.Relay, target runtime.Target, flush model.Flush) *runtime.Route {
	return &runtime.Route{
		Relay: relay.Ref, Target: target, Schema: relay.Schema.Arrow(), Flush: runtime.Flush(flush), Clock: i.config.Clock, Alloc: i.config.Alloc, Track: i.track,
	}
}

// branch finds or makes the outlet of a key. text is only read.
func (i *Ingestor) branch(r *route, text []byte, key func(text string) *batch.Key) *keyed {
	if k := r.outlets[string(text)]; k != nil {
		return k
	}
	if len(r.outlets) >= maxIdleKeys {
		r.forgetIdle()
	}
	k := &keyed{key: key(string(text))}
	k.outlet = runtime.NewOutlet(r.shared, k.key, i.lane, i, &i.alive)
	r.outlets[k.key.Text] = k
	return k
}

// forgetIdle drops the branches that hold nothing; a key that comes back gets a new outlet.
func (r *route) forgetIdle() {
	for text, k := range r.outlets {
		if k.outlet.Empty() && len(k.rows) == 0 {
			delete(r.outlets, text)
		}
	}
}

// tokenAnswers settles failed rows of a group: the acknowledgement of the delivery itself.
type tokenAnswers struct {
	i      *Ingestor
	tokens []uint64 // by failure
}

// Refuse implements runtime.Answers.
func (a tokenAnswers) Refuse(n int, reason error) {
	a.i.window.Fail(a.tokens[n], reason, true, a.i.lane.Now())
}

// Move implements runtime.Answers: the error record becomes one more row of its delivery.
func (a tokenAnswers) Move(l *lanes.Lane, outlet *runtime.Outlet, piece batch.Piece, records []int, now vtime.Logical) {
	tokens := make([]uint64, len(records))
	for n, r := range records {
		tokens[n] = a.tokens[r]
		a.i.window.Expect(tokens[n])
	}
	outlet.AddDeliveries(l, piece, tokens, now)
}

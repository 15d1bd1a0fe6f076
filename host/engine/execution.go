// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/model"
	"github.com/nervix-go/nervix/host/node/emitter"
	"github.com/nervix-go/nervix/host/node/ingestor"
	"github.com/nervix-go/nervix/host/node/junction"
	"github.com/nervix-go/nervix/host/node/wasmproc"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/relay/owner"
	"github.com/nervix-go/nervix/host/timekeeper"
)

// The physical intervals of an execution.
const (
	upkeepEvery  = 100 * time.Millisecond // reports of life and the TTL scan
	drainPoll    = 2 * time.Millisecond
	resumeFirst  = 100 * time.Millisecond // backoff of sources that are missing when a running domain resumes (Q57)
	resumeLatest = 5 * time.Second
)

var errStopped = errors.New("the domain has stopped")

// execution is one generation of one domain on this node.
type execution struct {
	engine     *Engine
	domain     ident.Domain
	generation ident.Generation
	graph      *model.Graph
	clock      *timekeeper.Handle

	relays    map[ident.Name]*owner.Owner
	ingestors []*ingestor.Ingestor
	junctions []*junction.Junction
	guests    []*wasmproc.Processor
	emitters  []*emitter.Emitter
	history   *history

	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup

	// opening bounds the attempts to open sinks and sources; none of them outlives stopOpening.
	opening     context.Context
	stopOpening context.CancelFunc
	openers     sync.WaitGroup

	ready    chan struct{} // closed when the start has an outcome
	startErr error         // written before ready is closed
}

func newExecution(e *Engine, graph *model.Graph, generation ident.Generation) *execution {
	x := &execution{
		engine: e, domain: graph.Domain, generation: generation, graph: graph, relays: make(map[ident.Name]*owner.Owner, len(graph.Relays)),
		ready: make(chan struct{}),
	}
	x.history = newHistory()
	x.ctx, x.cancel = context.WithCancel(e.ctx)
	x.opening, x.stopOpening = context.WithCancel(x.ctx)
	return x
}

// start opens sinks, then sources, in the background. With resume a source that is missing is tried again until it is there.
func (x *execution) start(resume bool) {
	x.work.Go(func() { osclock.Every(x.ctx, upkeepEvery, x.upkeep) })
	x.openers.Go(func() {
		x.startErr = x.open(resume)
		close(x.ready)
	})
}

func (x *execution) open(resume bool) error {
	for _, m := range x.emitters {
		if err := x.begin(resume, "sink", m.Start); err != nil {
			return err
		}
	}
	for _, p := range x.guests {
		if err := x.begin(resume, "guest module", p.Start); err != nil {
			return err
		}
	}
	for _, i := range x.ingestors {
		if err := x.begin(resume, "source", i.Start); err != nil {
			return err
		}
	}
	return nil
}

// begin opens one source or sink. What is refused when a running domain resumes is no failed start: it is tried until it is there (Q57).
func (x *execution) begin(resume bool, what string, start func(context.Context) error) error {
	err := start(x.opening)
	if err == nil || !resume {
		return err
	}
	x.engine.config.Log.Warn("a "+what+" is missing and is tried again", "domain", x.domain, "error", err)
	x.openers.Go(func() {
		for wait := resumeFirst; ; wait = min(2*wait, resumeLatest) {
			if osclock.Wait(x.opening, wait) != nil || start(x.opening) == nil {
				return
			}
		}
	})
	return nil
}

// upkeep reports waiting rows as alive and releases branches whose TTL is over.
func (x *execution) upkeep() {
	at := osclock.Mono()
	now := at.NS()
	x.sample(at)
	for _, r := range x.relays {
		r.Touch(now)
		r.Scan()
	}
	for _, j := range x.junctions {
		j.Node().Touch(now)
		j.Node().Scan()
	}
	for _, p := range x.guests {
		p.Touch(now)
		p.Node().Scan()
	}
	for _, m := range x.emitters {
		m.Touch(now)
	}
}

// stopIntake ends the source sessions, and the attempts to open more; admitted rows go on.
func (x *execution) stopIntake(ctx context.Context) {
	x.stopOpening()
	x.openers.Wait()
	var wait sync.WaitGroup
	for _, i := range x.ingestors {
		wait.Go(func() {
			if err := i.StopIntake(ctx); err != nil {
				x.engine.config.Log.Warn("a source did not close in time", "domain", x.domain, "error", err)
			}
		})
	}
	wait.Wait()
}

// askGuests asks the guests of the first processor that has some to flush (W-239), processors in the order of the graph. It is called when all else is
// quiet, so that each guest flushes once, after everything before it is through.
func (x *execution) askGuests() bool {
	for _, ref := range slices.Backward(x.graph.Runtime()) { // upstream first
		if p := x.guest(ref.Name); ref.Kind == ident.KindWASM && p.Quiesce() {
			return true
		}
	}
	return false
}

// drain stops intake and flushes until nothing admitted is left; it returns false when ctx, or the execution, ends before.
func (x *execution) drain(ctx context.Context) bool {
	x.stopIntake(ctx)
	for {
		if x.ctx.Err() != nil {
			return false // what was left has failed
		}
		x.flush()
		if x.quiet() {
			if !x.askGuests() {
				return true
			}
			continue
		}
		if osclock.Wait(ctx, drainPoll) != nil {
			return x.quiet()
		}
	}
}

// flush publishes what routes and emitters hold, without waiting for their size or deadline.
func (x *execution) flush() {
	for _, i := range x.ingestors {
		i.Flush()
	}
	for _, j := range x.junctions {
		j.Node().ForceFlush()
	}
	for _, m := range x.emitters {
		m.Flush()
	}
}

// end fails what is left and lets go of everything. It is final.
func (x *execution) end(ctx context.Context) {
	x.cancel()
	x.stopIntake(ctx)
	for _, i := range x.ingestors {
		i.Close()
	}
	for _, j := range x.junctions {
		j.Node().Close(errStopped)
		j.Node().Abandon(errStopped)
	}
	for _, p := range x.guests {
		p.Node().Close(errStopped)
		p.Node().Abandon(errStopped)
		if err := p.End(ctx, errStopped); err != nil {
			x.engine.config.Log.Warn("a guest did not end in time; it ends with its call", "domain", x.domain, "error", err)
		}
	}
	for _, m := range x.emitters {
		m.Node().Close(errStopped)
		m.Node().Abandon(errStopped)
		if err := m.Close(ctx, errStopped); err != nil {
			x.engine.config.Log.Warn("a sink did not close in time", "domain", x.domain, "error", err)
		}
	}
	for _, r := range x.relays {
		r.Close()
	}
	x.clock.End()
	x.work.Wait()
}

// setCapacities brings the relays to the capacities of a newer graph.
func (x *execution) setCapacities(graph *model.Graph) {
	for _, plan := range graph.Relays {
		if r := x.relays[plan.Ref.Name]; r != nil {
			r.SetCapacity(plan.Capacity)
		}
	}
}

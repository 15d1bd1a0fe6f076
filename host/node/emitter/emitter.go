// SPDX-License-Identifier: Apache-2.0

package emitter

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/host/codec"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/lanes"
	"github.com/nervix-go/nervix/host/model"
	"github.com/nervix-go/nervix/host/node/connector"
	"github.com/nervix-go/nervix/host/node/runtime"
)

// Config is what an emitter is built from. Nothing in it changes while it runs.
type Config struct {
	Plan *model.Emitter
	// Error is the relay of error records, nil unless the policy is SEND TO.
	Error runtime.Target
	Sinks connector.Sinks
	Clock runtime.Clock
	Lanes *lanes.Executor
	// Benches are the workbenches of the lanes.
	Benches runtime.Benches
	Alloc   memory.Allocator
	Log     *slog.Logger
}

var errEnded = errors.New("the emitter has ended")

// Emitter is a running emitter.
type Emitter struct {
	plan    *model.Emitter
	config  Config
	node    *runtime.Node
	session connector.SinkSession
	stats   stats
	inputs  []runtime.Traffic

	// Lane only.
	branch  *runtime.Branch
	encoder codec.Encoder
	faults  *runtime.Faults
	errors  *runtime.Route             // of error records, nil unless the policy is SEND TO
	outlets map[string]*runtime.Outlet // of error records, by key
	held    []*payloads                // collected and not completely answered, in order
	bytes   int64
	nextID  uint64
	due     bool // the held payloads are to be published
	dueAt   vtime.Logical
	timer   lanes.Timer // flush deadline
	sink    sinkState
	closed  bool
}

// sinkState is where the sink and the attempt on it stand.
type sinkState struct {
	open     bool
	parked   bool // the relays are held back
	attempt  uint64
	last     uint64 // the newest payload of the attempt
	under    bool   // an attempt is under way
	failures int    // attempts that failed since the last completed flush
	retryAt  vtime.Mono
	waiting  bool // a retry waits
	retry    lanes.Timer
}

// New builds an emitter that takes nothing yet.
func New(c Config) *Emitter {
	e := &Emitter{plan: c.Plan, config: c, inputs: make([]runtime.Traffic, len(c.Plan.Inputs))}
	e.node = runtime.NewNode(runtime.Config{Ref: c.Plan.Ref, Lanes: c.Lanes, Inputs: len(c.Plan.Inputs), Merged: true}, e)
	e.encoder = c.Plan.Codec.NewEncoder()
	e.stats.init()
	return e
}

// Node is the part that relays and upkeep talk to.
func (e *Emitter) Node() *runtime.Node { return e.node }

// Start opens the sink. A sink that cannot be opened now is reported and tried again (nspl 18.2); an error is a definitive refusal.
func (e *Emitter) Start(ctx context.Context) error {
	session, err := e.config.Sinks.OpenSink(ctx, connector.SinkPlan{
		Emitter: e.plan.Ref, Kind: e.plan.Sink.Kind, Client: e.plan.Client.Config, Options: e.plan.Sink.Options,
	}, events{e})
	if err != nil {
		return fault.New(fault.NodeFailed, "emitter.Start", e.plan.Ref, "the sink cannot be opened", err)
	}
	e.onLane(func(l *lanes.Lane) {
		e.session = session
		e.publish(l)
	})
	return nil
}

func (e *Emitter) home() *lanes.Lane { return e.node.Home() }

func (e *Emitter) onLane(f func(*lanes.Lane)) {
	done := make(chan struct{})
	e.home().Post(lanes.Func(func(l *lanes.Lane) {
		f(l)
		close(done)
	}))
	<-done
}

// Open implements runtime.Handler.
func (e *Emitter) Open(_ *lanes.Lane, b *runtime.Branch) {
	e.branch = b
	e.faults = e.newFaults()
}

// Quiet implements runtime.Handler; the one branch of an emitter stays as long as the emitter.
func (e *Emitter) Quiet(*runtime.Branch) bool { return false }

// Touch reports everything held as alive.
func (e *Emitter) Touch(monoNS int64) {
	e.home().Post(lanes.Func(func(*lanes.Lane) {
		for _, p := range e.held {
			p.lineage.Touch(monoNS)
		}
	}))
	e.node.Touch(monoNS)
}

// Flush publishes what is held without waiting for size or deadline.
func (e *Emitter) Flush() {
	e.home().Post(lanes.Func(func(l *lanes.Lane) {
		if len(e.held) > 0 {
			e.due = true
			e.publish(l)
		}
	}))
	e.node.ForceFlush()
}

// Busy says whether rows are held, worked or published.
func (e *Emitter) Busy() bool { return e.stats.holding() > 0 || e.node.Busy() }

// Close ends the sink session, bounded by ctx, and fails what is still held: its rows stay unacknowledged at their source.
func (e *Emitter) Close(ctx context.Context, reason error) error {
	var session connector.SinkSession
	e.onLane(func(l *lanes.Lane) {
		e.closed = true
		session, e.session = e.session, nil
		l.Disarm(&e.timer)
		l.Disarm(&e.sink.retry)
		for _, p := range e.held {
			p.record.Release()
			p.releaseSource()
			p.lineage.Fail(reason)
		}
		e.held = nil
		e.stats.hold(0)
	})
	if session == nil {
		return nil
	}
	return session.Close(ctx)
}

// backoff is the pause after n failed attempts in a row.
func (e *Emitter) backoff(n int) time.Duration {
	d := e.plan.Retry.Backoff
	for ; n > 1 && d < e.plan.Retry.MaxBackoff; n-- {
		d *= 2
	}
	return min(d, e.plan.Retry.MaxBackoff)
}

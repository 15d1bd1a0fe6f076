// SPDX-License-Identifier: Apache-2.0

// Package engine assembles a node from its ports and runs the graphs that committed revisions name on it. wire.go is the record's path
// from top to bottom: read it first.
//
// An execution is one generation of one running domain. It is built completely before anything flows, and it ends as a whole; nothing in it
// is ever attached to a successor. Only the capacity of relays changes while it runs.
package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/lanes"
	"github.com/nervix-go/nervix/host/node/connector"
	"github.com/nervix-go/nervix/host/node/runtime"
	"github.com/nervix-go/nervix/host/node/wasmproc"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/recycler"
	"github.com/nervix-go/nervix/host/registry"
	"github.com/nervix-go/nervix/host/state"
	"github.com/nervix-go/nervix/host/timekeeper"
)

// stopDrain is how long STOP lets admitted work settle before it fails the rest; failed rows stay unacknowledged at their source.
const stopDrain = 5 * time.Second

// Config is what a node's engine is built from.
type Config struct {
	Node    ident.Node
	Sources connector.Sources
	Sinks   connector.Sinks
	Store   *state.Store
	Log     *slog.Logger
	// Clocks is domain time on this node; nil makes a keeper of its own.
	Clocks *timekeeper.Keeper
	// Modules gives compiled guest modules; Checkpoints keeps guest state, nil in memory.
	Modules     wasmproc.Modules
	Checkpoints wasmproc.Checkpoints
	// StopGuests interrupts guests that still run when the node closes; nil where there are none.
	StopGuests func(context.Context) error
	// PositionFields names the numbers in a position of a connector kind, in order; nil for an unknown kind.
	PositionFields func(kind string) []string
	// Term is Raft's term, for SHOW CLUSTER STATUS; nil where there is none.
	Term func() uint64
	// Lanes is the number of lanes; 0 means GOMAXPROCS.
	Lanes int
}

// sessionsEnd is how long Close waits for connectors to let go; who hangs is killed later, and the lanes still have time to end.
const sessionsEnd = 3 * time.Second

// Engine runs executions. Install and Ready implement control's installer.
type Engine struct {
	config  Config
	exec    *lanes.Executor
	benches runtime.Benches
	alloc   memory.Allocator

	// starting bounds the life of start attempts.
	ctx    context.Context
	cancel context.CancelFunc

	mu struct {
		sync.Mutex
		executions map[ident.Domain]*execution
		graphs     map[ident.Domain]graphAt
	}
}

// New starts an engine without executions.
func New(c Config) *Engine {
	if c.Clocks == nil {
		c.Clocks = timekeeper.New(timekeeper.Config{})
	}
	if c.Checkpoints == nil {
		c.Checkpoints = wasmproc.NewMemory()
	}
	e := &Engine{config: c, exec: lanes.New(c.Lanes), alloc: &recycler.Allocator{}}
	e.benches = runtime.NewBenches(e.exec, e.alloc, func(b []byte) { _, _ = rand.Read(b) })
	e.ctx, e.cancel = context.WithCancel(context.Background())
	e.mu.executions = make(map[ident.Domain]*execution)
	e.mu.graphs = make(map[ident.Domain]graphAt)
	return e
}

// NodeName is the name of this node in inspections and metrics.
func (e *Engine) NodeName() string { return e.config.Node.String() }

// Drain stops intake everywhere and lets admitted work settle until ctx ends. It reports what did not settle, by domain.
func (e *Engine) Drain(ctx context.Context) []ident.Domain {
	var unsettled []ident.Domain
	for _, x := range e.all() {
		if !x.drain(ctx) {
			unsettled = append(unsettled, x.domain)
		}
	}
	return unsettled
}

// Close ends every execution and the lanes. What had not settled fails: it stays unacknowledged at its source.
func (e *Engine) Close(ctx context.Context) error {
	e.cancel()
	ending, cancel := osclock.WithTimeout(ctx, sessionsEnd)
	defer cancel()
	for _, x := range e.all() {
		x.end(ending)
	}
	e.mu.Lock()
	clear(e.mu.executions)
	e.mu.Unlock()
	var guests error
	if e.config.StopGuests != nil {
		guests = e.config.StopGuests(ctx) // before the lanes, which wait for calls under way
	}
	if err := errors.Join(guests, e.exec.Close(ctx)); err != nil {
		return fmt.Errorf("guests or lanes did not end in time: %w", err)
	}
	return nil
}

func (e *Engine) all() []*execution {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := make([]*execution, 0, len(e.mu.executions))
	for _, x := range e.mu.executions {
		out = append(out, x)
	}
	return out
}

func (e *Engine) execution(domain ident.Domain) *execution {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.mu.executions[domain]
}

// domainOf finds a domain in a state; nil if there is none.
func domainOf(s *registry.State, name ident.Domain) *registry.Domain {
	if s == nil {
		return nil
	}
	return s.Domains[name]
}

// SPDX-License-Identifier: Apache-2.0

package wasmproc

import (
	"context"
	"encoding/binary"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/lanes"
	"github.com/nervix-go/nervix/host/model"
	"github.com/nervix-go/nervix/host/node/runtime"
	"github.com/nervix-go/nervix/wasm/protocol"
)

// firstGeneration is the lifetime in which every branch starts (W-133). Others come with resets and recoveries.
const firstGeneration = 1

// Target is where one route leads: its relay, and the relay of its error records (nil unless the policy is SEND TO).
type Target struct {
	Relay runtime.Target
	Error runtime.Target
}

// Config is what a processor is built from. Nothing in it changes while it runs.
type Config struct {
	Plan    *model.WASM
	Targets []Target // one a route
	Modules Modules
	// Checkpoints keeps the state of branches; a place names this processor by Created, the committed index of its creation.
	Checkpoints Checkpoints
	Created     uint64
	// Resets is nil on a node without a coordinator: NoResets.
	Resets Resets
	// DomainType is told to guests (W-053).
	DomainType string
	// Recycling says when instances are replaced for their memory.
	Recycling Recycling
	Clock     runtime.Clock
	Now       func() (vtime.Logical, bool)
	Lanes     *lanes.Executor
	Benches   runtime.Benches
	Alloc     memory.Allocator
	// Random fills a slice with random bytes; from any goroutine.
	Random func([]byte)
	Log    *slog.Logger
}

// route is one way out, shared by all branches.
type route struct {
	plan     *model.GuestRoute
	relay    *runtime.Route
	errors   *runtime.Route // nil unless SEND TO
	schema   *arrow.Schema
	rowBytes int64
}

// Processor is a running WASM processor.
type Processor struct {
	plan   *model.WASM
	config Config
	node   *runtime.Node
	routes []*route
	kits   []*laneKit // one a lane
	limit  int        // of a message
	init   *protocol.Init

	module    atomic.Pointer[heldModule] // nil until Start
	gate      lanes.Gate
	longCalls int          // most long guest calls at a time
	active    atomic.Int64 // branches that are held for work outside of Branch.Run
	unflushed atomic.Int64 // branches whose guest got input since it was flushed
	queued    atomic.Int64 // len(mu.waiting)
	handles   atomic.Int64 // handles up to here were used by branches that were evicted (W-234)

	received []runtime.Traffic // one an input
	rows     struct{ given, acked, nacked, failed atomic.Uint64 }

	instances, made, lost, recycled atomic.Uint64

	errors reporter
	live   roll

	mu struct {
		sync.Mutex
		rejected map[string]uint64
		waiting  []*state // for the module, or for a long call of the processor to end
		ending   error
		left     int           // branches that have not ended yet, and lanes that have not looked
		over     chan struct{} // closed when none is left after End
	}
}

// heldModule makes an atomic pointer of an interface. content is for diagnostics.
type heldModule struct {
	Module
	content string
}

// contentDigits is how much of a content hash a diagnostic shows: half of it, as elsewhere of a branch's fingerprint.
const contentDigits = 32

// contentOf names the module in diagnostics.
func contentOf(m Module) string {
	if x, ok := m.(Identified); ok {
		id := x.Identity()
		return id[:min(len(id), contentDigits)]
	}
	return ""
}

// New builds a processor without inputs attached.
func New(c Config) (*Processor, error) {
	if c.Resets == nil {
		c.Resets = NoResets{}
	}
	p := &Processor{plan: c.Plan, config: c, received: make([]runtime.Traffic, len(c.Plan.Inputs)), longCalls: max(2, c.Lanes.Len())}
	p.mu.rejected = make(map[string]uint64)
	p.live.set = make(map[*state]struct{})
	nc := runtime.Config{Ref: c.Plan.Ref, Lanes: c.Lanes, Inputs: len(c.Plan.Inputs), Now: c.Now}
	if c.Plan.Branch != nil {
		nc.TTL, nc.MaxInstances = c.Plan.Branch.TTL, c.Plan.Branch.MaxInstances
	}
	p.node = runtime.NewNode(nc, p)
	p.init = &protocol.Init{
		DomainName: string(c.Plan.Ref.Domain), DomainType: c.DomainType,
		Input: protocol.ShapeOf(c.Plan.InputSchema.Name(), c.Plan.InputSchema),
	}
	declared := make([]protocol.Route, len(c.Plan.Routes))
	for i := range c.Plan.Routes {
		r := &c.Plan.Routes[i]
		p.routes = append(p.routes, p.route(r, c.Targets[i]))
		declared[i] = protocol.Route{Relay: r.Relay.Ref.Name, Schema: r.Relay.Schema}
		p.init.Outputs = append(p.init.Outputs, protocol.ShapeOf(r.Relay.Ref.Name, r.Relay.Schema))
	}
	p.limit = messageLimit(c.Plan.MaxMemory)
	for range c.Lanes.Len() {
		kit, err := newKit(p, declared)
		if err != nil {
			return nil, err
		}
		p.kits = append(p.kits, kit)
	}
	return p, nil
}

func (p *Processor) route(r *model.GuestRoute, t Target) *route {
	way := func(relay *model.Relay, target runtime.Target) *runtime.Route {
		return &runtime.Route{
			Relay: relay.Ref, Target: target, Schema: relay.Schema.Arrow(), Flush: runtime.Flush{Immediate: true}, Clock: p.config.Clock, Alloc: p.config.Alloc,
		}
	}
	x := &route{plan: r, relay: way(r.Relay, t.Relay), schema: r.Relay.Schema.Arrow(), rowBytes: rowBytes(r.Relay.Schema.Arrow())}
	if r.Policy.Relay != nil {
		x.errors = way(r.Policy.Relay, t.Error)
	}
	return x
}

// messageLimit is the size above which a batch of several rows is split: well below what the guest may have in all, because it needs room for
// its answer too (A08). A single row may take all of it.
func messageLimit(maxMemory uint64) int {
	return int(min(protocol.MaxBuffer, max(64<<10, maxMemory/4)))
}

// Node is the part that relays and upkeep talk to.
func (p *Processor) Node() *runtime.Node { return p.node }

// Start acquires the module; it may take seconds. Batches that come before wait in their branches. The error is a *protocol.Failure of
// stage `module compilation`, and was reported; Start may be called again then.
func (p *Processor) Start(ctx context.Context) error {
	if p.module.Load() != nil {
		return nil
	}
	m := p.plan.Module
	module, err := p.config.Modules.Acquire(ctx, Pin{Domain: p.plan.Ref.Domain, Resource: m.Resource, Version: m.Version, File: m.File})
	if err != nil {
		failure := p.diagnostic(failureOf(err, protocol.StageCompilation), "", 0)
		p.report(failure, 0)
		return failure
	}
	p.mu.Lock()
	ending := p.mu.ending != nil
	if !ending {
		p.module.Store(&heldModule{module, contentOf(module)})
	}
	p.mu.Unlock()
	if ending {
		module.Release()
		return nil
	}
	p.passOn()
	return nil
}

// Open implements runtime.Handler.
func (p *Processor) Open(l *lanes.Lane, b *runtime.Branch) {
	s := &state{p: p, b: b, lane: l, token: p.firstToken(), handle: p.handles.Load() + 1}
	b.State = s
	p.mu.Lock()
	s.reason = p.mu.ending
	s.closed = s.reason != nil
	if !s.closed {
		p.mu.left++
	}
	p.mu.Unlock()
	if s.closed {
		return // the branch was under way to its lane when the processor ended
	}
	s.m.log = p.plan.GlobalLog
	s.m.recycling.rules = p.config.Recycling.rules(p.plan.MaxMemory)
	s.print = fingerprint(b.Key)
	p.live.add(s)
	s.slot = p.config.Checkpoints.Open(s.where())
	p.kit(l).enlist(s)
}

// where names the state of the branch.
func (s *state) where() Place {
	ref := s.p.plan.Ref
	return Place{Domain: ref.Domain, Processor: ref.Name, Created: s.p.config.Created, Branch: s.print, Generation: firstGeneration}
}

// firstToken is a random number, so that a token which a guest kept in its state is unknown after a restart (W-102).
func (p *Processor) firstToken() uint64 {
	var b [8]byte
	p.config.Random(b[:])
	return binary.LittleEndian.Uint64(b[:]) >> 2
}

// Quiet implements runtime.Handler. What the guest still holds does not keep a branch alive (W-126).
func (p *Processor) Quiet(b *runtime.Branch) bool {
	s, ok := b.State.(*state)
	return !ok || s.quiet()
}

// Evicted implements runtime.Evictor: the instance stops without a flush, the checkpoint stays.
func (p *Processor) Evicted(l *lanes.Lane, b *runtime.Branch) {
	if s, ok := b.State.(*state); ok {
		s.end(l, errEvicted(p.plan.Ref))
	}
}

// Handle implements runtime.Handler.
func (p *Processor) Handle(l *lanes.Lane, b *runtime.Branch, input int, in *batch.Batch) {
	p.received[input].Count(in.Rows())
	s := b.State.(*state)
	if s.closed {
		in.Fail(s.reason)
		return
	}
	snapshot, err := p.config.Clock.Snapshot()
	if err != nil {
		in.Fail(err)
		return
	}
	if in = p.sift(l, input, in, snapshot.Now); in == nil {
		return
	}
	p.rows.given.Add(uint64(in.Rows()))
	s.queue = append(s.queue, in)
	s.list()
	s.next(l)
}

// kit is the working memory of a lane.
func (p *Processor) kit(l *lanes.Lane) *laneKit { return p.kits[l.Index()] }

func (p *Processor) reject(class string, rows int) {
	p.mu.Lock()
	p.mu.rejected[class] += uint64(rows)
	p.mu.Unlock()
}

// ready says whether a branch may begin guest work: the module is there, and not too many of its guests are in long calls. The bound keeps a
// processor whose guests all run for seconds from taking every spare goroutine of the lanes, and every core of the node.
func (p *Processor) ready() bool { return p.module.Load() != nil && p.gate.Away() < p.longCalls }

// enqueue makes a branch wait until ready: register first, then look again.
func (p *Processor) enqueue(s *state) {
	p.mu.Lock()
	if !s.waiting {
		s.waiting = true
		p.mu.waiting = append(p.mu.waiting, s)
		p.queued.Add(1)
	}
	p.mu.Unlock()
	p.passOn()
}

// passOn lets the branch go on that waits longest, if there may be one more. Each one that goes on calls it again.
func (p *Processor) passOn() {
	if p.queued.Load() == 0 || !p.ready() {
		return
	}
	p.mu.Lock()
	var s *state
	if len(p.mu.waiting) > 0 {
		s = p.mu.waiting[0]
		s.waiting = false
		p.mu.waiting = p.mu.waiting[1:]
		p.queued.Add(-1)
	}
	p.mu.Unlock()
	if s != nil {
		s.lane.Post(s)
	}
}

// storeDeadline bounds a checkpoint from the save to the last replica (W-201). It is physical.
const storeDeadline = 10 * time.Second

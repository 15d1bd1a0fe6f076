// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/wasm/protocol"
)

// Config of an Engine. It does not change afterwards.
type Config struct {
	// Profile of linear memory. Auto is resolved by Limits.Stores.
	Profile Profile
	Limits  Limits
	// CacheDir keeps compiled modules; empty: no cache. It holds native code, so nobody else may be able to write there.
	CacheDir string
	// CacheBytes is the size the cache is pruned to. Default 2 GiB.
	CacheBytes int64
	// Compiler compiles in another process; nil: in this one, where nothing bounds the time of a hostile module (half a megabyte of
	// branches takes minutes) and a running compilation delays Close. shim.Isolated makes one.
	Compiler Compiler
	// Observe is told what became of each module; may be nil. It must not block.
	Observe func(Event)
}

// Compiler gives the serialized code of a module for the backend and profile it was made for. It ends with ctx.
type Compiler func(ctx context.Context, wasm []byte) ([]byte, error)

// Event tells how the code of a module came to be.
type Event struct {
	Module Identity
	// FromCache is false when the module was compiled.
	FromCache bool
	// Cause says why the cache was of no use; empty when it was, or when there is none.
	Cause string
	Took  time.Duration
	Err   error
}

// BackendOptions is what a backend is made from; New resolves it.
type BackendOptions struct {
	Dense       bool
	StackBytes  uint64
	LinearBytes uint64
	Maps        uint64
}

// Engine compiles and runs guests of one profile.
type Engine struct {
	backend Backend
	profile Profile
	lim     Limits
	cache   *cache
	observe func(Event)
	outside Compiler

	stopping atomic.Bool
	compile  chan struct{} // one compilation at a time
	wake     chan struct{} // the first store exists
	ended    chan struct{} // the epoch's goroutine has ended
	cancel   context.CancelFunc
	builds   context.Context // ends the compilations outside
	noBuilds context.CancelFunc
	building sync.WaitGroup

	mu struct {
		sync.Mutex
		modules map[Identity]*Module
		first   *Instance
		stores  int
	}
}

// New starts an engine. open makes the backend, for instance shim.Open.
func New(c Config, open func(BackendOptions) (Backend, error)) (*Engine, error) {
	c.Limits.EnsureDefaults()
	if err := c.Limits.Validate(); err != nil {
		return nil, err
	}
	e := &Engine{lim: c.Limits, profile: c.Profile.Resolve(c.Limits.Stores), observe: c.Observe, outside: c.Compiler,
		compile: make(chan struct{}, 1), wake: make(chan struct{}, 1), ended: make(chan struct{})}
	var err error
	e.backend, err = open(BackendOptions{Dense: e.profile == ProfileDense, StackBytes: e.lim.StackBytes, LinearBytes: e.lim.LinearBytes, Maps: e.lim.Maps})
	if err != nil {
		return nil, err
	}
	setDefault(&c.CacheBytes, 2<<30)
	if c.CacheDir != "" {
		e.cache = &cache{dir: c.CacheDir, maxBytes: c.CacheBytes, suffix: e.profile.String() + "-" + e.backend.Version()}
	}
	e.mu.modules = map[Identity]*Module{}
	ctx, cancel := context.WithCancel(context.Background())
	e.cancel = cancel
	e.builds, e.noBuilds = context.WithCancel(ctx)
	go e.advance(ctx)
	return e, nil
}

// Profile is the resolved profile.
func (e *Engine) Profile() Profile { return e.profile }

// Limits are the limits in force, defaults filled in.
func (e *Engine) Limits() Limits { return e.lim }

// Usage is what the live stores hold.
func (e *Engine) Usage() Usage {
	u := e.backend.Usage()
	e.mu.Lock()
	u.Stores = e.mu.stores
	e.mu.Unlock()
	return u
}

// Modules is the number of modules that are compiled or being compiled (W-005).
func (e *Engine) Modules() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.mu.modules)
}

// advance ticks the epoch while stores exist.
func (e *Engine) advance(ctx context.Context) {
	defer close(e.ended)
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.wake:
		}
		while, stop := context.WithCancel(ctx)
		osclock.Every(while, e.lim.EpochPeriod, func() {
			e.backend.Tick(1)
			if e.empty() {
				stop()
			}
		})
		stop()
	}
}

func (e *Engine) empty() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.mu.stores == 0
}

// admit lists a starting instance, or refuses it: too many stores, or the node stops.
func (e *Engine) admit(i *Instance) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stopping.Load() {
		return &Failure{Stage: protocol.StageInstantiation, Export: NoExport, Gone: true, Cause: errStopping}
	}
	if e.mu.stores >= e.lim.Stores {
		return &Failure{Stage: protocol.StageInstantiation, Export: NoExport, Gone: true,
			Cause: coded(fault.WasmBudget, nil, "the node runs %d guest instances, as many as it may", e.mu.stores)}
	}
	e.mu.stores++
	if i.next = e.mu.first; i.next != nil {
		i.next.prev = i
	}
	e.mu.first = i
	if e.mu.stores == 1 {
		select {
		case e.wake <- struct{}{}:
		default:
		}
	}
	return nil
}

func (e *Engine) forget(i *Instance) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.mu.stores--
	if i.prev != nil {
		i.prev.next = i.next
	} else {
		e.mu.first = i.next
	}
	if i.next != nil {
		i.next.prev = i.prev
	}
	i.prev, i.next = nil, nil
}

// Instantiate makes a guest. now is the snapshot a start function sees. The failure's stage is `instantiation`.
func (m *Module) Instantiate(spec Spec, now vtime.Logical) (*Instance, error) {
	if err := m.Inspection.CheckMemory(spec.Memory); err != nil {
		return nil, err
	}
	i := &Instance{mod: m, spec: spec, handle: max(spec.FirstHandle, 1)}
	i.state.Store(busy)
	if err := m.engine.admit(i); err != nil {
		return nil, err
	}
	m.retain()
	if err := i.start(now); err != nil {
		i.state.Store(closed)
		m.engine.forget(i)
		m.Release()
		return nil, err
	}
	return i, nil
}

// interruptEvery is how often a shutdown interrupts what still runs.
const interruptEvery = 5 * time.Millisecond

// Stop ends the calls of guests that run, and refuses those that come: wasm.stopped. A shutdown does it before it waits for whoever makes the
// calls, since a call may last as long as an operation may. Instances stay until they are closed. It returns early with the cause of ctx; it may
// be called again.
func (e *Engine) Stop(ctx context.Context) error {
	e.stopping.Store(true)
	e.noBuilds()
	for e.anyBusy() {
		e.backend.Tick(e.lim.ticks() + 1) // past every deadline, also of operations that had armed theirs just before
		if err := osclock.Wait(ctx, interruptEvery); err != nil {
			return err
		}
	}
	return nil
}

// Close stops every running guest, frees all instances and modules and ends the engine's goroutine. Who wants to flush or save guests
// does so before. It returns early with the cause of ctx if a compilation or a guest does not end; then nothing was freed and Close may
// be called again.
func (e *Engine) Close(ctx context.Context) error {
	if err := e.Stop(ctx); err != nil {
		return err
	}
	if err := e.waitBuilds(ctx); err != nil {
		return err
	}
	e.cancel()
	<-e.ended
	for i := e.some(); i != nil; i = e.some() {
		if err := i.Close(); err != nil {
			return err
		}
	}
	for _, m := range e.mu.modules {
		m.drop()
	}
	clear(e.mu.modules)
	e.backend.Close()
	return nil
}

func (e *Engine) anyBusy() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := e.mu.first; i != nil; i = i.next {
		if i.state.Load() == busy {
			return true
		}
	}
	return false
}

func (e *Engine) some() *Instance {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.mu.first
}

func (e *Engine) waitBuilds(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		e.building.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

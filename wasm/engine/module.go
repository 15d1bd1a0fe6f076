// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/osclock"
)

// Module is the compiled code of one pinned file. It is held by those who acquired it and by its instances; the last one frees it
// (W-005).
type Module struct {
	Inspection Inspection
	engine     *Engine
	ready      chan struct{} // closed when code or err is there
	code       Code
	err        error
	refs       int // guarded by engine.mu
}

// Acquire checks the file and gives its code, compiled at most once however many ask (W-004). Each success needs one Release. It may
// take seconds and belongs on no lane. When ctx ends, the compilation goes on for others and for the cache. wasm is not kept.
func (e *Engine) Acquire(ctx context.Context, wasm []byte) (*Module, error) {
	ins, err := Inspect(wasm, &e.lim)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	if e.stopping.Load() {
		e.mu.Unlock()
		return nil, compileFailureFrom(errStopping)
	}
	m := e.mu.modules[ins.Identity]
	if m == nil {
		m = &Module{Inspection: *ins, engine: e, ready: make(chan struct{}), refs: 1} // the build holds one
		e.mu.modules[ins.Identity] = m
		e.building.Add(1)
		go e.build(m, wasm)
	}
	m.refs++
	e.mu.Unlock()
	select {
	case <-m.ready:
		err = m.err
	case <-ctx.Done():
		err = compileFailureFrom(context.Cause(ctx))
	}
	if err != nil {
		m.Release()
		return nil, err
	}
	return m, nil
}

func compileFailureFrom(err error) *Failure {
	f := compileFailure(fault.WasmStopped, "")
	f.Cause = err
	return f
}

// build runs on a goroutine of its own that Close waits for.
func (e *Engine) build(m *Module, wasm []byte) {
	defer e.building.Done()
	e.compile <- struct{}{}
	began := osclock.Mono()
	event := Event{Module: m.Inspection.Identity}
	m.code, event.FromCache, event.Cause, m.err = e.obtain(m.Inspection.Identity, wasm)
	<-e.compile
	event.Took = osclock.Mono().Sub(began)
	event.Err = m.err
	if m.err != nil {
		e.mu.Lock()
		delete(e.mu.modules, m.Inspection.Identity) // the next one asks again
		e.mu.Unlock()
	}
	if e.observe != nil {
		e.observe(event)
	}
	m.Release()    // before it is told, so that who is told is the only holder
	close(m.ready) // whoever waits has counted itself; if nobody does, the code is gone with the build
}

func (e *Engine) obtain(id Identity, wasm []byte) (code Code, fromCache bool, cause string, err error) {
	if e.cache != nil {
		var stored []byte
		if stored, err = e.cache.read(id); err == nil {
			if code, err = e.backend.Load(stored); err == nil {
				return code, true, "", nil
			}
		}
		if !errors.Is(err, errNotCached) {
			e.cache.remove(id)
		}
		cause = err.Error()
	}
	code, stored, err := e.translate(wasm)
	if err != nil {
		return nil, false, cause, err
	}
	if e.cache == nil {
		return code, false, cause, nil
	}
	if stored == nil {
		stored, err = code.Serialize()
	}
	if err == nil {
		err = e.cache.write(id, stored)
	}
	if err != nil {
		cause += "; " + err.Error() // the module runs all the same
	}
	return code, false, cause, nil
}

// translate compiles a module, in another process if the engine has a Compiler; then the serialized code is there too.
func (e *Engine) translate(wasm []byte) (code Code, stored []byte, err error) {
	if e.outside == nil {
		code, err = e.backend.Compile(wasm)
	} else {
		ctx, cancel := osclock.WithTimeout(e.builds, e.lim.CompileTime)
		defer cancel()
		stored, err = e.outside(ctx, wasm)
		switch {
		case e.builds.Err() != nil:
			return nil, nil, compileFailureFrom(errStopping)
		case ctx.Err() != nil:
			return nil, nil, compileFailure(fault.WasmModule, "the module does not compile within %s", e.lim.CompileTime)
		case err == nil:
			code, err = e.backend.Load(stored)
		}
	}
	if err != nil {
		return nil, nil, compileFailure(fault.WasmModule, "the module does not compile: %s", chain(err.Error()))
	}
	return code, stored, nil
}

func (m *Module) retain() {
	m.engine.mu.Lock()
	m.refs++
	m.engine.mu.Unlock()
}

// Release gives the module back. The last one frees the code.
func (m *Module) Release() {
	e := m.engine
	e.mu.Lock()
	m.refs--
	last := m.refs == 0 && !e.stopping.Load() // a stopping engine frees its modules itself, last
	if last && e.mu.modules[m.Inspection.Identity] == m {
		delete(e.mu.modules, m.Inspection.Identity)
	}
	e.mu.Unlock()
	if last {
		m.drop()
	}
}

func (m *Module) drop() {
	if m.code != nil {
		m.code.Close()
		m.code = nil
	}
}

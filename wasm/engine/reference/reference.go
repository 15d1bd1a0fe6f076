// SPDX-License-Identifier: Apache-2.0

// Package reference is the plain backend of wasm/engine: public wasmtime-go calls only, the library's own linear memories, one crossing
// per guest call. It is slow and simple, and the shim is tested against it. Two things it cannot know, because the public interface
// does not tell: a growth that the ceiling refused (the guest sees -1 and goes on), and memory maps.
package reference

import (
	"errors"
	"sync/atomic"

	"github.com/bytecodealliance/wasmtime-go/v44"

	"github.com/nervix-go/nervix/wasm/engine"
	"github.com/nervix-go/nervix/wasm/protocol"
)

const (
	maxReason     = protocol.MaxReason
	maxTimeouts   = 65536
	tableElements = 65536
	tables        = 4
	memories      = 4
)

type backend struct {
	engine *wasmtime.Engine
	live   atomic.Int64
}

// Open is the backend for engine.New. It has one layout of memory, whatever the profile.
func Open(o engine.BackendOptions) (engine.Backend, error) {
	c := wasmtime.NewConfig()
	c.SetConsumeFuel(true)
	c.SetEpochInterruption(true)
	c.SetMaxWasmStack(int(o.StackBytes))
	c.SetWasmThreads(false)
	c.SetWasmTailCall(false)
	c.SetWasmGC(false)
	c.SetWasmFunctionReferences(false)
	c.SetGCSupport(false)
	c.SetWasmRelaxedSIMD(false)
	c.SetWasmMemory64(false)
	c.SetWasmComponentModel(false)
	c.SetWasmMultiMemory(true)
	c.SetParallelCompilation(false)
	return &backend{engine: wasmtime.NewEngineWithConfig(c)}, nil
}

func (b *backend) Version() string { return "reference44" }

func (b *backend) Compile(wasm []byte) (engine.Code, error) {
	m, err := wasmtime.NewModule(b.engine, wasm)
	if err != nil {
		return nil, err
	}
	return b.code(m)
}

func (b *backend) Load(bytes []byte) (engine.Code, error) {
	m, err := wasmtime.NewModuleDeserialize(b.engine, bytes)
	if err != nil {
		return nil, err
	}
	return b.code(m)
}

func (b *backend) code(m *wasmtime.Module) (engine.Code, error) {
	c := &code{b: b, module: m, has: map[engine.Export]bool{}}
	types := map[string]*wasmtime.FuncType{}
	for _, x := range m.Exports() {
		if f := x.Type().FuncType(); f != nil {
			types[x.Name()] = f
		}
	}
	for x := range engine.NoExport {
		f := types[x.String()]
		c.has[x] = f != nil && is(f.Params(), x.Signature().Params) && is(f.Results(), x.Signature().Results)
		if !c.has[x] && x <= engine.ResetState {
			m.Close()
			return nil, errors.New("missing required export " + x.String())
		}
	}
	return c, nil
}

func is(have []*wasmtime.ValType, want []protocol.ValueType) bool {
	if len(have) != len(want) {
		return false
	}
	for k, w := range want {
		kind := wasmtime.KindI32
		if w == protocol.I64 {
			kind = wasmtime.KindI64
		}
		if have[k].Kind() != kind {
			return false
		}
	}
	return true
}

func (b *backend) Tick(epochs uint64) {
	for range epochs {
		b.engine.IncrementEpoch()
	}
}

func (b *backend) Usage() engine.Usage { return engine.Usage{LinearBytes: uint64(b.live.Load())} }

func (b *backend) Close() { b.engine.Close() }

type code struct {
	b      *backend
	module *wasmtime.Module
	has    map[engine.Export]bool
}

func (c *code) Serialize() ([]byte, error) { return c.module.Serialize() }

func (c *code) Close() { c.module.Close() }

func (c *code) Instantiate(q *engine.Request, r *engine.Result) engine.Store {
	s := &store{c: c, store: wasmtime.NewStore(c.b.engine), ceiling: q.Ceiling}
	s.store.Limiter(int64(min(q.Ceiling, 1<<62)), tableElements, 1, tables, memories)
	*r = engine.Result{At: engine.NoExport}
	s.begin(q)
	s.linker = wasmtime.NewLinker(c.b.engine)
	err := s.define(s.linker)
	if err == nil {
		s.instance, err = s.linker.Instantiate(s.store, c.module)
	}
	if err != nil {
		s.failed(r, engine.NoExport, err)
	} else if c.has[engine.Initialize] {
		s.resolve()
		s.call(r, engine.Initialize)
	} else {
		s.resolve()
	}
	s.report(r)
	if r.Status != engine.StatusOK {
		s.Close()
		return nil
	}
	return s
}

// define makes the host functions; they record what the guest asks for.
func (s *store) define(l *wasmtime.Linker) error {
	now := func() int64 { return s.now }
	timeout := func(delay int64) int64 {
		if s.allow&engine.AllowTimeout == 0 || len(s.timeouts) == maxTimeouts {
			return -1
		}
		s.timeouts = append(s.timeouts, engine.Timeout{Handle: s.handle, Delay: delay})
		s.handle++
		return s.handle - 1
	}
	reset := func() int32 {
		if s.allow&engine.AllowReset == 0 {
			return protocol.ResetRefused
		}
		s.reset = true
		return protocol.ResetTaken
	}
	return errors.Join(
		l.DefineFunc(s.store, protocol.ImportModule, "nervix_domain_time_nanos", now),
		l.DefineFunc(s.store, protocol.ImportModule, "nervix_timeout_after_nanos", timeout),
		l.DefineFunc(s.store, protocol.ImportModule, "nervix_request_state_reset", reset),
	)
}

// SPDX-License-Identifier: Apache-2.0

package instances

import (
	"context"
	"errors"

	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/node/wasmproc"
	"github.com/nervix-go/nervix/wasm/engine"
	"github.com/nervix-go/nervix/wasm/protocol"
)

// Modules compiles pinned files and makes instances of them. It may be used from any goroutine.
type Modules struct {
	engine *engine.Engine
	read   func(context.Context, wasmproc.Pin) ([]byte, error)
}

var _ wasmproc.Modules = (*Modules)(nil)

// New makes a source of modules. read gives the bytes of a pinned file, of which no more than the engine's Limits.ModuleBytes are of use; it is
// called from any goroutine. The engine stays the caller's.
func New(e *engine.Engine, read func(context.Context, wasmproc.Pin) ([]byte, error)) *Modules {
	return &Modules{engine: e, read: read}
}

// Acquire implements wasmproc.Modules.
func (m *Modules) Acquire(ctx context.Context, pin wasmproc.Pin) (wasmproc.Module, error) {
	code, err := m.acquire(ctx, pin)
	if err != nil {
		return nil, compilation(err)
	}
	return module{code}, nil
}

// Prepare judges a file before a definition binds it: everything that Acquire checks, and that the memory it begins with fits under maxMemory
// bytes (W-017). Its code is kept on disk, so that a later Acquire need not compile. The error is a *wasmproc.Failure of stage `module
// compilation`, or of stage `instantiation` when the memory does not fit.
func (m *Modules) Prepare(ctx context.Context, pin wasmproc.Pin, maxMemory uint64) error {
	code, err := m.acquire(ctx, pin)
	if err != nil {
		return compilation(err)
	}
	defer code.Release()
	if err := code.Inspection.CheckMemory(maxMemory); err != nil {
		return failure(err, protocol.StageInstantiation)
	}
	return nil
}

func (m *Modules) acquire(ctx context.Context, pin wasmproc.Pin) (*engine.Module, error) {
	bytes, err := m.read(ctx, pin)
	if err != nil {
		return nil, err
	}
	return m.engine.Acquire(ctx, bytes)
}

// compilation is the failure of everything between a pin and its code, also of reading the file.
func compilation(err error) error { return failure(err, protocol.StageCompilation) }

// failure translates what the engine told; what is no failure of a guest gets the stage.
func failure(err error, stage protocol.Stage) *wasmproc.Failure {
	var f *engine.Failure
	if !errors.As(err, &f) {
		return &wasmproc.Failure{Stage: stage, Gone: true, Cause: err}
	}
	return &wasmproc.Failure{Stage: f.Stage, Export: f.Export.String(), Gone: f.Gone, Reason: f.Reason, Cause: f.Cause}
}

// module is the compiled code of one file.
type module struct{ code *engine.Module }

// Instantiate implements wasmproc.Module.
func (m module) Instantiate(limits wasmproc.Limits, now vtime.Logical) (wasmproc.Guest, error) {
	inst, err := m.code.Instantiate(engine.Spec{Fuel: limits.Fuel, Memory: limits.Memory, FirstHandle: limits.FirstHandle}, now)
	if err != nil {
		return nil, failure(err, protocol.StageInstantiation)
	}
	return &guest{inst: inst, alloc: limits.Alloc}, nil
}

// Identity implements wasmproc.Identified.
func (m module) Identity() string { return m.code.Inspection.Identity.String() }

// Release implements wasmproc.Module.
func (m module) Release() { m.code.Release() }

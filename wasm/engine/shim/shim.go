// SPDX-License-Identifier: Apache-2.0

// Package shim is the production backend of wasm/engine: a small C layer over libwasmtime that makes one crossing per guest operation,
// keeps the host functions in C, and supplies linear memory itself. It links the library that the Go module wasmtime-go brings and
// declares the part of its interface it uses (wasmtime_abi.h). This is the only package of the engine with cgo.
package shim

/*
#cgo CFLAGS: -O2 -Wall -Wextra
#cgo noescape nv_run
#cgo nocallback nv_run
#cgo noescape nv_instantiate
#cgo nocallback nv_instantiate
#include <stdlib.h>
#include <malloc.h>
#include "shim.h"

static uint64_t heap_bytes(void) {
#if defined(__GLIBC__)
  struct mallinfo2 m = mallinfo2();
  return (uint64_t)m.uordblks + m.hblkhd;
#else
  return 0;
#endif
}
*/
import "C"

import (
	"errors"
	"unsafe"

	"github.com/bytecodealliance/wasmtime-go/v44" // brings the library

	"github.com/nervix-go/nervix/wasm/engine"
)

// LibraryVersion is the version of libwasmtime that wasmtime_abi.h declares; a test compares it with the module that is linked.
const LibraryVersion = "44.0.0"

// shimVersion changes when a setting of the compiler changes that the library does not check on its own.
const shimVersion = "1"

// Options beside what the engine decides. The zero value is production.
type Options struct {
	// WithoutFuel and WithoutEpoch leave out metering. Only measurements of its price use them.
	WithoutFuel, WithoutEpoch bool
	// Trusted compiles bounds checks that speculative execution can pass. Faster in the dense profile; only for guests of the operator.
	Trusted bool
}

type backend struct {
	e       *C.nv_engine
	version string
}

// Open is the backend for engine.New.
func Open(o engine.BackendOptions) (engine.Backend, error) { return Options{}.Open(o) }

// Open is the backend with options.
func (x Options) Open(o engine.BackendOptions) (engine.Backend, error) {
	config := C.nv_config{dense: C.bool(o.Dense), fuel: C.bool(!x.WithoutFuel), epoch: C.bool(!x.WithoutEpoch), spectre: C.bool(!x.Trusted),
		stack: C.uint64_t(o.StackBytes), linear_bytes: C.uint64_t(o.LinearBytes), maps: C.uint64_t(o.Maps)}
	var message *C.char
	e := C.nv_engine_new(&config, &message)
	if e == nil {
		return nil, taken(message)
	}
	version := "wasmtime" + LibraryVersion + "s" + shimVersion
	if x.Trusted {
		version += "t"
	}
	if x.WithoutFuel || x.WithoutEpoch {
		version += "m"
	}
	return &backend{e: e, version: version}, nil
}

// taken makes an error of a malloc'd text.
func taken(message *C.char) error {
	if message == nil {
		return errors.New("out of memory")
	}
	defer C.free(unsafe.Pointer(message))
	return errors.New(C.GoString(message))
}

func (b *backend) Version() string { return b.version }

func (b *backend) Compile(wasm []byte) (engine.Code, error) {
	var message *C.char
	m := C.nv_module_compile(b.e, unsafe.Pointer(unsafe.SliceData(wasm)), C.size_t(len(wasm)), &message)
	if m == nil {
		return nil, taken(message)
	}
	return &code{m}, nil
}

func (b *backend) Load(bytes []byte) (engine.Code, error) {
	var message *C.char
	m := C.nv_module_load(b.e, unsafe.Pointer(unsafe.SliceData(bytes)), C.size_t(len(bytes)), &message)
	if m == nil {
		return nil, taken(message)
	}
	return &code{m}, nil
}

func (b *backend) Tick(epochs uint64) { C.nv_engine_tick(b.e, C.uint64_t(epochs)) }

func (b *backend) Usage() engine.Usage {
	var u C.nv_usage
	C.nv_engine_usage(b.e, &u)
	return engine.Usage{LinearBytes: uint64(u.linear_bytes), Maps: uint64(u.maps)}
}

func (b *backend) Close() {
	C.nv_engine_delete(b.e)
	b.e = nil
}

type code struct{ m *C.nv_module }

func (c *code) Serialize() ([]byte, error) {
	var message *C.char
	var n C.size_t
	at := C.nv_module_serialize(c.m, &n, &message)
	if at == nil {
		return nil, taken(message)
	}
	defer C.free(at)
	out := make([]byte, int(n))
	copy(out, unsafe.Slice((*byte)(at), int(n)))
	return out, nil
}

func (c *code) Close() {
	C.nv_module_delete(c.m)
	c.m = nil
}

func (c *code) Instantiate(q *engine.Request, r *engine.Result) engine.Store {
	req, res := request(q), C.nv_res{}
	i := C.nv_instantiate(c.m, &req, &res)
	result(q, &res, r)
	if i == nil {
		return nil
	}
	return &store{i}
}

type store struct{ i *C.nv_inst }

func (s *store) Run(q *engine.Request, r *engine.Result) {
	req, res := request(q), C.nv_res{}
	C.nv_run(s.i, &req, unsafe.Pointer(unsafe.SliceData(q.Payload)), &res)
	result(q, &res, r)
}

func (s *store) Close() {
	C.nv_inst_delete(s.i)
	s.i = nil
}

func request(q *engine.Request) C.nv_req {
	req := C.nv_req{a: C.int64_t(q.A), b: C.int64_t(q.B), alloc: C.uint32_t(q.Size), max_buffer: C.uint32_t(q.MaxBuffer), entry: C.uint8_t(q.Entry)}
	if q.Begin {
		req.begin = 1
		req.fuel, req.ticks, req.ceiling = C.uint64_t(q.Fuel), C.uint64_t(q.Ticks), C.uint64_t(q.Ceiling)
		req.now, req.next_handle, req.allow = C.int64_t(q.Now), C.int64_t(q.NextHandle), C.uint8_t(q.Allow)
	}
	if q.Ask {
		req.ask = 1
	}
	if q.Payload != nil {
		req.deliver = 1
	}
	return req
}

func result(q *engine.Request, res *C.nv_res, r *engine.Result) {
	*r = engine.Result{Status: engine.Status(res.status), Trap: int(res.trap), At: engine.Export(res.at), Code: int64(res.code),
		Emitted: res.done_emit != 0, Reset: res.reset != 0, NextHandle: int64(res.next_handle), FuelLeft: uint64(res.fuel_left),
		Memory: uint64(res.memory_bytes), Wanted: uint64(res.wanted_bytes), GrantPtr: uint32(res.grant_ptr), OutputPtr: uint32(res.out_ptr),
		LiedPtr: int64(res.lied_ptr), LiedLen: int64(res.lied_len), ReasonCut: res.reason_cut != 0}
	r.Grant = lent[byte](&res.grant, q.Size)
	r.Output = lent[byte](&res.out, uint32(res.out_len))
	r.Reason = lent[byte](&res.reason, uint32(res.reason_len))
	r.Timeouts = lent[engine.Timeout](&res.timeouts, uint32(res.ntimeouts))
	if res.message != 0 {
		text := *(*unsafe.Pointer)(unsafe.Pointer(&res.message))
		r.Message = C.GoString((*C.char)(text))
		C.free(text)
	}
}

// lent makes a slice over C memory that the result lends.
func lent[T any](at *C.uintptr_t, n uint32) []T {
	if *at == 0 || n == 0 {
		return nil
	}
	return unsafe.Slice(*(**T)(unsafe.Pointer(at)), int(n))
}

// HeapBytes is what the C heap of the process has handed out, which the Go profiler does not see; 0 where the C library does not tell.
func HeapBytes() uint64 { return uint64(C.heap_bytes()) }

// ModuleText compiles WebAssembly text to a module; for tests and tools.
func ModuleText(text string) ([]byte, error) { return wasmtime.Wat2Wasm(text) }

// SPDX-License-Identifier: Apache-2.0

//go:build wasm || tinygo.wasm

package guest

// module is the only instance of a module.
var module = newInstance(nil, env{})

// Register makes p the processor of this module. Call it once, from an init function of package main.
func Register(p Processor) { module.processor = p }

//go:wasmimport env nervix_domain_time_nanos
func hostNow() int64

//go:wasmimport env nervix_timeout_after_nanos
func hostAfter(delay int64) int64

//go:wasmimport env nervix_request_state_reset
func hostReset() int32

func (env) Now() int64              { return hostNow() }
func (env) After(delay int64) int64 { return hostAfter(delay) }
func (env) RequestReset() int32     { return hostReset() }

// An address of the module has 32 bits, as the numbers of the ABI do.

//go:wasmexport nervix_buffer_ptr
func exportBufferPtr() int32 { return int32(module.BufferPtr()) }

//go:wasmexport nervix_buffer_len
func exportBufferLen() int32 { return module.BufferLen() }

//go:wasmexport nervix_buffer_capacity
func exportBufferCapacity() int32 { return module.BufferCapacity() }

//go:wasmexport nervix_alloc
func exportAlloc(size int32) int32 {
	at, code := module.Alloc(size)
	if code < 0 {
		return code
	}
	return int32(at)
}

//go:wasmexport nervix_init
func exportInit(ptr, size int32) int32 { return module.Init(uintptr(uint32(ptr)), size) }

//go:wasmexport nervix_current_domain_time_nanos
func exportNow() int64 { return hostNow() }

//go:wasmexport nervix_process_batch
func exportProcessBatch(ptr, size int32) int32 {
	return module.ProcessBatch(uintptr(uint32(ptr)), size)
}

//go:wasmexport nervix_on_timeout
func exportOnTimeout(handle int64) int32 { return module.OnTimeout(handle) }

//go:wasmexport nervix_flush
func exportFlush() int32 { return module.Flush() }

//go:wasmexport nervix_read_emit
func exportReadEmit() int32 { return module.ReadEmit() }

//go:wasmexport nervix_dump_state
func exportDumpState() int32 { return module.DumpState() }

//go:wasmexport nervix_load_state
func exportLoadState(ptr, size int32) int32 { return module.LoadState(uintptr(uint32(ptr)), size) }

//go:wasmexport nervix_reset_state
func exportResetState() int32 { return module.ResetState() }

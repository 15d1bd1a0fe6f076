// SPDX-License-Identifier: Apache-2.0

//go:build tinygo && (wasm || tinygo.wasm)

package guest

// env is the host of a module. Under TinyGo exports still answer after a trap, so the error channel is Go.
type env struct{}

// channel is the reason that waits for the host.
var channel []byte

func (env) Latch(reason []byte) { channel = reason }
func (env) Latched() bool       { return len(channel) > 0 }

// Trap panics; the target is built with -panic=trap.
func (env) Trap() { panic("trap") }

//go:wasmexport nervix_global_error_ptr
func exportGlobalErrorPtr() int32 { return int32(address(channel)) }

//go:wasmexport nervix_global_error_len
func exportGlobalErrorLen() int32 { return int32(len(channel)) }

//go:wasmexport nervix_clear_global_error
func exportClearGlobalError() int32 {
	channel = nil
	return 0
}

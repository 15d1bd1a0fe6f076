// SPDX-License-Identifier: Apache-2.0

package fault

// Codes of host/node/wasmproc.
const (
	WasmNacked     Code = "wasm.nacked"
	WasmReset      Code = "wasm.reset"
	WasmCheckpoint Code = "wasm.checkpoint"
	WasmEvicted    Code = "wasm.evicted"
	WasmOutput     Code = "wasm.output"
)

// wasmProcessorCodes is the part of the catalogue that belongs to host/node/wasmproc.
func wasmProcessorCodes() []Entry {
	return []Entry{
		{WasmNacked, ClassExternal, RetrySame, "A guest acknowledged an input negatively.", "the cause holds the guest's own reason"},
		{WasmReset, ClassCapacity, RetryAfterBackoff, "The state of a guest could not be reset.", "the branch keeps its state; the guest asks again from a later callback"},
		{WasmCheckpoint, ClassInternal, RetryAfterBackoff, "A checkpoint of guest state did not become durable.", "the branch goes on from its last checkpoint; see the cause"},
		{WasmEvicted, ClassCapacity, RetrySame, "The branch ended while its guest still held the input.", "raise TTL or MAX INSTANCES of the branch, or let the guest hold input for a shorter time"},
		{WasmOutput, ClassExternal, RetryNever, "A guest emitted more than one callback may.", "emit less in one callback, for instance by asking for a timeout and going on there"},
	}
}

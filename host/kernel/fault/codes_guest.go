// SPDX-License-Identifier: Apache-2.0

package fault

// Codes of guests: what they hand to the host, and what the host cannot hand to them (wasm/protocol).
const (
	WasmResult      Code = "wasm.result"
	WasmBuffer      Code = "wasm.buffer"
	WasmMessage     Code = "wasm.message"
	WasmArrow       Code = "wasm.arrow"
	WasmColumns     Code = "wasm.columns"
	WasmToken       Code = "wasm.token"
	WasmReason      Code = "wasm.reason"
	WasmUnencodable Code = "wasm.unencodable"
	WasmShortBuffer Code = "wasm.short_buffer"
)

// wasmCodes is the part of the catalogue that belongs to guests.
func wasmCodes() []Entry {
	return []Entry{
		{WasmResult, ClassExternal, RetryNever, "A guest export answered with a code that says it failed.", "the cause holds the guest's own reason when it gave one"},
		{WasmBuffer, ClassUser, RetryNever, "A message does not fit the buffer between host and guest.", "split the output, reduce the input batch size, or raise MAX MEMORY if the guest ran out of memory"},
		{WasmMessage, ClassExternal, RetryNever, "A guest handed over bytes that are not a message of the protocol.", "build the guest again for identifier NVWY"},
		{WasmArrow, ClassExternal, RetryNever, "The generated batch of a guest is not valid Arrow IPC of the allowed kind.", "write one schema and one uncompressed record batch of plain columns, or no bytes at all"},
		{WasmColumns, ClassExternal, RetryNever, "The columns of a guest's output do not fit the relay they go to.", "give one column of exactly the declared type for each field of the relay"},
		{WasmToken, ClassExternal, RetryNever, "A guest used an acknowledgement token that it may not use.", "carry or decide each token of the input once, and no other"},
		{WasmReason, ClassExternal, RetryNever, "A guest reported an error that is not UTF-8 text.", "write the text of the error as UTF-8"},
		{WasmUnencodable, ClassInternal, RetryNever, "A value cannot be handed to a guest.", ""},
		{WasmShortBuffer, ClassInternal, RetryAfterBackoff, "The buffer a guest gave is shorter than the message.", "ask the guest for a larger buffer and write again"},
	}
}

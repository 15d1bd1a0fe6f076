// SPDX-License-Identifier: Apache-2.0

package fault

// Codes of wasm/engine.
const (
	WasmModule  Code = "wasm.module"
	WasmImport  Code = "wasm.import"
	WasmExport  Code = "wasm.export"
	WasmMemory  Code = "wasm.memory"
	WasmFuel    Code = "wasm.fuel"
	WasmTime    Code = "wasm.time"
	WasmTrap    Code = "wasm.trap"
	WasmRange   Code = "wasm.range"
	WasmBudget  Code = "wasm.budget"
	WasmStopped Code = "wasm.stopped"
	WasmMisuse  Code = "wasm.misuse"
)

// wasmEngineCodes is the part of the catalogue that belongs to wasm/engine.
func wasmEngineCodes() []Entry {
	return []Entry{
		{WasmModule, ClassUser, RetryNever, "The file is not a WebAssembly module the host can use.", "build the guest as a core wasm32 module without WASI"},
		{WasmImport, ClassUser, RetryNever, "The module imports something the host does not provide.", "import only the three functions of module env; do not link WASI"},
		{WasmExport, ClassUser, RetryNever, "The module lacks an export of the guest ABI, or has it with another type.", "export all functions of the guest ABI and the memory"},
		{WasmMemory, ClassUser, RetrySame, "The guest asked for more linear memory than MAX MEMORY.", "raise MAX MEMORY or make the guest allocate less"},
		{WasmFuel, ClassUser, RetrySame, "A guest operation used up MAX FUEL.", "raise MAX FUEL or remove an unbounded loop of the guest"},
		{WasmTime, ClassUser, RetrySame, "A guest operation ran longer than the node allows.", "split the guest's work; bulk memory instructions cost time but hardly any fuel"},
		{WasmTrap, ClassUser, RetrySame, "The guest trapped.", "mend the guest; its instance is replaced by one from the last checkpoint"},
		{WasmRange, ClassUser, RetrySame, "The guest named a range outside its memory, or gave no buffer.", "mend the guest's buffer handling"},
		{WasmBudget, ClassCapacity, RetryAfterBackoff, "The node has no room for another guest.", "raise the node's guest limits, use fewer branches, or move the processor"},
		{WasmStopped, ClassCapacity, RetryElsewhere, "The node stops its guests.", ""},
		{WasmMisuse, ClassInternal, RetryNever, "A guest instance was used against its contract.", "report this as a defect"},
	}
}

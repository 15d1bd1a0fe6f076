// SPDX-License-Identifier: Apache-2.0

package protocol

// ImportModule is the module name of everything a guest may import (W-034).
const ImportModule = "env"

// ValueType is a WebAssembly number type of a signature.
type ValueType uint8

// The number types that occur.
const (
	I32 ValueType = iota
	I64
)

// Function is one imported or exported function with its exact type.
type Function struct {
	Name    string
	Params  []ValueType
	Results []ValueType
}

// Names of exports that diagnostics name too (W-249).
const (
	ExportBufferPtr        = "nervix_buffer_ptr"
	ExportBufferLen        = "nervix_buffer_len"
	ExportBufferCapacity   = "nervix_buffer_capacity"
	ExportAlloc            = "nervix_alloc"
	ExportInit             = "nervix_init"
	ExportDomainTime       = "nervix_current_domain_time_nanos"
	ExportProcessBatch     = "nervix_process_batch"
	ExportOnTimeout        = "nervix_on_timeout"
	ExportFlush            = "nervix_flush"
	ExportReadEmit         = "nervix_read_emit"
	ExportDumpState        = "nervix_dump_state"
	ExportLoadState        = "nervix_load_state"
	ExportResetState       = "nervix_reset_state"
	ExportGlobalErrorPtr   = "nervix_global_error_ptr"
	ExportGlobalErrorLen   = "nervix_global_error_len"
	ExportClearGlobalError = "nervix_clear_global_error"
)

// Imports are the functions the host offers, all in ImportModule (W-034).
func Imports() []Function {
	return []Function{
		{"nervix_domain_time_nanos", nil, []ValueType{I64}},
		{"nervix_timeout_after_nanos", []ValueType{I64}, []ValueType{I64}},
		{"nervix_request_state_reset", nil, []ValueType{I32}},
	}
}

// Exports are the thirteen functions a guest must export (W-035).
func Exports() []Function {
	status := []ValueType{I32}
	span := []ValueType{I32, I32}
	return []Function{
		{ExportBufferPtr, nil, status},
		{ExportBufferLen, nil, status},
		{ExportBufferCapacity, nil, status},
		{ExportAlloc, []ValueType{I32}, status},
		{ExportInit, span, status},
		{ExportDomainTime, nil, []ValueType{I64}},
		{ExportProcessBatch, span, status},
		{ExportOnTimeout, []ValueType{I64}, status},
		{ExportFlush, nil, status},
		{ExportReadEmit, nil, status},
		{ExportDumpState, nil, status},
		{ExportLoadState, span, status},
		{ExportResetState, nil, status},
	}
}

// GlobalErrorExports are the three functions of the error channel; a guest has all of them or none (W-095).
func GlobalErrorExports() []Function {
	status := []ValueType{I32}
	return []Function{{ExportGlobalErrorPtr, nil, status}, {ExportGlobalErrorLen, nil, status}, {ExportClearGlobalError, nil, status}}
}

// Codes with a fixed meaning (gaps 1.1). Every other negative code of a guest is a plain rejection (W-033).
const (
	// CodeSnapshotRejected is the verdict of nervix_load_state that the saved bytes are not a snapshot it can decode.
	CodeSnapshotRejected int32 = -7
	// CodeStateRejected is the verdict of nervix_load_state that it decoded the snapshot and refuses the state inside.
	CodeStateRejected int32 = -8
	// ResetTaken is the host's answer to nervix_request_state_reset when it took the request (W-032).
	ResetTaken int32 = 0
	// ResetRefused is the host's answer when the running operation cannot carry a request.
	ResetRefused int32 = -9
	// TimeoutRefused is the host's answer to nervix_timeout_after_nanos during a save or a restore (W-233).
	TimeoutRefused int64 = -1
)

// MaxBuffer is the greatest message or saved state that crosses between host and guest, in bytes (W-044, W-120).
const MaxBuffer = 64 << 20

// MaxReason is the longest reason read from the error channel, in bytes; what follows is left out. It is a decision: a reason ends up in
// logs and inspections, and 4 KiB hold a long message with a short stack.
const MaxReason = 4 << 10

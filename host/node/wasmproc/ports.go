// SPDX-License-Identifier: Apache-2.0

package wasmproc

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/wasm/protocol"
)

// Pin names the file that a processor is bound to.
type Pin struct {
	Domain   ident.Domain
	Resource ident.Name
	Version  uint64
	// File is the path inside the version, with slashes.
	File string
}

// Modules gives compiled modules.
type Modules interface {
	// Acquire reads and compiles a pinned file, once however many ask (W-004). It may take seconds and belongs on no lane. Every module needs
	// one Release. The error is a *Failure of stage `module compilation`.
	Acquire(ctx context.Context, pin Pin) (Module, error)
}

// Module is the compiled code of one file. Its methods may be called from any goroutine.
type Module interface {
	// Instantiate makes the guest of a branch. now is what a start function sees as domain time. It runs guest code. The error is a
	// *Failure of stage `instantiation`.
	Instantiate(limits Limits, now vtime.Logical) (Guest, error)
	// Release gives the module back.
	Release()
}

// Identified is a Module that knows its content.
type Identified interface {
	// Identity is the SHA-256 of the module file in lower-case hexadecimal digits.
	Identity() string
}

// Limits are what a processor declares for each instance.
type Limits struct {
	// Fuel is the budget of each logical operation, Memory the ceiling of linear memory in bytes.
	Fuel, Memory uint64
	// FirstHandle is the handle of the instance's first timeout: one more than the last of the branch before (W-234).
	FirstHandle int64
	// Alloc is where outputs of callbacks may come from; nil means Go's heap.
	Alloc memory.Allocator
}

// Op is the kind of a logical operation: what shares one budget of fuel and one execution snapshot (W-013, W-023).
type Op uint8

// The operations.
const (
	OpInit Op = iota
	OpRestore
	OpBatch
	OpTimeout
	OpFlush
	OpSave
)

// Guest is one live instance. It has one caller at a time, from any goroutine. Every error is a *Failure, and the answer beside an error still
// tells what the guest asked for before it failed.
type Guest interface {
	// Begin opens an operation; the calls up to the next Begin belong to it. No guest code runs.
	Begin(op Op, now vtime.Logical)
	// Send asks the guest for a buffer, writes the message straight into it and calls the export of the operation: nervix_init,
	// nervix_load_state or nervix_process_batch. After an accepted batch the first emit is read too.
	Send(m protocol.Message) (Answer, error)
	// OnTimeout delivers a due handle and reads the first emit.
	OnTimeout(handle int64) (Answer, error)
	// Flush calls nervix_flush and reads the first emit.
	Flush() (Answer, error)
	// ReadEmit reads the next emit; no output means that there is none.
	ReadEmit() (Answer, error)
	// Dump calls nervix_dump_state; no output means that the guest has no state.
	Dump() (Answer, error)
	// Close frees the instance. It is not called while another call runs.
	Close()
}

// Answer is what a call brought.
type Answer struct {
	// Output was copied out of guest memory once and belongs to the caller (W-304).
	Output []byte
	// Alloc is where Output came from and goes back to; nil means Go's heap.
	Alloc memory.Allocator
	// Reset says that the guest asked for a new state lifetime during the operation and was told yes (W-162).
	Reset bool
	// Timeouts are those of the operation so far; lent until the next call.
	Timeouts []Timeout
	// FuelUsed is what the operation used so far.
	FuelUsed uint64
	// Memory is the linear memory of the instance in bytes.
	Memory uint64
	// NextHandle is the handle of the next timeout.
	NextHandle int64
}

// Timeout is a call the guest asked for: Delay nanoseconds of domain time after the snapshot of the operation (W-233).
type Timeout struct{ Handle, Delay int64 }

// Failure is one failed step of a guest, a module or a checkpoint.
type Failure struct {
	Stage protocol.Stage
	// Export is the guest export whose call failed; empty where none is concerned.
	Export string
	// Gone says that the instance answers nothing any more and is to be closed (W-100).
	Gone bool
	// Reason is the guest's own text, if it gave one; Cause ends with it.
	Reason string
	// Cause carries the code.
	Cause error
}

// Error is stage, export and cause.
func (f *Failure) Error() string {
	text := string(f.Stage) + " failed"
	if f.Export != "" {
		text += " (export '" + f.Export + "')"
	}
	return text + ": " + f.Cause.Error()
}

// Unwrap gives the coded cause.
func (f *Failure) Unwrap() error { return f.Cause }

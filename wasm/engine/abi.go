// SPDX-License-Identifier: Apache-2.0

package engine

import "github.com/nervix-go/nervix/wasm/protocol"

// Export is a function the guest exports. The order is known to the C shim.
type Export uint8

// The exports of the ABI (W-035), the optional global-error channel (W-095), and the optional start of a reactor, which belongs to
// instantiation.
const (
	BufferPtr Export = iota
	BufferLen
	BufferCapacity
	Alloc
	Init
	CurrentDomainTime
	ProcessBatch
	OnTimeout
	Flush
	ReadEmit
	DumpState
	LoadState
	ResetState
	GlobalErrorPtr
	GlobalErrorLen
	ClearGlobalError
	Initialize
	// NoExport: no export is concerned.
	NoExport
)

// requiredExports is the number of exports every guest has; the three after them come together or not at all.
const requiredExports = int(ResetState) + 1

// memoryExport is the memory that pointers of the ABI refer to.
const memoryExport = "memory"

// exportTable is the ABI in the order of Export.
var exportTable = func() []protocol.Function {
	all := append(protocol.Exports(), protocol.GlobalErrorExports()...)
	return append(all, protocol.Function{Name: "_initialize"})
}()

var importTable = protocol.Imports()

// String is the exported name; empty for NoExport.
func (e Export) String() string {
	if e >= NoExport {
		return ""
	}
	return exportTable[e].Name
}

// Signature is the export's type. e is not NoExport.
func (e Export) Signature() protocol.Function { return exportTable[e] }

// Op is the kind of a logical operation. It decides what the guest may ask the host for (W-162, W-233).
type Op uint8

// The operations. OpInstantiate is begun by the engine itself.
const (
	OpInstantiate Op = iota
	OpInit
	OpBatch
	OpTimeout
	OpFlush
	OpSave
	OpRestore
)

var opTable = [...]struct {
	stage protocol.Stage
	allow uint8
}{
	OpInstantiate: {protocol.StageInstantiation, 0},
	OpInit:        {protocol.StageInitialization, AllowTimeout},
	OpBatch:       {protocol.StageBatch, AllowTimeout | AllowReset},
	OpTimeout:     {protocol.StageTimeout, AllowTimeout | AllowReset},
	OpFlush:       {protocol.StageFlush, AllowTimeout | AllowReset},
	OpSave:        {protocol.StageSnapshot, 0},
	OpRestore:     {protocol.StageStateRestore, 0},
}

// Stage is the stage that a failure of the operation is reported under, unless a verdict on saved state says otherwise.
func (o Op) Stage() protocol.Stage { return opTable[o].stage }

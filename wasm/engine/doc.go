// SPDX-License-Identifier: Apache-2.0

// Package engine runs WASM guests that nobody trusts: it checks a module before anything is compiled, compiles each pinned file once and
// keeps the code on disk, makes one store per branch, and bounds what a store may cost in instructions, time, linear memory, memory maps
// and host memory. It is pure Go. What executes guest code is a Backend: wasm/engine/shim in production, wasm/engine/reference (plain
// wasmtime-go) as the yardstick of the shim's tests.
//
// # One operation
//
// A logical guest operation (spec: Execution Limits) is Begin and the calls after it up to the next Begin. Begin fixes the snapshot of
// domain time and what the guest may ask for; the first call of the operation refills the fuel and arms the epoch deadline. All calls of
// the operation share both.
//
//	inst.Begin(engine.OpBatch, now)
//	grant, err := inst.Alloc(capacity)                  // guest memory to write into
//	n := build(grant.Bytes())
//	answer, err := inst.Send(engine.ProcessBatch, grant.At()+uint32(k), n)
//	for answer.Output.Len() > 0 {                       // lent until the next guest call
//	    keep(answer.Output.Bytes())
//	    answer, err = inst.ReadEmit()
//	}
//
// Deliver does Alloc, the copy and Send in one crossing into C.
//
// # Failures
//
// Every failure of a guest is a *Failure: stage, export, a coded cause, and whether the instance is gone. After a trap, exhausted fuel,
// exceeded memory or the time limit the instance answers nothing any more and must be closed; a negative answer or a lie about a range
// leaves it usable (W-100).
//
// # Goroutines
//
// An Engine owns one goroutine, which advances the epoch while stores exist. Close stops it and waits. An Instance belongs to one caller
// at a time; a second one at the same time gets wasm.misuse.
package engine

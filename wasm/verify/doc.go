// SPDX-License-Identifier: Apache-2.0

// Package verify is the conformance kit for guests: a list of checks that run one module through the port of wasm/engine and hold it to the
// guest contract (docs/formats/guest.md; requirement rows W1 to W9, W18 to W22). `nervixd guest verify` is its command line; the guests of
// this repository pass it, and third parties run it on theirs.
//
// # What a module is asked
//
// A guest serves the schemas it was written for, and the kit cannot guess them. It tries its own (scenarios.go), or those of Options.Schemas;
// the first the guest accepts is the one most checks use. A guest that says by an export that it does the reference job (wasm/guest/reference.md)
// is compared with a model of that job as well.
//
// Everything a guest emits is judged by the code that judges it in production: protocol.DecodeOutput, Contract.Bind and Ledger.Check. A check
// that a property of the guest leaves without object, saved state of a guest that saves none for instance, is not applicable and says why.
//
// # Two ways into a guest
//
// Most checks go through engine.Instance, as a processor does. Some ask what a correct host never does (ranges outside the buffer, negative
// sizes); they use the engine.Store below the instance, which a backend that notes its stores hands out (tap.go). The exports that the host
// never calls are reached in a copy of the module whose export section is permuted (exports.go).
//
// The package starts no goroutine; the engine it opens does, and is closed before Run returns.
package verify

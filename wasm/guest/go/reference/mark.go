// SPDX-License-Identifier: Apache-2.0

//go:build wasm || tinygo.wasm

package main

// mark is how the conformance kit knows the job; the host never calls it.
//
//go:wasmexport nervix_reference_job_1
func mark() int32 { return 1 }

// SPDX-License-Identifier: Apache-2.0

// Package instances gives WASM processors their guests: it implements the ports of host/node/wasmproc over wasm/engine. Where the bytes of a
// pinned file come from is the caller's business; what runs them is the engine's. It starts no goroutine.
package instances

// SPDX-License-Identifier: Apache-2.0

// Package state is the node-local durable store: what a node must remember over a restart and a cluster does not keep for it. Source
// positions live here now; guest checkpoints, materialized rows and dedup history are further namespaces (architecture page, section
// 5). The byte format is docs/formats/state.md.
//
// # Durability
//
// There is one durability mode: a write is accepted at once and gets a Ticket; when the ticket says done, the write survives kill -9
// and loss of power. Until then it survives neither for sure (pains D05).
//
// Accepted writes gather in a round. One goroutine, owned by the store, takes the round, writes it as one atomic batch, synchronizes
// once, and settles every ticket of the round; meanwhile the next round gathers. So one synchronization covers every ticket issued
// before it, callers never wait for the disk, and only one goroutine is ever inside a Pebble commit: a commit that fails leaves
// Pebble's pipeline unusable, and nobody else can be caught in it.
//
// # Failure
//
// A failed write or synchronization is never retried: after a failed fsync the kernel may have dropped the pages, and a second one
// that succeeds proves nothing. The first failure of any change of the disk, or one that Pebble returns, hands to its fatal logger hook
// or reports from its background work, latches the store: the disk is frozen as a loss of power would leave it (see freezer),
// unsettled tickets fail, every later call returns state.failed, Failed is closed, and the owner of the process ends it in order. A
// failed store is opened again by a restart only.
package state

// SPDX-License-Identifier: Apache-2.0

// Package protocol is the contract between the host and a guest module: the names and codes of the calls, the messages in linear memory, and
// what makes the output of one callback valid (docs/formats/guest.md; W4, W6 to W9, W21).
//
// Guests are hostile. A message is verified completely before a member is read, and what is refused costs at most 64 KiB + 16 bytes a byte
// of it (pain: A10). Views share the memory of the message they were read from: the caller copies a message out of guest memory once, keeps
// the copy unchanged, and drops it with the last view (W-304). What the host writes is sized exactly before it is written, so it goes
// straight into guest memory (W-040).
//
// The way of one callback: DecodeOutput for each emitted message, Contract.Bind for its columns and its generated batch, then one
// Ledger.Check over all of them; only when all passed are rows dispatched and Ledger.Settle called (W-109).
//
// The package is pure: no engine, goroutine, lock, clock or file. Values belong to one caller at a time.
package protocol

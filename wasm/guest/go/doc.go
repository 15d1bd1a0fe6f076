// SPDX-License-Identifier: Apache-2.0

// Package guest is the kit for guests of a Nervix WASM processor that are written in Go. README.md shows a first guest; docs/formats/guest.md of
// the repository is the contract on the wire; wasm/guest/reference.md is a job that the guests of all languages do.
//
// A guest implements Processor and hands it to Register in an init function. The package owns everything the host calls or reads: the buffer,
// the messages, the Arrow batches, the queue of emitted output, the error channel and the wrapping of saved state.
//
// Rules that hold everywhere:
//
//   - One instance is one branch. The host makes one call at a time; the fields of the processor are the state of the branch.
//   - What a batch lends (bytes, columns, entries) lies in the input buffer and is gone when the callback returns. Copy what you keep: Held for
//     entries, string or append for bytes. Column.String copies, Column.Bytes lends.
//   - An Output, and everything made through it, ends with Emit or with the callback.
//   - A callback that returns an error, or reported one, emits nothing.
//   - A panic ends the instance: the host gets its text and makes a new instance from the state saved last. TinyGo cannot catch panics of
//     its runtime; there Panic alone brings a text.
//   - Nothing runs between callbacks, and there are no files and no network.
//
// The package depends on strconv and unsafe only, so that TinyGo builds it small, and so that guests of the standard toolchain start fast.
package guest

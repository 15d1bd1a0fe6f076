// SPDX-License-Identifier: Apache-2.0

// Package sdk is what the author of a connector writes against. A connector is a program whose main calls Serve with a Descriptor and
// constructors for a Source, a Sink, or both:
//
//	func main() {
//		sdk.Serve(sdk.Connector{Descriptor: descriptor, Source: func() sdk.Source { return &mySource{} }})
//	}
//
// `<binary> --descriptor` prints the descriptor file. Otherwise the program is started by a Nervix host and speaks its plugin protocol.
//
// What the SDK does: handshake, batches, credit, epochs, redelivery order, logs, and the end of the process together with its children when
// the host is gone, however it went. What a connector does: its driver, its connection, positions, and the outcome of each payload. A
// connector keeps no durable state of its own; after a restart it resumes where the host says.
//
// Each Source and Sink value serves one open source or sink and is called by one goroutine at a time. Several exist in one process.
// Errors are transient (the host opens again with backoff) unless wrapped with Definitive.
//
// Standard output belongs to the handshake; the SDK points it at standard error. Log with Environment.Log or to standard error: the host
// takes lines up to 64 KiB and drops what exceeds its rate. Never log a payload or a secret.
package sdk

// SPDX-License-Identifier: Apache-2.0

// Package connector declares what a source and a sink are to the nodes of a graph. Ingestors and emitters use these ports;
// plugins/supervise implements them over connector processes, and tests implement them in process (P-013).
//
// A session is one open source or sink. The host calls a session from one goroutine or lane at a time; none of the calls block. The
// session reports through an events value that the host handed over at Open; it calls that from its own goroutine, in order, and the
// receiver must not block either (a receiver on a lane posts a message).
//
// A session has epochs. An epoch begins each time the connector process (again) has the source or sink open: State Open carries its
// number. Death of the process ends the epoch: State Lost. A source's deliveries, positions and rejections are meaningless outside
// their epoch (P-019); unresolved ones are dropped without being judged, and the source resumes at the committed position. A sink's
// payloads belong to the host and are offered again, byte for byte, in the next epoch (P-041). Loss of a process judges nothing.
package connector

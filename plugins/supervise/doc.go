// SPDX-License-Identifier: Apache-2.0

// Package supervise runs connector processes, one per kind and node, and gives the nodes of a graph their sources and sinks
// (host/node/connector).
//
// Parts: Catalogue reads the connectors directory. machine is the pure state machine of one process; process drives it. A Launcher
// brings a process up: GoPlugin for real ones, plugins/inproc without a process. link is the data connection of one incarnation of the
// process with its channels. A session is one source or sink of the graph: it outlives incarnations, opens a channel in each, and is
// the only goroutine that calls the session's events.
//
// What the host never does: wait for a connector without a bound (P-008), trust a byte of it (P-012), or judge a row because a process
// died (P-007). A connector that breaks the protocol is cut off: its process is killed, reported, and started again with backoff.
//
// Goroutines: one per kind (process), one per incarnation for reading (link), one for pings, one per session. Host.Close ends all.
package supervise

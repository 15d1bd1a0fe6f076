// SPDX-License-Identifier: Apache-2.0

// Package transport carries client sessions over QUIC (docs/formats/session.md): one connection is one session, its first bidirectional
// stream is the ordered lane and its second the control lane. It greets, authenticates before anything else is read, delimits and
// verifies frames, and ends sessions with a typed reason. What requests mean is the business of host/session/lanes and of the handler
// that the opener supplies.
//
// Goroutines of a session: one owner, one reader and one writer for each lane, and those of lanes.Session. The owner starts and awaits
// them all; Server awaits the owners.
package transport

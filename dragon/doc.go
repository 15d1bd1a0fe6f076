// SPDX-License-Identifier: Apache-2.0

// Package dragon keeps the replicated log of the control plane with Dragonboat and applies it to a registry.State. It satisfies the Log
// port of host/control, which never hears of Raft.
//
// One NodeHost, one shard (number 1), one replica of it on this node. The state is an immutable value behind an atomic pointer, so reads,
// observers and snapshots never wait for Apply. With one replica Raft runs over a transport that opens no socket.
//
// # What an answer means (G-002, G-003)
//
// Propose answers after a quorum stored the entry in its synced log and this replica applied it. An attempt that times out may still take
// effect: it is repeated with the same entry, whose execution reference makes the repetition harmless, and when the caller's time runs out
// the answer is `control.uncertain`. `control.unavailable` says that nothing was stored.
//
// # Storage failures (G-006)
//
// A log that failed one write never acknowledges another. Dragonboat and its store report such a failure through their loggers and then
// panic on a goroutine of their own; both loggers lead here, and the process ends with one logged reason and exit 1.
//
// # Process-wide effects
//
// Importing Dragonboat redirects the standard log package; this package gives it back when it is initialised and, from the first Open on,
// leads both into slog. Dragonboat also reads two settings files from the working directory; Open refuses to run with them.
//
// docs/formats/control.md describes the folder.
package dragon

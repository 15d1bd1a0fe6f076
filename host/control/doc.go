// SPDX-License-Identifier: Apache-2.0

// Package control executes requests against the control plane: it parses, plans, proposes commands to the replicated log, keeps the
// committed revisions and has them installed in order. It decides nothing that outlives the process by itself; registry.Apply does.
//
// # The way of a request
//
//  1. parse the whole text; a defect refuses all of it
//  2. judge it by the request rules of nspl 2.2: alone, several, content of transactions
//  3. reads are answered from the newest committed revision
//  4. everything else runs once under its execution reference: a kept outcome is returned, a running execution is joined, else it is planned
//     against a revision of its domain, proposed, planned again when the revision is stale, installed, and answered
//
// "Completed" means stored, applied, and installed on this node (nspl 2.3). A caller that leaves ends only its wait: the execution goes on,
// and the answer is `control.uncertain` with the reference under which it can be had (G-005).
//
// # Owners
//
// One goroutine calls the Installer, with revisions in ascending order; each execution has a goroutine of its own; one goroutine lets idle
// transactions expire, and one keeps a live authority on every running paced domain, apart from installations. Close ends and awaits all of them. An execution cut off by Close or a crash is continued at the next Open when its
// first effect is committed: a START waits for its domain, a COMMIT applies its remaining steps.
//
// # What a COMMIT decides
//
// VERSION LATEST is resolved and every START gets its anchor, mapping and authority when a COMMIT is admitted. The decisions are committed with
// COMMITTING and never made again. Outside transactions LATEST is the latest at the moment the definition is applied: a version completed in
// between makes the command stale, and it is planned again. UTC is sampled once for a START, however often it is planned.
//
// A guest module is judged through the port Modules before its definition is committed, which may take a minute: under the alteration lock of its
// domain at most, and under no other.
//
// Locks: Control.mu guards maps and is never held across a call to a port. A domain is changed by one execution at a time; another one is
// refused with `domain.busy` (nspl 2.6).
package control

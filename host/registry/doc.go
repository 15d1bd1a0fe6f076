// SPDX-License-Identifier: Apache-2.0

// Package registry is the replicated state machine of the control plane: what exists, what runs, who may log in and which commands were
// answered (G-001). It is pure. Apply reads only the entry and the state: time, identities, password hashes and schedules are put into
// the command by its proposer, so every replica reaches the same state and the same result.
//
// # Contract
//
//   - A State is immutable. Apply returns a new one that shares everything untouched; a reader keeps any revision as long as it likes.
//   - A refusal is a Result (G-013). An error means that the entry is corrupt; the replica that sees it must stop.
//   - Definitions are canonical NSPL text. Apply never parses: the proposer parsed and checked against a revision of the domain, and Apply
//     compares that revision. A changed checker can therefore never fork replicas.
//   - Secrets are never here: users are stored as PHC hashes, statements are stored redacted by their proposer.
//
// # What one Apply does, in this order
//
//  1. moves State.Now and the reference fence forward, never back, and drops what is past its retention
//  2. settles the execution reference: expired, conflict, kept outcome, or new (X-064..X-074)
//  3. settles the transaction step the command belongs to, if any
//  4. applies the body: Applied, Stale (plan again) or Refused
//  5. records the outcome under the reference, unless it is Stale
//
// # Transactions (G-055)
//
//	OPEN ── COMMITTING ── COMMITTED
//	  │         └──────── FAILED
//	  ├── REVERTED
//	  └── EXPIRED   (idle limit passed; its proposer knows that no session is bound)
//
// COMMITTED, FAILED, REVERTED and EXPIRED are tombstones until their retention ends. While a transaction is COMMITTING its domain is
// fenced: no other command changes the domain's models or lifecycle.
//
// # Clocks (chapter Domain Clock)
//
// A START is one entry that marks the domain running, counts the generation and, in a paced domain, stores mapping and authority; a STOP is its
// inverse. Who is the authority is decided by the proposer; ReconcileAuthority moves it by compare-and-set and touches nothing else. What a
// START decides is one value, Opening, in both places it can stand: alone, or frozen with the COMMIT of its transaction.
//
// # Resources (nspl 13.1)
//
//	            ┌── completed
//	uploading ──┤
//	            └── failed
//
// The versions of a resource lie beside its definition. Numbers ascend and are never given twice; only completed versions are bound.
//
// Units: vtime.UTC for observations carried in commands; retention is compared with them and with the time inside a UUIDv7.
package registry

// SPDX-License-Identifier: Apache-2.0

// Package authority decides what a node does as the tick authority of domains: which producers exist, when each emits which tick, and to which
// peers the newest report goes when (chapter Domain Clock, Tick Production And Progress Delivery).
//
// Machine is pure. Whoever drives it tells it what happened, with both clocks read once, and carries out the effects it takes from it, in their
// order; host/timekeeper does so with a goroutine, host/sim with a manual clock and a network of its own. The machine starts nothing, waits for
// nothing and reads no clock. It belongs to one caller.
//
// Invariants, for each domain: at most one producer emits; a producer has retired, with no attempt of its under way, before its successor emits
// (C-048). For each peer and domain: at most one attempt is under way and at most one report waits, the newest (C-058). At most Quota attempts are
// under way at once (C-059).
package authority

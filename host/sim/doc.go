// SPDX-License-Identifier: Apache-2.0

// Package sim runs clusters inside one goroutine, from a seed: a network that delays, reorders, duplicates and drops, clocks that are moved by hand,
// processes that crash and come back under their name. It is for tests.
//
// Cluster is a cluster of timekeepers. Every process of it has a real timekeeper.Keeper and a real authority.Machine, fed by a control plane that is
// a log of committed clock.Lifecycle values with a leader, whose decisions are those of host/clock (Start, Stop, Reconcile, Reassign). The cluster
// replaces what lies between them: the replicated log, the link and its advertisements, the driver goroutine of a production, and time.
//
// After every event the checks of this package run (see checks.go); a failed one is a Violation that names its check. They are written from the
// chapter, beside the code they test: what a process may accept, read or install is computed here again, from what it was told. A Rule breaks one of these obligations on purpose, at the seam between the cluster and the code, so that tests can show that the check sees it.
//
// A run is a function of its Config: the same seed gives the same events, on every machine. Nothing here reads a clock or starts a goroutine.
package sim

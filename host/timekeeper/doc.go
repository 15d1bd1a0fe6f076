// SPDX-License-Identifier: Apache-2.0

// Package timekeeper is domain time on one node: what is installed of each domain's clock, the handles that work reads it through, the ticks this node
// has accepted, and the driver that produces ticks where this process is the authority (chapter Domain Clock).
//
// A Keeper holds one cell a domain. A cell publishes one immutable installation behind an atomic pointer; every change replaces the whole of it
// (C-070). Reads take no lock: they load the installation, check it against the handle, project one observation of UTC through its mapping and raise its
// watermark (C-078). Nothing ever puts wall time in the place of a clock that is missing, stopped, uninstalled or of another generation (C-075).
//
// What is installed comes from committed revisions on two ways. Install belongs to the installation of the graph and brings everything;
// InstallFences follows every committed revision ahead of it and brings only changes of authority, so that a takeover never waits for a graph (C-049,
// C-050). Each cell remembers the revision it holds and is never replaced by an older one (C-051).
//
// Decisions about ticks are pure and live in host/timekeeper/authority; the recurring cadence of pollers and generators in
// host/timekeeper/cadence. Keeper itself starts no goroutine and reads UTC only through its configuration, so that host/sim drives it
// with clocks of its own.
//
// Locks, in this order: Keeper.order (one installation at a time), Keeper.mu (the table of cells), cell.mu (writers of a cell). Callbacks run under
// Keeper.order only. None of them is ever taken by a read.
package timekeeper

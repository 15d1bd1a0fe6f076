// SPDX-License-Identifier: Apache-2.0

// Package lanes orders the requests of one client session and gives each exactly one terminal reply.
//
//	Receive ── command ──> waiting list ──> ordered lane: one at a time, in written order
//	        ── list, status ─────────────> concurrent: answers in any order, never behind a command
//	        ── cancel ───────────────────> answered on arrival, on either lane; on the lane of its target it cannot overtake it
//
// A request is waiting, started, admitted, then answered. Cancellation and admission are one decision under one lock: a request
// cancelled before it is admitted has no effect, now or later; after admission it runs to its end and keeps its lane.
//
// The package knows no transport: frames come in through Receive and leave through a Sender that may block, and while it blocks the
// next frame of that lane is not read. A session is bounded by its limit of requests in flight; there is no other queue.
package lanes

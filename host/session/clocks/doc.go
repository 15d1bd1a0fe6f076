// SPDX-License-Identifier: Apache-2.0

// Package clocks lets a session follow domain clocks (chapter Domain Clock, "Session attachment").
//
// Attachments is what one session follows: at most one attachment a domain (C-088). Attach and Detach belong to the ordered lane of the
// session and are called by its goroutine. Each attachment has one delivery task, a goroutine that ends with a detach, with the removal
// of the domain, or with the session, and is always awaited.
//
// What a task says next is decided by the pure machine delivery; the task reads the watch, builds the frame and hands it to the lane.
// For each attachment a client can rely on (C-102):
//
//  1. the attach reply comes before every frame about the attachment;
//  2. the last state before a tick, reply or frame, is Paced and of the tick's generation;
//  3. the ids of one generation grow, and may skip;
//  4. the end frame is the last;
//  5. nothing about the domain follows the detach reply.
//
// There is no order across domains. All of it travels on the server's half of the ordered lane, since streams have no order among
// themselves and replies of attach and detach travel there.
//
// Nothing here is stored, and nothing is said to other nodes (C-084). Nothing is replayed: a state frame that waits for room in the lane
// goes out as built, and what changed meanwhile is told by one more frame at most (C-095); a tick has one place in the lane, whose content
// is replaced until the transport takes it (C-097).
package clocks

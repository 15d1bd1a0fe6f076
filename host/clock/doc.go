// SPDX-License-Identifier: Apache-2.0

// Package clock is the arithmetic and the decisions of domain time (chapter Domain Clock). A paced domain's time is a committed mapping from UTC;
// every node computes the same reading from it, and so does every client library: testdata/vectors.jsonl is the conformance set of all of them.
// Nothing here reads a clock: observations come as arguments, and decisions are values or small machines that a driver steps.
//
// # Arithmetic
//
// A float64 rate is a binary fraction: an integer of at most 53 bits times a power of two between 2^-1074 and 2^971. A projection is
// therefore a 64-bit integer times a 53-bit integer, shifted: 117 bits and a shift hold it exactly, and rounding down drops bits. A wait
// is a 64-bit integer, shifted, divided by a 53-bit one: its dividend has at most 180 bits whenever the result can fit, and rounding up looks at
// the remainder. No float is ever multiplied, so that no two processors, compilers or languages can disagree (C-013, C-016).
//
// Distances between instants are unsigned 64-bit numbers, as wide as the whole signed range; periods and skews are too. Every sum is
// checked; what does not fit is a typed error (C-017), with the sentinels ErrRange, ErrUnschedulable and the others for errors.Is.
//
// # Admission
//
// The centres of a window are an arithmetic progression, so that a window is a handful of numbers, and its test three compares and one
// remainder (C-126..C-132). Select prepares once per window which of them are needed, and with which multiplication in place of the division.
//
// # Decisions
//
// Start, Stop and Reassign are the only ways from one committed Lifecycle to the next. Select and Reconcile choose authorities. Producer says when which
// tick is due, Accepts and Progress.Supersedes which report a receiver keeps.
package clock

// SPDX-License-Identifier: Apache-2.0

// Package clock is the arithmetic and the decisions of domain time (chapter Domain Clock). A paced domain's time is a committed mapping from UTC;
// every node computes the same reading from it, and so does every client library. Nothing here reads a clock: observations come as
// arguments. All arithmetic is exact over the binary fraction a float64 rate is, never a float product, and checked: what does not fit
// is a typed error (C-017).
package clock

// SPDX-License-Identifier: Apache-2.0

// Package loop holds the innermost loops of expressions over plain slices: checked arithmetic, comparisons packed into bits, case mapping
// and search. They know nothing of nulls, rows or failures; a loop that can fail says whether any element may have failed, and its caller
// looks for the elements.
//
// Slices given to one call have equal length unless a function says otherwise. Bits are packed least significant first, as Arrow does; the
// last byte of a packed result has zeros past the last element.
package loop

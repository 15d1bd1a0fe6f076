// SPDX-License-Identifier: Apache-2.0

// Package expr checks NSPL expressions against scopes and runs them as typed programs over whole Arrow columns (nspl 6 and 7).
//
// A statement's expression goes through three steps:
//
//	Check    tree + Scope -> *Checked: types, nullability, sensitivity; every defect is reported, with its span
//	Compile  *Checked -> *Program: constants are folded; a program is immutable and shared by all lanes
//	Eval     *Program + Env -> Result: one Arrow array, and the rows that failed
//
// There is no row interpreter and no Go object per row: a node of a program is a loop over the buffers of a batch. Intermediate columns
// live in a Scratch that belongs to one lane and is reused; only the result is taken from Env.Alloc. The column of a bare field
// is the input column itself, retained.
//
// Rules every node keeps, so that batch size, folding and vectorisation never show in a result (nspl 6.2):
//
//   - A node is evaluated under a selection of rows (nil: all). It may compute other rows, but reports failures of selected rows only.
//     IF and CASE narrow the selection; that is how an unselected arm never reports an error.
//   - A failure belongs to a row, never to a batch. The row's value becomes null and the first failure in evaluation order is kept.
//   - A value that is the same for every row (literal, now(), branch key) is a constant column of one value, computed once.
//   - The bytes below a null are unspecified; no node fails because of them.
//
// The package starts no goroutine and reads no clock and no random source: Env carries the execution snapshot and the source of random bytes.
package expr

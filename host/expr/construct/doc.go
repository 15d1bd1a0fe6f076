// SPDX-License-Identifier: Apache-2.0

// Package construct builds records: the output of a route (INHERIT, SET, WHERE), the key of a branch (BRANCHED BY .. SET) and the
// record of a failed row (ON MESSAGE ERROR SEND TO .. SET) (nspl 9).
//
// A definition is checked once against what its place offers (Records) and becomes an immutable Plan that all lanes share. Running a Plan over a
// batch gives an Outcome: the columns of the target schema, the rows WHERE keeps, and the rows that failed with the operation that
// failed. Rows are not dropped here; the caller selects them, so that lineage and watermarks stay aligned.
//
// Reading rules (nspl 9.2). While a route is being built, `message.f` and bare `f` read the output field once it was set, before that the
// input field if its type and nullability are the same or if the output has no such field. WHERE reads the finished output. Assignments are unconditional, so which
// fields are set at each point is known when the statement is applied, and an unset required field is refused then.
package construct

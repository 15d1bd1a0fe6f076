// SPDX-License-Identifier: Apache-2.0

// Package construct builds records: the output of a route (INHERIT, SET, WHERE), the key of a branch (BRANCHED BY .. SET) and the
// record of a failed row (ON MESSAGE ERROR SEND TO .. SET) (nspl 9).
// Check is for routes that transform an input record, CheckGenerated for set-only routes over a record that the node made.
//
// A definition is checked once against what its place offers (Records) and becomes an immutable Plan that all lanes share. Running a Plan over a
// batch gives an Outcome: the columns of the target schema, the rows WHERE keeps, and the rows that failed with the operation that
// failed. Rows are not dropped here; the caller selects them, so that lineage and watermarks stay aligned.
//
// Reading rules (nspl 9.2). While a route is being built, `message.f` and bare `f` read the output field once it was set, before that the
// input field if its type and nullability are the same or if the output has no such field. WHERE reads the finished output. Assignments are unconditional, so which
// fields are set at each point is known when the statement is applied, and an unset required field is refused then.
//
// Set-only routes (nspl 9.1, 15.7). The record that a guest made for the route has the columns of the target schema and is what the
// assignments start from: bare f and output.f read it, an assignment replaces a column for what follows, and a column without one is passed on by reference. There is no
// input and no message. A guest may leave a column uninitialised (W-081, W-082): a read sees typed nulls, so no
// program may assume that a required column has none; untouched, an optional column becomes nulls and a required one fails every row.
// Statically a read of a required field counts as not null all the same, and may be assigned to a required field, because otherwise
// `SET a = a + 1` could not be written; a null that reaches a required field fails its row at run time (finalize, validation).
package construct

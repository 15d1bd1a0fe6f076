// SPDX-License-Identifier: Apache-2.0

// Package ast is the syntax tree of NSPL: one file per statement kind, expressions in expr.go, the clauses that several kinds share in
// the clause_*.go files.
//
// A tree is made by host/nspl/parse and printed by host/nspl/print; it is never changed afterwards. It holds what was written, lower-cased
// where the language says so, with a span for every name, clause and expression, and nothing that had to be looked up: no types of
// expressions, no resolved objects. Spans count bytes of the text that was parsed.
//
// Clauses that may be left out are pointers, nil interfaces or empty slices; clauses with a written default hold the default. What tells
// two definitions apart is everything but the spans and IfNotExists.
//
// The interfaces Statement, Expr, Source, Sink, CodecBody and RelayOp are closed: a new form is a new file of this package, one in parse
// and one in print.
package ast

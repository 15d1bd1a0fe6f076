// SPDX-License-Identifier: Apache-2.0

// Package parse reads NSPL text into trees of host/nspl/ast: a recursive descent parser with one token of look-ahead, and precedence climbing
// for expressions (nspl 1, 2, 6).
//
// Every test of the current token is noted, so that at each place the parser knows the set of things it could have read. A diagnostic
// lists that set, and completion (Expected) is the same set. A statement reports its first defect; parsing goes on after the next `;`, so
// that every statement of a text is judged.
//
// Adding a statement is one file and one line in table.go; adding a source, a sink, a codec body, a relay operation or an object kind is one
// file and one line in the table of its clause.
//
// Diagnostics never quote the content of a string, and no word of a statement that holds a password.
//
// Limits: expressions nest at most MaxDepth deep and have at most MaxNodes nodes in a statement; a text reports at most
// MaxDiagnostics defects. Inside the package the first defect of a statement unwinds by panic with a private type, recovered in
// parser.attempt and nowhere else.
package parse

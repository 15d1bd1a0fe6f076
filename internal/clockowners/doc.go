// SPDX-License-Identifier: Apache-2.0

// Package clockowners checks who reads the clocks of the operating system and who arms physical deadlines (C-144, C-207, C-211). It finds every such
// use in the code of the whole repository and compares it with the list in owners.go: a use that no line declares fails, and so does a line that
// nothing needs any more. A new path has to choose its time class there; most want domain time from a bound clock instead, which needs no line.
//
// Code is every file that is not a test: _test.go files and testdata are left out, and nothing else is. A package of test helpers, a build tag or
// a name gives no permission; helpers have lines like everybody. It is a test; nothing imports it.
//
// What cannot be seen from the text is not found: clocks that libraries read inside themselves (log records, certificate validity, Raft ticks), and
// fields of library types that are set outside a literal.
package clockowners

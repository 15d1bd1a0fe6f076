// SPDX-License-Identifier: Apache-2.0

// Package print writes trees of host/nspl/ast as canonical NSPL text (nspl 1.11): the one form of a definition that is stored, shown by SHOW
// CREATE and written by the formatter. For every statement x without IF NOT EXISTS, parse(print(x)) equals x but for spans, and printing that
// again gives the same bytes.
//
// The text has no `;` and no line end at its end; whoever writes several statements adds them.
package print

// SPDX-License-Identifier: Apache-2.0

// Package nspltest tests the language as a whole: lexer, parser and printer together. Its scripts in testdata show statements with
// their canonical text and defects with their diagnostics as a person sees them; its properties run over generated trees of every form.
package nspltest

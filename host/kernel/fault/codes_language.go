// SPDX-License-Identifier: Apache-2.0

package fault

// Codes of host/nspl.
const (
	LexInvalid       Code = "lex.invalid"
	SyntaxUnexpected Code = "syntax.unexpected"
)

// languageCodes is the part of the catalogue that belongs to host/nspl.
func languageCodes() []Entry {
	return []Entry{
		{LexInvalid, ClassUser, RetryNever, "The text holds something that is no token.", ""},
		{SyntaxUnexpected, ClassUser, RetryNever, "The statement is not what the grammar allows here.", ""},
	}
}

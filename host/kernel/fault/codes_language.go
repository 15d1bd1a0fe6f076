// SPDX-License-Identifier: Apache-2.0

package fault

// Codes of host/nspl.
const (
	LexInvalid       Code = "lex.invalid"
	SyntaxUnexpected Code = "syntax.unexpected"
	SyntaxName       Code = "syntax.name"
	SyntaxNumber     Code = "syntax.number"
	SyntaxInstant    Code = "syntax.instant"
	SyntaxLimit      Code = "syntax.limit"
)

// languageCodes is the part of the catalogue that belongs to host/nspl.
func languageCodes() []Entry {
	return []Entry{
		{LexInvalid, ClassUser, RetryNever, "The text holds something that is no token.", "Look at the marked characters; strings stand in single, double or dollar quotes."},
		{SyntaxUnexpected, ClassUser, RetryNever, "The statement is not what the grammar allows here.", "Clauses have a fixed order; the message lists what may stand at the marked place."},
		{SyntaxName, ClassUser, RetryNever, "The name is reserved or too long.", "Choose another name of 1 to 255 bytes."},
		{SyntaxNumber, ClassUser, RetryNever, "The number, duration or size is out of the range of its clause.", "The message names the range."},
		{SyntaxInstant, ClassUser, RetryNever, "The instant is not an RFC 3339 time, or not exact in nanoseconds, or out of range.", "Write it like '2031-05-01T06:00:00Z', with at most nine fraction digits, between the years 1677 and 2262."},
		{SyntaxLimit, ClassUser, RetryNever, "The statement is nested too deeply or too large, or the text has too many errors.", "Split the expression over several SET assignments."},
	}
}

// SPDX-License-Identifier: Apache-2.0

package fault

// Codes of cmd/nervix. A client tells them; no node does.
const (
	CLIAtomic          Code = "cli.atomic"
	CLICancelled       Code = "cli.cancelled"
	CLINotApplied      Code = "cli.not_applied"
	CLIRejected        Code = "cli.rejected"
	CLIReplyTooLarge   Code = "cli.reply_too_large"
	CLITransactionLost Code = "cli.transaction_lost"
	CLIUnreachable     Code = "cli.unreachable"
)

// cliCodes is the part of the catalogue that belongs to cmd/nervix.
func cliCodes() []Entry {
	return []Entry{
		{CLIAtomic, ClassUser, RetryNever, "The statement cannot stand in a text that --atomic wraps in a transaction.", "take it out, or run the text without --atomic"},
		{CLICancelled, ClassUser, RetrySame, "The command was given up before the node admitted it; it has no effect.", ""},
		{CLINotApplied, ClassUser, RetryNever, "The transaction of the statement did not take effect.", "mend what the other diagnostics name, then run the whole text again"},
		{CLIRejected, ClassCapacity, RetryAfterBackoff, "The node did not take the request.", "repeat it later, or make the statement smaller"},
		{CLIReplyTooLarge, ClassExternal, RetryNever, "The answer of the node does not fit a frame.", "ask for less; look at the state before repeating a change"},
		{CLITransactionLost, ClassExternal, RetryNever, "The session that held the open transaction is gone; the statement was not sent.", "run the transaction again from its BEGIN"},
		{CLIUnreachable, ClassExternal, RetryAfterBackoff, "No node could be reached.", "check that the node runs and that the context file is the one of its last start"},
	}
}

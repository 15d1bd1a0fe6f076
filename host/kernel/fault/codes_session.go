// SPDX-License-Identifier: Apache-2.0

package fault

// Codes of host/session, client, host/users.
const (
	SessionUnauthenticated        Code = "session.unauthenticated"
	SessionCredentialsUnavailable Code = "session.credentials_unavailable"
	SessionViolated               Code = "session.violated"
	SessionListen                 Code = "session.listen"
	SessionDomainUnknown          Code = "session.domain_unknown"
	SessionInTransaction          Code = "session.in_transaction"
	SessionClockAttached          Code = "session.clock_attached"
	SessionClockNotAttached       Code = "session.clock_not_attached"
	SessionClockUnavailable       Code = "session.clock_unavailable"
	SessionOver                   Code = "session.over"
	UserPassword                  Code = "user.password"
	ContextMissing                Code = "context.missing"
	ContextInvalid                Code = "context.invalid"
)

// sessionCodes is the part of the catalogue that belongs to host/session, client, host/users.
func sessionCodes() []Entry {
	return []Entry{
		{SessionUnauthenticated, ClassUser, RetryNever, "User or password is wrong.", "check the user and password of the context"},
		{SessionCredentialsUnavailable, ClassCapacity, RetryAfterBackoff, "Credentials cannot be judged now.", "try again in a moment"},
		{SessionViolated, ClassExternal, RetryNever, "The other side broke the session protocol.", ""},
		{SessionListen, ClassUser, RetryNever, "The session address cannot be bound.", "stop the process that holds the port, or choose another one"},
		{SessionDomainUnknown, ClassUser, RetryNever, "There is no such domain.", "LIST DOMAINS names the domains; choose one with USE or --domain"},
		{SessionInTransaction, ClassUser, RetryNever, "This is not possible while a transaction is open.", "COMMIT or REVERT first"},
		{SessionClockAttached, ClassUser, RetryNever, "The session follows the clock of this domain already.", ""},
		{SessionClockNotAttached, ClassUser, RetryNever, "The session does not follow the clock of this domain.", "ATTACH DOMAIN CLOCK first"},
		{SessionClockUnavailable, ClassInternal, RetryAfterBackoff, "The clock of the domain cannot be watched now.", "try again in a moment; the message has the reason"},
		{SessionOver, ClassCapacity, RetryElsewhere, "The session ends.", "open another session, on another node if this one stops"},
		{UserPassword, ClassUser, RetryNever, "The password cannot be used.", "choose a password of 1 to 1,024 bytes"},
		{ContextMissing, ClassUser, RetryNever, "There is no context file.", "name one with --context or NERVIX_CONTEXT; nervixd writes context.json into its data folder"},
		{ContextInvalid, ClassUser, RetryNever, "The context file cannot be used.", "use the context.json that nervixd wrote"},
	}
}

// SPDX-License-Identifier: Apache-2.0

package fault

// Codes of host/session, client, host/users.
const (
	SessionUnauthenticated Code = "session.unauthenticated"
)

// sessionCodes is the part of the catalogue that belongs to host/session, client, host/users.
func sessionCodes() []Entry {
	return []Entry{
		{SessionUnauthenticated, ClassUser, RetryNever, "User or password is wrong.", ""},
	}
}

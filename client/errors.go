// SPDX-License-Identifier: Apache-2.0

package client

import "errors"

// The kinds of failure. errors.Is finds them in what this package returns. After all but ErrUncertain and ErrReplyTooLarge a command had
// no effect through this call.
var (
	// ErrAddress: the server address is not of the form nervix://host:port.
	ErrAddress = errors.New("invalid server address")
	// ErrConnect: no node could be reached.
	ErrConnect = errors.New("cannot connect")
	// ErrTLS: the node was reached, and one side refused the other's certificate or protocol.
	ErrTLS = errors.New("TLS refused")
	// ErrAuthentication: the node refused user or password. It is never retried with the same ones.
	ErrAuthentication = errors.New("authentication failed")
	// ErrProtocol: client and node have no protocol version in common, or the node broke the protocol.
	ErrProtocol = errors.New("session protocol failed")
	// ErrUncertain: a command was sent and its result is not known. Repeat it under the reference of the error to learn it.
	ErrUncertain = errors.New("result unknown")
	// ErrCancelled: the caller gave the command up before it was admitted; it has no effect, now or later.
	ErrCancelled = errors.New("cancelled before admission")
	// ErrRejected: the node did not take the request.
	ErrRejected = errors.New("request rejected")
	// ErrReplyTooLarge: the command ran, and its reply does not fit a frame.
	ErrReplyTooLarge = errors.New("reply too large")
	// ErrTransactionLost: the session that held the open transaction is gone, and the node reverts the transaction. The command was not
	// sent.
	ErrTransactionLost = errors.New("open transaction lost")
	// ErrClocksUnsupported: the node does not let clocks be followed; it speaks an older session protocol, or has none.
	ErrClocksUnsupported = errors.New("domain clocks cannot be followed on this node")
	// ErrDomainUnknown: there is no such domain.
	ErrDomainUnknown = errors.New("no such domain")
	// ErrClockAttached: the clock is followed already.
	ErrClockAttached = errors.New("clock already attached")
	// ErrClockNotAttached: the clock is not followed.
	ErrClockNotAttached = errors.New("clock not attached")
	// ErrClockRefused: the node refused to attach or detach a clock.
	ErrClockRefused = errors.New("clock request refused")
	// ErrClosed: the client is closed.
	ErrClosed = errors.New("client is closed")
)

// Error is a failed call. It holds no secret.
type Error struct {
	// Kind is one of the errors above.
	Kind error
	// Reference is the execution reference of the command, if the call was one.
	Reference string
	// Detail says what happened, in one clause.
	Detail string
	// Cause is the underlying error, if there is one.
	Cause error
}

// Error prints kind, detail, cause and reference.
func (e *Error) Error() string {
	text := e.Kind.Error()
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	if e.Reference != "" {
		text += " (reference " + e.Reference + ")"
	}
	return text
}

// Unwrap gives kind and cause.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Cause}
}

func failure(kind error, detail string, cause error) *Error {
	return &Error{Kind: kind, Detail: detail, Cause: cause}
}

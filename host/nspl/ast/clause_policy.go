// SPDX-License-Identifier: Apache-2.0

package ast

import "github.com/nervix-go/nervix/host/kernel/ident"

// Policy says what happens to an error.
type Policy uint8

// The policies. PolicySendTo belongs to message errors only.
const (
	PolicyIgnore Policy = iota
	PolicyLog
	PolicySendTo
)

// MessagePolicy is `ON MESSAGE ERROR (IGNORE | LOG | SEND TO To SET Set)` (nspl 9.5). To and Set are empty unless Policy is PolicySendTo.
type MessagePolicy struct {
	Node
	Policy Policy
	To     Ident
	Set    []Assignment
}

func (m MessagePolicy) references() []Reference {
	if m.Policy != PolicySendTo {
		return nil
	}
	return []Reference{refer(ident.KindRelay, m.To)}
}

// GeneralPolicy is `ON GENERAL ERROR (IGNORE | LOG)`.
type GeneralPolicy struct {
	Node
	Policy Policy
}

// Retry is `RETRY POLICY BACKOFF Backoff MAX Max`.
type Retry struct {
	Node
	Backoff Duration
	Max     Duration
}

// AckTail is `ACK TIMEOUT Timeout` followed by a retry policy.
type AckTail struct {
	Node
	Timeout Duration
	Retry   Retry
}

// SPDX-License-Identifier: Apache-2.0

package ast

// Attachment says whether a node's outcome is part of the upstream acknowledgement (nspl 10.6).
type Attachment uint8

// The attachments; ATTACHED is the default and always printed.
const (
	Attached Attachment = iota
	Detached
)

// String is the keyword.
func (a Attachment) String() string {
	if a == Detached {
		return "DETACHED"
	}
	return "ATTACHED"
}

// SPDX-License-Identifier: Apache-2.0

package ast

import "fmt"

const mask = "********"

// Secret is a password of a statement. However it is formatted it prints a mask; only Reveal gives the value, to the place that hashes it.
type Secret struct {
	value string
}

// NewSecret wraps a password.
func NewSecret(value string) Secret { return Secret{value} }

// Reveal gives the password. Its result must not be logged, stored or put into an error.
func (s Secret) Reveal() string { return s.value }

// Equal compares two passwords; for tests of round trips, not for logins.
func (s Secret) Equal(o Secret) bool { return s.value == o.value }

// String prints a mask.
func (s Secret) String() string { return mask }

// GoString prints a mask.
func (s Secret) GoString() string { return mask }

// Format prints a mask for every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(mask)) }

// MarshalText gives a mask, so that encoders cannot leak the value.
func (s Secret) MarshalText() ([]byte, error) { return []byte(mask), nil }

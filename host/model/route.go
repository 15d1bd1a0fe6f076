// SPDX-License-Identifier: Apache-2.0

package model

import (
	"time"

	"github.com/nervix-go/nervix/host/expr"
	"github.com/nervix-go/nervix/host/expr/construct"
)

// Input is one relay a node reads, with its source predicate.
type Input struct {
	Relay *Relay
	// Where is nil when every row is taken.
	Where *expr.Program
}

// Flush says when the buffered rows of a route leave: at a size or a deadline of domain time, or, when Immediate, after a physical window
// of 100 microseconds (nspl 10.5).
type Flush struct {
	Immediate bool
	Each      time.Duration
	MaxBytes  int64
}

// PolicyKind says what happens to a failed row (nspl 9.5).
type PolicyKind uint8

// The policies.
const (
	PolicyIgnore PolicyKind = iota
	PolicyLog
	PolicySendTo
)

// Policy is a message-error policy.
type Policy struct {
	Kind PolicyKind
	// Relay and Record are set for PolicySendTo: where the error record goes and what builds it.
	Relay  *Relay
	Record *construct.Plan
}

// Route is one way out of a node. Routes are independent of each other; several may name one relay.
type Route struct {
	// Index counts the routes of the node from 0 in written order.
	Index     int
	Relay     *Relay
	Construct *construct.Plan
	Flush     Flush
	Policy    Policy
}

// IngestRoute is a route of an ingestor, which also builds the branch key of its rows.
type IngestRoute struct {
	Route
	// Branch is the branch of the relay, nil when unbranched.
	Branch *Branch
	// Key builds the key record of Branch; nil when unbranched.
	Key *construct.Plan
}

// Retry is the backoff of repeated attempts; it doubles from Backoff to MaxBackoff.
type Retry struct {
	Backoff    time.Duration
	MaxBackoff time.Duration
}

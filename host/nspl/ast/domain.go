// SPDX-License-Identifier: Apache-2.0

package ast

import "github.com/nervix-go/nervix/host/kernel/fault"

// Use is `USE name`.
type Use struct {
	Node
	Name Ident
}

// ListDomains is `LIST DOMAINS`.
type ListDomains struct {
	Node
}

// Start is `START [AT (NOW | 'instant') [TIME RATE rate]]` (nspl 11.2).
type Start struct {
	Node
	// AtNow makes sources forget their positions; in a paced domain the sampled UTC becomes the logical origin.
	AtNow bool
	// At is the logical origin of a paced domain, an RFC 3339 instant, with AtNS its Unix nanoseconds; nil when it was not written.
	At   *Text
	AtNS int64
	// Rate is logical nanoseconds a nanosecond of UTC; nil when it was not written.
	Rate *Float
}

// Float is a positive finite number as it was written.
type Float struct {
	Value float64
	Text  string
	Span  fault.Span
}

// Stop is `STOP`.
type Stop struct {
	Node
}

func (*Use) statement()         {}
func (*ListDomains) statement() {}
func (*Start) statement()       {}
func (*Stop) statement()        {}

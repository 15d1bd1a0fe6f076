// SPDX-License-Identifier: Apache-2.0

package ast

import (
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
)

// Node is what every element of the tree has: the bytes it was read from.
type Node struct {
	Span fault.Span
}

// Where is the span of the element.
func (n Node) Where() fault.Span { return n.Span }

// Ident is a name as it was written at one place. The name is lower-case.
type Ident struct {
	Name ident.Name
	Span fault.Span
}

// Text is a string of the source with its quotes removed.
type Text struct {
	Value string
	Span  fault.Span
}

// Uint is an unsigned count.
type Uint struct {
	Value uint64
	Span  fault.Span
}

// Duration is a duration as it was written; NS is never zero where the language refuses zero (nspl 1.6).
type Duration struct {
	NS   uint64
	Text string
	Span fault.Span
}

// Size is a byte size as it was written; Bytes is never zero (nspl 1.7).
type Size struct {
	Bytes uint64
	Text  string
	Span  fault.Span
}

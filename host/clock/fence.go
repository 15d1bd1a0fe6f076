// SPDX-License-Identifier: Apache-2.0

package clock

import "github.com/nervix-go/nervix/host/kernel/ident"

// Authority is the one process that produces the ticks of a domain. The incarnation is part of it: a restarted process of the same name is
// another one (C-009).
type Authority struct {
	Node        ident.Node
	Incarnation ident.Incarnation
}

// IsZero says that no process is meant.
func (a Authority) IsZero() bool { return a == Authority{} }

// Fence says who may produce ticks. Revision grows with every assignment, move and revocation and never returns (C-008, C-041).
type Fence struct {
	Revision uint64
	// Authority is zero while unassigned.
	Authority Authority
}

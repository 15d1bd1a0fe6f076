// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"fmt"

	"github.com/nervix-go/nervix/host/kernel/ident"
)

// Authority is the one process that produces the ticks of a domain. The incarnation is part of it: a restarted process of the same name is
// another one (C-009).
type Authority struct {
	Node        ident.Node
	Incarnation ident.Incarnation
}

// IsZero says that no process is meant.
func (a Authority) IsZero() bool { return a == Authority{} }

// String is `n<id> incarnation <n>`.
func (a Authority) String() string {
	if a.IsZero() {
		return "unassigned"
	}
	return fmt.Sprintf("%s incarnation %d", a.Node, a.Incarnation)
}

// Fence says who may produce ticks. Revision grows with every assignment, move and revocation and never returns (C-008, C-041).
type Fence struct {
	Revision uint64
	// Authority is zero while unassigned.
	Authority Authority
}

// next is the fence after f with another owner, or with none.
func (f Fence) next(a Authority) Fence { return Fence{Revision: f.Revision + 1, Authority: a} }

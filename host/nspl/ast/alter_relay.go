// SPDX-License-Identifier: Apache-2.0

package ast

import "github.com/nervix-go/nervix/host/kernel/fault"

// AlterRelay is `ALTER RELAY name op {, op}`; the operations run in written order.
type AlterRelay struct {
	Node
	Name Ident
	Ops  []RelayOp
}

// RelayOp is one operation of an ALTER RELAY.
type RelayOp interface {
	Where() fault.Span
	relayOp()
}

// SetCapacity is `SET CAPACITY n`.
type SetCapacity struct {
	Node
	Capacity Uint
}

func (*AlterRelay) statement() {}
func (*SetCapacity) relayOp()  {}

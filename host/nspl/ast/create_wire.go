// SPDX-License-Identifier: Apache-2.0

package ast

import (
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
)

// WireMode says what happens to a payload field that the wire schema does not name (nspl 5.1).
type WireMode uint8

// The modes: STRICT refuses the payload, LOOSE drops the field.
const (
	WireStrict WireMode = iota
	WireLoose
)

// String is the keyword.
func (m WireMode) String() string {
	if m == WireLoose {
		return "LOOSE"
	}
	return "STRICT"
}

// WireType is a type word of a wire schema, upper-case.
type WireType string

// The wire types of JSON.
const (
	WireInteger WireType = "INTEGER"
	WireNumber  WireType = "NUMBER"
	WireBoolean WireType = "BOOLEAN"
	WireString  WireType = "STRING"
)

// CreateWire is `CREATE WIRE format SCHEMA name MODE mode (fields)` for every wire format; Kind tells the format.
type CreateWire struct {
	Create
	Kind   ident.Kind
	Mode   WireMode
	Fields []WireField
}

// WireField declares one payload field. Name keeps its spelling, because it is matched with payload keys exactly (Q51).
type WireField struct {
	Node
	Name     string
	NameSpan fault.Span
	Type     WireType
	TypeSpan fault.Span
	Optional bool
}

// DefKind is the kind of the wire format, for example KindWireJSON.
func (c *CreateWire) DefKind() ident.Kind { return c.Kind }

// References is empty: a wire schema depends on nothing.
func (*CreateWire) References() []Reference { return nil }

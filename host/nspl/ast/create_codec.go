// SPDX-License-Identifier: Apache-2.0

package ast

import "github.com/nervix-go/nervix/host/kernel/ident"

// CreateCodec is `CREATE CODEC name body` (nspl 5.2).
type CreateCodec struct {
	Create
	Body CodecBody
}

// CodecBody is one of the codec forms; WireCodec so far.
type CodecBody interface {
	codecBody()
	references() []Reference
}

// WireCodec is `FROM WIRE format SCHEMA wire TO SCHEMA schema [ENCODE ..]`.
type WireCodec struct {
	Node
	// WireKind tells the wire format, for example KindWireJSON.
	WireKind ident.Kind
	Wire     Ident
	Schema   Ident
	Encode   []FieldEncoding
}

// FieldEncoding is `field AS RFC3339`, the only encoding of the language.
type FieldEncoding struct {
	Node
	Field Ident
}

func (*WireCodec) codecBody() {}

func (w *WireCodec) references() []Reference {
	return []Reference{refer(w.WireKind, w.Wire), refer(ident.KindSchema, w.Schema)}
}

// DefKind is KindCodec.
func (*CreateCodec) DefKind() ident.Kind { return ident.KindCodec }

// References names the wire schema and the schema.
func (c *CreateCodec) References() []Reference { return c.Body.references() }

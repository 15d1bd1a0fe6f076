// SPDX-License-Identifier: Apache-2.0

package ast

import (
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
)

// CreateIngestor is `CREATE INGESTOR name FROM source [DECODE USING codec] [TIMESTAMP ..] [FILTER WHERE ..] routes ON GENERAL ERROR ..`
// (nspl 14.1).
type CreateIngestor struct {
	Create
	Source Source
	// Decode is nil for sources that bring typed rows; the parser requires it of the others.
	Decode    *Ident
	Timestamp *Timestamp
	Filter    Expr
	Routes    []BoundRoute
	OnGeneral GeneralPolicy
}

// Source is the body of a FROM clause of an ingestor: one file per kind of source.
type Source interface {
	Where() fault.Span
	// SourceKind is the first word of the body, for example FILE; it is also the client type the source needs.
	SourceKind() ClientType
	// ClientName is the client the source uses.
	ClientName() Ident
	source()
}

// Timestamp is `TIMESTAMP AT At` or, with At nil, `TIMESTAMP NOW`.
type Timestamp struct {
	Node
	At *Ident
}

// DefKind is KindIngestor.
func (*CreateIngestor) DefKind() ident.Kind { return ident.KindIngestor }

// References names the client, the codec, and the relays and branches of the routes.
func (c *CreateIngestor) References() []Reference {
	refs := []Reference{refer(ident.KindClient, c.Source.ClientName())}
	if c.Decode != nil {
		refs = append(refs, refer(ident.KindCodec, *c.Decode))
	}
	for _, r := range c.Routes {
		refs = append(refs, r.references()...)
	}
	return refs
}

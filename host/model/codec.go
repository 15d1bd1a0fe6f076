// SPDX-License-Identifier: Apache-2.0

package model

import (
	"github.com/nervix-go/nervix/host/codec"
	"github.com/nervix-go/nervix/host/codec/jsoncodec"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/types"
)

// Wire is a JSON wire schema. Nodes never use one: what they use is the codec.
type Wire struct {
	Ref         ident.Ref
	Fingerprint Fingerprint
	// Strict refuses payload fields that the schema does not name.
	Strict bool

	fields []jsoncodec.WireField
}

// Codec is the plan of a codec. A decoder or encoder belongs to one lane; the plan is shared.
type Codec struct {
	Ref         ident.Ref
	Fingerprint Fingerprint
	// Schema is the internal schema, of decoded rows and of rows to encode.
	Schema *types.Schema
	// Format is the wire format for reports, for example `WIRE JSON`.
	Format string
	// NewDecoder makes a decoder; nil when the codec cannot decode.
	NewDecoder func() codec.Decoder
	// NewEncoder makes an encoder; nil when the codec cannot encode.
	NewEncoder func() codec.Encoder
}

// SPDX-License-Identifier: Apache-2.0

package model

import (
	"time"

	"github.com/nervix-go/nervix/host/expr"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/types"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

// Ingestor is the plan of an ingestor (nspl 14).
type Ingestor struct {
	Ref         ident.Ref
	Fingerprint Fingerprint
	// Definition is what the plan was made from; only renderings read it.
	Definition *ast.CreateIngestor
	Client     *Client
	Source     Source
	Mode       SourceMode
	Quiesce    Quiesce
	// Codec decodes the payloads; its schema is the schema of the rows.
	Codec     *Codec
	Timestamp Timestamp
	// Filter is nil when every row is taken.
	Filter *expr.Program
	Routes []IngestRoute
	// GeneralLog says whether node-wide failures are reported as runtime errors (ON GENERAL ERROR LOG).
	GeneralLog bool
}

// Source says what is read from the client.
type Source struct {
	// Kind is the connector kind, lower-case, for example `file`.
	Kind string
	// Options are the options of the connector; for `file`: path, relative to the client's root, and follow.
	Options map[string]string
	// Endless says that the source does not end by itself (FOLLOW): what the connector calls finished is one of its parts.
	Endless bool
	// Metadata has the fields of `metadata`, in the order of the connector's metadata columns.
	Metadata *types.Schema
}

// SourceMode says how deliveries are admitted and acknowledged (nspl 19.2).
type SourceMode struct {
	// Ack says whether the source gets acknowledgements.
	Ack bool
	// Parallel admits up to Max deliveries at once; without it the next delivery waits for the outcome of the one before.
	Parallel bool
	// Max bounds the deliveries read beyond the durable position.
	Max uint64
	// AckTimeout is the longest physical time a delivery may rest without progress.
	AckTimeout time.Duration
	Retry      Retry
}

// Quiesce is what a source does while it is held (nspl 14.3).
type Quiesce uint8

// The quiesce modes. Under QuiesceSuspend nothing is taken and the data waits at the source.
const (
	QuiesceSuspend Quiesce = iota
)

// String is the keyword.
func (Quiesce) String() string { return "SUSPEND" }

// Timestamp says where the event time of a row comes from. With Declared false it is the connector's own event time if it has one, else
// the instant of the execution snapshot; with Now it is always the latter.
type Timestamp struct {
	Declared bool
	Now      bool
	// At is the column of the codec's schema, -1 when none is named.
	At int
}

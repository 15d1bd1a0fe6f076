// SPDX-License-Identifier: Apache-2.0

package connector

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/nervix-go/nervix/host/kernel/ident"
)

// MaxPositionBytes is the longest position of one delivery.
const MaxPositionBytes = 64

// SourcePlan is everything a source needs, decided once per committed revision (P-003). It names no relay, branch or schedule (P-001).
type SourcePlan struct {
	// Ingestor is for logs and status only.
	Ingestor ident.Ref
	// Kind is the connector kind, `file`.
	Kind string
	// Client and Options are the CONFIG of the client and the options of the source, checked against the descriptor.
	Client  map[string]string
	Options map[string]string
	// Identity and Position are the durable position to resume after; both empty to start anew.
	Identity []byte
	Position []byte
	// CreditBatches and CreditBytes are the standing credit: what may be under way to the host at once.
	CreditBatches int
	CreditBytes   int64
	// CreditRows bounds the deliveries beyond the durable position (PARALLEL MAX n); rows sent again after Reject use none of it.
	CreditRows int64
}

// Sources opens sources.
type Sources interface {
	// OpenSource begins a session and returns once its first attempt has an outcome. An error means that there is no session and that no
	// event follows: a definitive refusal (missing file, bad option), a connector that cannot be started (a changed or missing binary,
	// another protocol, an end before the handshake) or that dies of every attempt, or the end of ctx (nspl 14.2: a failed startup fails
	// the command). The caller may call again. A refusal that may pass, and every later loss, is reported as Lost and retried by the
	// session with backoff.
	OpenSource(ctx context.Context, plan SourcePlan, events SourceEvents) (SourceSession, error)
}

// Column indexes of a source batch. Columns from SourceMetadata on are the metadata columns of the descriptor, in its order.
const (
	SourcePayload  = 0 // Binary, one payload a row
	SourcePosition = 1 // Binary, at most MaxPositionBytes
	SourceError    = 2 // Utf8, null for a good row; else the row is an undecodable delivery and this says why (a line above the limit)
	SourceMetadata = 3
)

// SourceEvents receives what a source reports.
type SourceEvents interface {
	// SourceBatch hands over a verified record batch of one epoch; the receiver releases it. It consumes one batch and its bytes of credit.
	SourceBatch(epoch uint64, batch arrow.RecordBatch, bytes int64)
	// SourceState reports a change.
	SourceState(s SourceStatus)
}

// SourceStatus is one observation of a source.
type SourceStatus struct {
	State State
	Epoch uint64
	// Identity names what the epoch reads (for a file: device, inode, hash). Set with Open.
	Identity []byte
	// Restarted says, with Open, that the given identity or position did not fit and reading began anew; Detail says why.
	Restarted bool
	// Detail is the reason of Lost or Failed, without payload and secrets.
	Detail string
	// Skipped counts payloads the source itself left out in this epoch (for a file: empty lines).
	Skipped uint64
}

// SourceSession is an open source.
type SourceSession interface {
	// Grant returns credit: batches and bytes the host has taken up, and rows whose position has become durable.
	Grant(epoch uint64, batches int, bytes, rows int64)
	// Acknowledge tells that every delivery up to and including position is settled and durable; sources with a protocol
	// acknowledgement use it, others ignore it.
	Acknowledge(epoch uint64, position []byte)
	// Reject asks for the delivery at the position again, after the host's own backoff (P-023).
	Reject(epoch uint64, position []byte)
	// Close ends the session and waits until the connector let go of the source, bounded by ctx. No event follows it.
	Close(ctx context.Context) error
}

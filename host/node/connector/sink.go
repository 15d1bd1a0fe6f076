// SPDX-License-Identifier: Apache-2.0

package connector

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/nervix-go/nervix/host/kernel/ident"
)

// SinkPlan is everything a sink needs, decided once per committed revision.
type SinkPlan struct {
	// Emitter is for logs and status only.
	Emitter ident.Ref
	Kind    string
	Client  map[string]string
	Options map[string]string
}

// Sinks opens sinks.
type Sinks interface {
	// OpenSink begins a session and returns at once; only an unknown kind or a wrong option is an error. A sink that cannot be opened now,
	// its connector not started included, is reported as Failed or Lost, and the session goes on trying with backoff (nspl 18.2: sink
	// startup never probes).
	OpenSink(ctx context.Context, plan SinkPlan, events SinkEvents) (SinkSession, error)
}

// MaxAttemptBytes bounds the payload bytes of one attempt; only a payload that is longer goes alone beyond it. With its columns it stays below
// what connectors take in a frame.
const MaxAttemptBytes = 16 << 20

// Column indexes of a sink batch.
const (
	SinkID      = 0 // Uint64, identity of the payload within the session, ascending
	SinkPayload = 1 // Binary
)

// SinkAnswer judges a range of payloads of one attempt. Identities that no answer names are unresolved and are offered again (P-039).
type SinkAnswer struct {
	FirstID, LastID uint64
	// Rejected is empty for delivered payloads; otherwise the record-specific reason (P-055).
	Rejected string
}

// SinkEvents receives what a sink reports.
type SinkEvents interface {
	// SinkAnswered ends one attempt: at most one answer covers each identity. failure is the attempt's failure, nil if there was none;
	// payloads without an answer are retried after the emitter's backoff, or after delay if that is longer (P-043).
	SinkAnswered(attempt uint64, answers []SinkAnswer, failure error)
	// SinkState reports a change. Lost ends every attempt under way without an answer.
	SinkState(s SinkStatus)
}

// SinkStatus is one observation of a sink.
type SinkStatus struct {
	State  State
	Epoch  uint64
	Detail string
}

// SinkSession is an open sink.
type SinkSession interface {
	// Publish offers a batch under an attempt number; the session retains the batch as long as it needs it. One attempt at a time.
	// It must be called in State Open only; otherwise the attempt is answered with a failure. The batch holds MaxAttemptBytes of payloads
	// at most, or one payload.
	Publish(attempt uint64, batch arrow.RecordBatch)
	// Close flushes and ends the session, bounded by ctx.
	Close(ctx context.Context) error
}

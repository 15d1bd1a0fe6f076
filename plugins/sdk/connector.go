// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"errors"
	"log/slog"

	"github.com/nervix-go/nervix/plugins/descriptor"
)

// Connector is one connector kind.
type Connector struct {
	Descriptor descriptor.Descriptor
	// Source and Sink make a value for each open source or sink. They are nil when the descriptor lacks that side.
	Source func() Source
	Sink   func() Sink
}

// Environment is what the host tells every source and sink.
type Environment struct {
	// FileRoot is the absolute directory below which files may be touched; empty means none.
	FileRoot string
	// MaxPayload is the longest payload that can travel, in bytes.
	MaxPayload int
	// Log goes to the host's log.
	Log *slog.Logger
}

// SourceRequest is how a source is to be opened. Client and Options were checked against the descriptor and hold its defaults.
type SourceRequest struct {
	Client, Options map[string]string
	// Identity and Position say where to resume; both empty to begin anew.
	Identity, Position []byte
	Environment        Environment
}

// SourceOpened describes an open source.
type SourceOpened struct {
	// Identity names what is read, so that a later Open can tell whether Position still belongs to it.
	Identity []byte
	// Restarted says that the given position did not fit and reading begins anew; Detail says why. A source without an end leaves Detail empty when
	// this is the next of its parts: nobody needs a warning then.
	Restarted bool
	Detail    string
	// Constants are text metadata columns with one value for the whole life of this source, by name. They are not set per row.
	Constants map[string]string
}

// Source reads payloads.
type Source interface {
	// Open connects. ctx bounds the call only.
	Open(ctx context.Context, r SourceRequest) (SourceOpened, error)
	// Read adds rows to b until b.Full, or fewer; it may wait for the first row. io.EOF says that everything was delivered; rows added
	// before count. A source without an end (FOLLOW) says so that it is to be opened again after the position of this part. When ctx ends
	// Read returns soon; rows added before count, and the error is ignored. It must not add rows once b.Full: the number of rows is credit.
	Read(ctx context.Context, b *Batch) error
	// Reject adds the delivery at position to b once more, with the same payload, position and metadata. On an error the host closes the
	// source and opens it again at the durable position.
	Reject(ctx context.Context, position []byte, b *Batch) error
	// Close lets go of everything. It is called once, also after a failed Open.
	Close() error
}

// Acknowledger is implemented by sources whose protocol has an acknowledgement.
type Acknowledger interface {
	// Acknowledge tells that everything up to and including position is settled and durable.
	Acknowledge(ctx context.Context, position []byte) error
}

// SinkRequest is how a sink is to be opened.
type SinkRequest struct {
	Client, Options map[string]string
	Environment     Environment
}

// Sink writes payloads.
type Sink interface {
	// Open connects. ctx bounds the call only.
	Open(ctx context.Context, r SinkRequest) error
	// Publish writes the payloads in order and says in a which were delivered or rejected; payloads without an answer are unresolved and
	// are offered again. The error is the failure of the attempt, nil if there was none.
	Publish(ctx context.Context, p Payloads, a *Answers) error
	// Close flushes and lets go. It is called once, also after a failed Open.
	Close() error
}

type definitive struct{ error }

func (d definitive) Unwrap() error { return d.error }

// Definitive marks an error that the same input will always get: a missing file, a bad option.
func Definitive(err error) error { return definitive{err} }

// IsDefinitive finds the mark.
func IsDefinitive(err error) bool {
	var d definitive
	return errors.As(err, &d)
}

// SPDX-License-Identifier: Apache-2.0

// Package uploads serves upload streams of client sessions (nspl 13.1, docs/formats/session.md): it admits an upload, receives its archive,
// has the node store it, and completes its version, or fails it.
//
// One upload is under way at a time for one identity, and a bounded number altogether; others wait for a while and are then told that the
// node is busy. An archive is never held in memory: what the store has not taken is not read, and what is not read the client does not
// send. A version number is taken when the upload is admitted; a client that vanishes, or stops to send, fails it.
//
// Goroutines: one reader for each stream, owned by Uploads, which Wait awaits.
package uploads

import (
	"context"
	"io"

	"github.com/nervix-go/nervix/host/kernel/ident"
)

// Request names an upload. Its identity is the reference within user, domain and resource.
type Request struct {
	Reference ident.Reference
	User      ident.Name
	Domain    ident.Domain
	Resource  ident.Name
}

// Admitted is the version that an upload has or will have.
type Admitted struct {
	Version uint64
	// Completed says that this identity brought Digest before.
	Completed bool
	Digest    [32]byte
}

// Stored is what the node has of a version.
type Stored struct {
	Version      uint64
	Digest       [32]byte
	ArchiveBytes uint64
	Bytes        uint64
	Files        uint64
}

// Control decides about versions. The methods are those of *control.Control.
type Control interface {
	// Admit gives the version of an upload.
	Admit(ctx context.Context, r Request) (Admitted, error)
	// Complete makes a version usable. control.uncertain says that it may have been made.
	Complete(ctx context.Context, r Request, s Stored) error
	// Fail gives a version up that is not completed.
	Fail(ctx context.Context, r Request, version uint64) error
}

// Store keeps archives.
type Store interface {
	// Receive reads an archive to the end of from, checks it and writes it durably, or leaves nothing. It asks ctx between two reads, and
	// gives a failure of from as it is.
	Receive(ctx context.Context, from io.Reader) (Received, error)
}

// Received is an archive that was found good.
type Received interface {
	// Stored says what it is; the version is not set.
	Stored() Stored
	// Publish makes it durable under its digest, where it is safe until Release.
	Publish() error
	// Release ends the safety of a published archive, and removes one that was not published. It is called once.
	Release()
}

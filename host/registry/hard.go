// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"encoding/binary"
	"time"

	"github.com/zeebo/xxh3"
)

// Changing a constant of this file breaks stored data. They are hashed into the header of every snapshot, and a snapshot with another
// hash is refused.
const (
	// CommandFormat is the version of stored commands.
	CommandFormat uint32 = 2
	// SnapshotFormat is the version of stored snapshots.
	SnapshotFormat uint16 = 2
	// ReferenceValidity is how long an outcome is kept, counted from the time inside its UUIDv7 (nspl 2.4).
	ReferenceValidity = 15 * time.Minute
	// ReferenceAhead is how far the time inside a reference may lie ahead of the proposer's.
	ReferenceAhead = 5 * time.Minute
	// DigestBytes is the size of the digest of a command's meaning.
	DigestBytes = 32
	// transactionStates is the number of transaction states; bodies is the number of command bodies.
	transactionStates = 6
	bodies            = 17
)

// HardHash is the fingerprint of the constants above.
func HardHash() uint64 {
	var b []byte
	for _, v := range []uint64{
		uint64(CommandFormat), uint64(SnapshotFormat), uint64(ReferenceValidity), uint64(ReferenceAhead), DigestBytes,
		transactionStates, bodies,
	} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return xxh3.Hash(b)
}

// Limits bound what clients can make the replicated state hold (G-061, X-073). They are replicated, so every replica judges alike.
type Limits struct {
	Statements  uint32        // of one transaction
	SourceBytes uint64        // of one transaction's canonical text
	Open        uint32        // transactions that are OPEN or COMMITTING
	Idle        time.Duration // before an unbound OPEN transaction may expire
	Tombstone   time.Duration // retention of a finished transaction
	References  uint32        // kept outcomes
	// OpenSourceBytes bounds the text of all open transactions together, and DefinitionBytes that of all definitions. With them a snapshot
	// stays far below the size that can be stored, whatever clients do.
	OpenSourceBytes uint64
	DefinitionBytes uint64
	// ResourceVersions bounds the recorded versions of one resource, Versions those of all resources together (G-061). Versions are never
	// deleted, so both are far above what anybody uploads; their records stay small because the files lie elsewhere.
	ResourceVersions uint32
	Versions         uint32
}

// DefaultLimits are the values of nspl 25; the bounds on bytes and versions are ours.
func DefaultLimits() Limits {
	return Limits{
		Statements: 256, SourceBytes: 1 << 20, Open: 1024, Idle: 15 * time.Minute, Tombstone: 15 * time.Minute, References: 65536,
		OpenSourceBytes: 128 << 20, DefinitionBytes: 256 << 20, ResourceVersions: 10_000, Versions: 65_536,
	}
}

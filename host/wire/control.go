// SPDX-License-Identifier: Apache-2.0

package wire

import (
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/wire/gen/controlfb"
	"github.com/nervix-go/nervix/host/wire/verify"
)

// The greatest stored forms. A command holds at most one transaction statement or one model run; a snapshot holds the whole state.
const (
	MaxControlCommandBytes  = 64 << 20
	MaxControlSnapshotBytes = 1 << 30
	maxControlDepth         = 16
	maxControlEntries       = 1 << 20
)

// Identifiers of the root tables, at byte 4 of each buffer.
const (
	controlCommandID  = "NXCC"
	controlResultID   = "NXCR"
	controlSnapshotID = "NXCS"
)

// EncodeControlCommand gives the stored form of a command. The caller owns the bytes.
func EncodeControlCommand(c *ControlCommand) []byte { return pack(c.Pack, controlCommandID) }

// EncodeControlResult gives the replicated form of a result.
func EncodeControlResult(r *ControlResult) []byte { return pack(r.Pack, controlResultID) }

// EncodeControlSnapshot gives the body of a snapshot.
func EncodeControlSnapshot(s *ControlSnapshot) []byte { return pack(s.Pack, controlSnapshotID) }

// DecodeControlCommand verifies the bytes and unpacks them. The vectors of bytes in the result share memory with b.
func DecodeControlCommand(b []byte) (*ControlCommand, error) {
	if err := judge(controlfb.RootCommand, b, MaxControlCommandBytes); err != nil {
		return nil, err
	}
	return controlfb.GetRootAsCommand(b, 0).UnPack(), nil
}

// DecodeControlResult is DecodeControlCommand for results.
func DecodeControlResult(b []byte) (*ControlResult, error) {
	if err := judge(controlfb.RootResult, b, MaxControlCommandBytes); err != nil {
		return nil, err
	}
	return controlfb.GetRootAsResult(b, 0).UnPack(), nil
}

// DecodeControlSnapshot is DecodeControlCommand for snapshot bodies.
func DecodeControlSnapshot(b []byte) (*ControlSnapshot, error) {
	if err := judge(controlfb.RootSnapshot, b, MaxControlSnapshotBytes); err != nil {
		return nil, err
	}
	return controlfb.GetRootAsSnapshot(b, 0).UnPack(), nil
}

func pack(object func(*flatbuffers.Builder) flatbuffers.UOffsetT, id string) []byte {
	b := flatbuffers.NewBuilder(1024)
	b.FinishWithFileIdentifier(object(b), []byte(id))
	return b.FinishedBytes()
}

func judge(root int, b []byte, limit int) error {
	limits := verify.Limits{MaxBytes: limit, MaxDepth: maxControlDepth, MaxEntries: maxControlEntries}
	if err := verify.Verify(&controlfb.Schema, root, b, limits); err != nil {
		return fault.New(fault.WireInvalid, "wire.DecodeControl", ident.Ref{}, "stored control data is damaged", err)
	}
	return nil
}

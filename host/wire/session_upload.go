// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"strconv"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/wire/gen/sessionfb"
)

// Limits of an upload stream. UploadFrameLimit is what ReadFrame is called with on either side: a chunk with what surrounds it.
const (
	MaxUploadChunk   = 1 << 20
	UploadFrameLimit = MaxUploadChunk + 1024
	UploadDigestSize = 32
)

// UploadClientBody is one of UploadOpen, UploadChunk and UploadEnd, in this order: one, any number, one.
type UploadClientBody interface{ uploadClientBody() }

// UploadServerBody is one of UploadAccepted (after UploadOpen, at most one) and UploadResult (the last frame).
type UploadServerBody interface{ uploadServerBody() }

// UploadOpen is the first frame of an upload stream. The reference is the identity of the upload: the same over every repetition.
type UploadOpen struct{ Reference, Domain, Resource string }

// UploadChunk is the next part of the archive, 1 to MaxUploadChunk bytes. A decoded chunk shares memory with its frame.
type UploadChunk struct{ Bytes []byte }

// UploadEnd says how long the archive was and what its BLAKE3 digest is.
type UploadEnd struct {
	ArchiveBytes uint64
	Digest       [UploadDigestSize]byte
}

// UploadAccepted lets the client go on. Version is the number that the upload will have.
type UploadAccepted struct{ Version uint64 }

// UploadResult is the terminal reply. Version is zero when none was assigned; Code, Text and Hint say why it failed or is not known.
type UploadResult struct {
	Disposition Disposition
	Version     uint64
	Code        string
	Text, Hint  string
}

func (UploadOpen) uploadClientBody()     {}
func (UploadChunk) uploadClientBody()    {}
func (UploadEnd) uploadClientBody()      {}
func (UploadAccepted) uploadServerBody() {}
func (UploadResult) uploadServerBody()   {}

// EncodeUploadClient builds a frame of an upload stream (identifier NXUM), or refuses what DecodeUploadClient would refuse.
func EncodeUploadClient(body UploadClientBody) ([]byte, error) {
	t := sessionfb.UploadClientFrameT{Body: &sessionfb.UploadClientBodyT{}}
	size := 0
	switch b := body.(type) {
	case UploadOpen:
		size = len(b.Reference) + len(b.Domain) + len(b.Resource)
		t.Body.Type = sessionfb.UploadClientBodyUploadOpen
		t.Body.Value = &sessionfb.UploadOpenT{Reference: b.Reference, Domain: b.Domain, Resource: b.Resource}
	case UploadChunk:
		if len(b.Bytes) > MaxUploadChunk {
			return nil, fault.New(fault.WireTooLarge, "wire.Encode", ident.Ref{}, "chunk of "+strconv.Itoa(len(b.Bytes))+" bytes", nil)
		}
		size = len(b.Bytes)
		t.Body.Type = sessionfb.UploadClientBodyUploadChunk
		t.Body.Value = &sessionfb.UploadChunkT{Bytes: b.Bytes}
	case UploadEnd:
		t.Body.Type = sessionfb.UploadClientBodyUploadEnd
		t.Body.Value = &sessionfb.UploadEndT{Digest: b.Digest[:], ArchiveBytes: b.ArchiveBytes}
	default:
		return nil, unencodable("upload frame without body", nil)
	}
	return finish(sessionfb.RootUploadClientFrame, size, UploadFrameLimit, t.Pack)
}

// DecodeUploadClient verifies a frame and reads it. Faults: wire.too_large, wire.invalid.
func DecodeUploadClient(frame []byte) (UploadClientBody, error) {
	if err := verifySession(sessionfb.RootUploadClientFrame, frame, UploadFrameLimit); err != nil {
		return nil, err
	}
	root := sessionfb.GetRootAsUploadClientFrame(frame, 0)
	var tab flatbuffers.Table
	root.Body(&tab)
	switch root.BodyType() {
	case sessionfb.UploadClientBodyUploadOpen:
		var x sessionfb.UploadOpen
		x.Init(tab.Bytes, tab.Pos)
		return UploadOpen{Reference: string(x.Reference()), Domain: string(x.Domain()), Resource: string(x.Resource())}, nil
	case sessionfb.UploadClientBodyUploadChunk:
		var x sessionfb.UploadChunk
		x.Init(tab.Bytes, tab.Pos)
		if n := x.BytesLength(); n > MaxUploadChunk {
			return nil, fault.New(fault.WireTooLarge, "wire.Decode", ident.Ref{}, "chunk of "+strconv.Itoa(n)+" bytes", nil)
		}
		return UploadChunk{Bytes: x.BytesBytes()}, nil
	default: // the verifier lets no other type pass
		var x sessionfb.UploadEnd
		x.Init(tab.Bytes, tab.Pos)
		end := UploadEnd{ArchiveBytes: x.ArchiveBytes()}
		if x.DigestLength() != UploadDigestSize {
			return nil, fault.New(fault.WireInvalid, "wire.Decode", ident.Ref{}, "a digest of "+strconv.Itoa(x.DigestLength())+" bytes", nil)
		}
		copy(end.Digest[:], x.DigestBytes())
		return end, nil
	}
}

// EncodeUploadServer builds a frame of an upload stream (identifier NXUR). Texts for people are made valid UTF-8.
func EncodeUploadServer(body UploadServerBody) ([]byte, error) {
	t := sessionfb.UploadServerFrameT{Body: &sessionfb.UploadServerBodyT{}}
	size := 0
	switch b := body.(type) {
	case UploadAccepted:
		t.Body.Type, t.Body.Value = sessionfb.UploadServerBodyUploadAccepted, &sessionfb.UploadAcceptedT{Version: b.Version}
	case UploadResult:
		size = len(b.Text) + len(b.Hint) + len(b.Code)
		disposition := sessionfb.Disposition(b.Disposition)
		t.Body.Type = sessionfb.UploadServerBodyUploadResult
		t.Body.Value = &sessionfb.UploadResultT{Disposition: &disposition, Version: b.Version, Code: b.Code, Text: clean(b.Text), Hint: clean(b.Hint)}
	default:
		return nil, unencodable("upload frame without body", nil)
	}
	return finish(sessionfb.RootUploadServerFrame, size, UploadFrameLimit, t.Pack)
}

// DecodeUploadServer verifies a frame and reads it. Faults: wire.too_large, wire.invalid.
func DecodeUploadServer(frame []byte) (UploadServerBody, error) {
	if err := verifySession(sessionfb.RootUploadServerFrame, frame, UploadFrameLimit); err != nil {
		return nil, err
	}
	root := sessionfb.GetRootAsUploadServerFrame(frame, 0)
	var tab flatbuffers.Table
	root.Body(&tab)
	if root.BodyType() == sessionfb.UploadServerBodyUploadAccepted {
		var x sessionfb.UploadAccepted
		x.Init(tab.Bytes, tab.Pos)
		return UploadAccepted{Version: x.Version()}, nil
	}
	var x sessionfb.UploadResult
	x.Init(tab.Bytes, tab.Pos)
	return UploadResult{Disposition: Disposition(*x.Disposition()), Version: x.Version(), Code: string(x.Code()), Text: string(x.Text()),
		Hint: string(x.Hint())}, nil
}

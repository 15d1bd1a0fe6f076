// SPDX-License-Identifier: Apache-2.0

package wire_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/wire"
	"pgregory.net/rapid"
)

// uploadFrame is one frame of an upload stream.
type uploadFrame struct {
	name   string
	client wire.UploadClientBody
	server wire.UploadServerBody
}

var uploads = []uploadFrame{
	{name: "upload_open", client: wire.UploadOpen{Reference: reference, Domain: "weather", Resource: "models"}},
	{name: "upload_chunk", client: wire.UploadChunk{Bytes: []byte("one part of an archive")}},
	{name: "upload_end", client: wire.UploadEnd{ArchiveBytes: 22, Digest: [32]byte{0: 1, 31: 0xff}}},
	{name: "upload_accepted", server: wire.UploadAccepted{Version: 3}},
	{name: "upload_done", server: wire.UploadResult{Disposition: wire.DispositionCompleted, Version: 3}},
	{name: "upload_failed", server: wire.UploadResult{Disposition: wire.DispositionFailed, Code: "resource.size", Text: "longer than announced",
		Hint: "upload it again"}},
}

func (u uploadFrame) encode(t testing.TB) []byte {
	t.Helper()
	frame, err := wire.EncodeUploadServer(u.server)
	if u.client != nil {
		frame, err = wire.EncodeUploadClient(u.client)
	}
	if err != nil {
		t.Fatal(u.name, err)
	}
	return frame
}

func (u uploadFrame) decode(frame []byte) (any, error) {
	if u.client != nil {
		return wire.DecodeUploadClient(frame)
	}
	return wire.DecodeUploadServer(frame)
}

func (u uploadFrame) want() any {
	if u.client != nil {
		return u.client
	}
	return u.server
}

// TestGoldenUploadFrames keeps the bytes of upload frames; -rewrite-frames writes them anew.
func TestGoldenUploadFrames(t *testing.T) {
	for _, u := range uploads {
		t.Run(u.name, func(t *testing.T) {
			frame := u.encode(t)
			got, err := u.decode(frame)
			if diff := cmp.Diff(u.want(), got); err != nil || diff != "" {
				t.Fatal(err, diff)
			}
			text := fmt.Sprintf("%+v\n----\n%s", got, hex.Dump(frame))
			path := filepath.Join("testdata", "frames", u.name+".txt")
			if *rewriteFrames {
				write(t, path, text)
				fuzz := "FuzzDecodeUploadServer"
				if u.client != nil {
					fuzz = "FuzzDecodeUploadClient"
				}
				write(t, filepath.Join("testdata", "fuzz", fuzz, u.name), fmt.Sprintf("go test fuzz v1\n[]byte(%q)\n", frame))
			}
			stored, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if text != string(stored) || !bytes.Equal(unhex(t, string(stored)), frame) {
				t.Errorf("written now:\n%s\nstored:\n%s", text, stored)
			}
		})
	}
}

func TestUploadFramesKeepTheirValues(t *testing.T) {
	// req: X-030
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(0, 12, 100)
		var digest [32]byte
		copy(digest[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "digest"))
		for _, u := range []uploadFrame{
			{client: wire.UploadOpen{Reference: "r-1", Domain: name(t, "domain"), Resource: name(t, "resource")}},
			{client: wire.UploadChunk{Bytes: rapid.SliceOfN(rapid.Byte(), 1, 500).Draw(t, "bytes")}},
			{client: wire.UploadEnd{ArchiveBytes: rapid.Uint64Min(1).Draw(t, "size"), Digest: digest}},
			{server: wire.UploadAccepted{Version: rapid.Uint64Min(1).Draw(t, "version")}},
			{server: wire.UploadResult{Disposition: wire.Disposition(rapid.IntRange(1, 3).Draw(t, "disposition")),
				Version: rapid.Uint64().Draw(t, "assigned"), Code: "a.b", Text: text.Draw(t, "text"), Hint: text.Draw(t, "hint")}},
		} {
			var frame []byte
			var err error
			if u.client != nil {
				frame, err = wire.EncodeUploadClient(u.client)
			} else {
				frame, err = wire.EncodeUploadServer(u.server)
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := u.decode(frame)
			if diff := cmp.Diff(u.want(), got); err != nil || diff != "" {
				t.Fatal(err, diff)
			}
		}
	})
}

func TestUploadFramesThatAreRefused(t *testing.T) {
	// req: X-026
	// req: X-028
	largest := wire.UploadChunk{Bytes: make([]byte, wire.MaxUploadChunk)}
	frame, err := wire.EncodeUploadClient(largest)
	if err != nil || len(frame) > wire.UploadFrameLimit {
		t.Fatalf("the largest chunk: %d bytes, %v", len(frame), err)
	}
	if got, err := wire.DecodeUploadClient(frame); err != nil || !cmp.Equal(got, wire.UploadClientBody(largest)) {
		t.Fatal("the largest chunk is not read:", err)
	}
	for what, body := range map[string]wire.UploadClientBody{
		"a chunk too large": wire.UploadChunk{Bytes: make([]byte, wire.MaxUploadChunk+1)},
		"an empty chunk":    wire.UploadChunk{},
		"an empty archive":  wire.UploadEnd{},
		"no reference":      wire.UploadOpen{Domain: "d", Resource: "r"},
		"nothing":           nil,
	} {
		if _, err := wire.EncodeUploadClient(body); err == nil {
			t.Errorf("%s is sent", what)
		}
	}
	short := rawUpload(3, func(b *builder) offset { return table(b, member{0, bytesOf(b, 31)}, member{1, uint64(9)}) })
	if _, err := wire.DecodeUploadClient(short); fault.CodeOf(err) != fault.WireInvalid {
		t.Errorf("a digest of 31 bytes: %v", err)
	}
	over := rawUpload(2, func(b *builder) offset { return table(b, member{0, bytesOf(b, wire.MaxUploadChunk+1)}) })
	if _, err := wire.DecodeUploadClient(over); fault.CodeOf(err) != fault.WireTooLarge {
		t.Errorf("a chunk of 1 MiB and a byte: %v", err)
	}
	accepted := uploadFrame{server: wire.UploadAccepted{Version: 1}}.encode(t)
	if _, err := wire.DecodeUploadClient(accepted); fault.CodeOf(err) != fault.WireInvalid {
		t.Errorf("a frame of the server from a client: %v", err)
	}
	if _, err := wire.DecodeClient(uploads[0].encode(t), wire.DefaultFrameLimit); fault.CodeOf(err) != fault.WireInvalid {
		t.Errorf("a frame of an upload on a lane: %v", err)
	}
}

// TestDamagedUploadFrames mutates frames: none may panic, what is accepted reads the same twice, and memory stays in proportion.
func TestDamagedUploadFrames(t *testing.T) {
	// req: X-027
	// req: X-038 half: frames only, not yet Arrow streams
	r := rand.New(rand.NewPCG(5, 6))
	for i := range 20_000 {
		u := uploads[r.IntN(len(uploads))]
		frame := mutate(r, u.encode(t))
		a, err := u.decode(frame)
		b, again := u.decode(frame)
		same(t, a, b, err, again)
		if i%16 == 0 {
			bound := 64<<10 + 16*len(frame)
			if got := allocated(bound, func() { _, _ = u.decode(frame) }); got > bound {
				t.Fatalf("a frame of %d bytes allocated %d", len(frame), got)
			}
		}
	}
}

func FuzzDecodeUploadClient(f *testing.F) {
	f.Fuzz(func(t *testing.T, frame []byte) {
		decoded, err := wire.DecodeUploadClient(frame)
		if err != nil {
			return
		}
		again, err := wire.EncodeUploadClient(decoded)
		if err != nil {
			t.Fatalf("accepted but not encodable: %v", err)
		}
		second, err := wire.DecodeUploadClient(again)
		if err != nil || !cmp.Equal(decoded, second) {
			t.Fatalf("read differently after encoding: %v", err)
		}
	})
}

func FuzzDecodeUploadServer(f *testing.F) {
	f.Fuzz(func(t *testing.T, frame []byte) {
		decoded, err := wire.DecodeUploadServer(frame)
		if err != nil {
			return
		}
		again, err := wire.EncodeUploadServer(decoded)
		if err != nil {
			t.Fatalf("accepted but not encodable: %v", err)
		}
		second, err := wire.DecodeUploadServer(again)
		if err != nil || !cmp.Equal(decoded, second) {
			t.Fatalf("read differently after encoding: %v", err)
		}
	})
}

// SPDX-License-Identifier: Apache-2.0

package wire_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/wire"
)

func TestFramesOfAStream(t *testing.T) {
	long := bytes.Repeat([]byte{7}, 200_000)
	stream := wire.AppendFrame(wire.AppendFrame(nil, goodCommand()), long)
	r := bytes.NewReader(stream)
	for _, want := range [][]byte{goodCommand(), long} {
		got, err := wire.ReadFrame(r, 1<<20)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("got %d bytes, %v", len(got), err)
		}
	}
	if _, err := wire.ReadFrame(r, 1<<20); !errors.Is(err, io.EOF) {
		t.Fatalf("end of the stream: %v", err)
	}
}

// TestAnnouncedLengthsAreNotBelieved: memory follows the bytes that arrive, and a length above the limit costs nothing.
func TestAnnouncedLengthsAreNotBelieved(t *testing.T) {
	// req: X-038 half: frames only, not yet Arrow streams
	for _, c := range []struct {
		name  string
		input []byte
		code  fault.Code
	}{
		{"above the limit", []byte{0, 0, 80, 0, 1, 2, 3}, fault.WireTooLarge},
		{"4 GiB", []byte{255, 255, 255, 255, 1}, fault.WireTooLarge},
		{"no frame is so short", []byte{7, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7}, fault.WireInvalid},
		{"cut", []byte{0, 0, 64, 0, 1, 2, 3}, ""},
	} {
		var err error
		bound := 64<<10 + 16*len(c.input)
		got := allocated(bound, func() { _, err = wire.ReadFrame(bytes.NewReader(c.input), wire.DefaultFrameLimit) })
		if err == nil || fault.CodeOf(err) != c.code {
			t.Errorf("%s: got %v, want %q", c.name, err, c.code)
		}
		if got > bound {
			t.Errorf("%s: allocated %d, the bound is %d", c.name, got, bound)
		}
	}
}

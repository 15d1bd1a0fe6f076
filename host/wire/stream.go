// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/binary"
	"errors"
	"io"
	"strconv"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
)

// On a stream a frame follows its length: four bytes, little-endian, not counting themselves.
const lengthBytes = 4

// Limits of a session frame (X, limits table).
const (
	DefaultFrameLimit = 4 << 20
	MinFrameLimit     = 1 << 10
	MaxFrameLimit     = 256 << 20
)

// firstRead bounds what an announced length allocates before bytes arrive.
const firstRead = 32 << 10

// AppendFrame writes length and frame behind dst.
func AppendFrame(dst, frame []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(frame)))
	return append(dst, frame...)
}

// ReadFrame reads one frame. A length above limit or below a possible frame is refused before anything is allocated for it; a longer
// frame grows with the bytes that arrived. The caller owns the result. io.EOF means that the stream ended between frames; every other
// end is io.ErrUnexpectedEOF or the reader's error.
func ReadFrame(r io.Reader, limit int) ([]byte, error) {
	var head [lengthBytes]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := int(binary.LittleEndian.Uint32(head[:]))
	switch {
	case n > limit:
		return nil, fault.New(fault.WireTooLarge, "wire.ReadFrame", ident.Ref{},
			"frame of "+strconv.Itoa(n)+" bytes, the limit is "+strconv.Itoa(limit), nil)
	case n < 8:
		return nil, fault.New(fault.WireInvalid, "wire.ReadFrame", ident.Ref{}, "frame of "+strconv.Itoa(n)+" bytes", nil)
	}
	frame := make([]byte, 0, min(n, firstRead))
	for {
		have := len(frame)
		frame = frame[:cap(frame)]
		got, err := io.ReadFull(r, frame[have:])
		frame = frame[:have+got]
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		if len(frame) == n {
			return frame, nil
		}
		grown := make([]byte, len(frame), min(n, 2*len(frame)))
		copy(grown, frame)
		frame = grown
	}
}

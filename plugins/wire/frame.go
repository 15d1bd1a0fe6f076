// SPDX-License-Identifier: Apache-2.0

package wire

import "encoding/binary"

// Kind says what a frame carries.
type Kind uint8

// The frames. S = connector to host for a source, K = host to connector for a sink; numbers are never reused.
const (
	KindSchema   Kind = 1 // sender of batches: body = IPC schema message, Count = its index (0..7)
	KindBatch    Kind = 2 // sender of batches: body = IPC record batch message, Count = schema index, Arg = attempt (sinks) or rows (sources)
	KindGrant    Kind = 3 // receiver of batches: Count = batches, Arg = bytes, body = rows (i64)
	KindAck      Kind = 4 // host to source: body = position; everything up to it is settled and durable
	KindAnswer   Kind = 5 // sink to host: body = answer list, Arg = attempt
	KindFinished Kind = 6 // source to host: everything was delivered; Arg = payloads skipped in this epoch
	KindFailed   Kind = 7 // connector to host: body = reason, Flags bit 0 = definitive
	KindClosed   Kind = 8 // connector to host: the last frame of a channel
)

const (
	// FlagDefinitive marks a KindFailed that a retry cannot mend.
	FlagDefinitive = 1
	// FlagAgain marks a KindBatch of rows that are sent again after a rejection.
	FlagAgain = 1
)

func (k Kind) valid() bool { return k >= KindSchema && k <= KindClosed }

// Header is the fixed part of a frame.
type Header struct {
	Length  uint32 // bytes of the body
	Kind    Kind
	Flags   uint8
	Channel uint32
	Count   uint32
	Arg     uint64
}

// HeaderBytes is the size of an encoded header; a multiple of 8 so that bodies keep their alignment.
const HeaderBytes = 24

func (h Header) put(b []byte) {
	binary.LittleEndian.PutUint32(b, h.Length)
	b[4], b[5], b[6], b[7] = byte(h.Kind), h.Flags, 0, 0
	binary.LittleEndian.PutUint32(b[8:], h.Channel)
	binary.LittleEndian.PutUint32(b[12:], h.Count)
	binary.LittleEndian.PutUint64(b[16:], h.Arg)
}

func parseHeader(b []byte) (Header, bool) {
	h := Header{
		Length:  binary.LittleEndian.Uint32(b),
		Kind:    Kind(b[4]),
		Flags:   b[5],
		Channel: binary.LittleEndian.Uint32(b[8:]),
		Count:   binary.LittleEndian.Uint32(b[12:]),
		Arg:     binary.LittleEndian.Uint64(b[16:]),
	}
	return h, h.Kind.valid() && b[6] == 0 && b[7] == 0
}

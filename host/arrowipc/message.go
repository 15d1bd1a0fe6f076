// SPDX-License-Identifier: Apache-2.0

package arrowipc

import (
	"encoding/binary"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
)

// Numbers of the Arrow format (Message.fbs).
const (
	headerSchema      = 1
	headerRecordBatch = 3
	metadataV4        = 3
	metadataV5        = 4
	continuation      = 0xFFFFFFFF
	prefixBytes       = 8
	bufferAlign       = 8
)

func invalid(detail string) error {
	return fault.New(fault.ArrowInvalid, "arrowipc.Decode", ident.Ref{}, detail, nil)
}

func refused(detail string) error {
	return fault.New(fault.ArrowUnsupported, "arrowipc", ident.Ref{}, detail, nil)
}

// message is one encapsulated message whose envelope was checked.
type message struct {
	kind   uint8
	meta   flat
	header table
	body   []byte
	// bodyAt is the offset of body in the bytes that were split.
	bodyAt int
}

// split takes the first encapsulated message off b. rest is what follows it; end is true when b holds the end-of-stream mark or nothing.
func split(b []byte) (m message, rest []byte, end bool, err error) {
	if len(b) == 0 {
		return message{}, nil, true, nil
	}
	if len(b) < prefixBytes {
		return message{}, nil, false, invalid("the message is shorter than its prefix")
	}
	if binary.LittleEndian.Uint32(b) != continuation {
		return message{}, nil, false, invalid("the message does not begin with the continuation mark")
	}
	size := binary.LittleEndian.Uint32(b[4:])
	if size == 0 {
		return message{}, b[prefixBytes:], true, nil
	}
	if size%bufferAlign != 0 || uint64(size) > uint64(len(b)-prefixBytes) {
		return message{}, nil, false, invalid("the metadata length does not fit the message")
	}
	m.bodyAt = prefixBytes + int(size)
	m.meta = flat{b: b[prefixBytes:m.bodyAt]}
	root := m.meta.root()
	version := m.meta.int16(root, 0, 0)
	m.kind = m.meta.uint8(root, 1, 0)
	header, ok := m.meta.child(root, 2)
	bodyLen := m.meta.int64(root, 3, 0)
	if m.meta.bad || !ok {
		return message{}, nil, false, invalid("the message metadata is damaged")
	}
	if version != metadataV4 && version != metadataV5 {
		return message{}, nil, false, refused("the metadata version is neither 4 nor 5")
	}
	if bodyLen < 0 || bodyLen%bufferAlign != 0 || bodyLen > int64(len(b)-m.bodyAt) {
		return message{}, nil, false, invalid("the body length does not fit the message")
	}
	m.header = header
	m.body = b[m.bodyAt : m.bodyAt+int(bodyLen)]
	return m, b[m.bodyAt+int(bodyLen):], false, nil
}

// SPDX-License-Identifier: Apache-2.0

package state

import (
	"encoding/binary"

	"github.com/nervix-go/nervix/host/kernel/ident"
)

// space is a namespace: the first byte of a key. The numbers are stored and never reused. The second byte is the version of the
// namespace's keys. See docs/formats/state.md.
type space byte

const (
	spaceMeta      space = 0x01
	spacePositions space = 0x10
	// Kept free: 0x11 checkpoints, 0x12 materialized rows, 0x13 dedup history.
)

const positionKeyVersion = 1

// headerKey holds the format version and the owner.
var headerKey = []byte{byte(spaceMeta), 'h'}

// appendName writes a name with its length before it, so that no name is the beginning of another.
func appendName(b []byte, n ident.Name) []byte {
	b = append(b, byte(len(n)))
	return append(b, n...)
}

// domainPrefix begins every position key of a domain.
func domainPrefix(d ident.Domain) []byte {
	return appendName([]byte{byte(spacePositions), positionKeyVersion}, d)
}

// ingestorPrefix begins every position key of an ingestor.
func ingestorPrefix(d ident.Domain, ingestor ident.Name) []byte {
	return appendName(domainPrefix(d), ingestor)
}

// epochPrefix begins every position key of one epoch of an ingestor; big-endian, so that epochs are in order.
func epochPrefix(d ident.Domain, ingestor ident.Name, epoch Epoch) []byte {
	return binary.BigEndian.AppendUint64(ingestorPrefix(d, ingestor), uint64(epoch))
}

func (k PositionKey) bytes() []byte {
	return binary.BigEndian.AppendUint32(epochPrefix(k.Domain, k.Ingestor, k.Epoch), uint32(k.Instance))
}

// parsePositionKey is the inverse of PositionKey.bytes.
func parsePositionKey(b []byte) (k PositionKey, ok bool) {
	if len(b) < 2 || space(b[0]) != spacePositions || b[1] != positionKeyVersion {
		return k, false
	}
	b = b[2:]
	for _, to := range []*ident.Name{&k.Domain, &k.Ingestor} {
		if len(b) == 0 || len(b) < 1+int(b[0]) || b[0] == 0 {
			return k, false
		}
		n := int(b[0])
		*to = ident.Name(b[1 : 1+n])
		b = b[1+n:]
	}
	if len(b) != 12 {
		return k, false
	}
	k.Epoch = Epoch(binary.BigEndian.Uint64(b))
	k.Instance = Instance(binary.BigEndian.Uint32(b[8:]))
	return k, true
}

// after is the first key behind every key that begins with the prefix. A prefix here never consists of 0xff only.
func after(prefix []byte) []byte {
	end := append([]byte(nil), prefix...)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}

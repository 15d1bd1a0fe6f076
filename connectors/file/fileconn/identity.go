// SPDX-License-Identifier: Apache-2.0

package fileconn

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// identity is what makes a file the same file: device, inode and the hash of its first bytes. How many were hashed is part of it, so a
// file that grows keeps its identity.
//
//	0  u64 device   8  u64 inode   16  u32 hashed bytes   20  32 bytes SHA-256
const (
	identityBytes = 52
	hashedBytes   = 1 << 10
)

func identityOf(f *os.File, hashed int64) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil, errors.New("the file system tells no inode")
	}
	head := make([]byte, hashed)
	if _, err := io.ReadFull(io.NewSectionReader(f, 0, hashed), head); err != nil {
		return nil, err
	}
	id := binary.LittleEndian.AppendUint64(make([]byte, 0, identityBytes), uint64(st.Dev))
	id = binary.LittleEndian.AppendUint64(id, st.Ino)
	id = binary.LittleEndian.AppendUint32(id, uint32(hashed))
	sum := sha256.Sum256(head)
	return append(id, sum[:]...), nil
}

// recognize gives the identity of f and, if the given one and the position belong to it, where to resume. why is set when reading begins
// anew although a position was given.
func recognize(f *os.File, size int64, given, pos []byte) (id []byte, at place, why string, err error) {
	if len(given) == identityBytes {
		hashed := int64(binary.LittleEndian.Uint32(given[16:]))
		var now []byte
		if hashed <= hashedBytes && hashed <= size {
			if now, err = identityOf(f, hashed); err != nil {
				return nil, place{}, "", err
			}
		}
		at, ok := parsePlace(pos)
		switch {
		case !bytes.Equal(now, given):
			why = "another file is at this path"
		case len(pos) == 0:
			return given, place{}, "", nil
		case !ok:
			why = "the stored position is not one of this connector"
		case at.end > size:
			why = fmt.Sprintf("the file has %d bytes and is shorter than the position %d", size, at.end)
		default:
			return given, at, "", nil
		}
	} else if len(given) != 0 {
		why = "the stored identity is not one of this connector"
	}
	id, err = identityOf(f, min(size, hashedBytes))
	return id, place{}, why, err
}

// place is the position of one delivery: the line number and its bytes start..end, its end of line included. The zero place is before the
// first line.
type place struct{ start, end, line int64 }

const placeBytes = 24

func (p place) put(b *[placeBytes]byte) {
	binary.LittleEndian.PutUint64(b[0:], uint64(p.start))
	binary.LittleEndian.PutUint64(b[8:], uint64(p.end))
	binary.LittleEndian.PutUint64(b[16:], uint64(p.line))
}

func parsePlace(b []byte) (place, bool) {
	if len(b) != placeBytes {
		return place{}, false
	}
	p := place{
		int64(binary.LittleEndian.Uint64(b[0:])), int64(binary.LittleEndian.Uint64(b[8:])), int64(binary.LittleEndian.Uint64(b[16:])),
	}
	return p, p.start >= 0 && p.end > p.start && p.line > 0
}

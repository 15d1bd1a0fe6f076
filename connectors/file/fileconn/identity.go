// SPDX-License-Identifier: Apache-2.0

package fileconn

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// identity is what makes a file the same file: device, inode, birth and the hash of its first bytes. How many were hashed is part of it, so a
// file that grows keeps its identity. The birth tells a file from a later one that got its inode; it is 0 where the file system keeps none, and
// where the identity is from a version that did not look.
//
//	0  u64 device   8  u64 inode   16  u32 hashed bytes   20  32 bytes SHA-256   52  i64 birth, ns
type identity struct {
	dev, ino uint64
	hashed   uint32
	sum      [sha256.Size]byte
	born     int64
}

const (
	birthlessBytes = 52
	identityBytes  = 60
	hashedBytes    = 1 << 10
)

func identityOf(f *os.File, hashed int64) (identity, error) {
	var id identity
	info, err := f.Stat()
	if err != nil {
		return id, err
	}
	dev, ino := numbers(info)
	if ino == 0 {
		return id, errors.New("the file system tells no inode")
	}
	head, err := headOf(f, hashed)
	if err != nil {
		return id, err
	}
	return identity{dev, ino, uint32(hashed), hashOf(head), birth(f)}, nil
}

// numbers are device and inode; both are 0 where the system tells none.
func numbers(info os.FileInfo) (dev, ino uint64) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Dev), st.Ino
	}
	return 0, 0
}

func hashOf(head []byte) [sha256.Size]byte { return sha256.Sum256(head) }

// headOf reads exactly the first bytes.
func headOf(f io.ReaderAt, size int64) ([]byte, error) {
	head := make([]byte, size)
	_, err := io.ReadFull(io.NewSectionReader(f, 0, size), head)
	return head, err
}

func (id identity) bytes() []byte {
	b := binary.LittleEndian.AppendUint64(make([]byte, 0, identityBytes), id.dev)
	b = binary.LittleEndian.AppendUint64(b, id.ino)
	b = binary.LittleEndian.AppendUint32(b, id.hashed)
	b = append(b, id.sum[:]...)
	return binary.LittleEndian.AppendUint64(b, uint64(id.born))
}

func parseIdentity(b []byte) (id identity, ok bool) {
	if len(b) != identityBytes && len(b) != birthlessBytes {
		return id, false
	}
	id.dev, id.ino = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	id.hashed = binary.LittleEndian.Uint32(b[16:])
	copy(id.sum[:], b[20:])
	if len(b) == identityBytes {
		id.born = int64(binary.LittleEndian.Uint64(b[birthlessBytes:]))
	}
	return id, id.hashed <= hashedBytes
}

// inode says whether both name one inode in one life.
func (id identity) inode(other identity) bool {
	return id.dev == other.dev && id.ino == other.ino && (id.born == other.born || id.born == 0 || other.born == 0)
}

// of says whether the file, of size bytes, has this identity.
func (id identity) of(f *os.File, size int64) (bool, error) {
	if int64(id.hashed) > size {
		return false, nil
	}
	now, err := identityOf(f, int64(id.hashed))
	return now.inode(id) && now.sum == id.sum, err
}

// recognize gives the identity of f and, if the given one and the position belong to it, where to resume. why is set when reading begins
// anew although a position was given.
func recognize(f *os.File, size int64, given, pos []byte) (id []byte, at place, why string, err error) {
	if known, ok := parseIdentity(given); ok {
		same, err := known.of(f, size)
		if err != nil {
			return nil, place{}, "", err
		}
		at, ok := parsePlace(pos)
		switch {
		case !same:
			why = anotherFile
		case len(pos) == 0:
			return given, place{}, "", nil
		case !ok:
			why = foreignPosition
		case at.end > size:
			why = shorterThan(size, at)
		default:
			return given, at, "", nil
		}
	} else if len(given) != 0 {
		why = foreignIdentity
	}
	fresh, err := identityOf(f, min(size, hashedBytes))
	return fresh.bytes(), place{}, why, err
}

// Why reading begins anew.
const (
	anotherFile     = "another file is at this path"
	foreignPosition = "the stored position is not one of this connector"
	foreignIdentity = "the stored identity is not one of this connector"
)

func shorterThan(size int64, at place) string {
	return fmt.Sprintf("the file has %d bytes and is shorter than the position %d", size, at.end)
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

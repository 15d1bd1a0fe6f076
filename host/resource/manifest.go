// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"

	"github.com/nervix-go/nervix/host/kernel/archive"
)

// The manifest of a version (docs/formats/resource.md): head, one record a file in the order of the archive, tail. Its last 32 bytes are
// the BLAKE3 digest of all before them. Integers are little-endian.
const (
	manifestMagic   = "NVXRSRCM"
	manifestVersion = 1
	headSize        = len(manifestMagic) + 4
	recordSize      = 8 + 8 + 32 + 2          // without the path
	tailSize        = 32 + 8 + 8 + 8 + 8 + 32 // with the seal
	// noPath in place of the length of a path ends the records.
	noPath = 0xffff
)

// FileInfo is one file of a version.
type FileInfo struct {
	Path   string
	Size   uint64
	Digest Digest
	// offset is where its content begins in the archive.
	offset uint64
}

// Version says what a stored version is: identity, length of its archive, what is in it.
type Version struct {
	Digest       Digest
	ArchiveBytes uint64
	// Files and Dirs are numbers of entries, Bytes is the length of all files together.
	Files, Dirs, Bytes uint64
}

// manifestWriter writes a manifest as an archive is taken apart.
type manifestWriter struct {
	to   *bufio.Writer
	hash hash.Hash
}

func newManifestWriter(to io.Writer) (*manifestWriter, error) {
	h := newHash()
	w := &manifestWriter{to: bufio.NewWriterSize(io.MultiWriter(to, h), 64<<10), hash: h}
	_, err := w.to.Write(binary.LittleEndian.AppendUint32([]byte(manifestMagic), manifestVersion))
	return w, err
}

func (w *manifestWriter) add(f FileInfo) error {
	b := make([]byte, 0, recordSize+len(f.Path))
	b = binary.LittleEndian.AppendUint16(b, uint16(len(f.Path))) // an archive has no path longer than archive.MaxPath
	b = binary.LittleEndian.AppendUint64(b, f.offset)
	b = binary.LittleEndian.AppendUint64(b, f.Size)
	b = append(b, f.Digest[:]...)
	_, err := w.to.Write(append(b, f.Path...))
	return err
}

// end writes tail and seal.
func (w *manifestWriter) end(to io.Writer, v Version) error {
	b := binary.LittleEndian.AppendUint16(nil, noPath)
	b = append(b, v.Digest[:]...)
	for _, n := range []uint64{v.ArchiveBytes, v.Files, v.Dirs, v.Bytes} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	if _, err := w.to.Write(b); err != nil {
		return err
	}
	if err := w.to.Flush(); err != nil {
		return err
	}
	_, err := to.Write(w.hash.Sum(nil))
	return err
}

func readManifest(path string, visit func(FileInfo)) (Version, error) {
	f, err := os.Open(path)
	if err != nil {
		return Version{}, err
	}
	defer f.Close()
	return scanManifest(f, visit)
}

// scanManifest shows each file of a manifest to visit and gives the version. What visit was shown may be believed only after the seal was
// found to fit: when the error is nil. Memory is bounded by one record.
func scanManifest(f io.Reader, visit func(FileInfo)) (Version, error) {
	from := bufio.NewReaderSize(f, 64<<10)
	h := newHash()
	sealed := io.TeeReader(from, h)
	v, err := readRecords(sealed, visit)
	if err != nil {
		return Version{}, err
	}
	want := sumOf(h)
	var seal Digest
	if _, err := io.ReadFull(from, seal[:]); err != nil {
		return Version{}, damage(err)
	}
	if seal != want {
		return Version{}, damage(errors.New("its digest does not fit"))
	}
	if _, err := from.ReadByte(); !errors.Is(err, io.EOF) {
		return Version{}, damage(errors.New("bytes follow its end"))
	}
	return v, nil
}

func readRecords(from io.Reader, visit func(FileInfo)) (Version, error) {
	var head [headSize]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return Version{}, damage(err)
	}
	if string(head[:len(manifestMagic)]) != manifestMagic {
		return Version{}, damage(errors.New("it is no manifest"))
	}
	if n := binary.LittleEndian.Uint32(head[len(manifestMagic):]); n != manifestVersion {
		return Version{}, damage(fmt.Errorf("it has format %d, and this version reads format %d", n, manifestVersion))
	}
	var fixed [recordSize]byte
	var path [archive.MaxPath]byte
	for {
		if _, err := io.ReadFull(from, fixed[:2]); err != nil {
			return Version{}, damage(err)
		}
		n := binary.LittleEndian.Uint16(fixed[:])
		if n == noPath {
			return readTail(from)
		}
		if n > archive.MaxPath {
			return Version{}, damage(errors.New("a path is longer than paths are"))
		}
		if _, err := io.ReadFull(from, fixed[2:]); err != nil {
			return Version{}, damage(err)
		}
		if _, err := io.ReadFull(from, path[:n]); err != nil {
			return Version{}, damage(err)
		}
		visit(FileInfo{
			Path: string(path[:n]), offset: binary.LittleEndian.Uint64(fixed[2:]), Size: binary.LittleEndian.Uint64(fixed[10:]),
			Digest: Digest(fixed[18:]),
		})
	}
}

func readTail(from io.Reader) (Version, error) {
	var b [tailSize - 32]byte
	if _, err := io.ReadFull(from, b[:]); err != nil {
		return Version{}, damage(err)
	}
	u := func(at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }
	return Version{Digest: Digest(b[:32]), ArchiveBytes: u(32), Files: u(40), Dirs: u(48), Bytes: u(56)}, nil
}

// readEnd reads only what ends a manifest. It tells a version that is there from one that is not, and no more: the seal is not checked.
func readEnd(path string) (Version, error) {
	f, err := os.Open(path)
	if err != nil {
		return Version{}, err
	}
	defer f.Close()
	if _, err := f.Seek(-int64(tailSize), io.SeekEnd); err != nil {
		return Version{}, damage(io.ErrUnexpectedEOF) // it is shorter
	}
	return readTail(f)
}

// errDamaged marks what is no failure of the disk but a content that cannot be right.
var errDamaged = errors.New("damaged")

func damage(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("it ends too early")
	}
	return fmt.Errorf("the manifest is %w: %w", errDamaged, err)
}

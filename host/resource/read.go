// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/nervix-go/nervix/host/kernel/archive"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
)

// File is an open file of a version. Its bytes were checked when it was opened. It stays readable when the version is removed.
type File struct {
	*io.SectionReader
	file *os.File
}

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }

// Open opens a file of a version and checks its content. Faults: resource.missing (this node has no such version), resource.file_unknown,
// resource.damaged, resource.storage.
func (s *Store) Open(d Digest, path string) (*File, uint64, error) {
	one, err := s.find(d, path)
	if err != nil {
		return nil, 0, err
	}
	f, err := s.content(d, one)
	if err != nil {
		return nil, 0, err
	}
	h := newHash()
	n, err := io.Copy(h, io.NewSectionReader(f, 0, int64(one.Size)))
	switch {
	case err == nil && uint64(n) < one.Size:
		err = s.unreadable(d, io.ErrUnexpectedEOF)
	case err != nil:
		err = s.unreadable(d, err)
	case sumOf(h) != one.Digest:
		err = s.damaged(d, path)
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, one.Size, nil
}

// Read gives the content of a file that has at most limit bytes; the slice is the caller's. Faults as Open, and resource.file_size.
func (s *Store) Read(d Digest, path string, limit uint64) ([]byte, error) {
	one, err := s.find(d, path)
	if err != nil {
		return nil, err
	}
	if one.Size > limit {
		return nil, fault.New(fault.ResourceFileSize, "resource.Read", ident.Ref{}, fmt.Sprintf("file %s has %d bytes, at most %d are allowed here", archive.Quote(path), one.Size, limit), nil)
	}
	f, err := s.content(d, one)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content := make([]byte, one.Size)
	if _, err := io.ReadFull(f, content); err != nil {
		return nil, s.unreadable(d, err)
	}
	h := newHash()
	h.Write(content)
	if sumOf(h) != one.Digest {
		return nil, s.damaged(d, path)
	}
	return content, nil
}

// Files lists the files of a version in the order of its archive. It needs memory for all their paths.
func (s *Store) Files(d Digest) ([]FileInfo, error) {
	var list []FileInfo
	if _, err := s.manifest(d, func(f FileInfo) { list = append(list, f) }); err != nil {
		return nil, err
	}
	return list, nil
}

// Check says whether a version is there, by length and identity, whatever its size. Reading its files checks more. Faults: resource.missing,
// resource.damaged, resource.storage.
func (s *Store) Check(d Digest) error {
	v, err := readEnd(filepath.Join(s.folder(d), manifestName))
	if err == nil && v.Digest != d {
		err = damage(errors.New("it does not end as that of this version"))
	}
	if err != nil {
		return s.unreadable(d, err)
	}
	_, err = s.measured(d, v)
	return err
}

// Stat says what a stored version is. The manifest is checked as a whole, the archive by its length. Faults as Check.
func (s *Store) Stat(d Digest) (Version, error) {
	v, err := s.manifest(d, func(FileInfo) {})
	if err != nil {
		return Version{}, err
	}
	return s.measured(d, v)
}

// measured sees that the archive has the length that the manifest says.
func (s *Store) measured(d Digest, v Version) (Version, error) {
	info, err := os.Stat(filepath.Join(s.folder(d), archiveName))
	switch {
	case err != nil:
		return Version{}, s.unreadable(d, err)
	case uint64(info.Size()) != v.ArchiveBytes:
		return Version{}, s.damagedArchive(d, fmt.Sprintf("it has %d bytes instead of %d", info.Size(), v.ArchiveBytes))
	}
	return v, nil
}

// verify reads a stored version as a whole.
func (s *Store) verify(d Digest) error {
	v, err := s.Stat(d)
	if err != nil {
		return err
	}
	f, err := os.Open(filepath.Join(s.folder(d), archiveName))
	if err != nil {
		return s.unreadable(d, err)
	}
	defer f.Close()
	h := newHash()
	if _, err := io.Copy(h, f); err != nil {
		return s.unreadable(d, err)
	}
	if sumOf(h) != d || v.Digest != d {
		return s.damagedArchive(d, "its digest does not fit")
	}
	return nil
}

func (s *Store) find(d Digest, path string) (FileInfo, error) {
	var found FileInfo
	_, err := s.manifest(d, func(f FileInfo) {
		if f.Path == path {
			found = f
		}
	})
	switch {
	case err != nil:
		return FileInfo{}, err
	case found.Path == "":
		return FileInfo{}, fault.New(fault.ResourceFileUnknown, "resource.Open", ident.Ref{}, "there is no file "+archive.Quote(path)+" in the version", nil)
	}
	return found, nil
}

// manifest reads the manifest of a version and sees that it is that of this version.
func (s *Store) manifest(d Digest, visit func(FileInfo)) (Version, error) {
	v, err := readManifest(filepath.Join(s.folder(d), manifestName), visit)
	if err == nil && v.Digest != d {
		err = damage(errors.New("it belongs to another version"))
	}
	if err != nil {
		return Version{}, s.unreadable(d, err)
	}
	return v, nil
}

// content opens the archive at one file.
func (s *Store) content(d Digest, one FileInfo) (*File, error) {
	f, err := os.Open(filepath.Join(s.folder(d), archiveName))
	if err != nil {
		return nil, s.unreadable(d, err)
	}
	return &File{SectionReader: io.NewSectionReader(f, int64(one.offset), int64(one.Size)), file: f}, nil
}

// unreadable is the fault of a version that could not be read.
func (s *Store) unreadable(d Digest, err error) error {
	op, what := "resource.Open", "version "+d.String()+" in "+s.dir
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.New(fault.ResourceMissing, op, ident.Ref{}, "this node has no files of the "+what, nil)
	case errors.Is(err, errDamaged):
		return fault.New(fault.ResourceDamaged, op, ident.Ref{}, what, err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return s.damagedArchive(d, "it ends too early")
	}
	return fault.New(fault.ResourceStorage, op, ident.Ref{}, "reading "+what, err)
}

func (s *Store) damaged(d Digest, path string) error {
	return s.damagedArchive(d, "the content of "+archive.Quote(path)+" does not fit its digest")
}

func (s *Store) damagedArchive(d Digest, why string) error {
	return fault.New(fault.ResourceDamaged, "resource.Open", ident.Ref{}, "the archive of version "+d.String()+" in "+s.dir+": "+why, nil)
}

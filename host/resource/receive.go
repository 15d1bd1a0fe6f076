// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"context"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"

	"github.com/nervix-go/nervix/host/kernel/archive"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
)

// copyBytes is what one step of receiving takes; between steps the context is asked.
const copyBytes = 256 << 10

// freeEvery is how many bytes are written between two looks at the free space.
const freeEvery = 16 << 20

// Received is an archive that was taken apart and found good. It is not a version yet: Publish makes it one, Release gives it up. Its owner
// calls Release once, whatever happened before. Not for concurrent use.
type Received struct {
	store     *Store
	folder    string
	version   Version
	published bool
	released  bool
}

// Receive reads an archive up to the end of from, checks it, and writes it into a folder of its own. Nothing is left behind when it fails.
//
// Faults: resource.archive (the bytes are not the archive of a folder), resource.limit, resource.disk_full, resource.storage. A failure of
// from, and the cause of ctx, come as they are.
func (s *Store) Receive(ctx context.Context, from io.Reader) (*Received, error) {
	folder := s.incoming()
	if err := s.disk.Mkdir(folder); err != nil {
		return nil, s.broken("resource.Receive", "making a folder for the upload", err)
	}
	v, err := s.write(ctx, folder, from)
	if err != nil {
		_ = s.disk.RemoveAll(folder) // what stays is removed at the next start
		return nil, err
	}
	return &Received{store: s, folder: folder, version: v}, nil
}

// write writes archive and manifest. Both are durable when it returns.
func (s *Store) write(ctx context.Context, folder string, from io.Reader) (v Version, err error) {
	tar, err := s.disk.Create(filepath.Join(folder, archiveName))
	if err != nil {
		return v, s.broken("resource.Receive", "making the archive of the upload", err)
	}
	defer func() { err = errors.Join(err, s.closed(tar)) }()
	list, err := s.disk.Create(filepath.Join(folder, manifestName))
	if err != nil {
		return v, s.broken("resource.Receive", "making the manifest of the upload", err)
	}
	defer func() { err = errors.Join(err, s.closed(list)) }()

	in := &intake{store: s, ctx: ctx, from: from, to: tar, hash: newHash()}
	out := &sink{store: s, to: list}
	if v, err = s.take(in, out); err != nil {
		return v, err
	}
	for _, f := range []output{tar, list} {
		if err := f.Sync(); err != nil {
			return v, s.broken("resource.Receive", "synchronizing the upload", err)
		}
	}
	if err := s.disk.SyncDir(folder); err != nil {
		return v, s.broken("resource.Receive", "synchronizing the folder of the upload", err)
	}
	return v, nil
}

func (s *Store) closed(f output) error {
	if err := f.Close(); err != nil {
		return s.broken("resource.Receive", "closing a file of the upload", err)
	}
	return nil
}

// take reads all entries.
func (s *Store) take(in *intake, out *sink) (v Version, err error) {
	manifest, err := newManifestWriter(out)
	if err != nil {
		return v, err
	}
	r := archive.NewReader(in, s.options.Limits)
	buffer := make([]byte, copyBytes)
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return v, judged(err)
		}
		if e.Dir {
			continue
		}
		one := FileInfo{Path: e.Path, Size: e.Size, offset: r.Offset()}
		h := newHash()
		if _, err := io.CopyBuffer(onlyWriter{h}, onlyReader{r}, buffer); err != nil {
			return v, judged(err)
		}
		one.Digest = sumOf(h)
		if err := manifest.add(one); err != nil {
			return v, err
		}
	}
	t := r.Totals()
	v = Version{Digest: sumOf(in.hash), ArchiveBytes: in.bytes, Files: t.Files, Dirs: t.Dirs, Bytes: t.Bytes}
	return v, manifest.end(out, v)
}

// onlyReader and onlyWriter hide other methods, so that io.CopyBuffer uses the buffer.
type onlyReader struct{ io.Reader }

type onlyWriter struct{ io.Writer }

// judged makes a fault of what the reader of archives said; other errors come from below and are what they are.
func judged(err error) error {
	var why *archive.Reason
	if !errors.As(err, &why) {
		return err
	}
	code := fault.ResourceArchive
	if why.Limit {
		code = fault.ResourceLimit
	}
	return fault.New(code, "resource.Receive", ident.Ref{}, why.Error(), nil)
}

// intake writes what is read through, and counts and digests it.
type intake struct {
	store *Store
	ctx   context.Context
	from  io.Reader
	to    output
	hash  hash.Hash
	bytes uint64
	// looked is the count at which the free space is looked at next.
	looked uint64
}

// Read implements io.Reader.
func (in *intake) Read(p []byte) (int, error) {
	if in.ctx.Err() != nil {
		return 0, context.Cause(in.ctx)
	}
	n, err := in.from.Read(p)
	if n == 0 {
		return 0, err
	}
	if most := in.store.options.Limits.Archive; uint64(n) > most-in.bytes {
		return 0, fault.New(fault.ResourceLimit, "resource.Receive", ident.Ref{}, fmt.Sprintf("the archive is longer than %d bytes", most), nil)
	}
	if failed := in.room(); failed != nil {
		return 0, failed
	}
	in.hash.Write(p[:n])
	if _, failed := in.to.Write(p[:n]); failed != nil {
		return 0, in.store.broken("resource.Receive", "writing the upload", failed)
	}
	in.bytes += uint64(n)
	return n, err
}

// room sees now and then that the disk does not become full.
func (in *intake) room() error {
	if in.bytes < in.looked {
		return nil
	}
	in.looked = in.bytes + freeEvery
	s := in.store
	free, err := s.disk.Free(s.dir)
	if err != nil {
		return s.broken("resource.Receive", "looking at the free space", err)
	}
	if free < s.options.Reserve+freeEvery {
		return fault.New(fault.ResourceDiskFull, "resource.Receive", ident.Ref{}, fmt.Sprintf(
			"the disk of %s has %d bytes free after %d bytes of the upload, and uploads leave %d bytes free", s.dir, free, in.bytes, s.options.Reserve), nil)
	}
	return nil
}

// sink turns failures of the manifest's file into faults.
type sink struct {
	store *Store
	to    output
}

// Write implements io.Writer.
func (k *sink) Write(p []byte) (int, error) {
	n, err := k.to.Write(p)
	if err != nil {
		err = k.store.broken("resource.Receive", "writing the manifest of the upload", err)
	}
	return n, err
}

// Version is what was received.
func (r *Received) Version() Version { return r.version }

// Publish makes the version durable under its digest and holds it until Release. Equal bytes that are there already, and whole, are
// shared; damaged ones are replaced.
func (r *Received) Publish() error {
	if r.published || r.released {
		return nil
	}
	s := r.store
	s.hold(r.version.Digest)
	if err := s.publish(r.folder, r.version.Digest); err != nil {
		s.release(r.version.Digest)
		return err
	}
	r.published = true
	return nil
}

func (s *Store) publish(folder string, d Digest) error {
	const attempts = 8 // each failed one is another upload of the same bytes that was faster
	for range attempts {
		err := s.disk.Rename(folder, s.folder(d))
		switch {
		case err == nil:
		case !errors.Is(err, fs.ErrExist):
			return s.broken("resource.Publish", "giving the upload its place", err)
		case s.verify(d) != nil:
			aside := s.incoming()
			if err := s.disk.Rename(s.folder(d), aside); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return s.broken("resource.Publish", "moving a damaged version away", err)
			}
			_ = s.disk.RemoveAll(aside)
			continue
		default:
			_ = s.disk.RemoveAll(folder)
		}
		if err := s.disk.SyncDir(s.dir); err != nil {
			return s.broken("resource.Publish", "synchronizing the folder of resources", err)
		}
		return nil
	}
	return fault.New(fault.ResourceStorage, "resource.Publish", ident.Ref{}, "the version "+d.String()+" cannot be given its place in "+s.dir, nil)
}

// Release ends the hold of a published version; what was not published is removed.
func (r *Received) Release() {
	switch {
	case r.released:
	case r.published:
		r.store.release(r.version.Digest)
	default:
		_ = r.store.disk.RemoveAll(r.folder)
	}
	r.released = true
}

func itoa(n uint64) string { return strconv.FormatUint(n, 10) }

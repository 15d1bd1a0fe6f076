// SPDX-License-Identifier: Apache-2.0

package state

import (
	"errors"
	"io/fs"
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// freezer is the file system that Pebble sees. The first error of anything that changes the disk latches the store, and from then on
// nothing changes the disk any more: every change is swallowed and reported as done.
//
// To the files that is a loss of power at the moment of the failure, which recovery has to master anyhow; a synchronization is never
// repeated, and no log is deleted because a later flush seemed to work. To Pebble it is a disk without errors, which matters because
// Pebble answers an error in the wrong place (a new log file cannot be made, a full log cannot be closed) by a panic that cannot be
// recovered: it strikes while a lock is released that a deferred call releases again. Nothing is promised on the strength of those
// swallowed changes: the latch is looked at after every commit. req G-007, pains D03, D04.
type freezer struct {
	vfs.FS
	hooks *hooks
}

// frozen says whether the store has failed.
func (h *hooks) frozen() bool {
	select {
	case <-h.latch.closed:
		return true
	default:
		return false
	}
}

// change makes a change unless the disk is frozen, and freezes it if the change fails.
func (h *hooks) change(what string, f func() error) {
	if h.frozen() {
		return
	}
	if err := f(); err != nil {
		h.failure(what, err)
	}
}

// file wraps a file that was opened for writing; a failure gives one that swallows.
func (z *freezer) file(what string, open func() (vfs.File, error)) (vfs.File, error) {
	var f vfs.File
	z.hooks.change(what, func() (err error) { f, err = open(); return err })
	if f == nil {
		f = &swallower{}
	}
	return &freezerFile{File: f, hooks: z.hooks}, nil
}

// Create implements vfs.FS.
func (z *freezer) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return z.file("create", func() (vfs.File, error) { return z.FS.Create(name, c) })
}

// OpenReadWrite implements vfs.FS.
func (z *freezer) OpenReadWrite(name string, c vfs.DiskWriteCategory, o ...vfs.OpenOption) (vfs.File, error) {
	return z.file("open", func() (vfs.File, error) { return z.FS.OpenReadWrite(name, c, o...) })
}

// ReuseForWrite implements vfs.FS.
func (z *freezer) ReuseForWrite(from, to string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return z.file("rename", func() (vfs.File, error) { return z.FS.ReuseForWrite(from, to, c) })
}

// OpenDir implements vfs.FS; the directory is only ever synchronized.
func (z *freezer) OpenDir(name string) (vfs.File, error) {
	f, err := z.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return &freezerFile{File: f, hooks: z.hooks}, nil
}

// Link implements vfs.FS.
func (z *freezer) Link(from, to string) error {
	z.hooks.change("link", func() error { return z.FS.Link(from, to) })
	return nil
}

// Rename implements vfs.FS.
func (z *freezer) Rename(from, to string) error {
	z.hooks.change("rename", func() error { return z.FS.Rename(from, to) })
	return nil
}

// MkdirAll implements vfs.FS.
func (z *freezer) MkdirAll(dir string, mode os.FileMode) error {
	z.hooks.change("make folder", func() error { return z.FS.MkdirAll(dir, mode) })
	return nil
}

// Remove implements vfs.FS. A file that is gone already is no failure, and Pebble wants to know.
func (z *freezer) Remove(name string) error { return z.remove(name, z.FS.Remove) }

// RemoveAll implements vfs.FS.
func (z *freezer) RemoveAll(name string) error { return z.remove(name, z.FS.RemoveAll) }

func (z *freezer) remove(name string, by func(string) error) (missing error) {
	z.hooks.change("remove", func() error {
		err := by(name)
		if errors.Is(err, fs.ErrNotExist) {
			missing, err = err, nil
		}
		return err
	})
	return missing
}

// Unwrap implements vfs.FS.
func (z *freezer) Unwrap() vfs.FS { return z.FS }

// freezerFile swallows changes once the disk is frozen.
type freezerFile struct {
	vfs.File
	hooks *hooks
}

// Write implements vfs.File.
func (f *freezerFile) Write(b []byte) (int, error) {
	f.hooks.change("write", func() error { _, err := f.File.Write(b); return err })
	return len(b), nil
}

// WriteAt implements vfs.File.
func (f *freezerFile) WriteAt(b []byte, at int64) (int, error) {
	f.hooks.change("write", func() error { _, err := f.File.WriteAt(b, at); return err })
	return len(b), nil
}

// Preallocate implements vfs.File. It only makes writing faster, and not every file system can; a full disk shows when writing.
func (f *freezerFile) Preallocate(offset, length int64) error {
	if !f.hooks.frozen() {
		_ = f.File.Preallocate(offset, length)
	}
	return nil
}

// Sync implements vfs.File.
func (f *freezerFile) Sync() error {
	f.hooks.change("synchronization", f.File.Sync)
	return nil
}

// SyncData implements vfs.File.
func (f *freezerFile) SyncData() error {
	f.hooks.change("synchronization", f.File.SyncData)
	return nil
}

// SyncTo implements vfs.File.
func (f *freezerFile) SyncTo(length int64) (full bool, err error) {
	f.hooks.change("synchronization", func() (err error) { full, err = f.File.SyncTo(length); return err })
	return full, nil
}

// Close implements vfs.File. It always closes; an error of it is a lost write.
func (f *freezerFile) Close() error {
	if err := f.File.Close(); err != nil && !f.hooks.frozen() {
		f.hooks.failure("close", err)
	}
	return nil
}

// swallower stands for a file that could not be made.
type swallower struct{ vfs.File }

func (*swallower) Close() error { return nil }
func (*swallower) Fd() uintptr  { return vfs.InvalidFd }

// Stat shows an empty file, since Pebble panics if it cannot learn the size of a log it takes into use again.
func (*swallower) Stat() (vfs.FileInfo, error) { return nothing{}, nil }

// nothing describes a file that is not there.
type nothing struct{ vfs.FileInfo }

func (nothing) Size() int64 { return 0 }

// Reading a swallowed file is an error like any other: it ends what Pebble was doing in the background.
func (*swallower) Read([]byte) (int, error)            { return 0, fs.ErrNotExist }
func (*swallower) ReadAt([]byte, int64) (int, error)   { return 0, fs.ErrNotExist }
func (*swallower) Prefetch(offset, length int64) error { return nil }

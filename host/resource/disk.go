// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
)

// disk is what the store does to the file system besides reading, so that tests can let each step fail.
type disk interface {
	// Create makes a file that must not exist.
	Create(path string) (output, error)
	Mkdir(path string) error
	// Rename puts a folder at a place where none may be: an error that is fs.ErrExist says that one is.
	Rename(from, to string) error
	RemoveAll(path string) error
	// SyncDir makes the names in a folder durable.
	SyncDir(path string) error
	// Free is the number of bytes that may still be written below a path.
	Free(path string) (uint64, error)
}

// output is a file being written.
type output interface {
	io.Writer
	Sync() error
	Close() error
}

// Modes of what the store makes: only the node reads it.
const (
	folderMode = 0o700
	fileMode   = 0o600
)

// local is the file system of the machine.
type local struct{}

func (local) Create(path string) (output, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
}

func (local) Mkdir(path string) error { return os.Mkdir(path, folderMode) }

func (local) Rename(from, to string) error { return os.Rename(from, to) }

func (local) RemoveAll(path string) error { return os.RemoveAll(path) }

func (local) SyncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func (local) Free(path string) (uint64, error) { return freeBytes(path) }

// broken is the fault of a failed write, with what a person needs to mend it.
func (s *Store) broken(op, doing string, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		detail := fmt.Sprintf("%s in %s: the disk is full", doing, s.dir)
		if free, failed := s.disk.Free(s.dir); failed == nil {
			detail += fmt.Sprintf(", %d bytes are free", free)
		}
		return fault.New(fault.ResourceDiskFull, op, ident.Ref{}, detail, err)
	}
	return fault.New(fault.ResourceStorage, op, ident.Ref{}, doing+" in "+s.dir, err)
}

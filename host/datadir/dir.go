// SPDX-License-Identifier: Apache-2.0

package datadir

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// Names inside the folder.
const (
	identityName    = "identity"
	incarnationName = "incarnation"
	lockName        = "lock"
	tlsName         = "tls"
	adminName       = "admin.json"
	contextName     = "context.json"
)

// Dir is an open, locked data folder. Close releases the lock.
type Dir struct {
	path        string
	lock        *os.File
	identity    Identity
	incarnation ident.Incarnation
	created     bool
}

// Open takes the folder for this process, makes it if it is missing or empty, and counts the start. now dates the identity of a new
// cluster. Faults, all with exit 3: daemon.locked with the holder's process id, daemon.foreign, daemon.newer, daemon.damaged.
func Open(path string, now vtime.UTC) (*Dir, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := judgeBefore(path); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(path, folderMode); err != nil {
		return nil, fmt.Errorf("making the data folder: %w", err)
	}
	lock, err := acquire(path)
	if err != nil {
		return nil, err
	}
	d := &Dir{path: path, lock: lock}
	if err := d.start(now); err != nil {
		_ = lock.Close()
		return nil, err
	}
	return d, nil
}

// judgeBefore refuses a foreign folder before anything is written into it.
func judgeBefore(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		return foreign(path, "it is not a folder")
	}
	if _, err := os.Stat(filepath.Join(path, identityName)); err == nil {
		return nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch e.Name() {
		case lockName, identityName + temporarySuffix, "lost+found": // a first start was cut here, or the folder is a mount point
		case incarnationName, tlsName, adminName:
			return damaged(path, fmt.Errorf("%s is missing beside %s", identityName, e.Name()))
		default:
			return foreign(path, "it holds "+e.Name()+" and no "+identityName)
		}
	}
	return nil
}

// start reads or makes the identity, and counts the start durably before it returns.
func (d *Dir) start(now vtime.UTC) error {
	content, err := readSealed(d.join(identityName))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return d.create(now)
	case err == nil:
		d.identity, err = decodeIdentity(content)
	}
	switch {
	case errors.Is(err, errMagic):
		return foreign(d.path, "file "+identityName+": "+err.Error())
	case errors.Is(err, errNewer):
		return fault.New(fault.DaemonNewer, "datadir.Open", ident.Ref{}, "data folder "+d.path, err)
	case err != nil:
		return damaged(d.path, fmt.Errorf("file %s: %w", identityName, err))
	}
	content, err = readSealed(d.join(incarnationName))
	switch {
	case errors.Is(err, os.ErrNotExist) && d.fresh():
		return d.count(1) // the first start was cut after the identity
	case err == nil:
		d.incarnation, err = decodeIncarnation(content)
	}
	if err != nil {
		return damaged(d.path, fmt.Errorf("file %s: %w", incarnationName, err))
	}
	return d.count(d.incarnation + 1)
}

func (d *Dir) create(now vtime.UTC) error {
	var random [10]byte
	_, _ = rand.Read(random[:])
	d.identity = Identity{Node: 1, Cluster: ident.NewReference(now.UnixMilli(), random)}
	d.created = true
	if err := replace(d.join(identityName), encodeIdentity(d.identity), publicFile); err != nil {
		return fmt.Errorf("writing %s: %w", d.join(identityName), err)
	}
	return d.count(1)
}

// fresh says that nothing but the identity has ever been written: no start was completed.
func (d *Dir) fresh() bool {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return false
	}
	for _, e := range entries {
		switch e.Name() {
		case lockName, identityName, identityName + temporarySuffix, incarnationName + temporarySuffix:
		default:
			return false
		}
	}
	return true
}

func (d *Dir) count(n ident.Incarnation) error {
	if err := replace(d.join(incarnationName), encodeIncarnation(n), publicFile); err != nil {
		return fmt.Errorf("writing %s: %w", d.join(incarnationName), err)
	}
	d.incarnation = n
	return nil
}

// Close releases the folder.
func (d *Dir) Close() error { return d.lock.Close() }

// Path is the absolute path of the folder.
func (d *Dir) Path() string { return d.path }

// Identity says whose data this is.
func (d *Dir) Identity() Identity { return d.identity }

// Incarnation is the number of this start, from 1.
func (d *Dir) Incarnation() ident.Incarnation { return d.incarnation }

// Created says that this start made the folder.
func (d *Dir) Created() bool { return d.created }

// Sub gives the path of a folder inside, for another package, and makes it.
func (d *Dir) Sub(name string) (string, error) {
	path := d.join(name)
	if err := os.MkdirAll(path, folderMode); err != nil {
		return "", err
	}
	return path, syncFolder(d.path)
}

func (d *Dir) join(names ...string) string {
	return filepath.Join(append([]string{d.path}, names...)...)
}

func foreign(path, why string) error {
	return fault.New(fault.DaemonForeign, "datadir.Open", ident.Ref{}, path+" is not a Nervix data folder: "+why, nil)
}

func damaged(path string, err error) error {
	return fault.New(fault.DaemonDamaged, "datadir.Open", ident.Ref{}, "data folder "+path, err)
}

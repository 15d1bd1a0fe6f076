// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"cmp"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/nervix-go/nervix/host/kernel/archive"
)

// Names inside the folder of the store.
const (
	incomingName = "incoming" // uploads under way, and what is being removed; emptied at each start
	archiveName  = "archive.tar"
	manifestName = "manifest"
)

// Options of a store. Zero values mean the defaults named.
type Options struct {
	// Limits of one version; archive.DefaultLimits.
	Limits archive.Limits
	// Reserve is how many bytes of the disk uploads leave free, 256 MiB: a full disk would end the node, whose log lies there too.
	Reserve uint64
	// Log tells of what was found at the start; nil discards.
	Log *slog.Logger
}

// Store keeps versions below one folder of the data folder, which is locked: no other process changes it. It is safe for concurrent use
// and starts no goroutine.
type Store struct {
	dir     string
	options Options
	disk    disk
	mu      struct {
		sync.Mutex
		// held counts by digest what was received and is not yet decided about.
		held map[Digest]int
		next uint64 // names of incoming folders
	}
}

// Open opens the store in a folder that exists, and removes what interrupted uploads left. Faults: resource.storage, resource.disk_full.
func Open(dir string, o Options) (*Store, error) { return open(dir, o, local{}) }

func open(dir string, o Options, d disk) (*Store, error) {
	o.Limits.Archive = cmp.Or(o.Limits.Archive, archive.DefaultLimits.Archive)
	o.Limits.Bytes = cmp.Or(o.Limits.Bytes, archive.DefaultLimits.Bytes)
	o.Limits.Files = cmp.Or(o.Limits.Files, archive.DefaultLimits.Files)
	o.Reserve = cmp.Or(o.Reserve, 256<<20)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Store{dir: dir, options: o, disk: d}
	s.mu.held = make(map[Digest]int)
	if err := s.clean(); err != nil {
		return nil, s.broken("resource.Open", "removing what interrupted uploads left", err)
	}
	return s, nil
}

// clean empties the folder of incoming versions.
func (s *Store) clean() error {
	incoming := filepath.Join(s.dir, incomingName)
	switch err := s.disk.Mkdir(incoming); {
	case err == nil:
		return s.disk.SyncDir(s.dir)
	case !errors.Is(err, fs.ErrExist):
		return err
	}
	entries, err := os.ReadDir(incoming)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := s.disk.RemoveAll(filepath.Join(incoming, e.Name())); err != nil {
			return err
		}
	}
	if len(entries) > 0 {
		s.options.Log.Info("removed what interrupted uploads left", "folder", incoming, "uploads", len(entries))
	}
	return nil
}

func (s *Store) folder(d Digest) string { return filepath.Join(s.dir, d.String()) }

// incoming gives the path of a new folder for what is not yet, or no longer, a version.
func (s *Store) incoming() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.next++
	return filepath.Join(s.dir, incomingName, itoa(s.mu.next))
}

// Keep removes the versions that nothing refers to. referenced gives those that a committed revision names; it is called while no upload
// can be released, so that one which was completed before its release is always among them. It must be short and not call the store.
// removed counts what is gone, also when there is an error.
func (s *Store) Keep(referenced func() map[Digest]bool) (removed int, err error) {
	moved, err := s.moveAway(referenced)
	for _, path := range moved {
		err = errors.Join(err, s.disk.RemoveAll(path))
	}
	if err != nil {
		err = s.broken("resource.Keep", "removing versions that nothing refers to", err)
	}
	return len(moved), err
}

// moveAway takes unreferenced versions out of sight, each by one rename: a version is there as a whole or not at all.
func (s *Store) moveAway(referenced func() map[Digest]bool) (moved []string, err error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	keep := referenced()
	for _, e := range entries {
		d, ok := parseDigest(e.Name())
		if !ok || keep[d] || s.mu.held[d] > 0 {
			continue
		}
		s.mu.next++
		to := filepath.Join(s.dir, incomingName, itoa(s.mu.next))
		switch failed := s.disk.Rename(s.folder(d), to); {
		case failed == nil:
			moved = append(moved, to)
		case !errors.Is(failed, fs.ErrNotExist): // another Keep was faster
			err = errors.Join(err, failed)
		}
	}
	return moved, err
}

// hold keeps a digest from Keep until release.
func (s *Store) hold(d Digest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.held[d]++
}

func (s *Store) release(d Digest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.held[d]--; s.mu.held[d] <= 0 {
		delete(s.mu.held, d)
	}
}

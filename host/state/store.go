// SPDX-License-Identifier: Apache-2.0

package state

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
)

// Store is an open store. All methods may be called from any goroutine, and none but Close waits for the disk.
type Store struct {
	dir   string
	db    *pebble.DB
	cache *pebble.Cache
	lock  *pebble.Lock
	hooks *hooks
	latch *latch

	wake  chan struct{} // holds one value while a round waits to be taken
	ended chan struct{} // closed when the store's goroutine has ended
	stuck bool          // a commit panicked: Pebble's locks are lost. Written by the store's goroutine, read after it has ended.

	mu struct {
		sync.Mutex
		closed bool
		open   *round // the round that gathers; nil if nothing was accepted since the last was taken
		// positions are all accepted ones. They are few and small: one a source, below 2 KiB.
		positions map[ingestorID]*progress
	}
}

// Open opens or creates the store in dir and starts its goroutine. Refusals are typed: daemon.locked, daemon.foreign (another node's
// or no store at all), daemon.newer, daemon.damaged, and state.failed if the file system does not work.
func Open(dir string, o Options) (*Store, error) {
	o = o.ensureDefaults()
	if err := makeFolder(dir, o.FS); err != nil {
		return nil, unusable(dir, err)
	}
	if err := inspect(dir, o.FS, false); err != nil { // leaves no lock file in a folder that is not ours
		return nil, err
	}
	lock, err := pebble.LockDirectory(dir, o.FS)
	if err != nil {
		if errno := syscall.Errno(0); errors.As(err, &errno) && errno != syscall.EAGAIN { // without a number it is this very process
			return nil, unusable(dir, err)
		}
		return nil, fault.New(fault.DaemonLocked, "state.Open", ident.Ref{}, "store "+dir+" is in use", err)
	}
	if err := inspect(dir, o.FS, true); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	l := newLatch()
	s := &Store{dir: dir, lock: lock, latch: l, hooks: &hooks{dir: dir, log: o.Logger, latch: l}, wake: make(chan struct{}, 1), ended: make(chan struct{})}
	s.cache = pebble.NewCache(cacheBytes)
	s.mu.positions = make(map[ingestorID]*progress)
	if err := s.openPebble(o); err != nil {
		return nil, errors.Join(err, s.release())
	}
	if err := s.load(o); err != nil {
		return nil, errors.Join(err, s.release())
	}
	go s.run()
	return s, nil
}

// makeFolder creates the folder and what is missing above it. Each new name is synchronized: a store whose folder vanishes in a power
// loss has lost everything it reported durable.
func makeFolder(dir string, filesystem vfs.FS) error {
	if _, err := filesystem.Stat(dir); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	above := filesystem.PathDir(dir)
	if above != dir {
		if err := makeFolder(above, filesystem); err != nil {
			return err
		}
	}
	if err := filesystem.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	parent, err := filesystem.OpenDir(above)
	if err != nil {
		return err
	}
	return errors.Join(parent.Sync(), parent.Close())
}

// openPebble guards against panics of Pebble on files it does not expect.
func (s *Store) openPebble(o Options) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = damaged(s.dir, "it cannot be opened", fmt.Errorf("%v", p))
		}
	}()
	s.db, err = pebble.Open(s.dir, o.pebbleOptions(s.cache, s.lock, s.hooks))
	if failed := s.latch.err(); failed != nil {
		return failed
	}
	if err != nil {
		return openError(s.dir, err)
	}
	return nil
}

// load checks the header, or writes it into a new store, and reads the positions.
func (s *Store) load(o Options) error {
	it, err := s.db.NewIter(nil)
	if err != nil {
		return openError(s.dir, err)
	}
	fresh := !it.First()
	header := !fresh && string(it.Key()) == string(headerKey)
	if header {
		err = checkHeader(s.dir, it.Value(), o)
	} else if !fresh {
		err = damaged(s.dir, "it has entries but no header", nil)
	}
	for ok := err == nil && header && it.Next(); ok; ok = err == nil && it.Next() {
		err = s.loadEntry(it.Key(), it.Value())
	}
	if broken := errors.Join(it.Error(), it.Close()); broken != nil && err == nil {
		err = openError(s.dir, broken)
	}
	if err != nil || header {
		return err
	}
	// The header also goes into a table at once: a log that is damaged from its first byte reads as an empty one, and then the header
	// still says that this is no new store.
	if err := errors.Join(s.db.Set(headerKey, encodeHeader(o), pebble.Sync), s.db.Flush()); err != nil {
		s.hooks.failure("creation", err)
	}
	return s.latch.err()
}

// loadEntry takes up one entry. Keys of one ingestor come with rising epochs, so the last epoch wins.
func (s *Store) loadEntry(key, value []byte) error {
	if space(key[0]) != spacePositions {
		return damaged(s.dir, fmt.Sprintf("it has an entry of unknown kind %#x", key[0]), nil)
	}
	k, ok := parsePositionKey(key)
	if !ok {
		return damaged(s.dir, "a position has an unreadable key", nil)
	}
	p, newer, ok := decodePosition(value)
	if newer {
		return fault.New(fault.DaemonNewer, "state.Open", ident.Ref{}, "store "+s.dir+" has positions of a newer version", nil)
	}
	if !ok {
		return damaged(s.dir, "a position is unreadable", nil)
	}
	id := ingestorID{k.Domain, k.Ingestor}
	known := s.mu.positions[id]
	if known == nil || known.epoch != k.Epoch {
		known = &progress{epoch: k.Epoch, at: make(map[Instance]Position)}
		s.mu.positions[id] = known
	}
	known.at[k.Instance] = p
	return nil
}

// Failed is closed when the store has failed; Err then says why. The owner of the process ends it in order.
func (s *Store) Failed() <-chan struct{} { return s.latch.closed }

// Err is the failure of the store, nil while it works.
func (s *Store) Err() error { return s.latch.err() }

// Close refuses new writes, makes the accepted ones durable, ends the goroutine and closes the files. It returns the failure of the
// store, if there was one. It waits as long as the disk takes; who cannot wait ends the process, which is safe at any moment. A store that failed in the midst of a commit keeps its files until the process ends.
func (s *Store) Close() error {
	s.mu.Lock()
	already := s.mu.closed
	s.mu.closed = true
	s.mu.Unlock()
	if !already {
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
	<-s.ended
	if already {
		return s.latch.err()
	}
	return errors.Join(s.latch.err(), s.release())
}

// release closes what Open opened.
func (s *Store) release() (err error) {
	if s.stuck {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("closing store %s: %v", s.dir, p)
		}
	}()
	failed := s.latch.err() != nil
	if s.db != nil {
		if !failed {
			err = s.db.Flush() // tables are checked block by block; of a log only the records before a later synchronization are
		}
		err = errors.Join(err, s.db.Close())
	}
	s.cache.Unref()
	err = errors.Join(err, s.lock.Close())
	if failed { // what closing says after a failure adds nothing
		return nil
	}
	return err
}

// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/nervix-go/nervix/host/osclock"
)

// cache keeps compiled modules as files. A file is native code that runs in this process, so it is believed only if its checksum holds
// for exactly this module, profile and library; the checksum guards against damage, not against somebody who may write to the folder.
// Anything unexpected is a miss.
//
//	0   8  magic and format version
//	8   8  length of the code, little-endian
//	16 32  SHA-256 of module identity, suffix and code
//	48     code
type cache struct {
	dir      string
	maxBytes int64
	suffix   string // profile and library
}

const cacheMagic = "NVWCODE\x01"
const cacheHead = 48

var errNotCached = errors.New("not in the cache")

func (c *cache) path(id Identity) string {
	return filepath.Join(c.dir, id.String()+"-"+c.suffix+".code")
}

func (c *cache) sum(id Identity, code []byte) []byte {
	h := sha256.New()
	h.Write(id[:])
	h.Write([]byte(c.suffix))
	h.Write(code)
	return h.Sum(nil)
}

func (c *cache) read(id Identity) ([]byte, error) {
	b, err := os.ReadFile(c.path(id))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, errNotCached
	case err != nil:
		return nil, err
	case len(b) < cacheHead || string(b[:8]) != cacheMagic:
		return nil, errors.New("the cached code has another format")
	case binary.LittleEndian.Uint64(b[8:]) != uint64(len(b)-cacheHead):
		return nil, errors.New("the cached code is cut")
	case !bytes.Equal(b[16:cacheHead], c.sum(id, b[cacheHead:])):
		return nil, errors.New("the cached code is damaged")
	}
	now := time.Unix(0, osclock.UTC().NS())
	_ = os.Chtimes(c.path(id), now, now) // only the order of pruning depends on it
	return b[cacheHead:], nil
}

// write replaces the file as a whole. It is not synchronized: a torn file is a miss.
func (c *cache) write(id Identity, code []byte) error {
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}
	head := make([]byte, 0, cacheHead)
	head = append(head, cacheMagic...)
	head = binary.LittleEndian.AppendUint64(head, uint64(len(code)))
	head = append(head, c.sum(id, code)...)
	f, err := os.CreateTemp(c.dir, "new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(head)
	if err == nil {
		_, err = f.Write(code)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), c.path(id))
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return fmt.Errorf("the compiled module is not cached: %w", err)
	}
	c.prune(c.path(id))
	return nil
}

func (c *cache) remove(id Identity) { _ = os.Remove(c.path(id)) }

// prune removes the files unused for longest until the folder is small enough; keep stays.
func (c *cache) prune(keep string) {
	type entry struct {
		path string
		size int64
		used time.Time
	}
	var all []entry
	var total int64
	names, _ := os.ReadDir(c.dir)
	for _, n := range names {
		if info, err := n.Info(); err == nil && info.Mode().IsRegular() {
			all = append(all, entry{filepath.Join(c.dir, n.Name()), info.Size(), info.ModTime()})
			total += info.Size()
		}
	}
	slices.SortFunc(all, func(a, b entry) int { return cmp.Or(a.used.Compare(b.used), cmp.Compare(a.path, b.path)) })
	for _, x := range all {
		if total <= c.maxBytes {
			return
		}
		if x.path != keep && os.Remove(x.path) == nil {
			total -= x.size
		}
	}
}

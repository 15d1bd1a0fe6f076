// SPDX-License-Identifier: Apache-2.0

package fileconn

import "sync"

// endings is what the sources of this process saw of the ends of followed files, by absolute path, so that the source that is opened next knows it.
// It holds one entry a path, of the file that ended last. Nothing is lost with it: what a source does not know it looks at again.
type endings struct {
	mu  sync.Mutex
	all map[string]ending
}

// ending is how a file ended for its reader.
type ending struct {
	id identity
	// shorter says that the file was cut or written anew: what was read is not in it any more. Otherwise it was renamed and is complete.
	shorter bool
	// size is that of a complete file; last is the end of its last line.
	size, last int64
	// head is how a shortened file began before; since is when it was opened, ns of UTC.
	head  []byte
	since int64
}

func (e *endings) tell(path string, what ending) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.all == nil {
		e.all = make(map[string]ending)
	}
	e.all[path] = what
}

// of gives how the file with an identity ended. That it became shorter is told once: the next content may look the same.
func (e *endings) of(path string, id identity) (ending, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	known, ok := e.all[path]
	if !ok || !known.id.inode(id) {
		return ending{}, false
	}
	if known.shorter {
		delete(e.all, path)
	}
	return known, true
}

// SPDX-License-Identifier: Apache-2.0

package state

import (
	"log/slog"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nervix-go/nervix/host/kernel/ident"
)

// Options say whose store it is. There is nothing to tune: the sizes below fit every node, since positions are small.
type Options struct {
	// Node and Folder are stored at creation; a store of another node or data folder is refused as foreign.
	Node   ident.Node
	Folder ident.Reference
	// FS is the file system; nil is the operating system's. Tests inject faults here.
	FS vfs.FS
	// Logger receives Pebble's own events at debug level and failures at error level; nil discards them.
	Logger *slog.Logger
}

// The bounds of Pebble's memory and files on a default node, some 5 MB in all.
const (
	// cacheBytes: reads happen at open and for checkpoints later, and the operating system caches files as well.
	cacheBytes = 1 << 20
	// memtableBytes: a memtable of positions is mostly overwritten values, so a bigger one only makes replay after a kill longer.
	memtableBytes = 1 << 20
	// memtablesStop: one being filled and two being flushed; beyond that writes wait, which bounds memory when the disk is slow.
	memtablesStop = 3
	// openFiles: the store has a few files at any time; the limit keeps it out of the way of sockets.
	openFiles = 128
	// formatMajor is Pebble's file format. It is raised on purpose only, together with the page of the format: a node must not
	// upgrade its files by linking a newer library.
	formatMajor = pebble.FormatWALSyncChunks
)

func (o Options) ensureDefaults() Options {
	if o.FS == nil {
		o.FS = vfs.Default
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// pebbleOptions are shared by every open; hooks go to the latch.
func (o Options) pebbleOptions(cache *pebble.Cache, lock *pebble.Lock, hooks *hooks) *pebble.Options {
	listener := pebble.MakeLoggingEventListener(hooks)
	listener.BackgroundError = func(err error) { hooks.failure("background work", err) }
	listener.DataCorruption = func(info pebble.DataCorruptionInfo) { hooks.failure("data corruption", info.Details) }
	return &pebble.Options{
		FS:                          &freezer{FS: o.FS, hooks: hooks},
		Lock:                        lock,
		Cache:                       cache,
		MemTableSize:                memtableBytes,
		MemTableStopWritesThreshold: memtablesStop,
		MaxOpenFiles:                openFiles,
		FormatMajorVersion:          formatMajor,
		Logger:                      hooks,
		EventListener:               &listener,
	}
}

// SPDX-License-Identifier: Apache-2.0

package state

import (
	"log/slog"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// rewriteHeader changes the header behind the store's back; a nil result deletes it.
func rewriteHeader(t *testing.T, fs vfs.FS, change func([]byte) []byte) {
	t.Helper()
	db, err := pebble.Open(storeDir, &pebble.Options{FS: fs, FormatMajorVersion: formatMajor, Logger: &hooks{log: slog.New(slog.DiscardHandler), latch: newLatch()}})
	if err != nil {
		t.Fatal(err)
	}
	if b := change(encodeHeader(options(fs))); b != nil {
		err = db.Set(headerKey, b, pebble.Sync)
	} else {
		err = db.Delete(headerKey, pebble.Sync)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

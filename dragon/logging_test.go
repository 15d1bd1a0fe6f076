// SPDX-License-Identifier: Apache-2.0

package dragon

import (
	"bytes"
	"errors"
	"log"
	"log/slog"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble"
)

// TestBackgroundErrorOfTheStoreIsFatal uses the listener that Dragonboat leaves to the store's defaults. A flush that fails on a full disk
// is reported there and nowhere else; commits would wait for it for ever.
func TestBackgroundErrorOfTheStoreIsFatal(t *testing.T) {
	// req: G-006
	var out bytes.Buffer
	var reason error
	captureLogs(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})), func(_ string, err error) { reason = err })
	log.Print("an ordinary line")
	if reason != nil || !strings.Contains(out.String(), "an ordinary line") {
		t.Fatalf("an ordinary line: fatal %v, logged %q", reason, out.String())
	}
	var listener pebble.EventListener
	listener.EnsureDefaults(pebble.DefaultLogger)
	listener.BackgroundError(errors.New("no space left on device"))
	if reason == nil || !strings.Contains(reason.Error(), "no space left on device") {
		t.Fatalf("a background error: %v", reason)
	}
}

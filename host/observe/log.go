// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"fmt"
	"io"
	"log/slog"
)

// LogFormats are the values of --log-format.
var LogFormats = []string{"text", "json"}

// NewLogger makes the node's logger. format is `text` or `json`.
func NewLogger(w io.Writer, format string) (*slog.Logger, error) {
	options := &slog.HandlerOptions{Level: slog.LevelInfo}
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(w, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, options)), nil
	default:
		return nil, fmt.Errorf("log format %q is unknown: use text or json", format)
	}
}

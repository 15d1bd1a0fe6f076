// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nervix-go/nervix/host/engine"
)

// writeReport prints one summary per ingestor and emitter.
func writeReport(w io.Writer, format string, r engine.Report, took time.Duration) error {
	if format == "jsonl" {
		return writeJSON(w, r, took)
	}
	for _, i := range r.Ingestors {
		fmt.Fprintf(w, "ingestor %s.%s: status=%s read=%d rejected=%d%s\n", i.Domain, i.Name, i.Status, i.Read, total(i.Rejected), reasons(i.Rejected))
	}
	for _, e := range r.Emitters {
		fmt.Fprintf(w, "emitter %s.%s: emitted=%d rejected=%d%s\n", e.Domain, e.Name, e.Emitted, total(e.Rejected), reasons(e.Rejected))
	}
	fmt.Fprintf(w, "seconds=%.3f\n", took.Seconds())
	return nil
}

func writeJSON(w io.Writer, r engine.Report, took time.Duration) error {
	encoder := json.NewEncoder(w)
	for _, i := range r.Ingestors {
		if err := encoder.Encode(map[string]any{
			"kind": "ingestor", "domain": i.Domain, "name": i.Name, "status": i.Status, "read": i.Read, "filtered": i.Filtered, "skipped": i.Skipped,
			"rejected": total(i.Rejected), "reasons": nonNil(i.Rejected),
		}); err != nil {
			return err
		}
	}
	for _, e := range r.Emitters {
		if err := encoder.Encode(map[string]any{
			"kind": "emitter", "domain": e.Domain, "name": e.Name, "emitted": e.Emitted, "rejected": total(e.Rejected), "reasons": nonNil(e.Rejected),
		}); err != nil {
			return err
		}
	}
	return encoder.Encode(map[string]any{"kind": "run", "seconds": took.Seconds()})
}

func nonNil(m map[string]uint64) map[string]uint64 {
	if m == nil {
		return map[string]uint64{}
	}
	return m
}

func total(by map[string]uint64) uint64 {
	var n uint64
	for _, v := range by {
		n += v
	}
	return n
}

// reasons is ` (reason=n, ...)`, empty when nothing was rejected.
func reasons(by map[string]uint64) string {
	if len(by) == 0 {
		return ""
	}
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(by)) {
		parts = append(parts, fmt.Sprintf("%s=%d", k, by[k]))
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

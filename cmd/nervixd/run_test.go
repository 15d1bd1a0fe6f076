// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
)

// A run that does not end by itself says why: nothing was started, or what was started has no end.
func TestEndlessRunSaysWhy(t *testing.T) {
	for running, want := range map[int]string{0: "ends with START;", 2: "(FOLLOW)"} {
		text := endless("p.nspl", running)
		if !strings.Contains(text, want) || !strings.Contains(text, "p.nspl") || (running > 0) == strings.Contains(text, "START;") {
			t.Errorf("%d ingestors run: %s", running, text)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package badinput

import (
	"strings"
	"testing"

	"github.com/nervix-go/nervix/test/nodes"
)

// TestRunOfNothing: a file that starts no ingestor ends at once and says what is missing, instead of waiting for an end that cannot come.
func TestRunOfNothing(t *testing.T) {
	p := program{root: t.TempDir()}
	nodes.WriteFile(t, p.root+"/in.ndjson", []byte(goods(1, 3)))
	for name, text := range map[string]string{
		"no START":      p.text() + "STOP;\n",
		"no definition": "CREATE DOMAIN d;\nUSE d;\nSTART;\n",
	} {
		t.Run(name, func(t *testing.T) {
			nodes.WriteFile(t, p.root+"/p.nspl", []byte(text))
			done := nodes.Run(t, p.root, "run", p.root+"/p.nspl", "--file-root", p.root)
			if done.Code != 1 {
				t.Errorf("exit %d, want 1", done.Code)
			}
			expect(t, done.Stderr, "no started domain has an ingestor", "START;")
		})
	}
}

// TestRunPublishesTheEnd: when the sources are read to their end nothing waits for the end of a long FLUSH EACH.
func TestRunPublishesTheEnd(t *testing.T) {
	p := program{root: t.TempDir()}
	nodes.WriteFile(t, p.root+"/in.ndjson", []byte(goods(1, 3)))
	nodes.WriteFile(t, p.root+"/p.nspl", []byte(strings.ReplaceAll(p.text(), "FLUSH EACH 5ms", "FLUSH EACH 1h")))
	if done := nodes.Run(t, p.root, "run", p.root+"/p.nspl", "--file-root", p.root); done.Code != 0 {
		t.Errorf("exit %d: %s", done.Code, done.Stderr)
	}
	sameLines(t, p.root+"/out.ndjson", good(1), good(2), good(3))
}

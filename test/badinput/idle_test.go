// SPDX-License-Identifier: Apache-2.0

package badinput

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/nervix-go/nervix/test/nodes"
)

// TestRunOfNothing: without a finite source a run lasts until an interrupt, and it says so at once.
func TestRunOfNothing(t *testing.T) {
	p := program{root: t.TempDir()}
	nodes.WriteFile(t, p.root+"/in.ndjson", []byte(goods(1, 3)))
	for name, text := range map[string]string{
		"no START":      p.text() + "STOP;\n",
		"no definition": "CREATE DOMAIN d;\nUSE d;\nSTART;\n",
	} {
		t.Run(name, func(t *testing.T) {
			nodes.WriteFile(t, p.root+"/p.nspl", []byte(text))
			c := exec.Command(nodes.Built().Daemon, "run", p.root+"/p.nspl", "--file-root", p.root)
			c.Dir = p.root
			told, err := c.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			for lines := bufio.NewScanner(told); lines.Scan(); {
				text.WriteString(lines.Text() + "\n")
				if strings.Contains(lines.Text(), "hint:") {
					if err := c.Process.Signal(os.Interrupt); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := c.Wait(); err != nil {
				t.Errorf("after an interrupt: %v, want exit 0\n%s", err, text.String())
			}
			expect(t, text.String(), "no finite source", "interrupt", "START;")
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

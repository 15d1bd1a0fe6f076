// SPDX-License-Identifier: Apache-2.0

package badinput

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nervix-go/nervix/test/nodes"
)

// TestConnectorThatCannotStart alters the binary of a connector after the node has read its descriptor: START says why and the domain stays
// stopped; once the binary is right again START works.
func TestConnectorThatCannotStart(t *testing.T) {
	// req: P-005 half: the checksum is in the descriptor file, not in the node's configuration
	// req: P-017 half: one instance
	whole := nodes.ReadFile(t, nodes.Built().File)
	damages := []struct {
		name   string
		damage func(t *testing.T, binary string)
		says   []string
	}{
		{"altered", func(t *testing.T, binary string) { place(t, binary, append(whole[:len(whole):len(whole)], 0)) }, []string{"plugin.checksum", "file.json"}},
		{"missing", func(t *testing.T, binary string) { remove(t, binary) }, []string{"plugin.start", "no such file"}},
		{"not executable", func(t *testing.T, binary string) {
			if err := os.Chmod(binary, 0o600); err != nil {
				t.Fatal(err)
			}
		}, []string{"plugin.start", "permission denied"}},
	}
	for _, d := range damages {
		t.Run(d.name, func(t *testing.T) {
			folder := t.TempDir()
			binary := filepath.Join(folder, "file")
			place(t, binary, whole)
			nodes.WriteFile(t, binary+".json", nodes.ReadFile(t, nodes.Built().File+".json"))
			p := program{root: t.TempDir(), stopped: true}
			nodes.WriteFile(t, p.root+"/in.ndjson", []byte(goods(1, 20)))
			n := nodes.Start(t, nodes.Options{Data: t.TempDir() + "/data", Root: p.root, Flags: []string{"--connectors", folder}})
			s := n.Dial()
			s.Do(p.text())

			d.damage(t, binary)
			for range 2 {
				expect(t, s.Refused("START"), append(d.says, binary, "INGESTOR feed")...)
				if text := s.Do("LIST DOMAINS").Text; !strings.Contains(text, "STOPPED") {
					t.Fatalf("after a refused START: %s", text)
				}
			}
			nodes.Eventually(t, "nobody waits for the connector", func() bool {
				status, err := s.Status(t.Context())
				return err == nil && len(status.Connectors) == 1 && status.Connectors[0].State == "failed" && status.Connectors[0].PID == 0
			})
			all, _ := filepath.Glob("/proc/[0-9]*/exe")
			for _, exe := range all {
				if path, err := os.Readlink(exe); err == nil && strings.HasPrefix(path, folder) {
					t.Errorf("%s runs as %s", path, exe)
				}
			}

			place(t, binary, whole)
			s.Do("START")
			s.Finish("feed")
			sameLines(t, p.root+"/out.ndjson", lines(goods(1, 20))...)
			n.Stop()
		})
	}
}

// place puts a program at a path as an installer does: whole or not at all.
func place(t *testing.T, path string, program []byte) {
	t.Helper()
	if err := errorsOf(os.WriteFile(path+".new", program, 0o700), os.Rename(path+".new", path)); err != nil {
		t.Fatal(err)
	}
}

// SPDX-License-Identifier: Apache-2.0

package badinput

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nervix-go/nervix/test/nodes"
)

// TestBranchesComeAndGo asks the owner of a relay for one branch before, while and after it exists.
func TestBranchesComeAndGo(t *testing.T) {
	// req: R-001
	// req: R-009
	// req: R-066
	// req: R-069
	root := t.TempDir()
	nodes.WriteFile(t, root+"/in.ndjson", []byte(goods(1, 20)))
	n := nodes.Start(t, nodes.Options{Data: t.TempDir() + "/data", Root: root})
	s := n.Dial()
	text := strings.Replace(program{root: root, stopped: true}.text(), "TTL 1h", "TTL 8s", 1) // long enough to be seen on a slow machine
	s.Do(text)
	expect(t, s.Do("SHOW CLUSTER STATUS").Text, "kind=relay name=items owner=n1", "kind=relay name=damaged owner=n1")
	exists := func(key string) bool {
		var seen struct{ Exists *bool }
		document := s.Describe("RELAY items WHERE (bed = '"+key+"')", &seen)
		if seen.Exists == nil {
			t.Fatalf("DESCRIBE RELAY WHERE says nothing about existence: %s", document)
		}
		return *seen.Exists
	}
	if exists("b1") {
		t.Error("a branch exists in a stopped domain")
	}
	s.Do("START")
	nodes.Eventually(t, "the branch exists", func() bool { return exists("b1") })
	if exists("b9") {
		t.Error("a branch without a record exists")
	}
	s.Finish("feed")
	metrics := n.Get("/metrics")
	for _, key := range []string{"b0", "b1", "b2"} {
		if strings.Contains(metrics, `"`+key+`"`) {
			t.Errorf("a label of the metrics is the branch key %s", key)
		}
	}
	expect(t, metrics, `nervix_branch_instances{`, `nervix_relay_buffer_len{`, `nervix_messages_total{`)
	nodes.Eventually(t, "the branch has expired", func() bool { return !exists("b1") })
	nodes.Eventually(t, "three branches have expired", func() bool {
		told := 0
		for _, line := range lines(n.Get("/metrics")) {
			if strings.HasPrefix(line, "nervix_branch_evictions_total{") && strings.Contains(line, `name="items"`) && strings.Contains(line, `"ttl"`) {
				if !strings.HasSuffix(line, " 3") {
					return false
				}
				told++
			}
		}
		return told > 0
	})
	n.Stop()
}

// TestNoRecordIsStored looks for what records hold in everything a node has on disk, while records wait in it and after it was killed.
func TestNoRecordIsStored(t *testing.T) {
	// req: R-035
	root, data := t.TempDir(), t.TempDir()+"/data"
	nodes.WriteFile(t, root+"/in.ndjson", []byte(strings.ReplaceAll(goods(1, 2000), "line ", "sekretmarker ")))
	if err := os.Mkdir(root+"/out.ndjson", 0o755); err != nil { // nothing leaves: batches and their acknowledgements stay in the relay
		t.Fatal(err)
	}
	n := nodes.Start(t, nodes.Options{Data: data, Root: root})
	s := n.Dial()
	s.Do(program{root: root, stopped: true}.text())
	s.Do("START")
	started := s.Revision()
	nodes.Eventually(t, "a thousand lines wait", func() bool { return s.Ingestor("feed").Unresolved == 1000 })
	if now := s.Revision(); now != started {
		t.Errorf("revision %d became %d: something of the records was replicated", started, now)
	}
	scan(t, data, "sekretmarker")
	n.Kill()
	scan(t, data, "sekretmarker")
}

// scan fails for every file below a folder that holds the marker.
func scan(t *testing.T, folder, marker string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // files come and go while the node runs
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return nil
		}
		files++
		if bytes.Contains(content, []byte(marker)) {
			t.Errorf("%s holds a part of a record", path)
		}
		return nil
	})
	if err != nil || files < 5 {
		t.Fatalf("%d files were read below %s: %v", files, folder, err)
	}
}

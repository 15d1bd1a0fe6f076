// SPDX-License-Identifier: Apache-2.0

package kills

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/state"
	"github.com/nervix-go/nervix/test/nodes"
)

// durableLine is the line of the position that a dead node left on disk, read from a copy of its store; 0 when it stored none.
func durableLine(t *testing.T, data string) int64 {
	t.Helper()
	var node uint64
	var cluster string
	for _, line := range strings.Split(string(nodes.ReadFile(t, filepath.Join(data, "identity"))), "\n") {
		if text, ok := strings.CutPrefix(line, "node "); ok {
			node, _ = strconv.ParseUint(text, 10, 64)
		}
		if text, ok := strings.CutPrefix(line, "cluster "); ok {
			cluster = text
		}
	}
	reference, err := ident.ParseReference(cluster)
	if err != nil {
		t.Fatalf("the identity of %s: %v", data, err)
	}
	folder := t.TempDir() + "/state"
	if err := os.CopyFS(folder, os.DirFS(filepath.Join(data, "state"))); err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	store, err := state.Open(folder, state.Options{Node: ident.Node(node), Folder: reference})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for epoch := range state.Epoch(1000) {
		p, found, err := store.GetPosition(state.PositionKey{Domain: "load", Ingestor: "feed", Epoch: epoch})
		if err != nil {
			t.Fatal(err)
		}
		if found {
			return int64(binary.LittleEndian.Uint64(p.Bytes[16:])) // start, end, line
		}
	}
	return 0
}

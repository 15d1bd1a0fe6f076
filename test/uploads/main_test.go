// SPDX-License-Identifier: Apache-2.0

package uploads

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nervix-go/nervix/client"
	"github.com/nervix-go/nervix/test/nodes"
)

func TestMain(m *testing.M) { nodes.Main(m) }

// soak says that the long form of the tests is wanted.
func soak() bool { return os.Getenv("NERVIX_SOAK") == "1" }

// bound is the whole time of one upload on a loaded machine.
const bound = 3 * time.Minute

// folders are data folder and file root of a node.
func folders(t *testing.T) nodes.Options {
	t.Helper()
	return nodes.Options{Data: filepath.Join(t.TempDir(), "data"), Root: t.TempDir()}
}

// models makes a folder with one file of random bytes, the same for the same seed, and a small one.
func models(t *testing.T, size int, seed byte) string {
	t.Helper()
	dir := t.TempDir()
	b := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{seed}).Read(b)
	nodes.WriteFile(t, filepath.Join(dir, "big.bin"), b)
	nodes.WriteFile(t, filepath.Join(dir, "x/small.txt"), []byte("small"))
	return dir
}

// described is DESCRIBE RESOURCE as data.
type described struct {
	Latest   *uint64
	Versions []struct {
		Version  uint64
		State    string
		Checksum string
		Bytes    uint64
		Entries  uint64
	}
	Replicas []struct {
		Version uint64
		State   string
		Error   string
	}
}

func describe(t *testing.T, s *nodes.Session, resource string) described {
	t.Helper()
	out := s.Do("DESCRIBE RESOURCE " + resource + " FORMAT JSON")
	var d described
	if err := json.Unmarshal([]byte(out.Data), &d); err != nil {
		t.Fatal(err, out.Data)
	}
	return d
}

// states are the states of all versions by number, and how many there are of each.
func (d described) count(state string) int {
	n := 0
	for _, v := range d.Versions {
		if v.State == state {
			n++
		}
	}
	return n
}

func upload(s *nodes.Session, o client.UploadOptions) (client.UploadOutcome, error) {
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	return s.Upload(ctx, o)
}

// must uploads a folder.
func must(t *testing.T, s *nodes.Session, o client.UploadOptions) client.UploadOutcome {
	t.Helper()
	out, err := upload(s, o)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// stored lists the folders of the store: versions, and what is under way.
func stored(t *testing.T, data string) (versions, incoming int) {
	t.Helper()
	all, err := os.ReadDir(filepath.Join(data, "resources"))
	if err != nil {
		t.Fatal(err)
	}
	half, err := os.ReadDir(filepath.Join(data, "resources", "incoming"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return len(all) - 1, len(half)
}

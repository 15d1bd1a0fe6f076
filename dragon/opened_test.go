// SPDX-License-Identifier: Apache-2.0

package dragon_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/nervix-go/nervix/dragon"
	"github.com/nervix-go/nervix/host/kernel/fault"
)

// TestFirstOpeningMayBeCutOff puts a kill at every byte of the two files that Dragonboat writes in place when it makes a folder.
func TestFirstOpeningMayBeCutOff(t *testing.T) {
	// req: G-001 half: the first start of a folder
	made := t.TempDir()
	if err := open(t, made, "c").Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"dragonboat.ds", "NODEHOST.ID"} {
		whole, err := os.ReadFile(filepath.Join(made, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range []int{0, 1, 7, 8, 9, len(whole) / 2, len(whole) - 1} {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, name), whole[:size], 0o600); err != nil {
				t.Fatal(err)
			}
			l, err := dragon.Open(config(dir, "c"))
			if err != nil {
				t.Errorf("%s of %d bytes: %v", name, size, err)
				continue
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
			// The same in a folder that was opened before is damage: nothing of it may be made anew in silence.
			if err := os.WriteFile(filepath.Join(dir, name), whole[:size], 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := dragon.Open(config(dir, "c")); !fault.Has(err, fault.DaemonDamaged) {
				t.Errorf("%s of %d bytes in a folder that was opened: %v", name, size, err)
			}
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package clockowners

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// exploring are the packages all of whose tests explore schedules; elsewhere such tests stand in files of the names in explorers.
var exploring = []string{"host/sim", "host/timekeeper/authority", "host/clock"}

var explorers = []string{"explore_test.go", "race_test.go", "random_test.go"}

// explores says whether a file belongs to a check that explores schedules.
func explores(file string) bool {
	return slices.Contains(exploring, filepath.ToSlash(filepath.Dir(file))) || slices.Contains(explorers, filepath.Base(file))
}

// waits are the uses by which a check of schedules would let the machine decide what comes first: reads of its clocks, sleeps, timers.
func waits(file string, text []byte) (at []string) {
	for _, u := range scanGo(file, text) {
		at = append(at, u.At()+": "+u.Call)
	}
	return at
}

// Checks that explore schedules have no clock: what a timeout does is decided by the check, and nothing of it is waited for.
func TestChecksOfSchedulesDoNotSleep(t *testing.T) {
	// req: C-209 half: that both outcomes of a timeout are explored is in host/timekeeper/authority
	root := filepath.Join("..", "..")
	seen := 0
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && p != root && (strings.HasPrefix(name, ".") && name != ".." || name == "testdata" || name == "node_modules") {
			return filepath.SkipDir
		}
		file, err := filepath.Rel(root, p)
		if err != nil || d.IsDir() || filepath.Ext(p) != ".go" || !explores(file) {
			return err
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		seen++
		for _, at := range waits(filepath.ToSlash(file), text) {
			t.Errorf("%s: a check that explores schedules decides itself what comes first", at)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 20 {
		t.Errorf("only %d files explore schedules", seen)
	}
	planted := "package plant\n\nimport \"time\"\n\nfunc check() {\n\ttime.Sleep(time.Second)\n\t<-time.After(1)\n}\n"
	if at := waits("host/sim/plant_test.go", []byte(planted)); !explores("host/sim/plant_test.go") || len(at) != 2 || at[0] != "host/sim/plant_test.go:6: time.Sleep" {
		t.Errorf("planted waits were seen as %q", at)
	}
}

// SPDX-License-Identifier: Apache-2.0

package fileconn

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// TestLateWriterIsNotAwaitedForEver: a renamed file that somebody keeps open, or of which nobody can tell, is complete when it has not grown for a while.
func TestLateWriterIsNotAwaitedForEver(t *testing.T) {
	folderName := t.TempDir()
	root, err := os.OpenRoot(folderName)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	write := func(name, text string) {
		t.Helper()
		f, err := os.OpenFile(filepath.Join(folderName, name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	write("a", "one\n")
	f, err := root.Open("a")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var clock vtime.Mono
	free := false
	tl := &tail{folder: folder{root, "a"}, now: func() vtime.Mono { return clock }, unwritten: func(*os.File) bool { return free }}
	if err := tl.begin(f, identity{hashed: 4}, place{}); err != nil {
		t.Fatal(err)
	}
	read := int64(4)
	step := func(d time.Duration, want fate) {
		t.Helper()
		clock = clock.Add(d)
		if got, err := tl.look(f, read); got != want || err != nil {
			t.Fatalf("%v, %v, want %v", got, err, want)
		}
	}
	step(0, unchanged)
	step(time.Hour, unchanged)
	if err := os.Rename(filepath.Join(folderName, "a"), filepath.Join(folderName, "a.1")); err != nil {
		t.Fatal(err)
	}
	step(time.Hour, unchanged) // the path is missing
	write("a", "new\n")
	step(time.Hour, unchanged)
	step(lateFor-1, unchanged)
	write("a.1", "late\n")
	step(lateFor, grown)
	read = 9
	step(lateFor-1, unchanged)
	step(1, complete)
	write("a.1", "x")
	step(lateFor, grown)
	read = 10
	step(0, unchanged)
	free = true
	step(0, complete)
	if err := os.Rename(filepath.Join(folderName, "a.1"), filepath.Join(folderName, "a")); err != nil {
		t.Fatal(err)
	}
	step(0, unchanged) // it has its name back
	if err := os.Truncate(filepath.Join(folderName, "a"), 3); err != nil {
		t.Fatal(err)
	}
	step(0, shorter)
}

func TestRotatedNames(t *testing.T) {
	for _, c := range []struct {
		path string
		want []string // the oldest first
		none []string
	}{
		{"logs/app.log", []string{"logs/app.log.10", "logs/app.log.2", "logs/app.log.1", "logs/app.log"},
			[]string{"logs/app.log.1.gz", "logs/app.log.gz", "logs/app-errors.log", "logs/app.log.swp", "logs/app.logs", "app.log.1", "logs/app2.log", "logs/app.log~", "logs/app.log-"}},
		{"app.log", []string{"app.log-20310429", "app.log-20310430", "app.log.old", "app.log"}, []string{"bpp.log", "app.log.old2", "old"}},
		{"app.log", []string{"app-2031-04-29T10.log", "app-2031-04-30T09.log", "app.log"}, []string{"app-x2031.log", "app-2031-04-30.log.gz", "-2031.log"}},
		{"app.log", []string{"app.log.2031-04-29T10:00:00Z", "app.log.2031-04-30T10:00:00+02:00", "app.log"}, nil},
		{"app", []string{"app.3", "app.2", "app-1", "app"}, []string{"app3", "apple.3", "app.c"}},
	} {
		d := folder{name: c.path}
		for i, name := range c.want {
			if name != c.path && !d.rotated(name) {
				t.Errorf("%s is a name of rotation", name)
			}
			if i > 0 && d.inOrder(c.want[i-1], name) >= 0 {
				t.Errorf("%s is older than %s", c.want[i-1], name)
			}
		}
		if i := slices.IndexFunc(c.none, d.rotated); i >= 0 {
			t.Errorf("%s is no name of rotation", c.none[i])
		}
	}
}

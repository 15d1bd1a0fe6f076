// SPDX-License-Identifier: Apache-2.0

package client

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nervix-go/nervix/host/kernel/archive"
	"github.com/nervix-go/nervix/host/kernel/fault"
)

func put(t *testing.T, dir, path, content string) {
	t.Helper()
	path = filepath.Join(dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// packed opens a folder and gives its archive.
func packed(t *testing.T, dir string) (*Folder, []byte) {
	t.Helper()
	f, err := OpenFolder(t.Context(), dir)
	check(t, err)
	t.Cleanup(f.Close)
	var b bytes.Buffer
	check(t, f.Send(t.Context(), &b))
	if uint64(b.Len()) != f.space {
		t.Fatalf("the archive has %d bytes, %d were announced", b.Len(), f.space)
	}
	return f, b.Bytes()
}

// TestEqualFoldersAreEqualArchives: only names and contents count, and what is neither directory nor regular file is left out and told.
func TestEqualFoldersAreEqualArchives(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	files := []string{"z", "a/x/deep", "a/b", "a-b", "naïve"}
	for _, path := range files {
		put(t, one, path, "content of "+path)
	}
	check(t, os.Mkdir(filepath.Join(one, "empty"), 0o755))
	slices.Reverse(files)
	check(t, os.Mkdir(filepath.Join(two, "empty"), 0o700))
	for _, path := range files {
		put(t, two, path, "content of "+path)
		check(t, os.Chmod(filepath.Join(two, path), 0o600))
		check(t, os.Chtimes(filepath.Join(two, path), time.Unix(1, 0), time.Unix(1, 0)))
	}
	check(t, os.Symlink("/etc/passwd", filepath.Join(two, "a/link")))
	check(t, os.Symlink("x", filepath.Join(two, "a/folder")))
	check(t, syscall.Mkfifo(filepath.Join(two, "pipe"), 0o600))
	socket, err := net.Listen("unix", filepath.Join(two, "s"))
	check(t, err)
	defer socket.Close()

	first, a := packed(t, one)
	second, b := packed(t, two)
	if !bytes.Equal(a, b) {
		t.Fatal("equal folders give other bytes")
	}
	if len(first.skipped) != 0 || first.files != 5 || first.bytes != second.bytes {
		t.Fatalf("%+v %+v", first, second)
	}
	want := []Skipped{{"a/folder", "a symbolic link"}, {"a/link", "a symbolic link"}, {"pipe", "a named pipe"}, {"s", "a socket"}}
	if diff := cmp.Diff(want, second.skipped); diff != "" {
		t.Fatal(diff)
	}
	var names []string
	for r := tar.NewReader(bytes.NewReader(a)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		check(t, err)
		names = append(names, h.Name)
	}
	if diff := cmp.Diff([]string{"a/", "a/b", "a/x/", "a/x/deep", "a-b", "empty/", "naïve", "z"}, names); diff != "" {
		t.Fatal(diff)
	}
	reader := archive.NewReader(bytes.NewReader(a), archive.DefaultLimits)
	for err = nil; err == nil; _, err = reader.Next() {
	}
	if !errors.Is(err, io.EOF) {
		t.Fatal("the node would refuse it:", err)
	}
}

func TestFolderThatCannotBePacked(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "file", "")
	put(t, dir, "control/a\nb", "")
	put(t, dir, "latin/\xe9", "")
	put(t, dir, "deep/"+strings.Repeat("d/", 64)+"f", "")
	check(t, os.MkdirAll(filepath.Join(dir, "empty/empty"), 0o755))
	check(t, os.Mkdir(filepath.Join(dir, "links"), 0o755))
	check(t, os.Symlink("../file", filepath.Join(dir, "links/file")))
	for path, words := range map[string]string{
		"":        "no folder is named",
		"nothing": "no such file or directory",
		"file":    "not a directory",
		"empty":   "holds no regular file",
		"links":   "holds no regular file",
		"control": `the path "a\nb" has a control character`,
		"latin":   `the path "\xe9" is not UTF-8 text`,
		"deep":    "has 65 components",
	} {
		if path != "" {
			path = filepath.Join(dir, path)
		}
		_, err := OpenFolder(t.Context(), path)
		if !fault.Has(err, fault.ResourceFolder) || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestFolderChangesWhileItIsSent: what is sent is what was announced, or nothing.
func TestFolderChangesWhileItIsSent(t *testing.T) {
	for name, one := range map[string]struct {
		change func(t *testing.T, path string)
		words  string
	}{
		"longer":   {func(t *testing.T, path string) { put(t, filepath.Dir(path), "b", "more than before") }, "changed while it was uploaded"},
		"shorter":  {func(t *testing.T, path string) { check(t, os.Truncate(path, 1)) }, "changed while it was uploaded"},
		"gone":     {func(t *testing.T, path string) { check(t, os.Remove(path)) }, "no such file"},
		"replaced": {func(t *testing.T, path string) { check(t, os.Rename(filepath.Join(filepath.Dir(path), "c"), path)) }, "changed while it was uploaded"},
		"a link": {func(t *testing.T, path string) {
			check(t, os.Remove(path))
			check(t, os.Symlink("c", path))
		}, "changed while it was uploaded"},
		"a link outside": {func(t *testing.T, path string) {
			check(t, os.Remove(path))
			check(t, os.Symlink("/etc/passwd", path))
		}, "escapes"},
		"a pipe": {func(t *testing.T, path string) {
			check(t, os.Remove(path))
			check(t, syscall.Mkfifo(path, 0o600))
		}, "changed while it was uploaded"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, path := range []string{"a", "b", "c"} {
				put(t, dir, path, strings.Repeat(path, 3000))
			}
			f, err := OpenFolder(t.Context(), dir)
			check(t, err)
			defer f.Close()
			var b bytes.Buffer
			err = f.Send(t.Context(), writerFunc(func(p []byte) (int, error) {
				if b.Len() == 0 { // the walk has seen all of the folder before the first byte
					one.change(t, filepath.Join(dir, "b"))
				}
				return b.Write(p)
			}))
			if !fault.Has(err, fault.ResourceFolder) || !strings.Contains(err.Error(), one.words) {
				t.Fatal(err)
			}
		})
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

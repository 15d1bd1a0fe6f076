// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/nervix-go/nervix/host/kernel/archive"
	"github.com/nervix-go/nervix/host/kernel/fault"
)

// pack makes the archive of files by path, with the directories they need.
func pack(t testing.TB, files map[string]string) []byte {
	t.Helper()
	entries := map[string]archive.Entry{}
	for path, content := range files {
		entries[path] = archive.Entry{Path: path, Size: uint64(len(content))}
		for up := filepath.Dir(path); up != "."; up = filepath.Dir(up) {
			entries[up] = archive.Entry{Path: up, Dir: true}
		}
	}
	var b bytes.Buffer
	w := archive.NewWriter(&b)
	for _, path := range slices.SortedFunc(maps.Keys(entries), archive.Compare) {
		if err := w.Begin(entries[path]); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, files[path]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func digestOf(b []byte) Digest {
	h := newHash()
	h.Write(b)
	return sumOf(h)
}

func fresh(t testing.TB, o Options) *Store {
	t.Helper()
	return reopened(t, t.TempDir(), o)
}

func reopened(t testing.TB, dir string, o Options) *Store {
	t.Helper()
	s, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// upload receives and publishes; the hold is released.
func upload(s *Store, from io.Reader) (Digest, error) {
	r, err := s.Receive(context.Background(), from)
	if err != nil {
		return Digest{}, err
	}
	defer r.Release()
	return r.Version().Digest, r.Publish()
}

func mustUpload(t testing.TB, s *Store, b []byte) Digest {
	t.Helper()
	d, err := upload(s, bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// names lists everything below a folder.
func names(t testing.TB, dir string) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err == nil && path != dir {
			list = append(list, strings.TrimPrefix(path, dir+"/"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// onlyVersions sees that a folder holds these versions, whole, and nothing else.
func onlyVersions(t testing.TB, dir string, versions ...Digest) {
	t.Helper()
	want := []string{incomingName}
	for _, d := range versions {
		want = append(want, d.String(), d.String()+"/"+archiveName, d.String()+"/"+manifestName)
	}
	slices.Sort(want)
	if got := names(t, dir); !slices.Equal(got, want) {
		t.Fatalf("the folder holds\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func isFault(t testing.TB, err error, code fault.Code, words string) {
	t.Helper()
	if !fault.Has(err, code) || !strings.Contains(err.Error(), words) {
		t.Fatalf("got %v\nwant %s with %q", err, code, words)
	}
}

// faulty is a disk on which the operation of one number fails. Every operation is written down.
type faulty struct {
	local
	mu    sync.Mutex
	fail  int // from 1; 0 for none
	with  error
	done  []string
	space func() uint64
}

var errPower = errors.New("the power failed")

func (f *faulty) step(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done = append(f.done, name)
	if len(f.done) == f.fail {
		return f.with
	}
	if f.fail > 0 && len(f.done) > f.fail && errors.Is(f.with, errPower) {
		return f.with
	}
	return nil
}

func (f *faulty) Create(path string) (output, error) {
	if err := f.step("create " + filepath.Base(path)); err != nil {
		return nil, err
	}
	o, err := f.local.Create(path)
	if err != nil {
		return nil, err
	}
	return &faultyOutput{o, f, filepath.Base(path)}, nil
}

func (f *faulty) Mkdir(path string) error {
	if err := f.step("mkdir"); err != nil {
		return err
	}
	return f.local.Mkdir(path)
}

func (f *faulty) Rename(from, to string) error {
	if err := f.step("rename"); err != nil {
		return err
	}
	return f.local.Rename(from, to)
}

func (f *faulty) RemoveAll(path string) error {
	if err := f.step("remove"); err != nil {
		return err
	}
	return f.local.RemoveAll(path)
}

func (f *faulty) SyncDir(path string) error {
	if err := f.step("syncdir"); err != nil {
		return err
	}
	return f.local.SyncDir(path)
}

func (f *faulty) Free(path string) (uint64, error) {
	if err := f.step("free"); err != nil {
		return 0, err
	}
	if f.space != nil {
		return f.space(), nil
	}
	return 1 << 40, nil
}

type faultyOutput struct {
	output
	disk *faulty
	name string
}

func (o *faultyOutput) Write(p []byte) (int, error) {
	if err := o.disk.step("write " + o.name); err != nil {
		n, _ := o.output.Write(p[:len(p)/2])
		return n, err
	}
	return o.output.Write(p)
}

func (o *faultyOutput) Sync() error {
	if err := o.disk.step("sync " + o.name); err != nil {
		return err
	}
	return o.output.Sync()
}

func (o *faultyOutput) Close() error {
	return errors.Join(o.disk.step("close "+o.name), o.output.Close())
}

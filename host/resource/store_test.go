// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/nervix-go/nervix/host/kernel/archive"
	"github.com/nervix-go/nervix/host/kernel/fault"
)

var garden = map[string]string{
	"a.wasm": "\x00asm", "models/x/deep.bin": strings.Repeat("deep", 70_000), "models/y": "y", "empty": "", "naïve": "é",
}

func TestWhatWasUploadedIsRead(t *testing.T) {
	s := fresh(t, Options{})
	packed := pack(t, garden)
	d := mustUpload(t, s, packed)
	if d != digestOf(packed) {
		t.Fatal("the identity is not the digest of the archive")
	}
	onlyVersions(t, s.dir, d)
	s = reopened(t, s.dir, Options{})
	want := Version{Digest: d, ArchiveBytes: uint64(len(packed)), Files: 5, Dirs: 2}
	for path, content := range garden {
		want.Bytes += uint64(len(content))
		got, err := s.Read(d, path, uint64(len(content)))
		if err != nil || string(got) != content {
			t.Fatalf("%s: %d bytes, %v", path, len(got), err)
		}
		f, size, err := s.Open(d, path)
		if err != nil || size != uint64(len(content)) {
			t.Fatal(size, err)
		}
		got, err = io.ReadAll(f)
		if err := errors.Join(err, f.Close()); err != nil || string(got) != content {
			t.Fatalf("%s: %d bytes, %v", path, len(got), err)
		}
	}
	if got, err := s.Stat(d); err != nil || got != want {
		t.Fatal(got, err)
	}
	files, err := s.Files(d)
	if err != nil || len(files) != len(garden) || !slices.IsSortedFunc(files, func(a, b FileInfo) int { return archive.Compare(a.Path, b.Path) }) {
		t.Fatal(files, err)
	}
	for _, path := range []string{"models", "models/x", "nothing", "", "../" + d.String() + "/manifest", "/etc/passwd", "./a.wasm"} {
		_, err := s.Read(d, path, 1<<20)
		isFault(t, err, fault.ResourceFileUnknown, "there is no file")
		_, _, err = s.Open(d, path)
		isFault(t, err, fault.ResourceFileUnknown, "there is no file")
	}
	_, err = s.Read(d, "a.wasm", 3)
	isFault(t, err, fault.ResourceFileSize, `file "a.wasm" has 4 bytes, at most 3 are allowed`)
	_, err = s.Read(Digest{1}, "a.wasm", 3)
	isFault(t, err, fault.ResourceMissing, "this node has no files of the version 01")
}

// TestRefusedUploadsLeaveNothing: whatever is wrong with the bytes, the folder is as it was.
func TestRefusedUploadsLeaveNothing(t *testing.T) {
	// req: A09 half: this is the archive; what lies in it is judged when a module is bound
	good := pack(t, garden)
	broken := errors.New("the connection is gone")
	for name, one := range map[string]struct {
		from  io.Reader
		code  fault.Code
		words string
	}{
		"nothing":     {strings.NewReader(""), fault.ResourceArchive, "ends before its end mark"},
		"garbage":     {strings.NewReader(strings.Repeat("garbage ", 500)), fault.ResourceArchive, "this is no tar header"},
		"truncated":   {bytes.NewReader(good[:len(good)-700]), fault.ResourceArchive, "entry"},
		"trailing":    {bytes.NewReader(append(slices.Clone(good), 0)), fault.ResourceArchive, "bytes follow"},
		"long":        {bytes.NewReader(pack(t, map[string]string{"a": strings.Repeat("x", 600_000)})), fault.ResourceLimit, "the archive is longer than 500000 bytes"},
		"many bytes":  {bytes.NewReader(pack(t, map[string]string{"a": strings.Repeat("x", 600_000), "b": strings.Repeat("x", 300_000)})), fault.ResourceLimit, "the files together have more than 800000 bytes"},
		"many files":  {bytes.NewReader(pack(t, map[string]string{"a": "", "b": "", "c": "", "d": "", "e": "", "f": ""})), fault.ResourceLimit, "there are more than 5 files"},
		"lost":        {io.MultiReader(bytes.NewReader(good[:5000]), iotest.ErrReader(broken)), "", "the connection is gone"},
		"huge claims": {bytes.NewReader(claims(t)), fault.ResourceLimit, "the files together have more than 800000 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			limits := archive.Limits{Archive: 1 << 20, Bytes: 800_000, Files: 5}
			if name == "long" {
				limits.Archive = 500_000
			}
			s := fresh(t, Options{Limits: limits})
			kept := mustUpload(t, s, good)
			_, err := upload(s, one.from)
			if one.code == "" {
				if !errors.Is(err, broken) {
					t.Fatal(err)
				}
			} else {
				isFault(t, err, one.code, one.words)
			}
			onlyVersions(t, s.dir, kept)
		})
	}
}

// claims is a header that announces 8 GiB, and no more.
func claims(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	w := archive.NewWriter(&b)
	if err := w.Begin(archive.Entry{Path: "a", Size: archive.MaxFile}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestCancelledUpload: the context ends an upload between two reads.
func TestCancelledUpload(t *testing.T) {
	s := fresh(t, Options{})
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("the node stops")
	from := io.MultiReader(bytes.NewReader(pack(t, garden)[:3000]), readFunc(func([]byte) (int, error) { cancel(why); return 0, nil }), iotest.ErrReader(io.ErrNoProgress))
	if _, err := s.Receive(ctx, from); !errors.Is(err, why) {
		t.Fatal(err)
	}
	onlyVersions(t, s.dir)
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// TestReleaseWithoutPublish gives an upload up; a second call does nothing.
func TestReleaseWithoutPublish(t *testing.T) {
	s := fresh(t, Options{})
	r, err := s.Receive(context.Background(), bytes.NewReader(pack(t, garden)))
	if err != nil {
		t.Fatal(err)
	}
	r.Release()
	r.Release()
	if err := r.Publish(); err != nil {
		t.Fatal(err)
	}
	onlyVersions(t, s.dir)
}

// TestStartRemovesLeftovers: what interrupted uploads and removals left is gone after a start; versions and foreign files stay.
func TestStartRemovesLeftovers(t *testing.T) {
	s := fresh(t, Options{})
	d := mustUpload(t, s, pack(t, garden))
	if _, err := s.Receive(context.Background(), bytes.NewReader(pack(t, map[string]string{"other": "x"}))); err != nil {
		t.Fatal(err) // neither published nor released: the process ended
	}
	if err := os.WriteFile(filepath.Join(s.dir, incomingName, "99"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	s = reopened(t, s.dir, Options{})
	onlyVersions(t, s.dir, d)
	mustUpload(t, s, pack(t, map[string]string{"other": "x"})) // the names of incoming folders are free again
}

// TestKeep removes what no revision names, and neither what is held nor what is read.
func TestKeep(t *testing.T) {
	s := fresh(t, Options{})
	kept := mustUpload(t, s, pack(t, map[string]string{"a": "kept"}))
	dropped := mustUpload(t, s, pack(t, map[string]string{"a": "dropped"}))
	held, err := s.Receive(context.Background(), bytes.NewReader(pack(t, map[string]string{"a": "held"})))
	if err != nil {
		t.Fatal(err)
	}
	if err := held.Publish(); err != nil {
		t.Fatal(err)
	}
	open, _, err := s.Open(dropped, "a")
	if err != nil {
		t.Fatal(err)
	}
	referenced := func() map[Digest]bool { return map[Digest]bool{kept: true, {7}: true} }
	if n, err := s.Keep(referenced); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	onlyVersions(t, s.dir, kept, held.Version().Digest)
	if b, err := io.ReadAll(open); string(b) != "dropped" || err != nil {
		t.Fatal(string(b), err)
	}
	if err := open.Close(); err != nil {
		t.Fatal(err)
	}
	held.Release()
	if n, err := s.Keep(referenced); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	onlyVersions(t, s.dir, kept)
}

// TestEqualBytesShareOneFolder: many uploads at once, of few contents, while others are removed. Each that was published is whole as long
// as it is held.
func TestEqualBytesShareOneFolder(t *testing.T) {
	s := fresh(t, Options{})
	var packed [3][]byte
	var digests [3]Digest
	for i := range packed {
		packed[i] = pack(t, map[string]string{"a": fmt.Sprint(i), "b": strings.Repeat("b", 10_000)})
		digests[i] = digestOf(packed[i])
	}
	var committed struct {
		sync.Mutex
		all map[Digest]bool
	}
	committed.all = map[Digest]bool{}
	referenced := func() map[Digest]bool {
		committed.Lock()
		defer committed.Unlock()
		out := map[Digest]bool{}
		for d := range committed.all {
			out[d] = true
		}
		return out
	}
	var work sync.WaitGroup
	for n := range 24 {
		work.Go(func() {
			i := n % 3
			r, err := s.Receive(context.Background(), bytes.NewReader(packed[i]))
			if err != nil {
				t.Error(err)
				return
			}
			defer r.Release()
			if err := r.Publish(); err != nil {
				t.Error(err)
				return
			}
			if got, err := s.Read(digests[i], "a", 10); string(got) != fmt.Sprint(i) || err != nil {
				t.Error(string(got), err)
			}
			if i > 0 { // uploads of the first content fail to be committed
				committed.Lock()
				committed.all[digests[i]] = true
				committed.Unlock()
			}
		})
		if n%3 == 2 {
			work.Go(func() {
				if _, err := s.Keep(referenced); err != nil {
					t.Error(err)
				}
			})
		}
	}
	work.Wait()
	if _, err := s.Keep(referenced); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(digests[1:], func(a, b Digest) int { return bytes.Compare(a[:], b[:]) })
	onlyVersions(t, s.dir, digests[1:]...)
	for i := 1; i < 3; i++ {
		if _, err := s.Stat(digestOf(packed[i])); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDamage: bytes that changed on the disk are never handed out, and the same upload mends them.
func TestDamage(t *testing.T) {
	packed := pack(t, map[string]string{"a": "content", "b": "other"})
	d := digestOf(packed)
	change := func(name string, offset int64, b byte) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			f, err := os.OpenFile(filepath.Join(dir, name), os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if _, err := f.WriteAt([]byte{b}, offset); err != nil {
				t.Fatal(err)
			}
		}
	}
	truncate := func(name string, size int64) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			if err := os.Truncate(filepath.Join(dir, name), size); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, one := range map[string]struct {
		damage func(t *testing.T, dir string)
		code   fault.Code
		words  string
		// shows: also without reading all of it.
		shows bool
	}{
		"content":            {change(archiveName, 512, 'X'), fault.ResourceDamaged, `the content of "a" does not fit its digest`, false},
		"archive truncated":  {truncate(archiveName, 515), fault.ResourceDamaged, "it ends too early", true},
		"archive gone":       {func(t *testing.T, dir string) { remove(t, dir, archiveName) }, fault.ResourceMissing, "no files", true},
		"manifest gone":      {func(t *testing.T, dir string) { remove(t, dir, manifestName) }, fault.ResourceMissing, "no files", true},
		"manifest magic":     {change(manifestName, 0, 'X'), fault.ResourceDamaged, "it is no manifest", false},
		"manifest format":    {change(manifestName, 8, 2), fault.ResourceDamaged, "it has format 2", false},
		"manifest offset":    {change(manifestName, 14, 1), fault.ResourceDamaged, "its digest does not fit", false},
		"manifest path":      {change(manifestName, int64(headSize+recordSize), 'c'), fault.ResourceDamaged, "its digest does not fit", false},
		"manifest truncated": {truncate(manifestName, 40), fault.ResourceDamaged, "it ends too early", true},
		"manifest empty":     {truncate(manifestName, 0), fault.ResourceDamaged, "it ends too early", true},
		"manifest longer":    {truncate(manifestName, 300), fault.ResourceDamaged, "bytes follow its end", true},
		"other manifest": {func(t *testing.T, dir string) {
			other := fresh(t, Options{})
			d := mustUpload(t, other, pack(t, map[string]string{"a": "content", "b": "else"}))
			content, err := os.ReadFile(filepath.Join(other.folder(d), manifestName))
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, manifestName), content, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}, fault.ResourceDamaged, "it belongs to another version", true},
	} {
		t.Run(name, func(t *testing.T) {
			s := fresh(t, Options{})
			mustUpload(t, s, packed)
			if err := s.Check(d); err != nil {
				t.Fatal(err)
			}
			one.damage(t, s.folder(d))
			if err := s.Check(d); one.shows != fault.Has(err, one.code) || err != nil && !one.shows {
				t.Fatal(err)
			}
			_, err := s.Read(d, "a", 100)
			isFault(t, err, one.code, one.words)
			f, _, err := s.Open(d, "a")
			isFault(t, err, one.code, one.words)
			if f != nil {
				t.Error("a damaged file was handed out")
			}
			mustUpload(t, s, packed)
			if got, err := s.Read(d, "a", 100); string(got) != "content" || err != nil {
				t.Fatal(string(got), err)
			}
			onlyVersions(t, s.dir, d)
		})
	}
}

func remove(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

// TestEveryStepOfTheDiskFails: whichever operation fails, and with whatever, an upload is published or refused with a typed reason, what is
// published is whole after a restart, and a refused upload has left nothing.
func TestEveryStepOfTheDiskFails(t *testing.T) {
	// req: D01 half: the refusal; the metric beforehand is missing
	packed := pack(t, garden)
	d := digestOf(packed)
	for _, failure := range []struct {
		with error
		code fault.Code
	}{
		{syscall.ENOSPC, fault.ResourceDiskFull}, {syscall.EDQUOT, fault.ResourceDiskFull}, {syscall.EACCES, fault.ResourceStorage},
		{syscall.EROFS, fault.ResourceStorage}, {syscall.EIO, fault.ResourceStorage}, {errPower, fault.ResourceStorage},
	} {
		for n := 1; ; n++ {
			disk := &faulty{fail: n, with: failure.with}
			dir := t.TempDir()
			s, err := open(dir, Options{}, disk)
			if err == nil {
				_, err = upload(s, bytes.NewReader(packed))
			}
			failed := len(disk.done) >= n
			step := disk.done[min(n, len(disk.done))-1]
			if err != nil && (!failed || !fault.Has(err, failure.code) || !errors.Is(err, failure.with) || !strings.Contains(err.Error(), dir)) {
				t.Fatalf("%v at step %d, %s: %v", failure.with, n, step, err)
			}
			published := err == nil
			s = reopened(t, dir, Options{})
			got, err := s.Read(d, "a.wasm", 100)
			switch {
			case published && (err != nil || string(got) != garden["a.wasm"]):
				t.Fatalf("%v at step %d, %s: published, and now: %v", failure.with, n, step, err)
			case published:
				onlyVersions(t, dir, d)
			case err == nil && !slices.Contains([]string{"syncdir", "close manifest", "close archive.tar"}, step):
				t.Fatalf("%v at step %d, %s: refused, and it is there", failure.with, n, step)
			}
			if !failed {
				break
			}
		}
	}
}

// TestUploadsLeaveSpace: the disk is not filled to its end.
func TestUploadsLeaveSpace(t *testing.T) {
	// req: D01 half: the refusal; the metric beforehand is missing
	free := uint64(100 << 20)
	s, err := open(t.TempDir(), Options{Reserve: 64 << 20}, &faulty{space: func() uint64 { free -= 10 << 20; return free }})
	if err != nil {
		t.Fatal(err)
	}
	big := io.LimitReader(zeros{}, 200<<20)
	head := claims(t)
	_, err = upload(s, io.MultiReader(bytes.NewReader(head), big))
	isFault(t, err, fault.ResourceDiskFull, "uploads leave 67108864 bytes free")
	onlyVersions(t, s.dir)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// FuzzManifest: whatever is on the disk, reading it ends, and needs no more memory than one record.
func FuzzManifest(f *testing.F) {
	s := fresh(f, Options{})
	for _, files := range []map[string]string{{"a": "x"}, garden} {
		b, err := os.ReadFile(filepath.Join(s.folder(mustUpload(f, s, pack(f, files))), manifestName))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(b[:len(b)/2])
	}
	f.Add(binary.LittleEndian.AppendUint32([]byte(manifestMagic), manifestVersion))
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := scanManifest(bytes.NewReader(b), func(FileInfo) {}); err != nil && !errors.Is(err, errDamaged) {
			t.Fatal(err)
		}
	})
}

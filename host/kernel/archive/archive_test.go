// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nervix-go/nervix/host/kernel/archive"
)

// item is an entry with its content.
type item struct {
	archive.Entry
	content string
}

func file(path, content string) item {
	return item{archive.Entry{Path: path, Size: uint64(len(content))}, content}
}

func dir(path string) item { return item{Entry: archive.Entry{Path: path, Dir: true}} }

func pack(t testing.TB, items ...item) []byte {
	t.Helper()
	var b bytes.Buffer
	w := archive.NewWriter(&b)
	for _, i := range items {
		if err := w.Begin(i.Entry); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, i.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// unpack reads a whole archive. It gives what was read before an error too.
func unpack(bytes io.Reader, limits archive.Limits) (items []item, err error) {
	r := archive.NewReader(bytes, limits)
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return items, nil
		}
		if err != nil {
			return items, err
		}
		content, err := io.ReadAll(r)
		if err != nil {
			return items, err
		}
		items = append(items, item{e, string(content)})
	}
}

var garden = []item{
	dir("empty"), dir("models"), dir("models/deep"), file("models/deep/a.bin", strings.Repeat("x", 512)), file("models/x.wasm", "\x00asm"),
	file("models-old.txt", "o"), file("naïve.txt", "é"), file("z", ""), file(strings.Repeat("z", 120), strings.Repeat("long", 300)),
}

func TestWhatWasWrittenIsRead(t *testing.T) {
	packed := pack(t, garden...)
	got, err := unpack(bytes.NewReader(packed), archive.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(garden, got, cmp.AllowUnexported(item{})); diff != "" {
		t.Fatal(diff)
	}
	space := uint64(archive.EndSpace)
	for _, i := range garden {
		space += i.Space()
	}
	if space != uint64(len(packed)) {
		t.Fatalf("announced %d bytes, wrote %d", space, len(packed))
	}
	if !bytes.Equal(packed, pack(t, garden...)) {
		t.Fatal("the same files give other bytes")
	}
}

// TestOtherToolsReadIt: an archive is an ordinary tar.
func TestOtherToolsReadIt(t *testing.T) {
	r := tar.NewReader(bytes.NewReader(pack(t, garden...)))
	for _, want := range garden {
		h, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		name, mode := want.Path, int64(0o644)
		if want.Dir {
			name, mode = want.Path+"/", 0o755
		}
		if h.Name != name || h.Mode != mode || string(content) != want.content || h.Uid != 0 || h.Gid != 0 || h.Uname != "" || !h.ModTime.Equal(h.ModTime.Truncate(0)) || h.ModTime.Unix() != 0 {
			t.Errorf("%s reads as %+v with %d bytes", want.Path, h, len(content))
		}
	}
	if _, err := r.Next(); err != io.EOF {
		t.Fatal(err)
	}
}

func TestWriterRefuses(t *testing.T) {
	for name, one := range map[string]struct {
		do   func(w *archive.Writer) error
		want string
	}{
		"order": {func(w *archive.Writer) error {
			_ = w.Begin(file("b", "").Entry)
			return w.Begin(file("a", "").Entry)
		}, `the path "a" comes after "b"`},
		"too much": {func(w *archive.Writer) error {
			_ = w.Begin(archive.Entry{Path: "a", Size: 1})
			_, err := w.Write([]byte("ab"))
			return err
		}, `the file "a" has more bytes`},
		"too little": {func(w *archive.Writer) error {
			_ = w.Begin(archive.Entry{Path: "a", Size: 3})
			_, _ = w.Write([]byte("ab"))
			return w.Close()
		}, `the file "a" lacks 1 bytes`},
		"huge": {func(w *archive.Writer) error { return w.Begin(archive.Entry{Path: "a", Size: archive.MaxFile + 1}) }, "at most 8589934591"},
		"after the end": {func(w *archive.Writer) error {
			_ = w.Begin(file("a", "").Entry)
			_ = w.Close()
			return w.Begin(file("b", "").Entry)
		}, "closed"},
	} {
		t.Run(name, func(t *testing.T) {
			err := one.do(archive.NewWriter(io.Discard))
			if err == nil || !strings.Contains(err.Error(), one.want) {
				t.Fatalf("got %v, want %q", err, one.want)
			}
		})
	}
	broken := errors.New("broken")
	w := archive.NewWriter(failing{broken})
	if err := w.Begin(file("a", "").Entry); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	if err := w.Close(); !errors.Is(err, broken) {
		t.Fatal(err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// TestOrderIsThatOfComponents compares with the plain definition.
func TestOrderIsThatOfComponents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path := rapid.StringMatching(`[a./-]{1,3}(/[a.0-]{1,3}){0,3}`)
		a, b := path.Draw(t, "a"), path.Draw(t, "b")
		want := slices.Compare(strings.Split(a, "/"), strings.Split(b, "/"))
		if got := archive.Compare(a, b); got < 0 != (want < 0) || got > 0 != (want > 0) {
			t.Fatalf("%d, want %d", got, want)
		}
	})
}

// TestAnyTreeTravels packs random trees and reads them back, in small pieces.
func TestAnyTreeTravels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		component := rapid.OneOf(rapid.StringMatching(`[a-c.-]{1,4}`), rapid.StringMatching(`[é-ü]{1,130}`), rapid.StringMatching(`z{90,200}`))
		items := map[string]item{}
		for range rapid.IntRange(1, 8).Draw(t, "files") {
			parts := rapid.SliceOfN(component, 1, 4).Draw(t, "path")
			path := strings.Join(parts, "/")
			if archive.CheckPath(path) != nil {
				continue
			}
			if i, taken := items[path]; taken && i.Dir {
				continue
			}
			blocked := false
			for n := 1; n < len(parts); n++ {
				above := strings.Join(parts[:n], "/")
				if i, taken := items[above]; taken && !i.Dir {
					blocked = true
					break
				}
				items[above] = dir(above)
			}
			if !blocked {
				items[path] = file(path, string(rapid.SliceOfN(rapid.Byte(), 0, 1100).Draw(t, "content")))
			}
		}
		items["z-last"] = file("z-last", "1")
		var sorted []item
		for _, i := range items {
			sorted = append(sorted, i)
		}
		slices.SortFunc(sorted, func(a, b item) int { return archive.Compare(a.Path, b.Path) })
		var packed bytes.Buffer
		w := archive.NewWriter(&packed)
		for _, i := range sorted {
			if err := w.Begin(i.Entry); err != nil {
				t.Fatal(err)
			}
			_, _ = io.WriteString(w, i.content)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		got, err := unpack(&trickle{packed.Bytes(), rapid.IntRange(1, 700).Draw(t, "step")}, archive.DefaultLimits)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(sorted, got, cmp.AllowUnexported(item{})); diff != "" {
			t.Fatal(diff)
		}
	})
}

// trickle gives a few bytes a read.
type trickle struct {
	left []byte
	step int
}

func (r *trickle) Read(p []byte) (int, error) {
	if len(r.left) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.left[:min(r.step, len(r.left))])
	r.left = r.left[n:]
	return n, nil
}

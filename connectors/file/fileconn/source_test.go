// SPDX-License-Identifier: Apache-2.0

package fileconn_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/nervix-go/nervix/connectors/file/fileconn"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/node/connector"
	"github.com/nervix-go/nervix/plugins/conformance"
	"github.com/nervix-go/nervix/plugins/inproc"
	"github.com/nervix-go/nervix/plugins/sdk"
	"github.com/nervix-go/nervix/plugins/supervise"
)

// world is a host with the FILE connector in process.
type world struct {
	*testing.T
	root string
	host *supervise.Host
	logs *[]*os.File // open for writing
}

func newWorld(t *testing.T) world {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return world{t, root, newHost(t, root), &[]*os.File{}}
}

func newHost(t *testing.T, root string) *supervise.Host {
	return hostOf(t, root, fileconn.Connector())
}

func hostOf(t *testing.T, root string, c sdk.Connector) *supervise.Host {
	launcher, installed := inproc.New(nil, c)
	h := supervise.New(supervise.Options{Connectors: installed, Launcher: launcher, FileRoot: root})
	t.Cleanup(func() {
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return h
}

func (w world) path(name string) string { return filepath.Join(w.root, name) }

func (w world) write(name, text string) {
	w.Helper()
	if err := os.WriteFile(w.path(name), []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
}

func (w world) sourcePlan(name string) connector.SourcePlan {
	return connector.SourcePlan{
		Ingestor: ident.Ref{Domain: "d", Kind: ident.KindIngestor, Name: "i"}, Kind: fileconn.Kind,
		Client: map[string]string{"root": w.root}, Options: map[string]string{"path": name},
	}
}

func (w world) open(plan connector.SourcePlan) *conformance.Source {
	w.Helper()
	src, err := conformance.OpenSource(w.T, w.host, plan)
	if err != nil {
		w.Fatal(err)
	}
	return src
}

func (w world) refused(plan connector.SourcePlan, part string) {
	w.Helper()
	_, err := conformance.OpenSource(w.T, w.host, plan)
	if !fault.Has(err, fault.PluginRefused) || !strings.Contains(err.Error(), part) {
		w.Errorf("got %v, want %q", err, part)
	}
}

func TestLinesOfAnyLength(t *testing.T) {
	// req: N01, N02
	w := newWorld(t)
	lengths := []int{1, 64<<10 - 1, 64 << 10, 64<<10 + 1, 1 << 20, 20 << 20, 5}
	var text strings.Builder
	text.WriteString("\ufeff")
	for i, n := range lengths {
		text.WriteString(strings.Repeat(string(rune('a'+i)), n))
		if i < len(lengths)-1 {
			text.WriteString("\r\n\n")
		}
	}
	w.write("a", text.String())
	src := w.open(w.sourcePlan("a"))
	defer src.Close()
	rows := src.Take(len(lengths))
	offset := int64(0)
	for i, r := range rows {
		n := lengths[i]
		if n > 16<<20 {
			if r.Error == "" || r.Payload != "" || !strings.Contains(r.Error, fmt.Sprintf("line %d at offset %d", r.Line, r.Offset)) {
				t.Errorf("row %d: error %q", i, r.Error)
			}
		} else if r.Payload != strings.Repeat(string(rune('a'+i)), n) || r.Error != "" {
			t.Errorf("row %d of %d bytes: %d bytes, error %q", i, n, len(r.Payload), r.Error)
		}
		if r.Line != int64(2*i+1) || r.Offset != offset || r.Path != w.path("a") {
			t.Errorf("row %d: line %d offset %d path %s, want offset %d", i, r.Line, r.Offset, r.Path, offset)
		}
		end := offset + int64(n) + 2
		if i == 0 {
			end += 3
		}
		if i == len(lengths)-1 {
			end -= 2
		}
		want := binary.LittleEndian.AppendUint64(nil, uint64(offset))
		want = binary.LittleEndian.AppendUint64(want, uint64(end))
		want = binary.LittleEndian.AppendUint64(want, uint64(r.Line))
		if r.Position != string(want) {
			t.Errorf("row %d: position %x, want %x", i, r.Position, want)
		}
		offset = end + 1
	}
	if st := src.State(connector.Finished); st.Skipped != uint64(len(lengths)-1) {
		t.Errorf("skipped %d", st.Skipped)
	}
	// The oversize line can be rejected and comes again as the same error.
	src.Session.Reject(1, []byte(rows[5].Position))
	if again := src.Take(1); again[0] != rows[5] {
		t.Errorf("%+v, want %+v", again[0], rows[5])
	}
}

func TestMaxLineBytes(t *testing.T) {
	w := newWorld(t)
	w.write("a", "12345\n123456\n")
	plan := w.sourcePlan("a")
	plan.Client["max_line_bytes"] = "5"
	src := w.open(plan)
	defer src.Close()
	if rows := src.Take(2); rows[0].Error != "" || !strings.Contains(rows[1].Error, "max_line_bytes (5)") {
		t.Errorf("%+v", rows)
	}
	for _, v := range []string{"0", "99999999999"} {
		plan := w.sourcePlan("a")
		plan.Client["max_line_bytes"] = v
		w.refused(plan, "max_line_bytes must be between")
	}
}

func TestConfinement(t *testing.T) {
	w := newWorld(t)
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"link": filepath.Join(outside, "secret"), "dir": outside, "inside": "a"} {
		if err := os.Symlink(target, w.path(link)); err != nil {
			t.Fatal(err)
		}
	}
	w.write("a", "ok\n")
	if err := os.Mkdir(w.path("sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.refused(w.sourcePlan("link"), "escapes")
	w.refused(w.sourcePlan("dir/secret"), "escapes")
	w.refused(w.sourcePlan("sub/../a"), "leaves its root")
	w.refused(w.sourcePlan("/etc/passwd"), "not relative")
	w.refused(w.sourcePlan("sub"), "not a regular file")
	if err := syscall.Mkfifo(w.path("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.refused(w.sourcePlan("pipe"), "not a regular file")
	w.refused(w.sourcePlan("nothing"), w.path("nothing")+": no such file")
	for _, root := range []string{outside, w.path("dir"), "relative", filepath.Dir(w.root)} {
		plan := w.sourcePlan("a")
		plan.Client["root"] = root
		w.refused(plan, "root")
	}
	src := w.open(w.sourcePlan("inside")) // a link that stays below root is fine
	src.Take(1)
	src.Close()
	sub := w.sourcePlan("b")
	w.write("sub/b", "ok\n")
	sub.Client["root"] = w.path("sub")
	src = w.open(sub)
	src.Take(1)
	src.Close()

	sink := conformance.OpenSink(t, w.host, w.sinkPlan("dir/out"))
	if st := sink.State(connector.Failed); !strings.Contains(st.Detail, "escapes") {
		t.Errorf("%+v", st)
	}
	sink.Close()
	if _, err := os.Stat(filepath.Join(outside, "out")); err == nil {
		t.Error("the sink wrote outside its root")
	}
}

// The identity of a file survives growth and nothing else.
func TestIdentity(t *testing.T) {
	w := newWorld(t)
	resume := func(id []byte, row conformance.Row) connector.SourceStatus {
		plan := w.sourcePlan("a")
		plan.Identity, plan.Position = id, []byte(row.Position)
		src := w.open(plan)
		defer src.Close()
		return src.State(connector.Open)
	}
	w.write("a", "one\ntwo\n")
	src := w.open(w.sourcePlan("a"))
	id := src.State(connector.Open).Identity
	row := src.Take(2)[1]
	src.Close()

	f, err := os.OpenFile(w.path("a"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(strings.Repeat("three\n", 1000)); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	if st := resume(id, row); st.Restarted || string(st.Identity) != string(id) {
		t.Errorf("grown: %+v", st)
	}
	if st := resume(id, conformance.Row{Position: "nonsense"}); !st.Restarted {
		t.Errorf("foreign position: %+v", st)
	}
	if st := resume([]byte("nonsense"), row); !st.Restarted {
		t.Errorf("foreign identity: %+v", st)
	}
	w.write("a", "one\n") // same inode, shorter than the hashed part
	if st := resume(id, row); !st.Restarted || len(st.Identity) == 0 {
		t.Errorf("truncated: %+v", st)
	}
	w.write("a", "ONE\ntwo\n")
	if st := resume(id, row); !st.Restarted {
		t.Errorf("rewritten: %+v", st)
	}
	w.write("b", "one\ntwo\n")
	if err := os.Rename(w.path("b"), w.path("a")); err != nil {
		t.Fatal(err)
	}
	if st := resume(id, row); !st.Restarted || !strings.Contains(st.Detail, "another file") {
		t.Errorf("replaced: %+v", st)
	}
}

// TestGrownLastLine: the end of a line that was read before it had one is no line of its own.
func TestGrownLastLine(t *testing.T) {
	for _, end := range []string{"\n", "\r\n"} {
		w := newWorld(t)
		w.write("a", "one\ntwo")
		src := w.open(w.sourcePlan("a"))
		id := src.State(connector.Open).Identity
		last := src.Take(2)[1]
		src.Close()
		w.write("a", "one\ntwo"+end+"three\n")
		plan := w.sourcePlan("a")
		plan.Identity, plan.Position = id, []byte(last.Position)
		src = w.open(plan)
		if r := src.Take(1)[0]; r.Payload != "three" || r.Line != 3 || r.Offset != int64(len("one\ntwo"+end)) {
			t.Errorf("%q: %+v", end, r)
		}
		if st := src.State(connector.Finished); st.Skipped != 0 {
			t.Errorf("%q: skipped %d", end, st.Skipped)
		}
		src.Close()
	}
}

func TestPlanIsDecidedOnce(t *testing.T) {
	// req: P-003
	w := newWorld(t)
	w.write("a", "one\n")
	launcher, installed := inproc.New(nil, fileconn.Connector())
	h := supervise.New(supervise.Options{Connectors: installed, Launcher: launcher, FileRoot: w.root})
	defer h.Close(t.Context())
	plan := w.sourcePlan("a")
	src, err := conformance.OpenSource(t, h, plan)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	src.State(connector.Finished)
	plan.Options["path"], plan.Client["root"] = "elsewhere", "/"
	launcher.Crash(fileconn.Kind)
	src.State(connector.Lost)
	src.State(connector.Open)
}

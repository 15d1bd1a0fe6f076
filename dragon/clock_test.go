// SPDX-License-Identifier: Apache-2.0

package dragon_test

import (
	"log/slog"
	"testing"

	"github.com/nervix-go/nervix/dragon"
	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/control"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/registry"
)

// life is one start of a node over the real log.
type life struct {
	t       *testing.T
	log     *dragon.Log
	control *control.Control
}

func begin(t *testing.T, dir string, incarnation ident.Incarnation) life {
	t.Helper()
	l := open(t, dir, "c")
	c, err := control.Open(t.Context(), control.Config{
		Log: l, Checker: control.ModelChecker{}, Installer: &idle{}, Inspector: &idle{}, Hasher: &idle{}, Cluster: "c",
		Users:  []registry.User{{Name: "ann", PHC: "$h"}},
		Node:   registry.Node{ID: 7, Incarnation: incarnation, Logical: "n7.node"},
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return life{t, l, c}
}

func (l life) end() {
	l.control.Close()
	if err := l.log.Close(); err != nil {
		l.t.Error(err)
	}
}

func (l life) do(text string) control.Outcome {
	l.t.Helper()
	out := l.control.Execute(l.t.Context(), control.Request{User: "ann", Domain: "d", Text: text})
	if out.Disposition != control.Completed {
		l.t.Fatalf("%s: %s %v", text, out.Disposition, out.Diagnostics)
	}
	return out
}

// wait returns the domain when its committed state satisfies ok.
func (l life) wait(ok func(*registry.Domain) bool) *registry.Domain {
	l.t.Helper()
	reached := make(chan *registry.Domain, 1)
	stop := l.log.Watch(func(s *registry.State) {
		if d := s.Domains["d"]; d != nil && ok(d) {
			select {
			case reached <- d:
			default:
			}
		}
	})
	defer stop()
	select {
	case d := <-reached:
		return d
	case <-l.t.Context().Done():
		l.t.Fatal("it never came")
		return nil
	}
}

// TestClocksAndVersionsOverTheLog restarts a node with a running paced domain, a completed version, and one that was being uploaded.
func TestClocksAndVersionsOverTheLog(t *testing.T) {
	// req: C-009 half: the fence; reports of the old incarnation are the timekeeper's
	// req: C-011 half: what is replicated; the node-local part is the timekeeper's
	// req: C-043 half: loss by a restart, on one node
	// req: C-146 half: what is committed; the frontier is the timekeeper's
	dir := t.TempDir()
	upload := func(n byte) control.UploadRequest {
		return control.UploadRequest{Reference: ident.NewReference(base, [10]byte{9: n}), User: "ann", Domain: "d", Resource: "m"}
	}
	first := begin(t, dir, 1)
	first.do("CREATE PACED DOMAIN d WITH PERIOD 1d SKEW 1h")
	first.do("BEGIN; CREATE RESOURCE m; CREATE SCHEMA s (x I64); CREATE RELAY a SCHEMA s UNBRANCHED; CREATE RELAY b SCHEMA s UNBRANCHED; COMMIT")
	for n := range byte(2) {
		got, err := first.control.AdmitUpload(t.Context(), upload(n))
		if err != nil || got.Version != uint64(n)+1 {
			t.Fatal(got, err)
		}
	}
	if err := first.control.CompleteUpload(t.Context(), upload(0), control.UploadedVersion{Version: 1, Digest: [32]byte{1}, ArchiveBytes: 1, Bytes: 1, Files: 1}); err != nil {
		t.Fatal(err)
	}
	first.do("CREATE WASM PROCESSOR p FROM a USING RESOURCE m VERSION LATEST FILE 'f' MAX FUEL 5 MAX MEMORY 64KiB UNBRANCHED TO b ON MESSAGE ERROR LOG ON GLOBAL ERROR LOG")
	first.do("START AT '1880-01-01T00:00:00Z' TIME RATE 2.5")
	before := first.log.State().Domains["d"]
	if before.Fence.Authority != (clock.Authority{Node: 7, Incarnation: 1}) || before.Mapping.Rate != 2.5 {
		t.Fatalf("started as %+v", before.Clock())
	}
	first.end()

	second := begin(t, dir, 2)
	after := second.wait(func(d *registry.Domain) bool { return d.Fence.Authority == clock.Authority{Node: 7, Incarnation: 2} })
	if after.Fence.Revision != before.Fence.Revision+1 {
		t.Errorf("the fence moved from %d to %d", before.Fence.Revision, after.Fence.Revision)
	}
	want := before.Clock()
	want.Fence = after.Fence
	if after.Clock() != want {
		t.Errorf("after the restart\n%+v, want\n%+v", after.Clock(), want)
	}
	m := after.Resources["m"]
	if m.Version(1).State != registry.VersionCompleted || m.Version(2).State != registry.VersionFailed {
		t.Errorf("the versions are %s and %s", m.Version(1).State, m.Version(2).State)
	}
	if got, err := second.control.AdmitUpload(t.Context(), upload(0)); err != nil || !got.Completed || got.Version != 1 || got.Digest != [32]byte{1} {
		t.Errorf("the completed upload again: %+v, %v", got, err)
	}
	if got, err := second.control.AdmitUpload(t.Context(), upload(1)); err != nil || got.Completed || got.Version != 3 {
		t.Errorf("the cut upload again: %+v, %v", got, err)
	}
	if err := second.control.CompleteUpload(t.Context(), upload(1), control.UploadedVersion{Version: 2}); fault.CodeOf(err) != fault.ResourceConflict {
		t.Errorf("the gap was completed: %v", err)
	}
	second.do("STOP")
	second.end()
}

// SPDX-License-Identifier: Apache-2.0

package dragon_test

import (
	"context"
	"crypto/md5"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/lni/dragonboat/v4/raftpb"

	"github.com/nervix-go/nervix/dragon"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/registry"
)

func open(t *testing.T, dir, cluster string) *dragon.Log {
	t.Helper()
	l, err := dragon.Open(config(dir, cluster))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	if err := l.WaitLeader(t.Context()); err != nil {
		t.Fatal(err)
	}
	return l
}

func config(dir, cluster string) dragon.Config {
	return dragon.Config{Dir: dir, Cluster: cluster, Node: 7, Logger: slog.New(slog.DiscardHandler), SnapshotEntries: 50}
}

func define(t *testing.T, l *dragon.Log, from, to int) {
	t.Helper()
	for n := from; n < to; n++ {
		res, err := l.Propose(t.Context(), registry.EncodeCommand(command(n, &registry.MutateModels{
			Domain: "d", Base: l.State().Domains["d"].Model, Puts: []registry.Put{{Key: schema(n), Text: "CREATE SCHEMA x;", Grammar: 1}},
		})))
		if err != nil || res.Outcome.Failed() {
			t.Fatal(err, res)
		}
	}
}

func TestStateSurvivesSnapshotsAndRestarts(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, "c")
	setUp(t.Context(), l)
	define(t, l, 0, 180)
	want := registry.EncodeSnapshot(l.State())
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if l.Leader() {
		t.Error("a closed log knows a leader")
	}
	if _, err := l.Propose(t.Context(), []byte("x")); !fault.Has(err, fault.ControlClosed) {
		t.Errorf("a closed log answers %v", err)
	}
	l = open(t, dir, "c")
	if string(registry.EncodeSnapshot(l.State())) != string(want) {
		t.Error("the state after a restart differs")
	}
	define(t, l, 180, 185)
}

// setHostName does what a container with another host name would leave behind.
func setHostName(t *testing.T, dir, name string) {
	t.Helper()
	path := filepath.Join(dir, "dragonboat.ds")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var status raftpb.RaftDataStatus
	if err := status.Unmarshal(b[8:]); err != nil {
		t.Fatal(err)
	}
	status.Hostname = name
	body, err := status.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	sum := md5.Sum(body)
	if err := os.WriteFile(path, append(sum[8:], body...), 0o600); err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, host), filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

func TestHostNameMayChange(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, "c")
	setUp(t.Context(), l)
	define(t, l, 0, 120)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	setHostName(t, dir, "another-container")
	l = open(t, dir, "c")
	if got := len(l.State().Domains["d"].Definitions); got != 120 {
		t.Fatalf("%d definitions after the host name changed", got)
	}
	if _, err := os.Lstat(filepath.Join(dir, "another-container")); !os.IsNotExist(err) {
		t.Error("the link of the earlier name stayed")
	}
}

func TestForeignAndDamagedFolders(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, "c")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := dragon.Open(config(dir, "another")); !fault.Has(err, fault.DaemonDamaged) {
		t.Errorf("a folder of another cluster: %v", err)
	}
	flag := filepath.Join(dir, "dragonboat.ds")
	b, err := os.ReadFile(flag)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)-1] ^= 1
	if err := os.WriteFile(flag, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := dragon.Open(config(dir, "c")); !fault.Has(err, fault.DaemonDamaged) {
		t.Errorf("a damaged flag file: %v", err)
	}
}

func TestSettingsFilesAreRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("dragonboat-hard-settings.json", []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := dragon.Open(config(t.TempDir(), "c")); !fault.Has(err, fault.ControlStorage) {
		t.Fatalf("got %v", err)
	}
}

func TestWatchSeesRevisionsInOrder(t *testing.T) {
	l := open(t, t.TempDir(), "c")
	seen := make(chan ident.Revision, 10_000)
	stop := l.Watch(func(s *registry.State) { seen <- s.Revision })
	setUp(t.Context(), l)
	define(t, l, 0, 50)
	stop()
	define(t, l, 50, 60)
	close(seen)
	last, first := ident.Revision(0), true
	for r := range seen {
		if r <= last && !first {
			t.Fatalf("revision %d after %d", r, last)
		}
		last, first = r, false
	}
	if last == 0 || last >= l.State().Revision {
		t.Fatalf("the last revision seen is %d of %d", last, l.State().Revision)
	}
}

func TestCancelledProposalIsUncertainOrUnavailable(t *testing.T) {
	l := open(t, t.TempDir(), "c")
	setUp(t.Context(), l)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := l.Propose(ctx, registry.EncodeCommand(command(1, &registry.Conclude{})))
	if code := fault.CodeOf(err); code != fault.ControlUncertain && code != fault.ControlUnavailable {
		t.Fatalf("got %v", err)
	}
}

func TestStandardLogIsGivenBack(t *testing.T) {
	open(t, t.TempDir(), "c")
	log.Print("this line goes to the logger of the log and not into Dragonboat's writer")
}

// SPDX-License-Identifier: Apache-2.0

package badinput

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nervix-go/nervix/test/nodes"
)

// TestMissingFile names the absolute path of a source that is not there.
func TestMissingFile(t *testing.T) {
	p := program{root: t.TempDir(), in: "data/absent.ndjson"}
	t.Run("run", func(t *testing.T) {
		done := apply(t, p)
		if done.Code != 1 {
			t.Errorf("exit %d, want 1", done.Code)
		}
		expect(t, done.Stderr, p.root+"/data/absent.ndjson", "no such file", "feed")
	})
	t.Run("start", func(t *testing.T) {
		n := nodes.Start(t, nodes.Options{Data: t.TempDir() + "/data", Root: p.root})
		s := n.Dial()
		p.stopped = true
		s.Do(p.text())
		expect(t, s.Refused("START"), p.root+"/data/absent.ndjson", "no such file", "feed")
		nodes.WriteFile(t, p.root+"/data/absent.ndjson", []byte(goods(1, 10)))
		if text := s.Do("LIST DOMAINS").Text; !strings.Contains(text, "STOPPED") {
			s.Do("STOP") // the refused start left the domain running
			t.Errorf("after a refused START: %s", text)
		}
		s.Do("START")
		s.Finish("feed")
		sameLines(t, p.root+"/out.ndjson", lines(goods(1, 10))...)
		n.Stop()
	})
}

// TestOutputIsAFolder cannot write; nothing is acknowledged, the run gives up and names the path.
func TestOutputIsAFolder(t *testing.T) {
	t.Parallel()
	p := program{root: t.TempDir()}
	nodes.WriteFile(t, p.root+"/in.ndjson", []byte(goods(1, 10)))
	if err := os.Mkdir(p.root+"/out.ndjson", 0o755); err != nil {
		t.Fatal(err)
	}
	t.Run("run", func(t *testing.T) {
		t.Parallel() // it waits for the patience of the run
		done := apply(t, p, "--drain-timeout", "300ms")
		if done.Code != 1 {
			t.Errorf("exit %d, want 1", done.Code)
		}
		expect(t, done.Stderr, "EMITTER out", p.root+"/out.ndjson", "director")
	})
	t.Run("dev", func(t *testing.T) {
		t.Parallel()
		n := nodes.Start(t, nodes.Options{Data: t.TempDir() + "/data", Root: p.root, Flags: []string{"--drain-timeout", "300ms"}})
		s := n.Dial()
		s.Do(p.text())
		var seen struct {
			Status string
			Detail string
		}
		nodes.Eventually(t, "DESCRIBE EMITTER shows the error", func() bool {
			s.Describe("EMITTER out", &seen)
			return seen.Status == "ERROR"
		})
		expect(t, seen.Detail, p.root+"/out.ndjson", "director")
		nodes.Eventually(t, "all lines wait", func() bool {
			i := s.Ingestor("feed")
			if i.Position.Line != 0 {
				t.Fatalf("lines were acknowledged without an output: %s", i.Text)
			}
			return i.Unresolved == 10
		})
		// The drain cannot settle them; its timeout is kept and the end is orderly.
		began := time.Now()
		n.Stop()
		if took := time.Since(began); took < 300*time.Millisecond {
			t.Errorf("the drain waited for %s only", took)
		}
		expect(t, n.Log(), "the drain ran out of time")
	})
}

// TestFullDisk lets the connector write so much and no more, and then more again.
func TestFullDisk(t *testing.T) {
	// req: K02
	t.Parallel()
	const count = 20_000
	p := program{root: t.TempDir(), max: 2000}
	nodes.WriteFile(t, p.root+"/in.ndjson", nil)
	n := nodes.Start(t, nodes.Options{Data: t.TempDir() + "/data", Root: p.root})
	s := n.Dial()
	s.Do(p.text())
	s.Finish("feed")
	pids := nodes.ConnectorsOf(n.PID())
	if len(pids) != 1 {
		t.Fatalf("connectors %v", pids)
	}
	var before unix.Rlimit
	if err := unix.Prlimit(pids[0], unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 100_001, Max: unix.RLIM_INFINITY}, &before); err != nil {
		t.Fatal(err)
	}
	s.Do("STOP")
	nodes.WriteFile(t, p.root+"/in.ndjson", []byte(goods(1, count)))
	s.Do("START")
	var seen struct {
		Status string
		Detail string
	}
	nodes.Eventually(t, "DESCRIBE EMITTER shows the error", func() bool {
		s.Describe("EMITTER out", &seen)
		return seen.Status == "ERROR"
	})
	expect(t, seen.Detail, p.root+"/out.ndjson", "too large")
	acknowledged := s.Ingestor("feed").Position.Line
	written := string(nodes.ReadFile(t, p.root+"/out.ndjson"))
	for _, line := range lines(written[:strings.LastIndexByte(written, '\n')+1]) {
		if !strings.HasSuffix(line, `"amount":0.5}`) {
			t.Fatalf("a line of the full disk is not whole: %q", line)
		}
	}
	if acknowledged > int64(strings.Count(written, "\n")) {
		t.Errorf("%d lines are acknowledged and %d are on disk", acknowledged, strings.Count(written, "\n"))
	}
	if err := unix.Prlimit(pids[0], unix.RLIMIT_FSIZE, &before, nil); err != nil {
		t.Fatal(err)
	}
	if i := s.Finish("feed"); i.Rejected != 0 {
		t.Errorf("after there was room again: %s", i.Text)
	}
	nodes.Eventually(t, "the position is at the end", func() bool { return s.Ingestor("feed").Position.Line == count })
	s.Describe("EMITTER out", &seen)
	if seen.Status != "OK" {
		t.Errorf("the emitter is %s: %s", seen.Status, seen.Detail)
	}
	n.Stop()
	sameLines(t, p.root+"/out.ndjson", lines(goods(1, count))...)
}

// TestSecondSignalEndsAtOnce does not wait for the drain that the first one began.
func TestSecondSignalEndsAtOnce(t *testing.T) {
	p := program{root: t.TempDir()}
	nodes.WriteFile(t, p.root+"/in.ndjson", []byte(goods(1, 10)))
	if err := os.Mkdir(p.root+"/out.ndjson", 0o755); err != nil {
		t.Fatal(err)
	}
	n := nodes.Start(t, nodes.Options{Data: t.TempDir() + "/data", Root: p.root, Flags: []string{"--drain-timeout", "10m"}})
	s := n.Dial()
	s.Do(p.text())
	nodes.Eventually(t, "lines wait for their output", func() bool { return s.Ingestor("feed").Unresolved == 10 })
	connectors := nodes.ConnectorsOf(n.PID())
	n.Signal(syscall.SIGTERM)
	nodes.Eventually(t, "the drain begins", func() bool { return strings.Contains(n.Log(), "stopping") })
	n.Signal(syscall.SIGINT)
	if code := n.Exit(); code != 1 {
		t.Errorf("exit %d after a second signal, want 1", code)
	}
	expect(t, n.Log(), "second signal")
	nodes.Within(t, time.Minute, "the connectors are gone", func() bool {
		for _, live := range nodes.Connectors() {
			for _, pid := range connectors {
				if live == pid {
					return false
				}
			}
		}
		return true
	})
}

// TestTermDrains settles what was read, stores the position and ends with 0; the next start goes on behind it and repeats nothing.
func TestTermDrains(t *testing.T) {
	for count := 50_000; !stoppedAmid(t, count); count *= 4 {
		t.Logf("all %d lines were done before the signal came", count)
	}
}

// stoppedAmid ends a node with a signal while it reads, and checks the rest; false if the signal came too late for that.
func stoppedAmid(t *testing.T, count int) bool {
	t.Helper()
	p := program{root: t.TempDir(), max: 2000}
	nodes.WriteFile(t, p.root+"/in.ndjson", []byte(goods(1, count)))
	o := nodes.Options{Data: t.TempDir() + "/data", Root: p.root}
	n := nodes.Start(t, o)
	s := n.Dial()
	s.Do(p.text())
	nodes.Eventually(t, "a part is done", func() bool { return s.Ingestor("feed").Position.Line > 1000 })
	n.Stop()
	half := strings.Count(string(nodes.ReadFile(t, p.root+"/out.ndjson")), "\n")
	if half >= count {
		return false
	}
	n = nodes.Start(t, o)
	s = n.Dial()
	s.Use("d")
	s.Finish("feed")
	n.Stop()
	sameLines(t, p.root+"/out.ndjson", lines(goods(1, count))...)
	return true
}

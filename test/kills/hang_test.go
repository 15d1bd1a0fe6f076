// SPDX-License-Identifier: Apache-2.0

package kills

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nervix-go/nervix/test/nodes"
)

// TestConnectorHangs stops a connector without ending it: the host notices, replaces it, and loses nothing.
func TestConnectorHangs(t *testing.T) {
	// req: P-007 half: a hang; protocol errors are tests of plugins/supervise
	t.Parallel() // it waits for the patience of the host
	const lines = 60_000
	o := folders(t, lines)
	n := nodes.Start(t, o)
	s := n.Dial()
	s.Do(pipeline(o.Root))
	nodes.Eventually(t, "lines flow", func() bool { return s.Ingestor("feed").Position.Line > 5000 })
	hung := nodes.ConnectorsOf(n.PID())
	_ = syscall.Kill(hung[0], syscall.SIGSTOP)
	i := s.Finish("feed")
	if i.Rejected != 0 {
		t.Errorf("%d lines were rejected", i.Rejected)
	}
	nodes.Eventually(t, "the connector that hung is gone", func() bool { return !slices.Contains(nodes.Connectors(), hung[0]) }) // everything may have been read before it hung
	n.Stop()
	read(t, nodes.ReadFile(t, o.Root+"/out.ndjson")).complete(t, lines)
}

// hangAmid stops a connector while it owes answers: between two batches there may be nothing to wait for.
func hangAmid(t *testing.T, s *nodes.Session, node int) (pid int) {
	t.Helper()
	for {
		var running []int // another one if the host lost its patience with the last
		nodes.Eventually(t, "the connector runs", func() bool { running = nodes.ConnectorsOf(node); return len(running) > 0 })
		pid = running[0]
		_ = syscall.Kill(pid, syscall.SIGSTOP)
		stopped := time.Now()
		// The host pings every five seconds and waits ten for an answer: what comes next must find the connector in place.
		if owes(s) && time.Since(stopped) < 5*time.Second {
			return pid
		}
		before := s.Ingestor("feed").Position.Line
		_ = syscall.Kill(pid, syscall.SIGCONT)
		nodes.Eventually(t, "lines flow again", func() bool { return s.Ingestor("feed").Position.Line > before })
	}
}

// owes says whether deliveries stay unresolved once what the connector had said before it was stopped is taken up.
func owes(s *nodes.Session) bool {
	last, since, polls := 0, time.Now(), 0
	for polls < 5 || time.Since(since) < time.Second {
		now := s.Ingestor("feed").Unresolved
		if now == 0 {
			return false
		}
		if polls++; now != last {
			last, since, polls = now, time.Now(), 0
		}
		time.Sleep(50 * time.Millisecond)
	}
	return true
}

// TestHungConnectorDoesNotHoldUpTheEnd stops a node whose connector answers nothing: it ends in order, and the connector with it.
func TestHungConnectorDoesNotHoldUpTheEnd(t *testing.T) {
	// req: P-008
	t.Parallel()
	o := folders(t, 200_000)
	o.Flags = []string{"--drain-timeout", "500ms"}
	n := nodes.Start(t, o)
	s := n.Dial()
	s.Do(pipeline(o.Root))
	nodes.Eventually(t, "lines flow", func() bool { return s.Ingestor("feed").Position.Line > 5000 })
	hung := hangAmid(t, s, n.PID())
	n.Signal(syscall.SIGTERM)
	began := time.Now()
	code := n.Exit()
	t.Logf("exit %d after %s:\n%s", code, time.Since(began).Round(100*time.Millisecond), n.Log())
	if code != 0 {
		t.Errorf("exit %d, want 0: what had not settled is read again", code)
	}
	for _, says := range []string{"the drain ran out of time", "did not close in time"} {
		if !strings.Contains(n.Log(), says) {
			t.Errorf("the log does not say %q", says)
		}
	}
	nodes.Within(t, gone, "the hung connector is gone", func() bool { return !slices.Contains(nodes.Connectors(), hung) })
}

// SPDX-License-Identifier: Apache-2.0

package kills

import (
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/nervix-go/nervix/test/nodes"
)

// TestConnectorDiesWhileItStarts kills connectors at random moments of their start, where neither the host's sessions nor their own channels
// are complete; lines flow again each time.
func TestConnectorDiesWhileItStarts(t *testing.T) {
	// req: P-007 half: crashes only
	t.Parallel()
	const lines = 200_000
	rounds := 2 // the backoff between starts doubles with each
	if soak() {
		rounds = 12
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	o := folders(t, lines)
	n := nodes.Start(t, o)
	s := n.Dial()
	s.Do(pipeline(o.Root))
	for range rounds {
		for range 2 {
			killSoon(t, n, random)
		}
		if !moves(t, s) {
			break
		}
	}
	s.Finish("feed")
	n.Stop()
	t.Logf("%d repeated", read(t, nodes.ReadFile(t, o.Root+"/out.ndjson")).complete(t, lines))
}

// TestFirstConnectorDiesWhileItStarts is the same for the first connector of a host that resumes a running domain.
func TestFirstConnectorDiesWhileItStarts(t *testing.T) {
	// req: P-007 half: crashes only
	t.Parallel()
	const lines = 300_000
	rounds := 3
	if soak() {
		rounds = 50
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	o := folders(t, lines)
	n := nodes.Start(t, o)
	s := n.Dial()
	s.Do(pipeline(o.Root))
	for range rounds {
		s.Close()
		n.Kill()
		n = nodes.Start(t, o)
		killSoon(t, n, random)
		s = n.Dial()
		s.Use("load")
		if !moves(t, s) {
			break
		}
	}
	s.Finish("feed")
	n.Stop()
	t.Logf("%d repeated", read(t, nodes.ReadFile(t, o.Root+"/out.ndjson")).complete(t, lines))
}

// killSoon kills the connector of a host within moments of its appearance.
func killSoon(t *testing.T, n *nodes.Node, random *rand.Rand) {
	t.Helper()
	var pid int
	for end := time.Now().Add(2 * time.Minute); pid == 0; time.Sleep(time.Millisecond) {
		if pids := nodes.ConnectorsOf(n.PID()); len(pids) == 1 {
			pid = pids[0]
		} else if time.Now().After(end) {
			t.Fatal("the host has no connector")
		}
	}
	time.Sleep(time.Duration(random.IntN(60_000)) * time.Microsecond)
	_ = syscall.Kill(pid, syscall.SIGKILL)
	nodes.Eventually(t, "the killed connector is gone", func() bool { return !slices.Contains(nodes.Connectors(), pid) })
}

// moves waits until the durable position advances; false when it is at the end of the file.
func moves(t *testing.T, s *nodes.Session) bool {
	t.Helper()
	before := s.Ingestor("feed")
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		switch now := s.Ingestor("feed"); {
		case now.Status == "finished":
			return false
		case now.Position.Line > before.Position.Line:
			return true
		case time.Now().After(end):
			t.Fatalf("nothing moves:\n%s\n%s\n%s", now.Text, s.Do("DESCRIBE EMITTER out").Text, s.Do("DESCRIBE RELAY items").Text)
		}
	}
}

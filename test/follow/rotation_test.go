// SPDX-License-Identifier: Apache-2.0

package follow

import (
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nervix-go/nervix/test/nodes"
)

// turns is how often the log is rotated under load.
const turns = 50

// TestRotations: every line of a log that is rotated again and again comes out, while the node looks on, over STOP and START, and anew after
// START AT NOW.
func TestRotations(t *testing.T) {
	// req: K02
	o := nodes.Options{Data: t.TempDir() + "/data", Root: t.TempDir()}
	w := newWriter(t, o.Root)
	n := nodes.Start(t, o)
	s := n.Dial()
	s.Do(graph(o.Root))
	<-w.rotations(turns, 2*time.Millisecond)
	w.check(t)
	repeated := all(t, o.Root, s, w.id)
	i := s.Ingestor("feed")
	if i.Status != "running" || !i.Ready || i.Transient != "" || i.Rejected != 0 {
		t.Errorf("at the end of the log: %s", i.Text)
	}
	// What is written and rotated while the domain stands is read when it runs again.
	s.Do("STOP;")
	for range 3 {
		w.turn(20)
	}
	s.Do("START;")
	repeated += all(t, o.Root, s, w.id)
	w.turn(10)
	w.check(t)
	repeated += all(t, o.Root, s, w.id)
	t.Logf("%d lines, %d repeated", w.id, repeated)
	if log := n.Log(); strings.Contains(log, "is read from its beginning") {
		t.Errorf("a warning of a file that was read to its end:\n%s", log)
	}
	s.Do("STOP;")
	s.Do("START AT NOW;")
	const current = 3 // lines of the file that has the path now
	nodes.Eventually(t, "START AT NOW reads the file anew", func() bool {
		_, again := complete(t, o.Root, w.id)
		return again >= repeated+current
	})
	s.Do("STOP;")
	s.Do(strings.Replace(feed, "feed FROM FILE files PATH 'logs/app.log'", "other FROM FILE files PATH 'logs/none.log'", 1))
	if why := s.Refused("START"); !strings.Contains(why, o.Root+"/logs/none.log") {
		t.Errorf("a missing file: %s", why)
	}
	s.Do("DROP INGESTOR other;")
	s.Do("DROP INGESTOR feed;")
	n.Stop()
}

// TestRotationsAndKills: nothing is lost when the node is killed at any moment of a rotation, and nothing that was rotated while it was away.
func TestRotationsAndKills(t *testing.T) {
	// req: K02
	o := nodes.Options{Data: t.TempDir() + "/data", Root: t.TempDir()}
	w := newWriter(t, o.Root)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	n := nodes.Start(t, o)
	s := n.Dial()
	s.Do(graph(o.Root))
	hosts, connectors := 0, 0
	for done := w.rotations(turns, 8*time.Millisecond); ; {
		select {
		case <-done:
		case <-time.After(time.Duration(random.IntN(400)) * time.Millisecond):
			if pids := nodes.ConnectorsOf(n.PID()); random.IntN(3) == 0 && len(pids) > 0 {
				connectors++
				_ = syscall.Kill(pids[0], syscall.SIGKILL)
				continue
			}
			hosts++
			n.Kill()
			n = nodes.Start(t, o)
			continue
		}
		break
	}
	w.check(t)
	s = n.Dial()
	s.Use("watch")
	repeated := all(t, o.Root, s, w.id)
	t.Logf("%d lines, %d repeated, %d nodes and %d connectors killed", w.id, repeated, hosts, connectors)
	if i := s.Ingestor("feed"); i.Status != "running" || i.Rejected != 0 {
		t.Errorf("%s", i.Text)
	}
	n.Stop()
}

// TestKilledBeforeTheFirstLine: what START began is known from then on, though nothing was read of it.
func TestKilledBeforeTheFirstLine(t *testing.T) {
	// req: K02
	o := nodes.Options{Data: t.TempDir() + "/data", Root: t.TempDir()}
	w := newWriter(t, o.Root)
	n := nodes.Start(t, o)
	n.Dial().Do(graph(o.Root))
	n.Kill()
	for range 3 {
		w.turn(10)
	}
	w.check(t)
	n = nodes.Start(t, o)
	s := n.Dial()
	s.Use("watch")
	all(t, o.Root, s, w.id)
	n.Stop()
}

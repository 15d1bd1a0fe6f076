// SPDX-License-Identifier: Apache-2.0

package kills

import (
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/nervix-go/nervix/test/nodes"
)

// batch is how many lines there are for each kill, roughly what flows between two of them.
const batch = 12_000

// gone is how long a connector may outlive its host here. P-008 says 5 s, and an idle machine needs tens of milliseconds; a machine full of tests may take long.
const gone = time.Minute

// TestKillsUnderLoad kills the host or its connector again and again while lines flow, restarts what does not restart by itself, and checks in
// the end that every line is in the output.
func TestKillsUnderLoad(t *testing.T) {
	// req: P-007 half: crashes of a working connector; hangs and protocol errors are tests of plugins/supervise
	// req: P-008 half: the host is killed; the orderly end has its own tests
	// req: P-010
	// req: B01
	// req: K02
	total := 20
	if soak() {
		total = 200
	}
	lines := total * batch
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("NERVIX_SEED"); text != "" {
		seed, _ = strconv.ParseUint(text, 10, 64)
	}
	t.Logf("NERVIX_SEED=%d", seed)
	r := &rampage{t: t, random: rand.New(rand.NewPCG(seed, 0)), options: folders(t, lines), lines: lines}
	r.start()
	r.session.Do(pipeline(r.options.Root))
	for range total {
		r.await(1 + r.random.IntN(batch/4))
		time.Sleep(time.Duration(r.random.IntN(20_000)) * time.Microsecond)
		switch r.random.IntN(5) {
		case 0, 1:
			r.killConnector()
		case 2:
			r.killHostTwice()
		case 3:
			r.killHost(true)
		case 4:
			r.killHost(false)
		}
	}
	i := r.session.Finish("feed")
	nodes.Eventually(t, "the position is at the end", func() bool { return r.session.Ingestor("feed").Position.Line == int64(r.lines) })
	if i.Rejected != 0 {
		t.Errorf("%d lines were rejected", i.Rejected)
	}
	r.host.Stop()
	r.judge()
	t.Logf("%d host kills, %d of them while starting; %d connector kills", r.hostKills, r.startKills, r.connectorKills)
}

// rampage is one run of kills.
type rampage struct {
	t       *testing.T
	random  *rand.Rand
	options nodes.Options
	lines   int

	host    *nodes.Node
	session *nodes.Session
	seen    int64 // the newest durable line that DESCRIBE told

	hostKills, startKills, connectorKills int
	marks                                 []mark
}

// mark says that lines up to durable were acknowledged when the output had size bytes: they may not be written again.
type mark struct {
	size    int
	durable int64
}

func (r *rampage) output() string { return r.options.Root + "/out.ndjson" }

func (r *rampage) start() {
	r.t.Helper()
	r.host = nodes.Start(r.t, r.options)
	r.session = r.host.Dial()
	r.session.Use("load")
}

// await waits until the durable position has advanced by some lines, so that each kill happens under load. A file that is at its end grows.
func (r *rampage) await(advance int) {
	r.t.Helper()
	target := int64(0)
	nodes.Eventually(r.t, "the position advances", func() bool {
		i := r.session.Ingestor("feed")
		if i.Position.Line < r.seen && i.Position.Line != 0 && r.connectorKills == 0 {
			r.t.Errorf("the durable position went back from line %d to line %d", r.seen, i.Position.Line)
		}
		r.seen = i.Position.Line
		if w := nodes.Writers(r.output()); len(w) > 1 {
			r.t.Errorf("connectors %v may write the output at once", w)
		}
		if i.Position.Line == int64(r.lines) {
			r.grow()
			target = 0
		}
		if target == 0 {
			target = i.Position.Line + int64(advance)
		}
		return i.Position.Line >= target
	})
}

// grow appends lines to the input, which keeps its identity.
func (r *rampage) grow() {
	r.t.Helper()
	r.session.Do("STOP")
	f, err := os.OpenFile(r.options.Root+"/in.ndjson", os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	defer f.Close()
	var b []byte
	for range 5 * batch {
		r.lines++
		b = inputLine(b, r.lines)
	}
	if _, err := f.Write(b); err != nil {
		r.t.Fatal(err)
	}
	r.session.Do("START")
}

// killConnector kills the connector below the host; the host starts another.
func (r *rampage) killConnector() {
	r.t.Helper()
	r.connectorKills++
	before := r.restarts()
	var pids []int
	nodes.Eventually(r.t, "the host has a connector", func() bool { // the one before it may have been killed a moment ago
		if pids = nodes.ConnectorsOf(r.host.PID()); len(pids) > 1 {
			r.t.Fatalf("the host has connectors %v", pids)
		}
		return len(pids) == 1
	})
	_ = syscall.Kill(pids[0], syscall.SIGKILL)
	nodes.Within(r.t, gone, "the killed connector is gone", func() bool { return !slices.Contains(nodes.Connectors(), pids[0]) })
	content := nodes.ReadFile(r.t, r.output())
	read(r.t, content).holds(r.t, r.seen)
	nodes.Eventually(r.t, "the host starts another connector", func() bool { return r.restarts() > before })
}

func (r *rampage) restarts() uint64 {
	r.t.Helper()
	ctx := r.t.Context()
	s, err := r.session.Status(ctx)
	if err != nil || len(s.Connectors) != 1 {
		r.t.Fatalf("status: %v %v", s, err)
	}
	return s.Connectors[0].Restarts
}

// killHost kills the host. With look, what it left is read before the next one starts; else the next one starts at once, beside whatever
// is left of the connectors.
func (r *rampage) killHost(look bool) {
	r.t.Helper()
	r.hostKills++
	orphans := nodes.ConnectorsOf(r.host.PID())
	r.session.Close()
	r.host.Kill()
	died := time.Now()
	if look {
		r.awaitEnd(orphans, died)
		content := nodes.ReadFile(r.t, r.output())
		durable := durableLine(r.t, r.options.Data)
		if durable < r.seen {
			r.t.Errorf("the durable position was line %d and is line %d after the kill", r.seen, durable)
		}
		read(r.t, content).holds(r.t, durable)
		r.marks = append(r.marks, mark{len(content), durable})
	}
	r.start()
	r.awaitEnd(orphans, died)
}

// killHostTwice kills the host and then its successor while that starts.
func (r *rampage) killHostTwice() {
	r.t.Helper()
	r.hostKills += 2
	r.startKills++
	orphans := nodes.ConnectorsOf(r.host.PID())
	r.session.Close()
	r.host.Kill()
	died := time.Now()
	nodes.StartAndKill(r.t, r.options, time.Duration(r.random.IntN(500))*time.Millisecond)
	r.start()
	r.awaitEnd(orphans, died)
}

// awaitEnd expects that the connectors of a dead host end in time.
func (r *rampage) awaitEnd(orphans []int, died time.Time) {
	r.t.Helper()
	nodes.Within(r.t, time.Until(died.Add(gone)), "the connectors of the killed host are gone", func() bool {
		live := nodes.Connectors()
		return !slices.ContainsFunc(orphans, func(pid int) bool { return slices.Contains(live, pid) })
	})
}

// judge reads the output of the whole run.
func (r *rampage) judge() {
	content := nodes.ReadFile(r.t, r.output())
	all := read(r.t, content)
	repeated := all.complete(r.t, r.lines)
	// A kill of the host repeats the lines beyond the durable position. A kill of the connector may besides repeat those that its sink
	// had written and not confirmed: they are offered again, and read again.
	if limit := window * (r.hostKills + 2*r.connectorKills); repeated > limit {
		r.t.Errorf("%d lines were repeated, more than %d", repeated, limit)
	}
	for _, m := range r.marks {
		for _, id := range read(r.t, content[m.size-torn(content[:m.size]):]).ids {
			if int64(id) <= m.durable {
				r.t.Fatalf("line %d was written again although line %d was acknowledged", id, m.durable)
			}
		}
	}
	r.t.Logf("%d lines, %d repeated", r.lines, repeated)
}

// torn is the length of an unterminated last line.
func torn(content []byte) int {
	n := 0
	for n < len(content) && content[len(content)-1-n] != '\n' {
		n++
	}
	return n
}

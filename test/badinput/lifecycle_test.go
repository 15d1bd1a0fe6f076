// SPDX-License-Identifier: Apache-2.0

package badinput

import (
	"os"
	"strings"
	"testing"

	"github.com/nervix-go/nervix/client"
	"github.com/nervix-go/nervix/test/nodes"
)

// bench is a running node with the pipeline of a program.
type bench struct {
	t *testing.T
	p program
	n *nodes.Node
	s *nodes.Session
}

func newBench(t *testing.T, in string) *bench {
	t.Helper()
	b := &bench{t: t, p: program{root: t.TempDir(), stopped: true}}
	nodes.WriteFile(t, b.p.root+"/in.ndjson", []byte(in))
	b.n = nodes.Start(t, nodes.Options{Data: t.TempDir() + "/data", Root: b.p.root})
	b.s = b.n.Dial()
	b.s.Do(b.p.text())
	return b
}

// cycle starts, waits for the end of the input and stops.
func (b *bench) cycle(start string) {
	b.t.Helper()
	b.s.Do(start)
	b.s.Finish("feed")
	b.s.Do("STOP")
}

func (b *bench) append(text string) {
	b.t.Helper()
	f, err := os.OpenFile(b.p.root+"/in.ndjson", os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(text)
		err = errorsOf(err, f.Close())
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

func errorsOf(first, second error) error {
	if first != nil {
		return first
	}
	return second
}

func (b *bench) holds(parts ...string) {
	b.t.Helper()
	sameLines(b.t, b.p.root+"/out.ndjson", lines(strings.Join(parts, ""))...)
}

// TestPositions follows the durable position of a source through starts, stops and changes of its file.
func TestPositions(t *testing.T) {
	// req: P-010 half: the position is the host's
	b := newBench(t, goods(1, 20))
	b.cycle("START")
	b.holds(goods(1, 20))
	b.cycle("START") // resumes at the end
	b.holds(goods(1, 20))
	b.append(goods(21, 30)) // a file that grew keeps its identity
	b.cycle("START")
	b.holds(goods(1, 30))
	if strings.Contains(b.n.Log(), "read from its beginning") {
		t.Errorf("a file that grew was taken for another:\n%s", b.n.Log())
	}
	b.cycle("START AT NOW") // forgets the position
	b.holds(goods(1, 30), goods(1, 30))
	b.cycle("START")
	b.holds(goods(1, 30), goods(1, 30))

	// Another file at the path is read from its start, with a warning.
	nodes.WriteFile(t, b.p.root+"/next", []byte(goods(51, 95)))
	if err := os.Rename(b.p.root+"/next", b.p.root+"/in.ndjson"); err != nil {
		t.Fatal(err)
	}
	b.cycle("START")
	b.holds(goods(1, 30), goods(1, 30), goods(51, 95))
	expect(t, b.n.Log(), "read from its beginning", b.p.root+"/in.ndjson", "another file")

	// A file that shrank is read from its start too.
	if err := os.Truncate(b.p.root+"/in.ndjson", int64(len(goods(51, 80)))); err != nil {
		t.Fatal(err)
	}
	b.cycle("START")
	b.holds(goods(1, 30), goods(1, 30), goods(51, 95), goods(51, 80))

	// A domain of the same name does not inherit positions.
	b.s.Do("DROP DOMAIN d")
	b.s.Do(b.p.text())
	b.cycle("START")
	b.holds(goods(1, 30), goods(1, 30), goods(51, 95), goods(51, 80), goods(51, 80))
	b.n.Stop()
}

// TestChangesOfARunningDomain refuses everything but the capacity of a relay, which changes at once.
func TestChangesOfARunningDomain(t *testing.T) {
	// req: R-020 half: the level is DYNAMIC and the change takes; what is buffered is a test of host/relay/owner
	b := newBench(t, goods(1, 20))
	b.s.Do("START")
	for _, text := range []string{
		"CREATE SCHEMA more (a I64)", "DROP EMITTER out", "CREATE RELAY further SCHEMA item UNBRANCHED", "DROP INGESTOR feed",
	} {
		expect(t, b.s.Refused(text), "domain.running", "STOP")
	}
	expect(t, b.s.Refused("START"), "running")
	out := b.s.Do("ALTER RELAY items SET CAPACITY 8, SET CAPACITY 3")
	if !strings.Contains(out.Text+out.Data, "DYNAMIC") {
		t.Errorf("ALTER RELAY SET CAPACITY says %q %q, not DYNAMIC", out.Text, out.Data)
	}
	expect(t, b.s.Do("SHOW CREATE RELAY items").Text, "CAPACITY 3")
	b.s.Finish("feed")
	b.holds(goods(1, 20))
	b.s.Do("STOP")
	expect(t, b.s.Refused("STOP"), "stopped")
	b.s.Do("CREATE SCHEMA more (a I64)")
	b.n.Stop()
}

// TestTwoWritersOfOnePath refuses a second emitter on the path of another, in this domain and in the next.
func TestTwoWritersOfOnePath(t *testing.T) {
	b := newBench(t, goods(1, 5))
	second := strings.Replace(emitter(b.p.text()), "EMITTER out", "EMITTER again", 1)
	expect(t, b.s.Refused(second), "model.writer", "EMITTER out", "path")
	expect(t, b.s.Refused(strings.Replace(second, "'out.ndjson'", "'./out.ndjson'", 1)), "model.writer", "EMITTER out")

	other := strings.NewReplacer("DOMAIN d", "DOMAIN e", "USE d", "USE e").Replace(b.p.text())
	var refused string
	for _, text := range nodes.Statements(other) {
		out, err := b.s.Try(text)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(text, "USE") {
			b.s.Use("e")
		}
		if out.Disposition == client.Failed {
			refused += out.Diagnostics.Error()
			continue
		}
	}
	expect(t, refused, "EMITTER out of domain d")
	b.n.Stop()
}

// emitter is the statement that creates the emitter `out`.
func emitter(program string) string {
	for _, text := range nodes.Statements(program) {
		if strings.HasPrefix(text, "CREATE EMITTER out ") {
			return text
		}
	}
	return ""
}

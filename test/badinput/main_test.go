// SPDX-License-Identifier: Apache-2.0

package badinput

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nervix-go/nervix/test/nodes"
)

func TestMain(m *testing.M) { nodes.Main(m) }

// program is a pipeline from in.ndjson to out.ndjson with a relay and a file for damaged lines.
type program struct {
	root string
	// policy is the ON MESSAGE ERROR of the ingestor; empty sends to the relay `damaged`.
	policy string
	// client holds further CONFIG entries of the client.
	client string
	// in and out are paths below root; in.ndjson and out.ndjson if empty.
	in, out string
	// max is PARALLEL MAX; 1000 if zero.
	max int
	// stopped leaves START out.
	stopped bool
}

const sendDamaged = `SEND TO damaged SET ref = error.reference, code = error.code, operation = error.operation, why = error.message, line = metadata.line`

func (p program) text() string {
	or := func(text, otherwise string) string {
		if text == "" {
			return otherwise
		}
		return text
	}
	if p.max == 0 {
		p.max = 1000
	}
	start := "START;\n"
	if p.stopped {
		start = ""
	}
	return fmt.Sprintf(`CREATE DOMAIN d;
USE d;
CREATE SCHEMA item (id I64, bed STRING, text STRING, amount F64 OPTIONAL);
CREATE SCHEMA fault (ref STRING, code STRING, operation STRING, why STRING, line I64);
CREATE SCHEMA bed_key (bed STRING);
CREATE WIRE JSON SCHEMA item_wire MODE STRICT (id INTEGER, bed STRING, text STRING, amount NUMBER OPTIONAL);
CREATE WIRE JSON SCHEMA fault_wire MODE STRICT (ref STRING, code STRING, operation STRING, why STRING, line INTEGER);
CREATE CODEC item_codec FROM WIRE JSON SCHEMA item_wire TO SCHEMA item;
CREATE CODEC fault_codec FROM WIRE JSON SCHEMA fault_wire TO SCHEMA fault;
CREATE BRANCH by_bed SCHEMA bed_key TTL 1h;
CREATE RELAY items SCHEMA item BRANCHED BY by_bed CAPACITY 8;
CREATE RELAY damaged SCHEMA fault UNBRANCHED CAPACITY 8;
CREATE CLIENT files TYPE FILE CONFIG { 'root' = '%s'%s };
CREATE INGESTOR feed FROM FILE files PATH '%s'
  MODE ACK PARALLEL MAX %d ACK TIMEOUT 30s RETRY POLICY BACKOFF 20ms MAX 200ms ON QUIESCE SUSPEND
  DECODE USING item_codec
  TO items INHERIT ALL BRANCHED BY by_bed SET bed = message.bed
    FLUSH EACH 5ms MAX BATCH SIZE 64KiB ON MESSAGE ERROR %s
  ON GENERAL ERROR LOG;
CREATE EMITTER out FROM items
  TO FILE files PATH '%s' MODE ACK RETRY POLICY BACKOFF 50ms MAX 200ms ENCODE USING item_codec
  INHERIT ALL FLUSH EACH 5ms MAX BATCH SIZE 64KiB
  ON MESSAGE ERROR LOG ON GENERAL ERROR LOG;
CREATE EMITTER faults FROM damaged
  TO FILE files PATH 'damaged.ndjson' MODE ACK RETRY POLICY BACKOFF 50ms MAX 200ms ENCODE USING fault_codec
  INHERIT ALL FLUSH EACH 5ms MAX BATCH SIZE 64KiB
  ON MESSAGE ERROR LOG ON GENERAL ERROR LOG;
%s`, p.root, p.client, or(p.in, "in.ndjson"), p.max, or(p.policy, sendDamaged), or(p.out, "out.ndjson"), start)
}

// good is the line of a number, as it comes and as it leaves.
func good(id int) string {
	return fmt.Sprintf(`{"id":%d,"bed":"b%d","text":"line %d","amount":0.5}`, id, id%3, id)
}

// goods is good lines first..last.
func goods(first, last int) string {
	var b strings.Builder
	for id := first; id <= last; id++ {
		b.WriteString(good(id) + "\n")
	}
	return b.String()
}

// expect checks that a text names everything it must.
func expect(t *testing.T, text string, names ...string) {
	t.Helper()
	for _, name := range names {
		if !strings.Contains(text, name) {
			t.Errorf("the text does not name %q:\n%s", name, text)
		}
	}
}

// sameLines checks that a file holds exactly the wanted lines, in any order across branches.
func sameLines(t *testing.T, path string, want ...string) {
	t.Helper()
	content := string(nodes.ReadFile(t, path))
	if content != "" && !strings.HasSuffix(content, "\n") {
		t.Errorf("%s ends with a part of a line: %q", path, content)
	}
	count := make(map[string]int)
	for _, line := range strings.Split(strings.TrimSuffix(content, "\n"), "\n") {
		if line != "" {
			count[line]++
		}
	}
	for _, line := range want {
		if count[line]--; count[line] < 0 {
			t.Errorf("%s lacks %s", path, line)
		}
	}
	for line, n := range count {
		if n > 0 {
			t.Errorf("%s has %d of %s too many", path, n, line)
		}
	}
}

// lines cuts a text into lines.
func lines(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }

// apply writes the program and runs `nervixd run` on it.
func apply(t *testing.T, p program, flags ...string) nodes.Finished {
	t.Helper()
	file := t.TempDir() + "/program.nspl"
	nodes.WriteFile(t, file, []byte(p.text()))
	return nodes.Run(t, p.root, append([]string{"run", file, "--file-root", p.root}, flags...)...)
}

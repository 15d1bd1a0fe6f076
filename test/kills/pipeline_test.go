// SPDX-License-Identifier: Apache-2.0

package kills

import (
	"bytes"
	"fmt"
	"strconv"
	"testing"

	"github.com/nervix-go/nervix/test/nodes"
)

// window is PARALLEL MAX of the ingestor under test: what a kill may repeat.
const window = 1000

// branches is how many keys the lines have.
const branches = 60

// pipeline reads numbered lines, marks them in a junction and writes them, branch by branch.
func pipeline(root string) string {
	return fmt.Sprintf(`CREATE DOMAIN load;
USE load;
CREATE SCHEMA item (id I64, bed STRING, text STRING);
CREATE SCHEMA marked (id I64, bed STRING, text STRING, twice I64);
CREATE SCHEMA bed_key (bed STRING);
CREATE WIRE JSON SCHEMA item_wire MODE STRICT (id INTEGER, bed STRING, text STRING);
CREATE WIRE JSON SCHEMA marked_wire MODE STRICT (id INTEGER, bed STRING, text STRING, twice INTEGER);
CREATE CODEC item_codec FROM WIRE JSON SCHEMA item_wire TO SCHEMA item;
CREATE CODEC marked_codec FROM WIRE JSON SCHEMA marked_wire TO SCHEMA marked;
CREATE BRANCH by_bed SCHEMA bed_key TTL 1h;
CREATE RELAY items SCHEMA item BRANCHED BY by_bed CAPACITY 16;
CREATE RELAY results SCHEMA marked BRANCHED BY by_bed CAPACITY 16;
CREATE CLIENT files TYPE FILE CONFIG { 'root' = '%s' };
CREATE INGESTOR feed FROM FILE files PATH 'in.ndjson'
  MODE ACK PARALLEL MAX %d ACK TIMEOUT 30s RETRY POLICY BACKOFF 50ms MAX 1s ON QUIESCE SUSPEND
  DECODE USING item_codec
  TO items INHERIT ALL BRANCHED BY by_bed SET bed = message.bed
    FLUSH EACH 5ms MAX BATCH SIZE 64KiB ON MESSAGE ERROR LOG
  ON GENERAL ERROR LOG;
CREATE JUNCTION mark FROM items BRANCHED BY by_bed
  TO results INHERIT ALL SET twice = input.id * 2
    FLUSH EACH 5ms MAX BATCH SIZE 64KiB ON MESSAGE ERROR LOG;
CREATE EMITTER out FROM results
  TO FILE files PATH 'out.ndjson' MODE ACK RETRY POLICY BACKOFF 50ms MAX 1s ENCODE USING marked_codec
  INHERIT ALL FLUSH EACH 10ms MAX BATCH SIZE 256KiB
  ON MESSAGE ERROR LOG ON GENERAL ERROR LOG;
START;
`, root, window)
}

// bedOf spreads numbers over branches unevenly and without a pattern that batches could hide behind.
func bedOf(id int) int {
	x := uint32(id) * 2654435761
	return int(x>>16) % branches
}

const filler = "the quick brown fox jumps over the lazy dog"

func inputLine(b []byte, id int) []byte {
	return fmt.Appendf(b, "{\"id\":%d,\"bed\":\"b%02d\",\"text\":\"%s\"}\n", id, bedOf(id), filler)
}

func outputLine(b []byte, id int) []byte {
	return fmt.Appendf(b, "{\"id\":%d,\"bed\":\"b%02d\",\"text\":\"%s\",\"twice\":%d}", id, bedOf(id), filler, 2*id)
}

// input is lines 1..n.
func input(n int) []byte {
	b := make([]byte, 0, 90*n)
	for id := 1; id <= n; id++ {
		b = inputLine(b, id)
	}
	return b
}

// output is what a file of the emitter holds: the number of each of its lines in order.
type output struct{ ids []int }

// read parses an output and fails on everything that is not exactly a whole line of the pipeline. A part of a line at the end is left out: only the
// connector that opens the file next cuts it off.
func read(t *testing.T, content []byte) output {
	t.Helper()
	var o output
	var want []byte
	for at := 0; ; {
		end := bytes.IndexByte(content[at:], '\n')
		if end < 0 {
			return o
		}
		line := content[at : at+end]
		at += end + 1
		rest, ok := bytes.CutPrefix(line, []byte(`{"id":`))
		comma := bytes.IndexByte(rest, ',')
		if !ok || comma < 0 {
			t.Fatalf("line %d of the output is not whole: %q", len(o.ids)+1, line)
		}
		id, err := strconv.Atoi(string(rest[:comma]))
		if want = outputLine(want[:0], id); err != nil || !bytes.Equal(line, want) {
			t.Fatalf("line %d of the output is %q, want %q", len(o.ids)+1, line, want)
		}
		o.ids = append(o.ids, id)
	}
}

// complete checks that every line 1..n is there, the first occurrences of each branch in file order; it gives the occurrences beyond the
// first.
func (o output) complete(t *testing.T, n int) (repeated int) {
	t.Helper()
	seen := make([]bool, n+1)
	last := make([]int, branches)
	for at, id := range o.ids {
		if id < 1 || id > n {
			t.Fatalf("line %d of the output is number %d of %d", at+1, id, n)
		}
		if seen[id] {
			repeated++
			continue
		}
		seen[id] = true
		if bed := bedOf(id); id < last[bed] {
			t.Errorf("branch b%02d: number %d came first after number %d", bed, id, last[bed])
		} else {
			last[bed] = id
		}
	}
	for id := 1; id <= n; id++ {
		if !seen[id] {
			t.Fatalf("number %d of %d is lost", id, n)
		}
	}
	return repeated
}

// holds checks that every number up to the position is in the output.
func (o output) holds(t *testing.T, position int64) {
	t.Helper()
	seen := make([]bool, position+1)
	for _, id := range o.ids {
		if int64(id) <= position {
			seen[id] = true
		}
	}
	for id := int64(1); id <= position; id++ {
		if !seen[id] {
			t.Fatalf("the durable position is line %d and line %d is not in the output", position, id)
		}
	}
}

// folders makes the data folder and the file root of a test.
func folders(t *testing.T, lines int) nodes.Options {
	t.Helper()
	o := nodes.Options{Data: t.TempDir() + "/data", Root: t.TempDir()}
	nodes.WriteFile(t, o.Root+"/in.ndjson", input(lines))
	return o
}

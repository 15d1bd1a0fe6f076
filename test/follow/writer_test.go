// SPDX-License-Identifier: Apache-2.0

package follow

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/nervix-go/nervix/test/nodes"
)

// graph reads the numbers of a followed log and writes them.
func graph(root string) string {
	return fmt.Sprintf(`CREATE DOMAIN watch;
USE watch;
CREATE SCHEMA item (id I64, text STRING);
CREATE WIRE JSON SCHEMA item_wire MODE STRICT (id INTEGER, text STRING);
CREATE CODEC item_codec FROM WIRE JSON SCHEMA item_wire TO SCHEMA item;
CREATE RELAY items SCHEMA item UNBRANCHED CAPACITY 16;
CREATE CLIENT files TYPE FILE CONFIG { 'root' = '%s' };
%s
CREATE EMITTER out FROM items
  TO FILE files PATH 'out.ndjson' MODE ACK RETRY POLICY BACKOFF 50ms MAX 1s ENCODE USING item_codec
  INHERIT ALL FLUSH EACH 5ms MAX BATCH SIZE 256KiB
  ON MESSAGE ERROR LOG ON GENERAL ERROR LOG;
START;
`, root, feed)
}

// feed is the ingestor of graph.
const feed = `CREATE INGESTOR feed FROM FILE files PATH 'logs/app.log' FOLLOW
  MODE ACK PARALLEL MAX 300 ACK TIMEOUT 30s RETRY POLICY BACKOFF 50ms MAX 1s ON QUIESCE SUSPEND
  DECODE USING item_codec
  TO items INHERIT ALL UNBRANCHED FLUSH EACH 5ms MAX BATCH SIZE 64KiB ON MESSAGE ERROR LOG
  ON GENERAL ERROR LOG;`

// writer appends numbered lines to a log and rotates it as logrotate does, by renaming.
type writer struct {
	folder string
	file   *os.File
	id     int // of the last line
	turns  int
	err    error
}

const name = "app.log"

func newWriter(t *testing.T, root string) *writer {
	t.Helper()
	w := &writer{folder: filepath.Join(root, "logs")}
	if err := os.MkdirAll(w.folder, 0o755); err != nil {
		t.Fatal(err)
	}
	w.open()
	w.check(t)
	t.Cleanup(func() { _ = w.file.Close() })
	return w
}

func (w *writer) check(t *testing.T) {
	t.Helper()
	if w.err != nil {
		t.Fatal(w.err)
	}
}

func (w *writer) open() {
	var err error
	w.file, err = os.OpenFile(filepath.Join(w.folder, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o644)
	w.err = errors.Join(w.err, err)
}

func (w *writer) line(f *os.File) {
	w.id++
	line := fmt.Sprintf("{\"id\":%d,\"text\":\"line of file %d\"}\n", w.id, w.turns)
	half := w.id % len(line) // now and then a look falls between the parts
	for _, part := range []string{line[:half], line[half:]} {
		_, err := f.WriteString(part)
		w.err = errors.Join(w.err, err)
	}
}

// turn writes lines and then renames the log; the old file gets its last lines while the new one already grows.
func (w *writer) turn(lines int) {
	for range lines {
		w.line(w.file)
	}
	for n := w.turns; n >= 0; n-- {
		from := filepath.Join(w.folder, name)
		if n > 0 {
			from += "." + strconv.Itoa(n)
		}
		w.err = errors.Join(w.err, os.Rename(from, filepath.Join(w.folder, name+"."+strconv.Itoa(n+1))))
	}
	w.turns++
	old := w.file
	w.open()
	for range 3 {
		w.line(w.file)
		w.line(old)
	}
	w.err = errors.Join(w.err, old.Close())
}

// rotations writes and rotates n times, with pauses in which lines flow.
func (w *writer) rotations(n int, pause time.Duration) (done chan struct{}) {
	done = make(chan struct{})
	go func() {
		defer close(done)
		for range n {
			for range 10 {
				for range 4 {
					w.line(w.file)
				}
				time.Sleep(pause)
			}
			w.turn(1)
		}
	}()
	return done
}

// counts says how often each number up to n is in the output. A part of a line at its end is left out.
func counts(t *testing.T, root string, n int) []int {
	t.Helper()
	content := nodes.ReadFile(t, filepath.Join(root, "out.ndjson"))
	seen := make([]int, n+1)
	for {
		line, rest, whole := bytes.Cut(content, []byte("\n"))
		if !whole {
			return seen
		}
		content = rest
		var id, file int
		if _, err := fmt.Sscanf(string(line), `{"id":%d,"text":"line of file %d"}`, &id, &file); err != nil || id < 1 || id > n {
			t.Fatalf("the output holds %q", line)
		}
		seen[id]++
	}
}

// complete says how many of the numbers up to n are missing in the output, and how many come again.
func complete(t *testing.T, root string, n int) (missing, repeated int) {
	t.Helper()
	for _, times := range counts(t, root, n)[1:] {
		if times == 0 {
			missing++
		} else {
			repeated += times - 1
		}
	}
	return missing, repeated
}

// all waits until every number up to n came out and is settled.
func all(t *testing.T, root string, s *nodes.Session, n int) (repeated int) {
	t.Helper()
	for missing := n; missing > 0; {
		before := missing
		nodes.Eventually(t, fmt.Sprintf("one of %d lines that are missing comes out", before), func() bool {
			missing, repeated = complete(t, root, n)
			return missing < before || missing == 0
		})
	}
	nodes.Eventually(t, "everything is settled", func() bool { return s.Ingestor("feed").Unresolved == 0 })
	return repeated
}

// SPDX-License-Identifier: Apache-2.0

package follow

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nervix-go/nervix/test/nodes"
)

// run starts `nervixd run` with a file of statements; wait gives its end.
func run(t *testing.T, root, text string) (c *exec.Cmd, wait func() nodes.Finished) {
	t.Helper()
	nodes.WriteFile(t, filepath.Join(root, "graph.nspl"), []byte(text))
	c = exec.Command(nodes.Built().Daemon, "run", "graph.nspl", "--file-root", root)
	done := make(chan nodes.Finished, 1)
	var stdout, stderr bytes.Buffer
	c.Dir, c.Stdout, c.Stderr = root, &stdout, &stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = c.Wait()
		done <- nodes.Finished{Code: c.ProcessState.ExitCode(), Stdout: stdout.String(), Stderr: stderr.String()}
	}()
	ended := false
	t.Cleanup(func() {
		if !ended {
			_ = c.Process.Kill()
			<-done
		}
	})
	return c, func() (f nodes.Finished) {
		t.Helper()
		nodes.Within(t, 3*time.Minute, "the run ends", func() bool {
			select {
			case f = <-done:
				ended = true
			default:
			}
			return ended
		})
		return f
	}
}

// TestRunOfFollowedFiles: a run with nothing but followed files says that it ends with an interrupt, and does.
func TestRunOfFollowedFiles(t *testing.T) {
	root := t.TempDir()
	w := newWriter(t, root)
	w.line(w.file)
	c, wait := run(t, root, graph(root))
	for range 3 {
		w.check(t)
		nodes.Eventually(t, "all lines come out", func() bool {
			missing, _ := complete(t, root, w.id)
			return missing == 0
		})
		w.turn(20)
	}
	_ = c.Process.Signal(syscall.SIGINT)
	f := wait()
	if f.Code != 0 || !strings.Contains(f.Stderr, "no finite source runs") || !strings.Contains(f.Stderr, "ends with an interrupt") {
		t.Errorf("exit %d\n%s\n%s", f.Code, f.Stdout, f.Stderr)
	}
}

// TestRunOfMixedSources: a run ends when its finite sources are finished, though a followed one never stands still; what that has admitted is written.
func TestRunOfMixedSources(t *testing.T) {
	root := t.TempDir()
	w := newWriter(t, root)
	text := strings.Replace(graph(root), "START;", `CREATE INGESTOR rest FROM FILE files PATH 'rest.ndjson'
  MODE ACK PARALLEL MAX 300 ACK TIMEOUT 30s RETRY POLICY BACKOFF 50ms MAX 1s ON QUIESCE SUSPEND
  DECODE USING item_codec
  TO items INHERIT ALL UNBRANCHED FLUSH EACH 5ms MAX BATCH SIZE 64KiB ON MESSAGE ERROR LOG
  ON GENERAL ERROR LOG;
START;`, 1)
	const others = 5000
	var rest bytes.Buffer
	for id := 1; id <= others; id++ {
		fmt.Fprintf(&rest, "{\"id\":%d,\"text\":\"line of file 0\"}\n", id)
	}
	nodes.WriteFile(t, filepath.Join(root, "rest.ndjson"), rest.Bytes())
	w.id = others
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				w.line(w.file)
			}
		}
	}()
	_, wait := run(t, root, text)
	f := wait()
	close(stop)
	<-stopped
	w.check(t)
	if f.Code != 0 || strings.Contains(f.Stderr, "no finite source") {
		t.Errorf("exit %d\n%s\n%s", f.Code, f.Stdout, f.Stderr)
	}
	if n := slices.Index(counts(t, root, w.id)[1:others+1], 0); n >= 0 {
		t.Errorf("line %d of the finite file is missing", n+1)
	}
}

// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is how long anything that must happen may take on a loaded machine before a test gives up on it.
const patience = 60 * time.Second

// Node is one running `nervixd dev`.
type Node struct {
	t    testing.TB
	cmd  *exec.Cmd
	log  *Output
	done chan struct{}
	// Data is the data folder; Root the file root.
	Data, Root string
	// Admin and Session are the addresses of the ready line.
	Admin, Session string
}

// Output is what a process wrote to standard error, complete once it has ended.
type Output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (o *Output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

// String is everything so far.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// Options are flags beyond the free ports that Start asks for.
type Options struct {
	Data, Root string
	Flags      []string
}

// Start runs `nervixd dev` and waits for its ready line. The node is killed when the test ends, if it still runs.
func Start(t testing.TB, o Options) *Node {
	t.Helper()
	n, err := TryStart(t, o)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TryStart is Start for nodes that may refuse; the error holds what the node said.
func TryStart(t testing.TB, o Options) (*Node, error) {
	t.Helper()
	arguments := append([]string{
		"dev", "--data", o.Data, "--file-root", o.Root,
		"--session-listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0",
	}, o.Flags...)
	n := &Node{t: t, cmd: exec.Command(built.Daemon, arguments...), log: &Output{}, done: make(chan struct{}), Data: o.Data, Root: o.Root}
	n.cmd.Stderr = n.log
	n.cmd.Dir = o.Root
	out, err := n.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := n.cmd.Start(); err != nil {
		return nil, err
	}
	t.Cleanup(func() {
		n.Kill()
		text := n.Log()
		for _, word := range []string{"DATA RACE", "panic:", "fatal error:"} {
			if strings.Contains(text, word) {
				t.Errorf("node %d said %q", n.PID(), word)
			}
		}
		if t.Failed() {
			t.Logf("what node %d (%s) said last:\n%s", n.PID(), n.cmd.ProcessState, text[max(0, len(text)-8000):])
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	go func() {
		_, _ = io.Copy(io.Discard, out)
		_ = n.cmd.Wait()
		close(n.done)
	}()
	if err != nil {
		<-n.done
		return nil, fmt.Errorf("exit %d: %s", n.cmd.ProcessState.ExitCode(), n.log)
	}
	n.Session, n.Admin = field(line, "session="), field(line, "admin=")
	if !strings.HasPrefix(line, "nervixd ready node=") || n.Session == "" || n.Admin == "" {
		return nil, fmt.Errorf("the ready line is %q", line)
	}
	return n, nil
}

func field(line, name string) string {
	for _, word := range strings.Fields(line) {
		if value, ok := strings.CutPrefix(word, name); ok {
			return value
		}
	}
	return ""
}

// PID is the process id of the node.
func (n *Node) PID() int { return n.cmd.Process.Pid }

// Log is what the node logged so far.
func (n *Node) Log() string { return n.log.String() }

// Signal sends a signal.
func (n *Node) Signal(s syscall.Signal) { _ = n.cmd.Process.Signal(s) }

// Kill ends the node with SIGKILL and waits for its end.
func (n *Node) Kill() {
	_ = n.cmd.Process.Kill()
	<-n.done
}

// Exit waits for the end of the node and gives its exit code.
func (n *Node) Exit() int {
	n.t.Helper()
	select {
	case <-n.done:
	case <-time.After(patience):
		n.t.Fatalf("the node has not ended within %s:\n%s", patience, n.Log())
	}
	return n.cmd.ProcessState.ExitCode()
}

// Stop ends the node in order and expects exit 0.
func (n *Node) Stop() {
	n.t.Helper()
	n.Signal(syscall.SIGTERM)
	if code := n.Exit(); code != 0 {
		n.t.Fatalf("the node exited with %d after SIGTERM:\n%s", code, n.Log())
	}
}

// Finished is the outcome of a program that ended by itself.
type Finished struct {
	Code           int
	Stdout, Stderr string
}

// Run runs nervixd with arguments until it ends.
func Run(t testing.TB, folder string, arguments ...string) Finished {
	t.Helper()
	return RunCommand(t, folder, exec.Command(built.Daemon, arguments...))
}

// RunCommand runs a prepared command until it ends.
func RunCommand(t testing.TB, folder string, c *exec.Cmd) Finished {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c.Dir, c.Stdout, c.Stderr = folder, &stdout, &stderr
	timer := time.AfterFunc(2*patience, func() { _ = c.Process.Kill() })
	defer timer.Stop()
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return Finished{Code: c.ProcessState.ExitCode(), Stdout: stdout.String(), Stderr: stderr.String()}
}

// WriteFile writes a file below a folder, making folders.
func WriteFile(t testing.TB, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// ReadFile reads a file; one that is missing is empty.
func ReadFile(t testing.TB, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return content
}

// Eventually polls until ok says yes.
func Eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	Within(t, patience, what, ok)
}

// Within polls until ok says yes, for at most the given time.
func Within(t testing.TB, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %s: %s", limit, what)
		}
	}
}

// StartAndKill starts a node, kills it after a while wherever it is by then, and waits for its end.
func StartAndKill(t testing.TB, o Options, after time.Duration) {
	t.Helper()
	c := exec.Command(built.Daemon, "dev", "--data", o.Data, "--file-root", o.Root,
		"--session-listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0")
	c.Dir = o.Root
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(after)
	_ = c.Process.Kill()
	_ = c.Wait()
}

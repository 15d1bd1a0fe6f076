// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestUncertain: a node that stops answering in the middle leaves a statement of which nobody knows. It is exit 3, with its reference.
func TestUncertain(t *testing.T) {
	// req: half: on one node nothing redirects
	d, err := start(filepath.Join(t.TempDir(), "data"), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.kill)
	// The interruption may come between two statements. Then nothing is in doubt, and it has to be tried again.
	for try := range 20 {
		code, last, errors := interrupted(t, d, try)
		if code == 1 {
			continue
		}
		if code != 3 {
			t.Fatalf("exit code %d\n%s", code, errors)
		}
		var l line
		if why := judge(last); why != "" || json.Unmarshal([]byte(last), &l) != nil {
			t.Fatalf("%s: %s", why, last)
		}
		if *l.Disposition != "unknown" || len(*l.Reference) != 36 || *(*l.Diagnostics)[0].Code != "control.uncertain" {
			t.Fatal(last)
		}
		if !strings.Contains(errors, "the statements after it were not sent") {
			t.Fatal(errors)
		}
		return
	}
	t.Fatal("no statement was under way in 20 tries")
}

// interrupted runs many statements, freezes the node when the first three are done, and interrupts the client.
func interrupted(t *testing.T, d *daemon, try int) (code int, last, errors string) {
	var text strings.Builder
	fmt.Fprintf(&text, "CREATE DOMAIN doubt%d; USE doubt%d;", try, try)
	for i := range 2000 {
		fmt.Fprintf(&text, "CREATE SCHEMA s%d (a I64);", i)
	}
	c := exec.Command(filepath.Join(programs, "nervix"), "--format", "jsonl", "-f", "-")
	c.Env = append(os.Environ(), "NERVIX_CONTEXT="+d.context())
	var stderr bytes.Buffer
	c.Stdin, c.Stderr = strings.NewReader(text.String()), &stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	signal := func(p *os.Process, s syscall.Signal) {
		if err := p.Signal(s); err != nil {
			t.Error(err)
		}
	}
	reader := bufio.NewReader(out)
	for range 3 { // the domain and its USE are done: what is under way has an effect
		if last, err = reader.ReadString('\n'); err != nil {
			t.Fatal(err, stderr.String())
		}
	}
	signal(d.cmd.Process, syscall.SIGSTOP)
	signal(c.Process, syscall.SIGINT)
	for err == nil {
		var next string
		if next, err = reader.ReadString('\n'); next != "" {
			last = next
		}
	}
	if err != io.EOF {
		t.Error(err)
	}
	_ = c.Wait()
	signal(d.cmd.Process, syscall.SIGCONT)
	return c.ProcessState.ExitCode(), last, stderr.String()
}

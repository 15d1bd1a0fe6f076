// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// daemon is one running `nervixd dev`.
type daemon struct {
	cmd  *exec.Cmd
	log  bytes.Buffer // complete once done is closed
	done chan struct{}
	err  error
	data string
	root string
}

// start runs a node on free ports and returns when it is ready.
func start(data, root string, flags ...string) (*daemon, error) {
	arguments := append([]string{"dev", "--data", data, "--file-root", root,
		"--session-listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"}, flags...)
	d := &daemon{cmd: exec.Command(filepath.Join(programs, "nervixd"), arguments...), done: make(chan struct{}), data: data, root: root}
	d.cmd.Stderr = &d.log
	out, err := d.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := d.cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	go func() {
		_, _ = io.Copy(io.Discard, out)
		d.err = d.cmd.Wait()
		close(d.done)
	}()
	if err != nil || !strings.HasPrefix(line, "nervixd ready ") {
		d.kill()
		return nil, fmt.Errorf("the node is not ready: %q %v\n%s", line, err, d.log.String())
	}
	return d, nil
}

func (d *daemon) context() string { return filepath.Join(d.data, "context.json") }

// stop ends the node in order.
func (d *daemon) stop() error {
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	<-d.done
	if d.err != nil {
		return fmt.Errorf("the node ended with %w\n%s", d.err, d.log.String())
	}
	return nil
}

func (d *daemon) kill() {
	_ = d.cmd.Process.Kill()
	<-d.done
}

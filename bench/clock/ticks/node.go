// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/nervix-go/nervix/client"
	"github.com/nervix-go/nervix/host/osclock"
)

// node is a daemon of ours on a folder that goes with it.
type node struct {
	cmd    *exec.Cmd
	log    bytes.Buffer
	folder string
	client *client.Client
}

// start runs a daemon and opens a session of its administrator.
func start(nervixd string) (*node, error) {
	folder, err := os.MkdirTemp("", "nervix-ticks-")
	if err != nil {
		return nil, err
	}
	data := filepath.Join(folder, "data")
	n := &node{folder: folder, cmd: exec.Command(nervixd, "dev", "--data", data, "--file-root", folder,
		"--session-listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0")}
	n.cmd.Stderr = &n.log
	if err := n.ready(filepath.Join(data, "context.json")); err != nil {
		n.stop()
		return nil, fmt.Errorf("%w\n%s", err, n.log.String())
	}
	return n, nil
}

func (n *node) ready(contextFile string) error {
	out, err := n.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := n.cmd.Start(); err != nil {
		return err
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.HasPrefix(line, "nervixd ready ") {
		return fmt.Errorf("the node is not ready: %q %v", line, err)
	}
	content, err := os.ReadFile(contextFile)
	if err != nil {
		return err
	}
	var c struct {
		Server   string `json:"server"`
		CA       string `json:"ca_pem"`
		User     string `json:"username"`
		Password string `json:"password"`
	}
	if err := json.Unmarshal(content, &c); err != nil {
		return err
	}
	ctx, cancel := bounded()
	defer cancel()
	n.client, err = client.Dial(ctx, client.Config{Server: c.Server, CAPEM: []byte(c.CA), User: c.User, Password: c.Password})
	return err
}

func (n *node) stop() {
	if n.client != nil {
		_ = n.client.Close()
	}
	if n.cmd.Process != nil {
		_ = n.cmd.Process.Signal(syscall.SIGTERM)
		_ = n.cmd.Wait()
	}
	_ = os.RemoveAll(n.folder)
}

// do executes one statement, which must complete.
func (n *node) do(domain, text string) error {
	ctx, cancel := bounded()
	defer cancel()
	out, err := n.client.Execute(ctx, client.Command{Text: text, Domain: domain})
	if err == nil && out.Disposition != client.Completed {
		err = fmt.Errorf("%s %v", out.Disposition, out.Diagnostics)
	}
	if err != nil {
		return fmt.Errorf("%s in %s: %w", text, domain, err)
	}
	return nil
}

func bounded() (context.Context, context.CancelFunc) {
	return osclock.WithTimeout(context.Background(), time.Minute)
}

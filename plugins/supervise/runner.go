// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// childEnvironment is what a connector inherits; everything else stays with the host, secrets above all (P-011).
var childEnvironment = []string{"PATH", "HOME", "TMPDIR", "TZ", "LANG", "LC_ALL", "SSL_CERT_FILE", "SSL_CERT_DIR", "GODEBUG"}

// runner starts one connector process for go-plugin: in a process group of its own, with the data socket and the guard pipe, and with
// its output read by us. It implements go-plugin's runner.Runner.
type runner struct {
	cmd    *exec.Cmd
	path   string
	scribe *scribe

	guard      *os.File // our end; closing it ends the process
	handshake  *io.PipeReader
	stderrStub io.ReadCloser

	pid    int
	exited chan struct{}
	output sync.WaitGroup
	mu     struct {
		sync.Mutex
		started bool
		aborted bool
		reason  string
		strays  []string
	}
}

// newRunner prepares a start. data is the child's end of the data socket; Start closes it. env comes from go-plugin.
func newRunner(path string, env []string, data *os.File, log *slog.Logger) (*runner, error) {
	guardChild, guard, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path)
	cmd.Env = env
	for _, k := range childEnvironment {
		if v, ok := os.LookupEnv(k); ok {
			cmd.Env = append(cmd.Env, k+"="+v)
		}
	}
	cmd.ExtraFiles = []*os.File{data, guardChild}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return &runner{cmd: cmd, path: path, scribe: newScribe(log), guard: guard, stderrStub: io.NopCloser(strings.NewReader("")), exited: make(chan struct{})}, nil
}

// Start implements runner.Runner.
func (r *runner) Start(context.Context) error {
	outR, outW, err := os.Pipe()
	if err != nil {
		return err
	}
	errR, errW, err := os.Pipe()
	if err != nil {
		return errors.Join(err, outR.Close(), outW.Close())
	}
	r.cmd.Stdout, r.cmd.Stderr = outW, errW
	err = r.spawn()
	for _, f := range append([]*os.File{outW, errW}, r.cmd.ExtraFiles...) {
		_ = f.Close()
	}
	if err != nil {
		_, _ = outR.Close(), errR.Close()
		_ = r.guard.Close()
		close(r.exited)
		return err
	}
	var lines *io.PipeWriter
	r.handshake, lines = io.Pipe()
	r.output.Add(2)
	go r.readStdout(outR, lines)
	go func() {
		defer r.output.Done()
		defer errR.Close()
		readLines(errR, r.scribe.line)
	}()
	go r.reap()
	return nil
}

// spawn starts the process unless abort came first.
func (r *runner) spawn() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mu.aborted {
		return errors.New("the start was given up")
	}
	if err := r.cmd.Start(); err != nil {
		return err
	}
	r.mu.started, r.pid = true, r.cmd.Process.Pid
	return nil
}

// abort kills the process, or keeps it from being started.
func (r *runner) abort() {
	r.mu.Lock()
	r.mu.aborted = true
	r.mu.Unlock()
	r.signal(true, unix.SIGKILL)
}

// readStdout passes the handshake line on and treats everything else as output of the connector (P-009).
func (r *runner) readStdout(out *os.File, handshake *io.PipeWriter) {
	defer r.output.Done()
	defer out.Close()
	defer handshake.Close()
	passed := false
	readLines(out, func(line []byte) {
		if !passed && isHandshake(line) {
			passed = true
			_, _ = handshake.Write(append(line, '\n'))
			return
		}
		if !passed {
			r.mu.Lock()
			if len(r.mu.strays) < 3 {
				r.mu.strays = append(r.mu.strays, printable(line, 200))
			}
			r.mu.Unlock()
		}
		r.scribe.line(line)
	})
}

// isHandshake recognizes `core|version|unix|path|grpc|cert`.
func isHandshake(line []byte) bool {
	parts := strings.SplitN(string(line[:min(len(line), 64)]), "|", 4)
	if len(parts) < 4 || parts[2] != "unix" && parts[2] != "tcp" {
		return false
	}
	_, err := strconv.Atoi(parts[0])
	return err == nil
}

// reap waits for the process, takes its group along while the number is still its own, and then reaps it.
func (r *runner) reap() {
	var info unix.Siginfo
	for {
		err := unix.Waitid(unix.P_PID, r.pid, &info, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	_ = unix.Kill(-r.pid, unix.SIGKILL)
	_ = r.cmd.Wait()
	_ = r.guard.Close()
	r.output.Wait()
	head := r.scribe.headline()
	r.scribe.finish()
	reason := r.cmd.ProcessState.String()
	if head != "" {
		reason += ": " + head
	}
	r.mu.Lock()
	r.mu.reason = reason
	r.mu.Unlock()
	close(r.exited)
}

func (r *runner) reasonText() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.mu.reason
}

// signal reaches the process or, negative, its group. After the end it does nothing.
func (r *runner) signal(group bool, sig unix.Signal) {
	r.mu.Lock()
	started := r.mu.started
	r.mu.Unlock()
	if !started {
		return
	}
	select {
	case <-r.exited:
		return
	default:
	}
	pid := r.pid
	if group {
		pid = -pid
	}
	_ = unix.Kill(pid, sig)
}

// Kill implements runner.Runner.
func (r *runner) Kill(context.Context) error {
	r.signal(true, unix.SIGKILL)
	return nil
}

// Wait implements runner.Runner.
func (r *runner) Wait(ctx context.Context) error {
	select {
	case <-r.exited:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Diagnose implements runner.Runner: what a person needs when the handshake failed (B03).
func (r *runner) Diagnose(context.Context) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.mu.strays) == 0 {
		return "nothing came on standard output of " + r.path
	}
	return fmt.Sprintf("standard output of %s began with %q; a connector must leave standard output to the SDK", r.path, r.mu.strays)
}

// Stdout, Stderr, Name, ID and the address translation implement runner.Runner.
func (r *runner) Stdout() io.ReadCloser { return r.handshake }

// Stderr is empty: the scribe reads the real one.
func (r *runner) Stderr() io.ReadCloser { return r.stderrStub }

// Name is the path.
func (r *runner) Name() string { return r.path }

// ID is the process number.
func (r *runner) ID() string { return strconv.Itoa(r.pid) }

// PluginToHost translates nothing.
func (r *runner) PluginToHost(network, addr string) (string, string, error) {
	return network, addr, nil
}

// HostToPlugin translates nothing.
func (r *runner) HostToPlugin(network, addr string) (string, string, error) {
	return network, addr, nil
}

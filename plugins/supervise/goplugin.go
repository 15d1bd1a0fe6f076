// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	goplugin "github.com/hashicorp/go-plugin/runner"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	pluginv1 "github.com/nervix-go/nervix/plugins/proto/v1"
	"github.com/nervix-go/nervix/plugins/wire"
)

// GoPlugin launches connector processes: control over go-plugin's gRPC with mutual TLS made for this one start, data over a socketpair.
type GoPlugin struct {
	// RunDir holds the control sockets; a private directory below it is made for each start. Empty: the system's temporary directory.
	// If its path is too long for a socket, /tmp is used instead.
	RunDir string
	Log    *slog.Logger
}

// maxRunDir leaves room for `/plugin-dirNNNNNNNNNN/pluginNNNNNNNNNN` within the 107 bytes of a socket path (B06).
const maxRunDir = 60

func (g GoPlugin) runDir() string {
	dir := g.RunDir
	if dir == "" {
		dir = os.TempDir()
	}
	if abs, err := filepath.Abs(dir); err == nil && len(abs) <= maxRunDir {
		return abs
	}
	return "/tmp"
}

// Launch implements Launcher.
func (g GoPlugin) Launch(ctx context.Context, c Installed) (Running, error) {
	if err := c.verify(); err != nil {
		return nil, err
	}
	host, child, err := wire.Pair()
	if err != nil {
		return nil, startFault(c, "data socket", err)
	}
	p := &osProcess{data: host}
	log := g.Log.With("connector", c.Descriptor.Kind)
	p.client = plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig:  pluginv1.Handshake,
		VersionedPlugins: pluginv1.Set(nil),
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		AutoMTLS:         true,
		SkipHostEnv:      true,
		StartTimeout:     startTimeout,
		Logger:           hclog.NewNullLogger(),
		UnixSocketConfig: &plugin.UnixSocketConfig{TempDir: g.runDir()},
		RunnerFunc: func(_ hclog.Logger, cmd *exec.Cmd, _ string) (goplugin.Runner, error) {
			r, err := newRunner(c.Path, cmd.Env, child, log)
			if err != nil {
				return nil, err
			}
			p.runner = r
			if !p.give(r) {
				r.abort() // its Start refuses and frees what it holds
			}
			return r, nil
		},
	})
	err = p.connect(ctx)
	_ = child.Close() // a second close after a start is harmless
	if err != nil {
		p.abandon()
		return nil, launchFault(c, p, err)
	}
	return p, nil
}

// launchFault explains a failed start: protocol mismatches apart, since only another build mends them (P-004).
func launchFault(c Installed, p *osProcess, err error) error {
	text := err.Error()
	if strings.Contains(text, "incompatible API version") || strings.Contains(text, "incompatible core API version") || strings.Contains(text, "unsupported plugin protocol") {
		return fault.New(fault.PluginProtocol, "supervise.Launch", ident.Ref{},
			fmt.Sprintf("connector %s (%s) speaks another plugin protocol than this host (version %d)", c.Descriptor.Kind, c.Path, pluginv1.Version), err)
	}
	if strings.HasPrefix(text, "Unrecognized remote plugin message") && p.runner != nil {
		err = errors.New("no handshake came: " + p.runner.Diagnose(context.Background()))
	}
	if p.runner != nil {
		if reason := p.runner.reasonText(); reason != "" {
			err = fmt.Errorf("%w (%s)", err, reason)
		}
		err = withOutput(err, p.runner.scribe.lastLines())
	}
	return startFault(c, c.Path, err)
}

func startFault(c Installed, what string, err error) error {
	return fault.New(fault.PluginStart, "supervise.Launch", ident.Ref{}, "connector "+c.Descriptor.Kind+": "+what, err)
}

// osProcess is one connector process.
type osProcess struct {
	client *plugin.Client
	runner *runner  // read after connect
	mu     struct { // for a start that is given up
		sync.Mutex
		started *runner
		givenUp bool
	}
	control Control
	data    net.Conn
}

// connect runs go-plugin's handshake, which knows no context, and kills the process when ctx ends.
func (p *osProcess) connect(ctx context.Context) error {
	done := make(chan error, 1)
	go func() {
		done <- func() error {
			protocol, err := p.client.Client()
			if err != nil {
				return err
			}
			raw, err := protocol.Dispense(pluginv1.ServiceName)
			if err != nil {
				return err
			}
			control, ok := raw.(Control)
			if !ok {
				return errors.New("the connector has no control service")
			}
			p.control = control
			return nil
		}()
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		p.giveUp() // ends go-plugin's wait for the handshake as well
		<-done
		return context.Cause(ctx)
	}
}

// give tells which runner giveUp has to end; false if that was asked already.
func (p *osProcess) give(r *runner) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.started = r
	return !p.mu.givenUp
}

func (p *osProcess) giveUp() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.givenUp = true
	if p.mu.started != nil {
		p.mu.started.abort()
	}
}

// abandon leaves nothing behind after a failed start.
func (p *osProcess) abandon() {
	_ = p.data.Close()
	if p.runner != nil {
		p.runner.abort()
		<-p.runner.exited
	}
	p.client.Kill()
}

// Control implements Running.
func (p *osProcess) Control() Control { return p.control }

// Data implements Running.
func (p *osProcess) Data() net.Conn { return p.data }

// PID implements Running.
func (p *osProcess) PID() int { return p.runner.pid }

// Exited implements Running.
func (p *osProcess) Exited() <-chan struct{} { return p.runner.exited }

// Reason implements Running.
func (p *osProcess) Reason() string { return p.runner.reasonText() }

// LastLines implements Running.
func (p *osProcess) LastLines() []string { return p.runner.scribe.lastLines() }

// Terminate implements Running. TERM goes to the whole group: a child that ignores its parent's end should hear it as well.
func (p *osProcess) Terminate() { p.runner.signal(true, 15) }

// Kill implements Running.
func (p *osProcess) Kill() { p.runner.signal(true, 9) }

// Release implements Running.
func (p *osProcess) Release() { p.client.Kill() }

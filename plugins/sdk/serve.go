// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"golang.org/x/sys/unix"

	pluginv1 "github.com/nervix-go/nervix/plugins/proto/v1"
	"github.com/nervix-go/nervix/plugins/wire"
)

// Serve runs a connector process; main calls it and nothing else. It does not return.
func Serve(c Connector) {
	if len(os.Args) > 1 && os.Args[1] == "--descriptor" {
		printDescriptor(c)
		os.Exit(0)
	}
	if os.Getenv(pluginv1.Handshake.MagicCookieKey) != pluginv1.Handshake.MagicCookieValue {
		fail("this is the Nervix connector %q; it is started by nervixd. `%s --descriptor` prints its descriptor.", c.Descriptor.Kind, os.Args[0])
	}
	stderr := os.Stderr
	if err := divertStdout(); err != nil {
		fail("standard output: %v", err)
	}
	if err := watchGuard(); err != nil {
		fail("guard pipe: %v", err)
	}
	data, err := wire.FromFile(os.NewFile(pluginv1.DataFD, "nervix-data"))
	if err != nil {
		fail("data socket: %v", err)
	}
	server := NewServer(c, data, slog.New(slog.NewJSONHandler(stderr, nil)))
	go func() {
		_ = server.Run()
		leave(server.Stopped())
	}()
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig:  pluginv1.Handshake,
		VersionedPlugins: pluginv1.Set(&processServer{server, stderr}),
		GRPCServer:       plugin.DefaultGRPCServer,
		Logger:           hclog.NewNullLogger(),
	})
	os.Exit(0)
}

// processServer gives standard output and error back to the process: go-plugin sends them over gRPC, where nobody needs them.
type processServer struct {
	*Server
	stderr *os.File
}

// Configure is the first call of the host and comes after go-plugin took the two files.
func (s *processServer) Configure(ctx context.Context, r *pluginv1.ConfigureRequest) (*pluginv1.ConfigureReply, error) {
	os.Stdout, os.Stderr = s.stderr, s.stderr
	return s.Server.Configure(ctx, r)
}

// divertStdout keeps the handshake line clean: whatever writes to file descriptor 1 from now on reaches standard error.
func divertStdout() error {
	keep, err := unix.Dup(1)
	if err != nil {
		return err
	}
	unix.CloseOnExec(keep)
	if err := unix.Dup3(2, 1, 0); err != nil {
		return err
	}
	os.Stdout = os.NewFile(uintptr(keep), "handshake")
	return nil
}

// leave ends the process after the data socket ended. After Stop that is an orderly end, and the host takes what is left of the process
// group along. Otherwise the host is gone or cut us off: its guard pipe may be noticed later than its socket, and children must not stay.
func leave(stopped <-chan struct{}) {
	select {
	case <-stopped:
		os.Exit(0)
	default:
		killGroup()
	}
}

func killGroup() {
	if unix.Getpgrp() == os.Getpid() {
		_ = unix.Kill(-os.Getpid(), unix.SIGKILL)
	}
	_ = unix.Kill(os.Getpid(), unix.SIGKILL)
}

// watchGuard ends this process and everything it started as soon as the host is gone, however it went (P-008). Nothing is flushed: a
// connector whose host is gone writes nothing more.
func watchGuard() error {
	unix.CloseOnExec(pluginv1.GuardFD)
	unix.CloseOnExec(pluginv1.DataFD)
	guard := os.NewFile(pluginv1.GuardFD, "nervix-guard")
	if guard == nil {
		return os.ErrInvalid
	}
	if _, err := guard.Stat(); err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(io.Discard, guard)
		killGroup()
	}()
	return nil
}

func printDescriptor(c Connector) {
	d := c.Descriptor
	self, err := os.Executable()
	if err != nil {
		fail("own path: %v", err)
	}
	f, err := os.Open(self)
	if err != nil {
		fail("own binary: %v", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		fail("own binary: %v", err)
	}
	d.SHA256 = hex.EncodeToString(h.Sum(nil))
	if err := d.Check(); err != nil {
		fail("descriptor: %v", err)
	}
	b, err := d.Marshal()
	if err != nil {
		fail("descriptor: %v", err)
	}
	_, _ = os.Stdout.Write(b)
}

func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(1)
}

// SPDX-License-Identifier: Apache-2.0

// Package inproc runs connectors of the SDK inside the host's own process (P-013): for connectors that are built in and for tests of graphs.
// Control calls are plain calls and the data connection is net.Pipe; everything else, frames, credit, epochs, sessions, is the code that
// real processes use, so the semantics are the same. Under testing/synctest it follows the fake clock.
package inproc

import (
	"context"
	"log/slog"
	"net"
	"sync"

	"google.golang.org/grpc"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	pluginv1 "github.com/nervix-go/nervix/plugins/proto/v1"
	"github.com/nervix-go/nervix/plugins/sdk"
	"github.com/nervix-go/nervix/plugins/supervise"
)

// Launcher launches SDK connectors without a process.
type Launcher struct {
	connectors map[string]sdk.Connector
	log        *slog.Logger

	mu      sync.Mutex
	running map[string]*incarnation
}

// New makes a launcher and the catalogue for supervise.Options. log may be nil.
func New(log *slog.Logger, connectors ...sdk.Connector) (*Launcher, map[string]supervise.Installed) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	l := &Launcher{connectors: make(map[string]sdk.Connector), log: log, running: make(map[string]*incarnation)}
	installed := make(map[string]supervise.Installed)
	for _, c := range connectors {
		l.connectors[c.Descriptor.Kind] = c
		installed[c.Descriptor.Kind] = supervise.Installed{Descriptor: c.Descriptor}
	}
	return l, installed
}

// Launch implements supervise.Launcher.
func (l *Launcher) Launch(_ context.Context, c supervise.Installed) (supervise.Running, error) {
	connector, ok := l.connectors[c.Descriptor.Kind]
	if !ok {
		return nil, fault.New(fault.PluginUnknown, "inproc.Launch", ident.Ref{}, c.Descriptor.Kind, nil)
	}
	host, plugin := net.Pipe()
	i := &incarnation{server: sdk.NewServer(connector, plugin, l.log), data: host, exited: make(chan struct{})}
	go func() {
		defer close(i.exited)
		_ = i.server.Run()
	}()
	l.mu.Lock()
	l.running[c.Descriptor.Kind] = i
	l.mu.Unlock()
	return i, nil
}

// Crash ends the running incarnation of a kind as the death of a process would: nothing is flushed or answered.
func (l *Launcher) Crash(kind string) {
	l.mu.Lock()
	i := l.running[kind]
	l.mu.Unlock()
	if i != nil {
		i.Kill()
	}
}

type incarnation struct {
	server *sdk.Server
	data   net.Conn
	exited chan struct{}
}

// Control and the other methods implement supervise.Running.
func (i *incarnation) Control() supervise.Control { return control{i.server} }

// Data is the host's end of the pipe.
func (i *incarnation) Data() net.Conn { return i.data }

// PID is 0: there is no process.
func (i *incarnation) PID() int { return 0 }

// Exited is closed when the server ended.
func (i *incarnation) Exited() <-chan struct{} { return i.exited }

// Reason is always the same.
func (i *incarnation) Reason() string { return "ended" }

// LastLines is empty: logs go to the logger directly.
func (i *incarnation) LastLines() []string { return nil }

// Terminate ends the server.
func (i *incarnation) Terminate() { i.server.Abort() }

// Kill ends the server.
func (i *incarnation) Kill() { i.server.Abort() }

// Release has nothing to free.
func (i *incarnation) Release() {}

// control calls the server directly.
type control struct{ s *sdk.Server }

func (c control) Configure(ctx context.Context, in *pluginv1.ConfigureRequest, _ ...grpc.CallOption) (*pluginv1.ConfigureReply, error) {
	return c.s.Configure(ctx, in)
}

func (c control) OpenSource(ctx context.Context, in *pluginv1.OpenSourceRequest, _ ...grpc.CallOption) (*pluginv1.OpenSourceReply, error) {
	return c.s.OpenSource(ctx, in)
}

func (c control) OpenSink(ctx context.Context, in *pluginv1.OpenSinkRequest, _ ...grpc.CallOption) (*pluginv1.OpenSinkReply, error) {
	return c.s.OpenSink(ctx, in)
}

func (c control) Reject(ctx context.Context, in *pluginv1.RejectRequest, _ ...grpc.CallOption) (*pluginv1.RejectReply, error) {
	return c.s.Reject(ctx, in)
}

func (c control) Close(ctx context.Context, in *pluginv1.CloseRequest, _ ...grpc.CallOption) (*pluginv1.CloseReply, error) {
	return c.s.Close(ctx, in)
}

func (c control) Ping(ctx context.Context, in *pluginv1.PingRequest, _ ...grpc.CallOption) (*pluginv1.PingReply, error) {
	return c.s.Ping(ctx, in)
}

func (c control) Stop(ctx context.Context, in *pluginv1.StopRequest, _ ...grpc.CallOption) (*pluginv1.StopReply, error) {
	return c.s.Stop(ctx, in)
}

// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"context"
	"net"

	"google.golang.org/grpc"

	pluginv1 "github.com/nervix-go/nervix/plugins/proto/v1"
)

// Launcher brings connectors to life.
type Launcher interface {
	// Launch starts a connector and returns once its control service answers. ctx bounds the start; if it ends, or on any error,
	// nothing is left running.
	Launch(ctx context.Context, c Installed) (Running, error)
}

// Running is one incarnation of a connector.
type Running interface {
	Control() Control
	// Data is the host's end of the data connection; the caller closes it.
	Data() net.Conn
	// PID is the process, 0 if there is none of its own.
	PID() int
	// Exited is closed when the process is gone and reaped, its children too.
	Exited() <-chan struct{}
	// Reason says why it is gone, valid after Exited; LastLines are its last log lines.
	Reason() string
	LastLines() []string
	// Terminate and Kill do not block; Kill takes the whole process group.
	Terminate()
	Kill()
	// Release frees what the host held for it, after Exited; it may block shortly.
	Release()
}

// Control is the control service as the host calls it.
type Control interface {
	Configure(ctx context.Context, in *pluginv1.ConfigureRequest, opts ...grpc.CallOption) (*pluginv1.ConfigureReply, error)
	OpenSource(ctx context.Context, in *pluginv1.OpenSourceRequest, opts ...grpc.CallOption) (*pluginv1.OpenSourceReply, error)
	OpenSink(ctx context.Context, in *pluginv1.OpenSinkRequest, opts ...grpc.CallOption) (*pluginv1.OpenSinkReply, error)
	Reject(ctx context.Context, in *pluginv1.RejectRequest, opts ...grpc.CallOption) (*pluginv1.RejectReply, error)
	Close(ctx context.Context, in *pluginv1.CloseRequest, opts ...grpc.CallOption) (*pluginv1.CloseReply, error)
	Ping(ctx context.Context, in *pluginv1.PingRequest, opts ...grpc.CallOption) (*pluginv1.PingReply, error)
	Stop(ctx context.Context, in *pluginv1.StopRequest, opts ...grpc.CallOption) (*pluginv1.StopReply, error)
}

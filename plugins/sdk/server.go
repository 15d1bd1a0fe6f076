// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"sync"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pluginv1 "github.com/nervix-go/nervix/plugins/proto/v1"
	"github.com/nervix-go/nervix/plugins/wire"
)

// overhead is what a frame needs beside its longest payload: metadata, position, columns of one row.
const overhead = 1 << 20

// Defaults for hosts that leave them out.
const (
	defaultBatchBytes = 256 << 10
	defaultBatchRows  = 4096
)

// Server answers the control calls of one connector and moves its data. Serve uses it in a connector process; the in-process adapter
// uses it directly. Authors of connectors need not.
type Server struct {
	pluginv1.UnimplementedConnectorServer

	connector Connector
	conn      *wire.Conn
	ctx       context.Context // the life of the process or of the adapter
	cancel    context.CancelFunc
	stopped   chan struct{}
	stopOnce  sync.Once

	mu struct {
		sync.Mutex
		configured  bool
		env         Environment
		batchBytes  int
		batchRows   int
		channels    map[uint32]channel
		unavailable bool // no more channels: the data socket is gone
	}
}

// channel is one open source or sink.
type channel interface {
	// frame takes a frame and its body; it does not block.
	frame(h wire.Header, body *memory.Buffer)
	// end lets go and waits, bounded by ctx.
	end(ctx context.Context) error
}

// NewServer makes a server over the data connection; Run has to be called.
func NewServer(c Connector, data net.Conn, log *slog.Logger) *Server {
	s := &Server{connector: c, conn: wire.New(data, wire.DefaultMaxBody), stopped: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.mu.channels = make(map[uint32]channel)
	s.mu.env.Log = log
	return s
}

// Run moves frames until the data connection ends, then lets go of all channels.
func (s *Server) Run() error {
	var err error
	for {
		h, body, readErr := s.conn.Read(func(wire.Header) error { return nil })
		if readErr != nil {
			err = readErr
			break
		}
		s.mu.Lock()
		c := s.mu.channels[h.Channel]
		s.mu.Unlock()
		switch {
		case c != nil:
			c.frame(h, body)
		case body != nil:
			body.Release() // the channel ended while the frame was on its way
		}
	}
	_ = s.conn.Close()
	s.cancel()
	s.closeAll(context.Background())
	return err
}

// Stopped is closed when the host asked the process to stop and all channels are closed.
func (s *Server) Stopped() <-chan struct{} { return s.stopped }

// Abort ends Run.
func (s *Server) Abort() { _ = s.conn.Close() }

func (s *Server) closeAll(ctx context.Context) {
	s.mu.Lock()
	s.mu.unavailable = true
	all := make([]channel, 0, len(s.mu.channels))
	for _, c := range s.mu.channels {
		all = append(all, c)
	}
	clear(s.mu.channels)
	s.mu.Unlock()
	for _, c := range all {
		_ = c.end(ctx)
	}
}

// Configure implements the control service.
func (s *Server) Configure(_ context.Context, r *pluginv1.ConfigureRequest) (*pluginv1.ConfigureReply, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.configured {
		return nil, status.Error(codes.FailedPrecondition, "configured already")
	}
	s.mu.configured = true
	limit := int(r.GetMaxBodyBytes())
	if limit <= 0 || limit > wire.DefaultMaxBody {
		limit = wire.DefaultMaxBody
	}
	s.mu.env.FileRoot, s.mu.env.MaxPayload = r.GetFileRoot(), max(limit-overhead, limit/2)
	s.mu.batchBytes, s.mu.batchRows = int(r.GetBatchBytes()), int(r.GetBatchRows())
	if s.mu.batchBytes <= 0 {
		s.mu.batchBytes = defaultBatchBytes
	}
	if s.mu.batchRows <= 0 {
		s.mu.batchRows = defaultBatchRows
	}
	d := s.connector.Descriptor
	return &pluginv1.ConfigureReply{Kind: d.Kind, Source: d.Source != nil, Sink: d.Sink != nil}, nil
}

func (s *Server) ready() (Environment, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.mu.configured || s.mu.unavailable {
		return Environment{}, status.Error(codes.FailedPrecondition, "not configured, or stopping")
	}
	return s.mu.env, nil
}

// add registers a channel; the host sends on it only after the reply.
func (s *Server) add(id uint32, c channel) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.unavailable || s.mu.channels[id] != nil {
		return false
	}
	s.mu.channels[id] = c
	return true
}

func (s *Server) take(id uint32) channel {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.mu.channels[id]
	delete(s.mu.channels, id)
	return c
}

// OpenSource implements the control service.
func (s *Server) OpenSource(ctx context.Context, r *pluginv1.OpenSourceRequest) (*pluginv1.OpenSourceReply, error) {
	env, err := s.ready()
	if err != nil {
		return nil, err
	}
	if s.connector.Source == nil {
		return &pluginv1.OpenSourceReply{Refusal: refusal(Definitive(fmt.Errorf("%s is no source", s.connector.Descriptor.Kind)))}, nil
	}
	src := s.connector.Source()
	opened, err := src.Open(ctx, SourceRequest{
		Client: r.GetClient(), Options: r.GetOptions(), Identity: r.GetIdentity(), Position: r.GetPosition(), Environment: env,
	})
	if err == nil {
		err = ctx.Err() // the host gave up meanwhile
	}
	if err != nil {
		_ = src.Close()
		return &pluginv1.OpenSourceReply{Refusal: refusal(err)}, nil
	}
	s.mu.Lock()
	batch := newBatch(s.connector.Descriptor.Source.Metadata, opened.Constants, s.mu.batchBytes, s.mu.batchRows)
	s.mu.Unlock()
	c := newSourceChannel(s.ctx, s.conn, r.GetChannel(), src, batch, s.connector.Descriptor.Source.Metadata, opened.Constants)
	if !s.add(r.GetChannel(), c) {
		_ = src.Close()
		return nil, status.Error(codes.FailedPrecondition, "the channel is in use, or the process is stopping")
	}
	go c.run()
	return &pluginv1.OpenSourceReply{Identity: opened.Identity, Restarted: opened.Restarted, Detail: opened.Detail, Constants: opened.Constants}, nil
}

// OpenSink implements the control service.
func (s *Server) OpenSink(ctx context.Context, r *pluginv1.OpenSinkRequest) (*pluginv1.OpenSinkReply, error) {
	env, err := s.ready()
	if err != nil {
		return nil, err
	}
	if s.connector.Sink == nil {
		return &pluginv1.OpenSinkReply{Refusal: refusal(Definitive(fmt.Errorf("%s is no sink", s.connector.Descriptor.Kind)))}, nil
	}
	sink := s.connector.Sink()
	err = sink.Open(ctx, SinkRequest{Client: r.GetClient(), Options: r.GetOptions(), Environment: env})
	if err == nil {
		err = ctx.Err() // the host gave up meanwhile
	}
	if err != nil {
		_ = sink.Close()
		return &pluginv1.OpenSinkReply{Refusal: refusal(err)}, nil
	}
	c := newSinkChannel(s.ctx, s.conn, r.GetChannel(), sink)
	if !s.add(r.GetChannel(), c) {
		_ = sink.Close()
		return nil, status.Error(codes.FailedPrecondition, "the channel is in use, or the process is stopping")
	}
	go c.run()
	return &pluginv1.OpenSinkReply{}, nil
}

func refusal(err error) *pluginv1.Refusal {
	return &pluginv1.Refusal{Message: err.Error(), Definitive: IsDefinitive(err)}
}

// Reject implements the control service.
func (s *Server) Reject(_ context.Context, r *pluginv1.RejectRequest) (*pluginv1.RejectReply, error) {
	s.mu.Lock()
	c, _ := s.mu.channels[r.GetChannel()].(*sourceChannel)
	s.mu.Unlock()
	if c == nil {
		return nil, status.Error(codes.NotFound, "no such source channel")
	}
	c.reject(r.GetPosition())
	return &pluginv1.RejectReply{}, nil
}

// Close implements the control service.
func (s *Server) Close(ctx context.Context, r *pluginv1.CloseRequest) (*pluginv1.CloseReply, error) {
	c := s.take(r.GetChannel())
	if c == nil {
		return nil, status.Error(codes.NotFound, "no such channel")
	}
	if err := c.end(ctx); err != nil {
		return &pluginv1.CloseReply{Failure: err.Error()}, nil
	}
	return &pluginv1.CloseReply{}, nil
}

// Ping implements the control service.
func (s *Server) Ping(context.Context, *pluginv1.PingRequest) (*pluginv1.PingReply, error) {
	return &pluginv1.PingReply{}, nil
}

// Stop implements the control service.
func (s *Server) Stop(ctx context.Context, _ *pluginv1.StopRequest) (*pluginv1.StopReply, error) {
	s.closeAll(ctx)
	s.stopOnce.Do(func() { close(s.stopped) })
	return &pluginv1.StopReply{}, nil
}

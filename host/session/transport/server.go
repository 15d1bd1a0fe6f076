// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"net"
	"sync"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/wire"
	"github.com/quic-go/quic-go"
)

// Server serves the client sessions of a node. Listen, then Drain or Abort, then Wait.
type Server struct {
	config Config
	// ctx bounds the work of all sessions; Abort ends it.
	ctx   context.Context
	abort context.CancelFunc
	// listening bounds the accept loop; Drain ends it, and with it the greeting of connections.
	listening context.Context
	deafen    context.CancelFunc

	mu struct {
		sync.Mutex
		draining bool
		sessions map[*session]struct{}
		count    int // connections being served, greeted or not
		socket   net.PacketConn
		quic     *quic.Transport
		listener *quic.Listener
	}
	work sync.WaitGroup // owners of connections, and the accept loop
}

// NewServer makes a server that does not listen yet.
func NewServer(c Config) *Server {
	s := &Server{config: c.withDefaults()}
	s.ctx, s.abort = context.WithCancel(context.Background())
	s.listening, s.deafen = context.WithCancel(s.ctx)
	s.mu.sessions = make(map[*session]struct{})
	return s
}

// Listen binds a UDP address and serves connections until Drain or Abort. Port 0 picks a free one; the bound address is returned. reset
// is the node's key for stateless resets, stable over restarts, so that clients notice a restart at once; nil does without.
func (s *Server) Listen(address string, reset *[32]byte) (net.Addr, error) {
	fail := func(err error) (net.Addr, error) {
		return nil, fault.New(fault.SessionListen, "transport.Listen", ident.Ref{}, "session address "+address, err)
	}
	at, err := net.ResolveUDPAddr("udp", address)
	if err != nil {
		return fail(err)
	}
	socket, err := net.ListenUDP("udp", at)
	if err != nil {
		return fail(err)
	}
	if err := s.ListenOn(socket, reset); err != nil {
		return fail(err)
	}
	return socket.LocalAddr(), nil
}

// ListenOn is Listen on a socket that is there already. The server owns it from now on and closes it, also when it fails.
func (s *Server) ListenOn(socket net.PacketConn, reset *[32]byte) error {
	tr := &quic.Transport{Conn: socket, StatelessResetKey: (*quic.StatelessResetKey)(reset)}
	listener, err := tr.Listen(s.config.ServerTLS(), s.config.QUIC())
	if err != nil {
		_ = tr.Close()
		_ = socket.Close()
		return err
	}
	s.mu.Lock()
	s.mu.socket, s.mu.quic, s.mu.listener = socket, tr, listener
	s.work.Add(1)
	s.mu.Unlock()
	go s.accept(listener)
	return nil
}

func (s *Server) accept(listener *quic.Listener) {
	defer s.work.Done()
	for {
		conn, err := listener.Accept(s.listening)
		if err != nil {
			return // Drain or Abort: nothing else ends a listener
		}
		s.Serve(conn)
	}
}

// Serve takes over one accepted connection of this protocol and returns at once. A node whose port carries several protocols calls it
// for the connections that negotiated ALPN.
func (s *Server) Serve(conn *quic.Conn) {
	s.mu.Lock()
	reason, text := wire.EndingReason(0), ""
	switch {
	case s.mu.draining:
		reason, text = wire.EndingShuttingDown, "the node stops"
	case s.mu.count >= s.config.MaxSessions:
		reason, text = wire.EndingTooManySessions, "the node serves its greatest number of sessions"
	default:
		s.mu.count++
		s.work.Add(1)
	}
	s.mu.Unlock()
	if reason != 0 {
		_ = conn.CloseWithError(quic.ApplicationErrorCode(reason), text)
		return
	}
	go func() {
		defer s.work.Done()
		s.connection(conn)
		s.mu.Lock()
		s.mu.count--
		s.mu.Unlock()
	}()
}

// enter lists a greeted session, so that Drain reaches it. False means that the server drains.
func (s *Server) enter(one *session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.draining {
		return false
	}
	s.mu.sessions[one] = struct{}{}
	return true
}

func (s *Server) leave(one *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.mu.sessions, one)
}

// Drain refuses new connections and requests, cancels what is not admitted, and ends each session when its admitted requests have their
// replies. It does not block.
func (s *Server) Drain() {
	s.mu.Lock()
	s.mu.draining = true
	for one := range s.mu.sessions {
		one.lanes.Drain()
	}
	s.mu.Unlock()
	s.deafen()
}

// Abort ends all sessions and the context of their work. It does not block.
func (s *Server) Abort() {
	s.Drain()
	s.abort()
}

// Wait returns when every goroutine of the server has ended and the socket is closed, or with the cause of ctx. Drain or Abort comes
// first.
func (s *Server) Wait(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.work.Wait()
		s.mu.Lock()
		socket, tr, listener := s.mu.socket, s.mu.quic, s.mu.listener
		s.mu.Unlock()
		if socket != nil {
			_ = listener.Close()
			_ = tr.Close()
			_ = socket.Close()
		}
		s.abort()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

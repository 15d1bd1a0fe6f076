// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"crypto/tls"
	"sync"
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/datadir"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/wire"
	"github.com/quic-go/quic-go"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeNode is a server that does what a script says, to show how the client takes what no good node does.
type fakeNode struct {
	t        *testing.T
	protocol uint32
	address  string
	ca       []byte
	mu       sync.Mutex
	sessions []*fakeSession
	stop     func()
}

// fakeFrameLimit is what a fake node says it takes; less than the client's own limit.
const fakeFrameLimit = 64 << 10

// fakeSession is one accepted and greeted session. received has every frame the client sent after Hello, of both lanes.
type fakeSession struct {
	t        *testing.T
	conn     *quic.Conn
	lanes    [2]*quic.Stream
	received chan wire.ClientFrame
	hello    wire.Hello
	number   int
}

func certificates(t *testing.T) datadir.Certificates {
	t.Helper()
	dir, err := datadir.Open(t.TempDir(), osclock.UTC())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = dir.Close() }()
	c, err := dir.Certificates(osclock.UTC())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// fake starts a node; script runs once for each session, counted from 1, after it was greeted.
func fake(t *testing.T, script func(s *fakeSession)) *fakeNode {
	t.Helper()
	return fakeWith(t, 1, script)
}

// fakeWith is fake with a node of the given session protocol; one of protocol 2 lets clocks be attached.
func fakeWith(t *testing.T, protocol uint32, script func(s *fakeSession)) *fakeNode {
	t.Helper()
	c := certificates(t)
	listener, err := quic.ListenAddr("127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{c.Server}, NextProtos: []string{alpn}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	n := &fakeNode{t: t, protocol: protocol, address: Scheme + "://" + listener.Addr().String(), ca: c.CAPEM}
	var work sync.WaitGroup
	work.Add(1)
	go func() {
		defer work.Done()
		for number := 1; ; number++ {
			conn, err := listener.Accept(context.Background())
			if err != nil {
				return
			}
			work.Add(1)
			go func() {
				defer work.Done()
				n.session(conn, number, script)
			}()
		}
	}()
	n.stop = func() {
		_ = listener.Close()
		n.mu.Lock()
		for _, s := range n.sessions {
			_ = s.conn.CloseWithError(0, "")
		}
		n.mu.Unlock()
		work.Wait()
	}
	t.Cleanup(n.stop)
	return n
}

func (n *fakeNode) session(conn *quic.Conn, number int, script func(s *fakeSession)) {
	s := &fakeSession{t: n.t, conn: conn, received: make(chan wire.ClientFrame, 200), number: number}
	n.mu.Lock()
	n.sessions = append(n.sessions, s)
	n.mu.Unlock()
	var readers sync.WaitGroup
	defer readers.Wait()
	defer func() { _ = conn.CloseWithError(0, "") }()
	for lane := range s.lanes {
		stream, err := conn.AcceptStream(context.Background())
		if err != nil {
			return
		}
		s.lanes[lane] = stream
		if lane == 0 {
			f, err := s.read(stream)
			if err != nil {
				return
			}
			s.hello = f.Body.(wire.Hello)
			reply := wire.HelloReply{Node: "fake", Incarnation: 1, ProtocolMin: 1, ProtocolMax: n.protocol, Protocol: n.protocol, FrameLimit: fakeFrameLimit}
			if n.protocol >= 2 {
				reply.Features = []string{featureClocks}
			}
			s.send(orderedLane, wire.ServerFrame{Body: reply})
		}
		readers.Add(1)
		go func() {
			defer readers.Done()
			for {
				f, err := s.read(stream)
				if err != nil {
					return
				}
				if _, alive := f.Body.(wire.Keepalive); !alive {
					s.received <- f
				}
			}
		}()
	}
	script(s)
}

func (s *fakeSession) read(stream *quic.Stream) (wire.ClientFrame, error) {
	frame, err := wire.ReadFrame(stream, wire.DefaultFrameLimit)
	if err != nil {
		return wire.ClientFrame{}, err
	}
	return wire.DecodeClient(frame, wire.DefaultFrameLimit)
}

func (s *fakeSession) send(lane int, f wire.ServerFrame) {
	frame, err := wire.EncodeServer(f, wire.DefaultFrameLimit)
	if err != nil {
		s.t.Error(err)
	}
	_, _ = s.lanes[lane].Write(wire.AppendFrame(nil, frame))
}

// next waits for the client's next frame; false when the session is over.
func (s *fakeSession) next() (wire.ClientFrame, bool) {
	select {
	case f := <-s.received:
		return f, true
	case <-s.conn.Context().Done():
		return wire.ClientFrame{}, false
	}
}

// linger keeps the session until the client leaves.
func (s *fakeSession) linger() { <-s.conn.Context().Done() }

// complete answers a command as completed.
func (s *fakeSession) complete(f wire.ClientFrame) {
	s.send(orderedLane, wire.ServerFrame{RequestID: f.RequestID, Body: wire.CommandOutcome{Disposition: wire.DispositionCompleted,
		Reference: f.Body.(wire.CommandRequest).Reference}})
}

// dial connects a client; its bounds never end anything on a loaded machine, and tests change them where a bound is the point.
func (n *fakeNode) dial(t *testing.T, change func(*Config)) *Client {
	t.Helper()
	config := Config{Server: n.address, CAPEM: n.ca, User: "admin", Password: "secret", Domain: "weather", ConnectTimeout: time.Minute, CallTimeout: 2 * time.Minute}
	if change != nil {
		change(&config)
	}
	c, err := Dial(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

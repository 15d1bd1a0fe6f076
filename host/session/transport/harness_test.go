// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/datadir"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/session/commands"
	"github.com/nervix-go/nervix/host/session/lanes"
	"github.com/nervix-go/nervix/host/session/transport"
	"github.com/nervix-go/nervix/host/wire"
	"github.com/quic-go/quic-go"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const password = "secret"

// executor is a fake control plane. What it does with a text:
//
//	ok...        completes
//	hold...      waits for release or cancellation, then asks for admission and completes
//	admitted...  asks for admission, then waits for release
//	begin        completes with an open transaction
//	big          completes with a text above the frame limit
type executor struct {
	mu struct {
		sync.Mutex
		ran      []string
		reverted []commands.RevertRequest
	}
	// started tells each text that began to wait; release lets one go on.
	started, release chan string
}

func newExecutor() *executor {
	return &executor{started: make(chan string, 100), release: make(chan string, 100)}
}

func (e *executor) Execute(ctx context.Context, r commands.Request) commands.Outcome {
	out := commands.Outcome{Disposition: wire.DispositionCompleted, Text: "did " + r.Text, Domain: r.Domain, Transaction: r.Transaction}
	switch {
	case strings.HasPrefix(r.Text, "hold"):
		e.started <- r.Text
		select {
		case <-e.release:
		case <-ctx.Done():
		}
		if !r.Admit() {
			return commands.Outcome{Cancelled: true}
		}
	case strings.HasPrefix(r.Text, "admitted"):
		if !r.Admit() {
			return commands.Outcome{Cancelled: true}
		}
		e.started <- r.Text
		select {
		case <-e.release:
		case <-ctx.Done():
			out.Disposition = wire.DispositionUnknown
		}
	case r.Text == "begin":
		out.Transaction = commands.Transaction{State: wire.TransactionOpen, Reference: "t"}
	case r.Text == "big":
		out.Text = strings.Repeat("x", 2<<20)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.mu.ran = append(e.mu.ran, r.Text)
	return out
}

func (e *executor) Revert(_ context.Context, r commands.RevertRequest) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.mu.reverted = append(e.mu.reverted, r)
}

func (e *executor) ran() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]string(nil), e.mu.ran...)
}

func (e *executor) reverted() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.mu.reverted)
}

func (e *executor) Domains(context.Context, string) ([]wire.DomainEntry, error) {
	return []wire.DomainEntry{{Name: "weather", Status: "running", Pace: wire.PacePaced, PeriodNS: 1, StartVersion: 2}}, nil
}

func (e *executor) Status(context.Context) (wire.StatusReport, error) {
	return wire.StatusReport{Node: "n1", Incarnation: 1, Revision: 2, Role: "leader"}, nil
}

// doorman accepts one password and counts.
type doorman struct {
	mu    sync.Mutex
	count int
	err   error
}

func (d *doorman) Authenticate(_ context.Context, _, given string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.count++
	switch {
	case d.err != nil:
		return d.err
	case given != password:
		return fault.New(fault.SessionUnauthenticated, "test", ident.Ref{}, "", nil)
	}
	return nil
}

// fail makes every judgement fail.
func (d *doorman) fail(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.err = err
}

func (d *doorman) judged() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.count
}

// node is a running server.
type node struct {
	server   *transport.Server
	executor *executor
	doorman  *doorman
	address  net.Addr
	roots    *x509.CertPool
}

// prepare makes a node whose server does not listen yet. now is given because virtual clocks begin in the year 2000.
func prepare(t *testing.T, change func(*transport.Config)) *node {
	t.Helper()
	dir, err := datadir.Open(t.TempDir(), osclock.UTC())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = dir.Close() }()
	certificates, err := dir.Certificates(osclock.UTC())
	if err != nil {
		t.Fatal(err)
	}
	n := &node{executor: newExecutor(), doorman: &doorman{}, roots: x509.NewCertPool()}
	n.roots.AppendCertsFromPEM(certificates.CAPEM)
	config := transport.Config{Node: "n1", Incarnation: 1, TLS: &tls.Config{Certificates: []tls.Certificate{certificates.Server}},
		Authenticate: n.doorman, FrameLimit: 1 << 20,
		Open: func(o transport.Opened) lanes.Handler {
			return commands.New(n.executor, n.executor, o.User, ident.Domain(o.Domain))
		}}
	if change != nil {
		change(&config)
	}
	n.server = transport.NewServer(config)
	return n
}

// serve makes a node on a free port of 127.0.0.1 and stops it at the end of the test.
func serve(t *testing.T, change func(*transport.Config)) *node {
	t.Helper()
	n := prepare(t, change)
	n.start(t)
	t.Cleanup(func() { n.stop(t) })
	return n
}

// start listens on a free port of 127.0.0.1.
func (n *node) start(t *testing.T) {
	t.Helper()
	var err error
	if n.address, err = n.server.Listen("127.0.0.1:0", nil); err != nil {
		t.Fatal(err)
	}
}

func (n *node) stop(t *testing.T) {
	t.Helper()
	n.server.Abort()
	if err := n.server.Wait(context.Background()); err != nil {
		t.Error(err)
	}
}

// peer is a client made of bare streams, so that tests can say what no client of ours says.
type peer struct {
	t     *testing.T
	conn  *quic.Conn
	lanes [2]*quic.Stream
	next  uint64
}

// connect dials and opens the ordered lane; nothing is said yet.
func (n *node) connect(t *testing.T) *peer {
	t.Helper()
	conn, err := quic.DialAddr(t.Context(), n.address.String(), n.clientTLS(), &quic.Config{MaxIdleTimeout: 30 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	// A reply that never comes fails the test instead of hanging it.
	guard := osclock.AfterFunc(time.Minute, func() { _ = conn.CloseWithError(0, "") })
	t.Cleanup(func() { guard.Stop() })
	return newPeer(t, conn)
}

func (n *node) clientTLS() *tls.Config {
	return &tls.Config{RootCAs: n.roots, ServerName: "localhost", NextProtos: []string{transport.ALPN}, MinVersion: tls.VersionTLS13}
}

func newPeer(t *testing.T, conn *quic.Conn) *peer {
	t.Helper()
	t.Cleanup(func() { _ = conn.CloseWithError(0, "") })
	stream, err := conn.OpenStream()
	if err != nil {
		t.Fatal(err)
	}
	return &peer{t: t, conn: conn, lanes: [2]*quic.Stream{stream, nil}}
}

// login connects and greets.
func (n *node) login(t *testing.T) *peer {
	t.Helper()
	p := n.connect(t)
	p.greet(password)
	if f := p.read(lanes.Ordered); f.Body.(wire.HelloReply).Node != "n1" {
		t.Fatalf("greeting: %+v", f)
	}
	return p
}

func hello(password string) wire.Hello {
	return wire.Hello{ProtocolMin: 1, ProtocolMax: 1, User: "admin", Password: password, Domain: "weather", Client: "test"}
}

func (p *peer) greet(password string) {
	p.write(lanes.Ordered, wire.ClientFrame{Body: hello(password)})
}

// encode is a frame with its length.
func encode(t *testing.T, f wire.ClientFrame) []byte {
	t.Helper()
	frame, err := wire.EncodeClient(f, wire.DefaultFrameLimit)
	if err != nil {
		t.Fatal(err)
	}
	return wire.AppendFrame(nil, frame)
}

func (p *peer) lane(lane lanes.Lane) *quic.Stream {
	p.t.Helper()
	if p.lanes[lane] == nil {
		stream, err := p.conn.OpenStream()
		if err != nil {
			p.t.Fatal(err)
		}
		p.lanes[lane] = stream
	}
	return p.lanes[lane]
}

func (p *peer) write(lane lanes.Lane, f wire.ClientFrame) {
	p.t.Helper()
	if _, err := p.lane(lane).Write(encode(p.t, f)); err != nil {
		p.t.Fatal(err)
	}
}

// send writes a request under the next identity, on the lane it belongs to; a cancellation on that of commands, which it then cannot
// overtake.
func (p *peer) send(body wire.ClientBody) uint64 {
	p.t.Helper()
	p.next++
	lane := lanes.Control
	switch body.(type) {
	case wire.CommandRequest, wire.CancelRequest:
		lane = lanes.Ordered
	}
	p.write(lane, wire.ClientFrame{RequestID: p.next, Body: body})
	return p.next
}

func command(text string) wire.CommandRequest {
	return wire.CommandRequest{Reference: "0192f6a0-7c00-7abc-8def-0123456789ab", Text: text, Format: wire.FormatText}
}

// read waits for the next frame of a lane.
func (p *peer) read(lane lanes.Lane) wire.ServerFrame {
	p.t.Helper()
	frame, err := wire.ReadFrame(p.lane(lane), wire.DefaultFrameLimit)
	if err != nil {
		p.t.Fatalf("%v: %v", lane, err)
	}
	f, err := wire.DecodeServer(frame, wire.DefaultFrameLimit)
	if err != nil {
		p.t.Fatal(err)
	}
	return f
}

// ending waits for the ending of the session on the ordered lane, skipping replies, and for the end of the connection with the same
// reason.
func (p *peer) ending() wire.SessionEnding {
	p.t.Helper()
	for {
		if e, ok := p.read(lanes.Ordered).Body.(wire.SessionEnding); ok {
			if _, err := p.lanes[lanes.Ordered].Read(make([]byte, 1)); err == nil {
				p.t.Error("bytes after the ending")
			}
			<-p.conn.Context().Done()
			var application *quic.ApplicationError
			if cause := context.Cause(p.conn.Context()); !errors.As(cause, &application) || uint64(application.ErrorCode) != uint64(e.Reason) {
				p.t.Errorf("the connection ended with %v, the session with %v", cause, e.Reason)
			}
			return e
		}
	}
}

// works shows that a node still serves.
func (n *node) works(t *testing.T) {
	t.Helper()
	p := n.login(t)
	p.send(command("ok"))
	if out := p.read(lanes.Ordered).Body.(wire.CommandOutcome); out.Disposition != wire.DispositionCompleted {
		t.Fatalf("a session beside: %+v", out)
	}
	_ = p.conn.CloseWithError(0, "")
}

func asApplication(conn *quic.Conn) (*quic.ApplicationError, bool) {
	var application *quic.ApplicationError
	ok := errors.As(context.Cause(conn.Context()), &application)
	return application, ok
}

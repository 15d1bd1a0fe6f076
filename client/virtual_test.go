// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nervix-go/nervix/host/datadir"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/session/clocks/clockstest"
	"github.com/nervix-go/nervix/host/session/commands"
	"github.com/nervix-go/nervix/host/session/lanes"
	"github.com/nervix-go/nervix/host/session/transport"
	"github.com/nervix-go/nervix/host/wire"
	"github.com/quic-go/quic-go/testutils/simnet"
)

// network is a network in memory, in virtual time; it can be cut.
type network struct {
	simnet.PerfectRouter
	cut     atomic.Bool
	sockets atomic.Int32
}

func (n *network) SendPacket(p simnet.Packet) error {
	if n.cut.Load() {
		return nil
	}
	return n.PerfectRouter.SendPacket(p)
}

// socket opens a client's socket.
func (n *network) socket() (net.PacketConn, error) {
	port := 1000 + int(n.sockets.Add(1))
	return simnet.NewBlockingSimConn(&net.UDPAddr{IP: net.IP{10, 0, 0, 2}, Port: port}, n), nil
}

// realNode is the real server with a control plane that completes everything, on a network in memory.
type realNode struct {
	t            *testing.T
	network      *network
	clocks       *clockstest.Node
	certificates datadir.Certificates
	address      *net.UDPAddr
	server       *transport.Server
	mu           sync.Mutex
	opened       int
}

// Execute implements commands.Executor; BEGIN opens a transaction, CUT loses the network with its own reply, and with DIE the node ends before it replies.
func (n *realNode) Execute(ctx context.Context, r commands.Request) commands.Outcome {
	if !r.Admit() {
		return commands.Outcome{Cancelled: true}
	}
	switch r.Text {
	case "CUT":
		n.network.cut.Store(true)
	case "DIE":
		n.server.Abort()
		<-ctx.Done()
		_ = osclock.Wait(context.Background(), time.Minute) // the session is over before there is a reply
	}
	out := commands.Outcome{Disposition: wire.DispositionCompleted, Text: r.Text, Domain: r.Domain, Transaction: r.Transaction}
	switch r.Text {
	case "BEGIN":
		out.Transaction = commands.Transaction{State: wire.TransactionOpen, Reference: "t"}
	case "REVERT":
		out.Transaction = commands.Transaction{}
	}
	return out
}

func (n *realNode) Revert(context.Context, commands.RevertRequest) {}

func (n *realNode) Domains(context.Context, string) ([]wire.DomainEntry, error) {
	return []wire.DomainEntry{{Name: "history", Status: "running", Pace: wire.PacePaced, PeriodNS: 5, SkewNS: 1, StartVersion: 2}}, nil
}

func (n *realNode) Status(context.Context) (wire.StatusReport, error) {
	return wire.StatusReport{Node: "n1", Role: "leader"}, nil
}

func (n *realNode) Authenticate(context.Context, string, string) error { return nil }

// start serves on the node's address. A restart is stop and start; sessions counts what was opened.
func (n *realNode) start() {
	n.t.Helper()
	n.server = transport.NewServer(transport.Config{Node: fmt.Sprint("n", n.address.Port), Incarnation: 1, Clocks: n.clocks, Authenticate: n,
		TLS: &tls.Config{Certificates: []tls.Certificate{n.certificates.Server}}, Open: func(o transport.Opened) lanes.Handler {
			n.mu.Lock()
			n.opened++
			n.mu.Unlock()
			return commands.New(n, n, o.User, ident.Domain(o.Domain))
		}})
	if err := n.server.ListenOn(simnet.NewBlockingSimConn(n.address, n.network), &[32]byte{1}); err != nil {
		n.t.Fatal(err)
	}
}

func (n *realNode) stop() {
	n.server.Abort()
	if err := n.server.Wait(context.Background()); err != nil {
		n.t.Error(err)
	}
}

func (n *realNode) sessions() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.opened
}

// virtual runs f with a node and a client of it in virtual time.
func virtual(t *testing.T, change func(*Config), f func(t *testing.T, n *realNode, c *Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := &realNode{t: t, network: &network{}, clocks: clockstest.Ready(), certificates: certificates(t),
			address: &net.UDPAddr{IP: net.IP{10, 0, 0, 1}, Port: 1}}
		n.start()
		c, err := Dial(t.Context(), n.config(change))
		if err != nil {
			t.Fatal(err)
		}
		f(t, n, c)
		_ = c.Close()
		n.network.cut.Store(false)
		n.stop()
	})
}

func (n *realNode) config(change func(*Config)) Config {
	config := Config{Server: Scheme + "://" + n.address.String(), User: "admin", Password: "secret", Domain: "history", socket: n.network.socket,
		TLS: &tls.Config{InsecureSkipVerify: true}} // the certificate is for other addresses, and the trust is not the point
	if change != nil {
		change(&config)
	}
	return config
}

// event waits for the next event of a kind, or fails.
func event(t *testing.T, c *Client, want ClockEventKind) ClockEvent {
	t.Helper()
	ctx, stop := osclock.WithTimeout(t.Context(), time.Hour)
	defer stop()
	e, err := c.NextClockEvent(ctx)
	if err != nil || e.Kind != want {
		t.Fatalf("got %+v, %v; want %s", e, err, want)
	}
	return e
}

// quiet says that no event waits.
func quiet(t *testing.T, c *Client) {
	t.Helper()
	synctest.Wait()
	ctx, stop := osclock.WithTimeout(t.Context(), time.Millisecond)
	defer stop()
	if e, err := c.NextClockEvent(ctx); err == nil {
		t.Errorf("an event too many: %+v", e)
	}
}

// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/session/lanes"
	"github.com/nervix-go/nervix/host/session/transport"
	"github.com/nervix-go/nervix/host/wire"
	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/testutils/simnet"
)

// cable is a network in memory that can be cut.
type cable struct {
	simnet.PerfectRouter
	cut atomic.Bool
}

func (c *cable) SendPacket(p simnet.Packet) error {
	if c.cut.Load() {
		return nil
	}
	return c.PerfectRouter.SendPacket(p)
}

var serverAddress = &net.UDPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 47391}

// virtually runs f in virtual time with a node on a network in memory.
func virtually(t *testing.T, change func(*transport.Config), f func(t *testing.T, n *node, net *cable)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := prepare(t, change)
		wires := &cable{}
		n.address = serverAddress
		if err := n.server.ListenOn(simnet.NewBlockingSimConn(serverAddress, wires), nil); err != nil {
			t.Fatal(err)
		}
		f(t, n, wires)
		wires.cut.Store(false)
		n.stop(t)
	})
}

// virtualPeer connects over the cable; config is the client's.
func (n *node) virtualPeer(t *testing.T, wires *cable, port int, config *quic.Config) (*peer, func()) {
	t.Helper()
	socket := simnet.NewBlockingSimConn(&net.UDPAddr{IP: net.IPv4(10, 0, 0, 2), Port: port}, wires)
	tr := &quic.Transport{Conn: socket}
	conn, err := tr.Dial(t.Context(), serverAddress, n.clientTLS(), config)
	if err != nil {
		t.Fatal(err)
	}
	return newPeer(t, conn), func() {
		_ = conn.CloseWithError(0, "")
		_ = tr.Close()
		_ = socket.Close()
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestAClientThatNeverReadsIsNotRead floods a node with commands that are refused, and reads no refusal. In virtual time "blocked for
// good" can be seen: the client's write stops although it has more to say.
func TestAClientThatNeverReadsIsNotRead(t *testing.T) {
	// req: X-049
	virtually(t, nil, func(t *testing.T, n *node, wires *cable) {
		small := &quic.Config{InitialStreamReceiveWindow: 16 << 10, MaxStreamReceiveWindow: 16 << 10, MaxIdleTimeout: time.Hour, KeepAlivePeriod: time.Second}
		p, leave := n.virtualPeer(t, wires, 1, small)
		p.greet(password)
		p.read(lanes.Ordered)
		p.send(command("admitted"))
		<-n.executor.started
		synctest.Wait()
		before, goroutines := heap(), runtime.NumGoroutine()

		const flood = 64 << 20
		duplicate := encode(t, wire.ClientFrame{RequestID: 1, Body: command("flood")})
		var written atomic.Int64
		done := make(chan struct{})
		go func() {
			defer close(done)
			for written.Load() < flood {
				if _, err := p.lanes[0].Write(duplicate); err != nil {
					return
				}
				written.Add(int64(len(duplicate)))
			}
		}()
		osclock.Wait(t.Context(), time.Minute)
		synctest.Wait()
		if w := written.Load(); w >= 4<<20 || w == 0 {
			t.Errorf("the node took %d bytes of a client that reads nothing", w)
		}
		if grown := int64(heap()) - int64(before); grown > 8<<20 {
			t.Errorf("the heap grew by %d bytes", grown)
		}
		if now := runtime.NumGoroutine(); now > goroutines+2 {
			t.Errorf("goroutines grew from %d to %d", goroutines, now)
		}
		// Another session is served meanwhile.
		q, leaveToo := n.virtualPeer(t, wires, 2, nil)
		q.greet(password)
		q.read(lanes.Ordered)
		q.send(wire.StatusRequest{})
		q.read(lanes.Control)
		leaveToo()
		leave()
		<-done
		n.executor.release <- ""
	})
}

// TestSilenceEndsTheSession: keepalives hold an idle session, and a cut cable is noticed by the node after 15 s.
func TestSilenceEndsTheSession(t *testing.T) {
	// req: X-011 half: the client sets the same values, and no test shows them
	virtually(t, nil, func(t *testing.T, n *node, wires *cable) {
		p, leave := n.virtualPeer(t, wires, 1, &quic.Config{MaxIdleTimeout: 15 * time.Second})
		p.greet(password)
		p.read(lanes.Ordered)
		p.send(command("begin"))
		p.read(lanes.Ordered)
		osclock.Wait(t.Context(), time.Hour)
		p.send(command("ok"))
		p.read(lanes.Ordered)
		wires.cut.Store(true)
		osclock.Wait(t.Context(), 20*time.Second)
		synctest.Wait()
		if n.executor.reverted() != 1 {
			t.Error("after 20 s of silence the session is still there")
		}
		var idle *quic.IdleTimeoutError
		if cause := context.Cause(p.conn.Context()); !errors.As(cause, &idle) {
			t.Errorf("the client's connection: %v", cause)
		}
		leave()
	})
}

func TestWhoSaysNothingIsSentAway(t *testing.T) {
	virtually(t, nil, func(t *testing.T, n *node, wires *cable) {
		p, leave := n.virtualPeer(t, wires, 1, nil)
		begin := osclock.Mono()
		if e := drainToEnd(p); e != wire.EndingProtocolViolated {
			t.Errorf("got %v", e)
		}
		if took := osclock.Mono().Sub(begin); took < 10*time.Second || took > 11*time.Second {
			t.Errorf("after %v", took)
		}
		leave()

		// Half a Hello is no better.
		p, leave = n.virtualPeer(t, wires, 2, nil)
		if _, err := p.lanes[0].Write(encode(t, wire.ClientFrame{Body: hello(password)})[:20]); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(p.lanes[0]); err != nil {
			t.Error(err)
		}
		drainToEnd(p)
		leave()
	})
}

// TestWaitAwaitsAdmittedWork: the client is gone, its admitted command is not, and Wait returns only after it and the revert.
func TestWaitAwaitsAdmittedWork(t *testing.T) {
	// req: X-279 half: no console
	virtually(t, nil, func(t *testing.T, n *node, wires *cable) {
		p, leave := n.virtualPeer(t, wires, 1, nil)
		p.greet(password)
		p.read(lanes.Ordered)
		p.send(command("begin"))
		p.read(lanes.Ordered)
		p.send(command("admitted"))
		<-n.executor.started
		leave()
		n.server.Drain()
		done := make(chan error, 1)
		go func() { done <- n.server.Wait(context.Background()) }()
		osclock.Wait(t.Context(), time.Hour)
		if len(done) != 0 || n.executor.reverted() != 0 {
			t.Error("the server ended before its admitted work")
		}
		n.executor.release <- ""
		if err := <-done; err != nil || n.executor.reverted() != 1 {
			t.Errorf("%v, reverted %d", err, n.executor.reverted())
		}
		if diff := cmp.Diff([]string{"begin", "admitted"}, n.executor.ran()); diff != "" {
			t.Error(diff)
		}
	})
}

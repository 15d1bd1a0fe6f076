// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"crypto/tls"
	"strings"
	"testing"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/session/lanes"
	"github.com/nervix-go/nervix/host/session/transport"
	"github.com/nervix-go/nervix/host/wire"
	"github.com/quic-go/quic-go"
)

func TestWrongPasswordEndsBeforeAnythingIsRead(t *testing.T) {
	// req: X-014 half: upload, download and restore do not exist
	// req: X-015 half: no console
	n := serve(t, nil)
	p := n.connect(t)
	_, _ = p.lanes[lanes.Ordered].Write(append(encode(t, wire.ClientFrame{Body: hello("guess")}),
		encode(t, wire.ClientFrame{RequestID: 1, Body: command("ok")})...)) // the node may stop reading before we are through
	e := p.ending()
	if e.Reason != wire.EndingUnauthenticated || strings.Contains(e.Text, "guess") {
		t.Fatalf("got %+v", e)
	}
	if ran := n.executor.ran(); len(ran) != 0 || n.doorman.judged() != 1 {
		t.Fatalf("ran %v after a wrong password, %d judgements", ran, n.doorman.judged())
	}
	n.works(t)
}

func TestCredentialsThatCannotBeJudged(t *testing.T) {
	// req: X-016 half: the transport's part; see host/users
	n := serve(t, nil)
	n.doorman.fail(fault.New(fault.SessionCredentialsUnavailable, "test", ident.Ref{}, "", nil))
	p := n.connect(t)
	p.greet(password)
	if e := p.ending(); e.Reason != wire.EndingCredentialsUnavailable {
		t.Fatalf("got %+v", e)
	}
}

func TestProtocolVersionIsJudgedBeforeCredentials(t *testing.T) {
	// req: X-036 half: the refusal; TestProtocolOneIsServed has the older version
	n := serve(t, nil)
	p := n.connect(t)
	h := hello("guess")
	h.ProtocolMin, h.ProtocolMax = 7, 9
	p.write(lanes.Ordered, wire.ClientFrame{Body: h})
	e := p.ending()
	if e.Reason != wire.EndingProtocolVersion || !strings.Contains(e.Text, "7 to 9") || !strings.Contains(e.Text, "1 to 2") {
		t.Fatalf("got %+v", e)
	}
	if n.doorman.judged() != 0 {
		t.Fatal("credentials were judged")
	}
}

func TestFirstFrameIsHello(t *testing.T) {
	n := serve(t, nil)
	for name, c := range map[string]struct {
		bytes  []byte
		reason wire.EndingReason
	}{
		"a command":                           {encode(t, wire.ClientFrame{RequestID: 1, Body: command("ok")}), wire.EndingProtocolViolated},
		"a keepalive":                         {encode(t, wire.ClientFrame{Body: wire.Keepalive{}}), wire.EndingProtocolViolated},
		"garbage":                             {[]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), wire.EndingFrameTooLarge},
		"short length":                        {[]byte{3, 0, 0, 0, 1, 2, 3, 4}, wire.EndingInvalidFrame},
		"a frame of zeros":                    {wire.AppendFrame(nil, make([]byte, 64)), wire.EndingInvalidFrame},
		"a large frame before authentication": {wire.AppendFrame(nil, make([]byte, 8192)), wire.EndingFrameTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			p := n.connect(t)
			_, _ = p.lanes[0].Write(c.bytes) // the node may stop reading before we are through
			if e := p.ending(); e.Reason != c.reason {
				t.Fatalf("got %+v, want %v", e, c.reason)
			}
		})
	}
	if n.doorman.judged() != 0 {
		t.Fatal("credentials were judged")
	}
	n.works(t)
}

func TestOtherProtocolsAndOldTLSAreRefused(t *testing.T) {
	n := serve(t, nil)
	for _, protocols := range [][]string{{"h3"}, nil} {
		config := n.clientTLS()
		config.NextProtos = protocols
		conn, err := quic.DialAddr(t.Context(), n.address.String(), config, nil)
		if err == nil {
			_ = conn.CloseWithError(0, "")
			t.Errorf("ALPN %v was accepted", protocols)
		}
	}
	p := n.login(t)
	if state := p.conn.ConnectionState(); state.TLS.Version != tls.VersionTLS13 || state.Used0RTT || state.TLS.NegotiatedProtocol != transport.ALPN {
		t.Errorf("connection state %+v", state)
	}
	n.works(t)
}

func TestNumberOfSessionsIsBounded(t *testing.T) {
	n := serve(t, func(c *transport.Config) { c.MaxSessions = 1 })
	first := n.login(t)
	second, err := quic.DialAddr(t.Context(), n.address.String(), n.clientTLS(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = second.CloseWithError(0, "") }()
	if _, err := second.AcceptStream(t.Context()); err == nil || !strings.Contains(err.Error(), "greatest number of sessions") {
		t.Fatalf("got %v", err)
	}
	first.send(command("ok"))
	first.read(lanes.Ordered)
}

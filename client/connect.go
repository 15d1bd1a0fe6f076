// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/nervix-go/nervix/host/wire"
	"github.com/quic-go/quic-go"
)

// connect makes one session: it tries the servers in random order, each within ConnectTimeout. When all fail the error tells each with its reason
// . A refused password is not tried elsewhere.
func (c *Client) connect(ctx context.Context) (*session, *Error) {
	var failures []*Error
	for _, i := range rand.Perm(len(c.addresses)) {
		s, failed := c.connectServer(ctx, c.addresses[i])
		if failed == nil {
			return s, nil
		}
		if len(c.addresses) == 1 || errors.Is(failed, ErrAuthentication) {
			return nil, failed
		}
		failed.Detail = strings.TrimSuffix(c.addresses[i].String()+": "+failed.Detail, ": ")
		failures = append(failures, failed)
		if ctx.Err() != nil {
			break
		}
	}
	return nil, noServer(failures)
}

// noServer is the error after all servers failed. Its kind is ErrConnect, unless all failed for another one.
func noServer(failures []*Error) *Error {
	all := failure(failures[0].Kind, fmt.Sprintf("none of %d servers", len(failures)), nil)
	reasons := make([]error, len(failures))
	for i, f := range failures {
		if f.Kind != all.Kind {
			all.Kind = ErrConnect
		}
		reasons[i] = f
	}
	all.Cause = errors.Join(reasons...)
	return all
}

// connectServer makes one session with one server within ConnectTimeout: look-up, connection, greeting. The addresses of a host name are
// tried in order, each with its share of the time.
func (c *Client) connectServer(ctx context.Context, server Address) (*session, *Error) {
	ctx, stop := context.WithTimeout(ctx, c.config.ConnectTimeout)
	defer stop()
	tlsConfig, err := c.config.tls(server.Host)
	if err != nil {
		return nil, asError(err)
	}
	addresses, err := lookUp(ctx, server.Host)
	if err != nil {
		return nil, failure(ErrConnect, "looking up "+server.Host, err)
	}
	var last *Error
	for _, ip := range addresses {
		share, stop := context.WithTimeout(ctx, c.config.ConnectTimeout/time.Duration(len(addresses)))
		s, failed := c.connectTo(share, netip.AddrPortFrom(ip, server.Port), tlsConfig)
		stop()
		if failed == nil {
			return s, nil
		}
		last = failed
		if !errors.Is(failed, ErrConnect) {
			return nil, failed
		}
	}
	return nil, last
}

// lookUp gives at least one address.
func lookUp(ctx context.Context, host string) ([]netip.Addr, error) {
	if ip, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{ip}, nil
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err == nil && len(found) == 0 {
		err = errors.New("the name has no address")
	}
	for i := range found {
		found[i] = found[i].Unmap()
	}
	return found, err
}

// connectTo makes one session with one address.
func (c *Client) connectTo(ctx context.Context, at netip.AddrPort, tlsConfig *tls.Config) (*session, *Error) {
	ctx, refuse := context.WithCancelCause(ctx)
	defer refuse(nil)
	open := c.config.socket
	if open == nil {
		open = func() (net.PacketConn, error) { return net.ListenUDP("udp", nil) }
		watch := watchRefusal(at, refuse)
		defer watch.stop()
	}
	socket, err := open()
	if err != nil {
		return nil, failure(ErrConnect, "opening a socket", err)
	}
	tr := &quic.Transport{Conn: socket}
	conn, err := tr.Dial(ctx, net.UDPAddrFromAddrPort(at), tlsConfig, c.config.quic())
	if err != nil {
		_ = tr.Close()
		_ = socket.Close()
		if cause := context.Cause(ctx); errors.Is(cause, errRefused) {
			err = cause
		}
		return nil, dialError(at, err)
	}
	s := newSession(conn, tr, socket, c.config, c.following)
	if failed := s.greet(ctx, c.config); failed != nil {
		s.close()
		if failed.Kind == ErrConnect && failed.Detail == "" {
			failed.Detail = at.String()
		}
		return nil, failed
	}
	return s, nil
}

// dialError tells a TLS refusal from a node that cannot be reached.
func dialError(at netip.AddrPort, err error) *Error {
	if isTLS(err) {
		return failure(ErrTLS, at.String(), err)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return failure(ErrConnect, at.String()+": no answer in time", nil)
	}
	return failure(ErrConnect, at.String(), err)
}

func isTLS(err error) bool {
	var transport *quic.TransportError
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	return errors.As(err, &transport) && transport.ErrorCode.IsCryptoError() ||
		errors.As(err, &authority) || errors.As(err, &name) || errors.As(err, &invalid)
}

var errRefused = errors.New("connection refused: nothing listens on this port")

// refusalWatch notices that a port is closed. QUIC does not hear of it and would wait for its whole timeout; a connected UDP socket gets
// the answer of the host's network stack.
type refusalWatch struct {
	conn net.Conn
	done chan struct{}
}

func watchRefusal(at netip.AddrPort, refuse context.CancelCauseFunc) *refusalWatch {
	conn, err := net.Dial("udp", at.String())
	if err != nil {
		return &refusalWatch{}
	}
	w := &refusalWatch{conn: conn, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		// One zero byte: no QUIC packet, so a listening node drops it.
		if _, err := conn.Write([]byte{0}); err == nil {
			_, err = conn.Read(make([]byte, 1))
			if refusedByHost(err) {
				refuse(errRefused)
			}
		} else if refusedByHost(err) {
			refuse(errRefused)
		}
	}()
	return w
}

func (w *refusalWatch) stop() {
	if w.conn != nil {
		_ = w.conn.Close()
		<-w.done
	}
}

// greet opens both lanes and waits for HelloReply.
func (s *session) greet(ctx context.Context, c Config) *Error {
	hello := wire.Hello{ProtocolMin: wire.MinSessionProtocol, ProtocolMax: wire.SessionProtocol, User: c.User, Password: c.Password,
		Domain: c.Domain, Client: c.Program}
	frame, err := wire.EncodeClient(wire.ClientFrame{Body: hello}, s.frameLimit)
	if err != nil {
		return failure(ErrAuthentication, "user, password or domain cannot be sent", err)
	}
	defer context.AfterFunc(ctx, func() { s.fail(failure(ErrConnect, "no answer to the greeting in time", nil)) })()
	if err := s.open(ctx); err != nil {
		return asError(err)
	}
	s.start()
	if !s.send(orderedLane, frame) {
		return s.reason()
	}
	select {
	case reply := <-s.welcome:
		if reply.Protocol < wire.MinSessionProtocol || reply.Protocol > wire.SessionProtocol {
			return failure(ErrProtocol, "the node chose a session protocol that was not offered", nil)
		}
		s.node = reply
	case <-s.over:
		return s.reason()
	}
	// The control lane exists for the node once something was written to it.
	keepalive, err := wire.EncodeClient(wire.ClientFrame{Body: wire.Keepalive{}}, s.frameLimit)
	if err != nil {
		return failure(ErrProtocol, "", err)
	}
	if !s.send(controlLane, keepalive) {
		return s.reason()
	}
	s.live(keepalive)
	return nil
}

// endingError gives the reasons of a server their kinds.
func endingError(reason wire.EndingReason, text string) *Error {
	detail := "the node ended the session: " + reason.String()
	if text != "" {
		detail += ", " + text
	}
	switch reason {
	case wire.EndingUnauthenticated:
		return failure(ErrAuthentication, text, nil)
	case wire.EndingCredentialsUnavailable, wire.EndingTooManySessions, wire.EndingShuttingDown:
		return failure(ErrConnect, detail, nil)
	case wire.EndingProtocolVersion, wire.EndingProtocolViolated, wire.EndingInvalidFrame, wire.EndingFrameTooLarge, wire.EndingRedirect:
		return failure(ErrProtocol, detail, nil)
	}
	return failure(ErrConnect, fmt.Sprintf("the node ended the session with code %s", strconv.Itoa(int(reason))), nil)
}

func asError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return failure(ErrConnect, "", err)
}

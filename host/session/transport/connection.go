// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/session/lanes"
	"github.com/nervix-go/nervix/host/wire"
	"github.com/quic-go/quic-go"
)

// ending is why a session is over. The zero reason is the client's own leave.
type ending struct {
	reason wire.EndingReason
	text   string
}

// Features that a server offers beyond the base protocol, by the names in HelloReply.
const (
	FeatureCancel  = "cancel"
	FeatureDomains = "domains"
	FeatureStatus  = "status"
	// FeatureClocks: the server takes clock attachments. Protocol 2.
	FeatureClocks = "domain_clocks"
	// FeatureUploads: the server takes upload streams. Protocol 2.
	FeatureUploads = "uploads"
)

// features are those of this server for a peer of the protocol, ascending.
func (c *Config) features(protocol uint32) []string {
	list := []string{FeatureCancel}
	if c.Clocks != nil && protocol >= 2 {
		list = append(list, FeatureClocks)
	}
	list = append(list, FeatureDomains, FeatureStatus)
	if c.Uploads != nil && protocol >= 2 {
		list = append(list, FeatureUploads)
	}
	return list
}

// connection greets one connection and, if it passes, runs its session. It returns when the connection is closed.
func (s *Server) connection(conn *quic.Conn) {
	stream, hello, bad := s.greet(conn)
	if bad != nil {
		if s.listening.Err() != nil {
			bad = &ending{wire.EndingShuttingDown, "the node stops"}
		}
		s.config.Log.Info("session refused", "remote", conn.RemoteAddr().String(), "reason", bad.reason.String(), "detail", bad.text)
		s.refuse(conn, stream, *bad)
		return
	}
	one := &session{server: s, conn: conn, over: make(chan ending, 1)}
	one.stopped, one.stop = context.WithCancel(context.Background())
	one.protocol, _ = wire.NegotiateSession(hello.ProtocolMin, hello.ProtocolMax)
	one.opened = Opened{User: hello.User, Domain: hello.Domain, Client: hello.Client, Remote: conn.RemoteAddr().String()}
	defer one.stop()
	one.run(stream)
}

// greet reads Hello as the first frame of the first stream and judges protocol range and credentials, in this order. Nothing else of the
// client is read before.
func (s *Server) greet(conn *quic.Conn) (*quic.Stream, wire.Hello, *ending) {
	ctx, stop := osclock.WithTimeout(s.listening, s.config.HelloTimeout)
	defer stop()
	stream, err := conn.AcceptStream(ctx)
	if err != nil {
		return nil, wire.Hello{}, &ending{wire.EndingProtocolViolated, "no Hello in time"}
	}
	unblock := context.AfterFunc(ctx, func() { stream.CancelRead(quic.StreamErrorCode(wire.EndingProtocolViolated)) })
	frame, err := wire.ReadFrame(stream, min(helloLimit, s.config.FrameLimit))
	unblock()
	if err != nil {
		return stream, wire.Hello{}, endingOf(err, "no Hello in time")
	}
	f, err := wire.DecodeClient(frame, helloLimit)
	if err != nil {
		return stream, wire.Hello{}, endingOf(err, "")
	}
	hello, ok := f.Body.(wire.Hello)
	switch {
	case !ok:
		return stream, wire.Hello{}, &ending{wire.EndingProtocolViolated, "the first frame is not a Hello"}
	case !speakable(hello):
		return stream, wire.Hello{}, &ending{wire.EndingProtocolVersion, fmt.Sprintf("client speaks session protocol %d to %d, server %d to %d",
			hello.ProtocolMin, hello.ProtocolMax, wire.MinSessionProtocol, wire.SessionProtocol)}
	}
	return stream, hello, s.judge(conn, hello)
}

// speakable says whether there is a protocol version in common.
func speakable(hello wire.Hello) bool {
	_, ok := wire.NegotiateSession(hello.ProtocolMin, hello.ProtocolMax)
	return ok
}

func (s *Server) judge(conn *quic.Conn, hello wire.Hello) *ending {
	ctx, stop := osclock.WithTimeout(s.listening, s.config.HelloTimeout)
	defer stop()
	defer context.AfterFunc(conn.Context(), stop)() // a client that left needs no judgement
	err := s.config.Authenticate.Authenticate(ctx, hello.User, hello.Password)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil || fault.Has(err, fault.SessionCredentialsUnavailable):
		return &ending{wire.EndingCredentialsUnavailable, "credentials cannot be judged now, try again"}
	default:
		return &ending{wire.EndingUnauthenticated, "user or password is wrong"}
	}
}

// endingOf turns the failure of a lane into the ending it causes. eof is the text for a stream that ended.
func endingOf(err error, eof string) *ending {
	switch {
	case fault.Has(err, fault.WireTooLarge):
		return &ending{wire.EndingFrameTooLarge, err.Error()}
	case fault.Has(err, fault.WireInvalid):
		return &ending{wire.EndingInvalidFrame, err.Error()}
	case fault.Has(err, fault.WireRequestID), fault.Has(err, fault.SessionViolated):
		return &ending{wire.EndingProtocolViolated, err.Error()}
	case errors.Is(err, io.EOF):
		return &ending{0, eof}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &ending{wire.EndingInvalidFrame, "the stream ended inside a frame"}
	case hasLeft(err):
		return &ending{0, ""}
	default: // the lane was reset, or the connection is gone
		return &ending{wire.EndingProtocolViolated, "a lane was closed"}
	}
}

// hasLeft says that the client closed the connection with code 0, its own leave; that may be seen before the end of its lanes.
func hasLeft(err error) bool {
	var application *quic.ApplicationError
	return errors.As(err, &application) && application.Remote && application.ErrorCode == 0
}

// refuse tells a connection that never became a session why, and closes it.
func (s *Server) refuse(conn *quic.Conn, stream *quic.Stream, e ending) {
	cut := osclock.AfterFunc(s.config.EndingGrace, func() { closeConn(conn, e) })
	defer cut.Stop()
	if stream == nil {
		closeConn(conn, e)
		return
	}
	stream.CancelRead(quic.StreamErrorCode(e.reason))
	if frame := s.endingFrame(e); frame != nil {
		_, _ = stream.Write(wire.AppendFrame(nil, frame))
	}
	_ = stream.Close()
	<-conn.Context().Done() // the client leaves, or the grace passes
}

// endingFrame encodes a SessionEnding; nil for the client's own leave.
func (s *Server) endingFrame(e ending) []byte {
	if e.reason == 0 {
		return nil
	}
	frame, err := wire.EncodeServer(wire.ServerFrame{Body: wire.SessionEnding{Reason: e.reason, Text: e.text}}, s.config.FrameLimit)
	if err != nil {
		return nil // the code of the connection's end says the same
	}
	return frame
}

// closeConn closes with the reason as error code; a long text is cut, since it has to fit one packet.
func closeConn(conn *quic.Conn, e ending) {
	text := e.text
	if len(text) > 200 {
		text = text[:200]
	}
	_ = conn.CloseWithError(quic.ApplicationErrorCode(e.reason), text)
}

var _ lanes.Sender = (*session)(nil)

// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"sync"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/session/clocks"
	"github.com/nervix-go/nervix/host/session/lanes"
	"github.com/nervix-go/nervix/host/wire"
	"github.com/quic-go/quic-go"
)

// session is one greeted connection. run owns it.
type session struct {
	server *Server
	conn   *quic.Conn
	opened Opened
	// protocol is the version both sides speak.
	protocol uint32
	lanes    *lanes.Session
	// over takes the first reason to end.
	over chan ending
	// stopped ends when nothing more may be queued; final is then what the writers send last.
	stopped context.Context
	stop    context.CancelFunc
	final   []byte
	queues  [2]*outbox
	readers sync.WaitGroup
	writers sync.WaitGroup
}

// run serves the session until it is over and everything it started has ended.
func (s *session) run(ordered *quic.Stream) {
	log := s.server.config.Log.With("remote", s.opened.Remote, "user", s.opened.User)
	for i := range s.queues {
		s.queues[i] = newOutbox()
	}
	if !s.welcome() {
		s.server.refuse(s.conn, ordered, ending{wire.EndingShuttingDown, "the node stops"})
		return
	}
	log.Info("session opened", "client", s.opened.Client)
	s.write(lanes.Ordered, ordered)
	s.read(lanes.Ordered, ordered)
	s.readers.Add(1)
	go s.control()

	var why ending
	select {
	case why = <-s.over:
	case <-s.conn.Context().Done():
	case <-s.lanes.Idle(): // the server drains, and everything admitted has its reply
		why = ending{wire.EndingShuttingDown, "the node stops"}
	case <-s.server.ctx.Done():
		why = ending{wire.EndingShuttingDown, "the node stops"}
	}
	s.finish(why)
	s.server.leave(s)
	log.Info("session closed", "reason", why.reason.String(), "detail", why.text)
}

// welcome makes the request side and queues HelloReply as the first frame. False means that the server drains.
func (s *session) welcome() bool {
	c := &s.server.config
	reply := wire.HelloReply{Node: c.Node, Incarnation: c.Incarnation, ProtocolMin: wire.MinSessionProtocol, ProtocolMax: wire.SessionProtocol,
		Protocol: s.protocol, Features: c.features(s.protocol), FrameLimit: uint32(c.FrameLimit)}
	options := lanes.Options{InFlight: c.InFlight, Domain: ident.Domain(s.opened.Domain)}
	if c.Clocks != nil && s.protocol >= 2 {
		options.Clocks = clocks.New(c.Clocks, clockLane{s}, c.Log.With("remote", s.opened.Remote))
	}
	s.lanes = lanes.New(s.server.ctx, c.Open(s.opened), s, options)
	if !s.server.enter(s) {
		s.lanes.End()
		_ = s.lanes.Wait(context.Background()) // nothing was taken, so it ends at once
		return false
	}
	s.Send(lanes.Ordered, wire.ServerFrame{Body: reply})
	return true
}

// control accepts the second lane, and after it the upload streams.
func (s *session) control() {
	defer s.readers.Done()
	stream, err := s.conn.AcceptStream(s.conn.Context())
	if err != nil {
		return
	}
	stream.SetPriority(0, false) // replies of this lane go before those of the ordered lane
	s.write(lanes.Control, stream)
	s.read(lanes.Control, stream)
	s.uploads()
}

// read starts the reader of a lane. It takes the next frame only when the last one is registered or answered, so a client that does not
// read its replies is not read either.
func (s *session) read(lane lanes.Lane, stream *quic.Stream) {
	s.readers.Add(1)
	go func() {
		defer s.readers.Done()
		unblock := context.AfterFunc(s.stopped, func() { stream.CancelRead(0) })
		defer unblock()
		for {
			err := s.receive(lane, stream)
			if err != nil {
				s.end(*endingOf(err, ""))
				return
			}
		}
	}()
}

func (s *session) receive(lane lanes.Lane, stream *quic.Stream) error {
	frame, err := wire.ReadFrame(stream, s.server.config.FrameLimit)
	if err != nil {
		return err
	}
	f, err := wire.DecodeClient(frame, s.server.config.FrameLimit)
	if err != nil {
		return err
	}
	return s.lanes.Receive(lane, f)
}

// write starts the writer of a lane. After stopped it sends what is queued, then the ending, then the end of the stream.
func (s *session) write(lane lanes.Lane, stream *quic.Stream) {
	s.writers.Add(1)
	go func() {
		defer s.writers.Done()
		for frame := s.queues[lane].take(s.stopped.Done()); frame != nil; frame = s.queues[lane].take(s.stopped.Done()) {
			if !writeFrame(stream, frame) {
				return
			}
		}
		if s.final == nil || writeFrame(stream, s.final) {
			_ = stream.Close()
		}
	}()
}

// writeFrame blocks while the client does not read. False means that the stream is gone; the session's end is seen elsewhere.
func writeFrame(stream *quic.Stream, frame []byte) bool {
	_, err := stream.Write(wire.AppendFrame(make([]byte, 0, 4+len(frame)), frame))
	return err == nil
}

// Send implements lanes.Sender. A reply that does not fit a frame is replaced by a rejection that says so.
func (s *session) Send(lane lanes.Lane, f wire.ServerFrame) bool {
	limit := s.server.config.FrameLimit
	if f.Body = wire.ForProtocol(f.Body, s.protocol); f.Body == nil {
		return false
	}
	frame, err := wire.EncodeServer(f, limit)
	whole := err == nil
	if err != nil {
		s.server.config.Log.Warn("reply replaced by a rejection", "remote", s.opened.Remote, "error", err.Error())
		r := wire.RequestRejected{Kind: wire.RejectReplyTooLarge, Text: "the reply is larger than a frame"}
		if !fault.Has(err, fault.WireTooLarge) {
			r = wire.RequestRejected{Kind: wire.RejectUnsupportedValue, Text: "the reply cannot be told in this protocol: " + err.Error()}
		}
		if frame, err = wire.EncodeServer(wire.ServerFrame{RequestID: f.RequestID, Body: r}, limit); err != nil {
			return false
		}
	}
	return s.queues[lane].put(context.Background(), s.stopped.Done(), frame) && whole
}

// end asks the owner to end the session; the first reason wins.
func (s *session) end(e ending) {
	select {
	case s.over <- e:
	default:
	}
}

// finish carries out the end: no more replies, the ending as last frame of each lane, a short grace for the client to read it, then the
// end of the connection. Admitted work is awaited last; it goes on without a reply.
func (s *session) finish(why ending) {
	s.final = s.server.endingFrame(why)
	s.stop()
	s.lanes.End()
	cut := osclock.AfterFunc(s.server.config.EndingGrace, func() { closeConn(s.conn, why) })
	if why.reason == 0 {
		closeConn(s.conn, why)
	}
	<-s.conn.Context().Done()
	cut.Stop()
	s.readers.Wait()
	s.writers.Wait()
	_ = s.lanes.Wait(context.Background()) // Abort ends its context
}

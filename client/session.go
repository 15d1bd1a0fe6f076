// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/wire"
	"github.com/quic-go/quic-go"
)

// The lanes of a session, as indexes.
const (
	orderedLane = 0
	controlLane = 1
)

// featureClocks is what a node says in its greeting when clocks can be attached.
const featureClocks = "domain_clocks"

// endingWait is how long the other lane may still bring replies after one lane brought the ending.
const endingWait = 250 * time.Millisecond

// session is one connection. It never comes back: when it is over, the client makes another. Its readers, writers and the closer are
// awaited by close.
type session struct {
	conn       *quic.Conn
	transport  *quic.Transport
	socket     net.PacketConn
	frameLimit int
	// requestTimeout bounds a request that has no bound of its own; keepAlive is the pause between signs of life, zero for none.
	requestTimeout, keepAlive time.Duration
	// clocks hear every frame before a caller does, and learn of the end.
	clocks  listener
	node    wire.HelloReply
	welcome chan wire.HelloReply

	lanes [2]*quic.Stream
	// out hands frames to the writers; nothing waits in it.
	out [2]chan []byte

	// over is closed when the session is lost; mu.why is then set.
	over chan struct{}
	mu   struct {
		sync.Mutex
		why     *Error
		next    uint64
		waiters map[uint64]chan wire.ServerBody
		ending  *Error // the ending a lane brought
	}
	work sync.WaitGroup // readers, writers, the closer
	once sync.Once
}

// listener is told what a session brings. heard is called by the reader of a lane, in the order of its frames, and does not wait; true says
// that the frame is for nobody else. lost is called once, when the session is over.
type listener interface {
	heard(s carrier, body wire.ServerBody) bool
	lost(s carrier)
}

func newSession(conn *quic.Conn, tr *quic.Transport, socket net.PacketConn, c Config, clocks listener) *session {
	s := &session{conn: conn, transport: tr, socket: socket, frameLimit: c.FrameLimit, requestTimeout: c.RequestTimeout, keepAlive: c.KeepAlive, clocks: clocks,
		over:    make(chan struct{}),
		welcome: make(chan wire.HelloReply, 1), out: [2]chan []byte{make(chan []byte), make(chan []byte)}}
	s.mu.waiters = make(map[uint64]chan wire.ServerBody)
	return s
}

// open makes the streams of both lanes; the node learns of a lane with its first frame.
func (s *session) open(ctx context.Context) error {
	for lane := range s.lanes {
		stream, err := s.conn.OpenStreamSync(ctx)
		if err != nil {
			return s.lost(err)
		}
		s.lanes[lane] = stream
	}
	return nil
}

// start runs the readers and writers. The control lane's reader waits until the node answers on it.
func (s *session) start() {
	for lane := range s.lanes {
		s.work.Add(2)
		go func() {
			defer s.work.Done()
			s.read(s.lanes[lane])
		}()
		go func() {
			defer s.work.Done()
			s.write(lane)
		}()
	}
}

// live says again and again that the client lives. A frame does what the pings of QUIC do and more: its packet is large enough for a node that has
// restarted to answer with a stateless reset, which ends the session at once instead of after IdleTimeout.
func (s *session) live(frame []byte) {
	if s.keepAlive <= 0 {
		return
	}
	s.work.Add(1) // by greet, before the session is anybody's to close
	go func() {
		defer s.work.Done()
		for pause(s.keepAlive, s.over) && s.send(controlLane, frame) {
		}
	}()
}

// read routes the frames of one lane until it ends. It never waits for a caller.
func (s *session) read(stream *quic.Stream) {
	for {
		frame, err := wire.ReadFrame(stream, s.frameLimit)
		if err != nil {
			s.laneEnded(err)
			return
		}
		f, err := wire.DecodeServer(frame, s.frameLimit)
		if err != nil {
			s.fail(failure(ErrProtocol, "the node sent a bad frame", err))
			return
		}
		s.route(f)
	}
}

func (s *session) route(f wire.ServerFrame) {
	switch body := f.Body.(type) {
	case wire.Keepalive:
	case wire.HelloReply:
		select {
		case s.welcome <- body:
		default: // a second one tells nothing new
		}
	case wire.SessionEnding:
		s.mu.Lock()
		s.mu.ending = endingError(body.Reason, body.Text)
		s.mu.Unlock()
		s.once.Do(s.closing)
	default:
		if s.clocks.heard(s, f.Body) {
			return
		}
		s.mu.Lock()
		waiter := s.mu.waiters[f.RequestID]
		delete(s.mu.waiters, f.RequestID)
		s.mu.Unlock()
		if waiter != nil { // else nobody waits, and nothing else is completed
			waiter <- body // capacity 1, and this is its only reply
		}
	}
}

// closing gives the other lane a moment for the replies before its own ending, then ends the session.
func (s *session) closing() {
	s.work.Add(1) // by a reader, so the count is not zero
	go func() {
		defer s.work.Done()
		s.pause(endingWait)
		s.mu.Lock()
		why := s.mu.ending
		s.mu.Unlock()
		s.fail(why)
	}()
}

// pause returns after d, or when the session is over.
func (s *session) pause(d time.Duration) {
	ctx, stop := context.WithTimeout(context.Background(), d)
	defer stop()
	select {
	case <-ctx.Done():
	case <-s.over:
	}
}

// laneEnded: the end of a lane ends the session, with the reason that the node gave.
func (s *session) laneEnded(err error) {
	s.mu.Lock()
	ending := s.mu.ending
	s.mu.Unlock()
	if ending != nil && errors.Is(err, io.EOF) {
		return // closing ends the session; the other lane may still speak
	}
	if ending != nil {
		s.fail(ending)
		return
	}
	if fault.CodeOf(err) != "" {
		s.fail(failure(ErrProtocol, "the node sent a bad frame", err))
		return
	}
	s.fail(asError(s.lost(err)))
}

// lost explains the end of a connection.
func (s *session) lost(err error) error {
	var application *quic.ApplicationError
	cause := err
	if closed := context.Cause(s.conn.Context()); closed != nil {
		cause = closed
	}
	if errors.As(cause, &application) && application.ErrorCode != 0 {
		return endingError(wire.EndingReason(application.ErrorCode), application.ErrorMessage)
	}
	if isTLS(cause) {
		return failure(ErrTLS, "", cause)
	}
	return failure(ErrConnect, "connection lost", cause)
}

// fail ends the session once: all waiters learn why, and the connection is closed.
func (s *session) fail(why *Error) {
	s.mu.Lock()
	if s.mu.why != nil {
		s.mu.Unlock()
		return
	}
	s.mu.why = why
	s.mu.Unlock()
	close(s.over)
	s.clocks.lost(s)
	_ = s.conn.CloseWithError(0, "")
}

// ended implements carrier.
func (s *session) ended() <-chan struct{} { return s.over }

// ask implements carrier: a request of the ordered lane.
func (s *session) ask(ctx context.Context, body wire.ClientBody) result {
	return s.roundTrip(ctx, s.requestTimeout, orderedLane, body)
}

// takesClocks implements carrier.
func (s *session) takesClocks() *Error {
	if s.node.Protocol < 2 || !slices.Contains(s.node.Features, featureClocks) {
		return failure(ErrClocksUnsupported, "node "+s.node.Node, nil)
	}
	return nil
}

// reason is why the session is over.
func (s *session) reason() *Error {
	<-s.over
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.why
}

// lostAlready says whether the session is over.
func (s *session) lostAlready() bool {
	select {
	case <-s.over:
		return true
	default:
		return false
	}
}

// close ends the session and waits for its goroutines.
func (s *session) close() {
	s.fail(failure(ErrClosed, "", nil))
	s.work.Wait()
	_ = s.transport.Close()
	_ = s.socket.Close()
}

// write sends the frames of one lane. While the node does not read it blocks; the end of the session ends it.
func (s *session) write(lane int) {
	for {
		select {
		case frame := <-s.out[lane]:
			if _, err := s.lanes[lane].Write(wire.AppendFrame(nil, frame)); err != nil {
				var stopped *quic.StreamError
				if errors.As(err, &stopped) {
					s.pause(2 * endingWait) // the node reads no more: its ending is on the way
				}
				s.fail(asError(s.lost(err)))
				return
			}
		case <-s.over:
			return
		}
	}
}

// send hands one frame to a writer; false says that the session is over.
func (s *session) send(lane int, frame []byte) bool {
	select {
	case s.out[lane] <- frame:
		return true
	case <-s.over:
		return false
	}
}

// register makes a request identity, never used before in this session, and the place for its reply, before anything is sent (X-039,
//
func (s *session) register() (uint64, chan wire.ServerBody) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.next++
	waiter := make(chan wire.ServerBody, 1)
	s.mu.waiters[s.mu.next] = waiter
	return s.mu.next, waiter
}

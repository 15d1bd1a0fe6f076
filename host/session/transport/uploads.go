// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"io"

	"github.com/nervix-go/nervix/host/wire"
	"github.com/quic-go/quic-go"
)

// uploads accepts the upload streams of a session until the connection ends. The stream limit of the connection bounds them: the place of
// a stream is given back when its upload is over.
func (s *session) uploads() {
	for {
		stream, err := s.conn.AcceptStream(s.conn.Context())
		if err != nil {
			return
		}
		if s.server.config.Uploads == nil || s.protocol < 2 || s.stopped.Err() != nil {
			refuseStream(stream)
			continue
		}
		s.readers.Add(1) // by a reader, so the count is not zero
		go func() {
			defer s.readers.Done()
			s.upload(stream)
		}()
	}
}

func (s *session) upload(stream *quic.Stream) {
	ctx, stop := context.WithCancel(s.stopped)
	defer stop()
	defer context.AfterFunc(ctx, func() { // unblocks what waits in the stream
		stream.CancelRead(quic.StreamErrorCode(wire.EndingShuttingDown))
		stream.CancelWrite(quic.StreamErrorCode(wire.EndingShuttingDown))
	})()
	defer context.AfterFunc(s.conn.Context(), stop)()
	s.server.config.Uploads.Upload(ctx, s.opened, struct{ io.ReadWriter }{stream})
	_ = stream.Close()
	stream.CancelRead(0)
	stream.ReleaseStreamCredit()
}

func refuseStream(stream *quic.Stream) {
	stream.CancelRead(quic.StreamErrorCode(wire.EndingProtocolViolated))
	stream.CancelWrite(quic.StreamErrorCode(wire.EndingProtocolViolated))
	stream.ReleaseStreamCredit()
}

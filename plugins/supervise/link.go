// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/nervix-go/nervix/host/osclock"
	pluginv1 "github.com/nervix-go/nervix/plugins/proto/v1"
	"github.com/nervix-go/nervix/plugins/wire"
)

// link is one incarnation of a connector as the sessions see it: its control service and its channels on the data connection.
type link struct {
	running Running
	control Control
	conn    *wire.Conn
	cut     func(reason string) // ends the incarnation

	done chan struct{} // the reading goroutine ended; no frame follows

	mu struct {
		sync.Mutex
		next     uint32
		channels map[uint32]*inbound
	}
}

// inbound is the receiving side of one channel. Its credit is checked before a body is allocated.
type inbound struct {
	source  bool
	credit  wire.Credit  // guarded by link.mu
	again   int64        // rows the host rejected and did not get again, guarded by link.mu
	deliver func(frame)  // does not block
	queued  atomic.Int64 // frames delivered and not released
}

// maxQueued bounds what waits for a session beside batches, which credit bounds.
const maxQueued = 4096

// frame is what a channel received. The receiver owns body.
type frame struct {
	link *link
	in   *inbound
	h    wire.Header
	body *memory.Buffer
}

func (f frame) release() {
	if f.in != nil {
		f.in.queued.Add(-1)
	}
	if f.body != nil {
		f.body.Release()
	}
}

func newLink(r Running, maxBody int, cut func(string)) *link {
	l := &link{running: r, control: r.Control(), conn: wire.New(r.Data(), maxBody), cut: cut, done: make(chan struct{})}
	l.mu.channels = make(map[uint32]*inbound)
	return l
}

// open makes a channel and gives its number.
func (l *link) open(in *inbound) uint32 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.next++
	l.mu.channels[l.mu.next] = in
	return l.mu.next
}

// over says that the data connection has ended; what waits on the link hears of the end of the process soon.
func (l *link) over() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

func (l *link) forget(channel uint32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.mu.channels, channel)
}

// broken says that a call failed with its connection: the process ended (Unavailable), or the host, which knew that first, closed the
// connection under the call (Canceled). The caller's context must not be cancelled. Why the process ended is told by noteDown.
func broken(err error) bool {
	c := status.Code(err)
	return c == codes.Unavailable || c == codes.Canceled
}

// whyNot is what a session tells of a call that failed.
func whyNot(err error) string {
	if broken(err) {
		return "the connection to it ended during a call"
	}
	return err.Error()
}

// closeChannel asks the connector to let go and forgets the channel once it did, or could not be asked.
func (l *link) closeChannel(ctx context.Context, channel uint32) error {
	ctx, cancel := osclock.WithTimeout(ctx, callTimeout)
	defer cancel()
	reply, err := l.control.Close(ctx, &pluginv1.CloseRequest{Channel: channel})
	l.forget(channel)
	if gone := ctx.Err() == nil && broken(err); gone || status.Code(err) == codes.NotFound {
		return nil // it was never opened, or its process is gone
	}
	if err == nil && reply.GetFailure() != "" {
		err = errors.New(reply.GetFailure())
	}
	return err
}

// grant gives a source credit and says so.
func (l *link) grant(channel uint32, g wire.Credit) error {
	l.mu.Lock()
	if in := l.mu.channels[channel]; in != nil {
		in.credit.Grant(g)
	}
	l.mu.Unlock()
	h, body := wire.GrantFrame(channel, g)
	return l.conn.Write(h, body)
}

// expectAgain allows one row to come again after a rejection.
func (l *link) expectAgain(channel uint32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if in := l.mu.channels[channel]; in != nil {
		in.again++
	}
}

// spend takes the credit of a batch; false is a violation. The row count of the header is compared with the batch later.
func (in *inbound) spend(h wire.Header) bool {
	rows := int64(h.Arg)
	if rows <= 0 {
		return false
	}
	if h.Flags&wire.FlagAgain == 0 {
		return in.credit.Take(int64(h.Length), rows)
	}
	in.again -= rows
	return in.again >= 0 && in.credit.Take(int64(h.Length), 0)
}

// maxNote and maxAnswer bound bodies that are no batches.
const (
	maxNote   = 64 << 10
	maxAnswer = 16 << 20
)

// accept judges a header before its body is read (P-012).
func (l *link) accept(h wire.Header) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	in := l.mu.channels[h.Channel]
	if in == nil {
		if h.Channel == 0 || h.Channel > l.mu.next {
			return fmt.Errorf("%w: a frame for channel %d, which does not exist", wire.ErrViolation, h.Channel)
		}
		return nil // closed by us while the frame was on its way
	}
	if in.queued.Load() > maxQueued {
		return fmt.Errorf("%w: more than %d frames wait on channel %d", wire.ErrViolation, maxQueued, h.Channel)
	}
	switch {
	case h.Kind == wire.KindBatch && in.source:
		if !in.spend(h) {
			return fmt.Errorf("%w: a batch of %d rows and %d bytes on channel %d without credit", wire.ErrViolation, h.Arg, h.Length, h.Channel)
		}
	case h.Kind == wire.KindSchema && in.source, h.Kind == wire.KindFinished && in.source, h.Kind == wire.KindAnswer && !in.source,
		h.Kind == wire.KindFailed, h.Kind == wire.KindClosed:
		limit := uint32(maxNote)
		if h.Kind == wire.KindAnswer {
			limit = maxAnswer
		}
		if h.Length > limit {
			return fmt.Errorf("%w: a frame of kind %d with %d bytes", wire.ErrViolation, h.Kind, h.Length)
		}
	default:
		return fmt.Errorf("%w: a frame of kind %d on channel %d", wire.ErrViolation, h.Kind, h.Channel)
	}
	return nil
}

// read moves frames until the connection ends. It runs on its own goroutine.
func (l *link) read() {
	defer close(l.done)
	for {
		h, body, err := l.conn.Read(l.accept)
		if err != nil {
			if !wire.IsEnd(err) {
				l.cut(err.Error())
			}
			_ = l.conn.Close()
			return
		}
		l.mu.Lock()
		in := l.mu.channels[h.Channel]
		if h.Kind == wire.KindClosed {
			delete(l.mu.channels, h.Channel)
		}
		l.mu.Unlock()
		f := frame{link: l, in: in, h: h, body: body}
		if in == nil {
			f.release()
			continue
		}
		in.queued.Add(1)
		in.deliver(f)
	}
}

// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"context"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/plugins/wire"
)

// session is what sources and sinks have in common: the mailbox, the current link and channel, and the backoff between attempts to open.
// Its fields below `owned` belong to the run goroutine of the session.
type session struct {
	p    *process
	self attached // the session as its process knows it
	box  *mailbox[note]
	done chan struct{}
	life context.Context // ends when Close is called: cuts an open call short
	end  context.CancelFunc

	emitting sync.Mutex // held during callbacks; Close takes it to be sure that none follows
	silent   bool

	closeErr error // read after done

	// owned
	link    *link
	channel uint32 // 0: not open
	epoch   uint64
	alarm   *osclock.Alarm
	armed   bool
	delay   time.Duration
}

// note is one message to a session. The mailbox is bounded by the source's credit, one attempt of a sink, and the calls of its user.
type note struct {
	kind     noteKind
	link     *link
	reason   string
	err      error // noteDown: the start failed
	frame    frame
	credit   wire.Credit
	epoch    uint64
	position []byte
	attempt  uint64
	batch    arrow.RecordBatch
}

type noteKind uint8

const (
	noteUp noteKind = iota
	noteDown
	noteEnded
	noteFrame
	noteGrant
	noteAck
	noteReject
	notePublish
	noteClose
)

func (s *session) init(p *process, self attached) {
	s.p, s.self, s.box, s.done, s.alarm = p, self, newMailbox[note](), make(chan struct{}), osclock.NewAlarm(time.Hour)
	s.alarm.Stop()
	s.life, s.end = context.WithCancel(context.Background())
}

func (s *session) up(l *link) { s.box.put(note{kind: noteUp, link: l}) }
func (s *session) down(l *link, reason string, notStarted error) {
	s.box.put(note{kind: noteDown, link: l, reason: reason, err: notStarted})
}
func (s *session) ended() { s.box.put(note{kind: noteEnded}) }

func (s *session) deliver(f frame) {
	if !s.box.put(note{kind: noteFrame, frame: f}) {
		f.release()
	}
}

// emit calls back unless Close returned.
func (s *session) emit(call func()) {
	s.emitting.Lock()
	defer s.emitting.Unlock()
	if !s.silent {
		call()
	}
}

// retry arms the next attempt to open.
func (s *session) retry() {
	s.delay = min(max(2*s.delay, firstBackoff), lastBackoff)
	s.alarm.Reset(s.delay)
	s.armed = true
}

// loop serves the mailbox until handle ends it. Until then it hears of its process, also while Close waits for an answer of it.
// late is called when the alarm fires while the channel is open.
func (s *session) loop(handle func(note) (ended bool), open func() (ended bool), late func()) {
	defer close(s.done)
	defer s.p.detach(s.self)
	defer s.alarm.Stop()
	var spare []note
	for {
		select {
		case <-s.box.notice:
			batch := s.box.take(spare)
			for i, n := range batch {
				if handle(n) {
					s.discard(batch[i+1:])
					s.discard(s.box.close())
					return
				}
			}
			spare = batch
		case <-s.alarm.C():
			if s.armed {
				s.armed = false
				if s.channel != 0 {
					late()
				} else if s.link != nil && open() {
					s.discard(s.box.close())
					return
				}
			}
		}
	}
}

func (s *session) discard(rest []note) {
	for _, n := range rest {
		n.frame.release()
		if n.batch != nil {
			n.batch.Release()
		}
	}
}

// closeChannel lets the connector go of the source or sink; errors end with the incarnation anyway. Its patience is its own, not that of who
// closes: a connector that is not told would keep what a successor wants to open.
func (s *session) closeChannel(ctx context.Context) error {
	if s.link == nil || s.channel == 0 {
		return nil
	}
	l, channel := s.link, s.channel
	s.channel = 0
	return l.closeChannel(ctx, channel)
}

// shut is Close of both kinds of session.
func (s *session) shut(ctx context.Context) error {
	s.leave()
	select {
	case <-s.done:
	case <-ctx.Done():
	}
	s.hush()
	select {
	case <-s.done:
		return s.closeErr
	default:
		return context.Cause(ctx)
	}
}

// leave asks the run goroutine to close the channel and to end.
func (s *session) leave() {
	s.end()
	s.box.put(note{kind: noteClose})
}

// hush returns once no further callback can come.
func (s *session) hush() {
	s.emitting.Lock()
	defer s.emitting.Unlock()
	s.silent = true
}

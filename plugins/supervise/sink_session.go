// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"context"
	"fmt"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/nervix-go/nervix/host/arrowipc"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/node/connector"
	"github.com/nervix-go/nervix/host/osclock"
	pluginv1 "github.com/nervix-go/nervix/plugins/proto/v1"
	"github.com/nervix-go/nervix/plugins/wire"
)

// publishTimeout is how long a sink may be silent about an attempt before its process is taken for hung (P-007).
const publishTimeout = 60 * time.Second

// sinkSession is one open sink of the graph over all incarnations of its connector.
type sinkSession struct {
	session
	plan   connector.SinkPlan
	events connector.SinkEvents

	// owned by run
	told    connector.SinkStatus
	enc     arrowipc.Encoder
	pending bool // an attempt is under way
	attempt uint64
	first   uint64
	last    uint64
	closing bool
}

func newSinkSession(p *process, plan connector.SinkPlan, events connector.SinkEvents) *sinkSession {
	s := &sinkSession{plan: plan, events: events}
	s.init(p, s)
	return s
}

// Publish implements connector.SinkSession.
func (s *sinkSession) Publish(attempt uint64, batch arrow.RecordBatch) {
	batch.Retain()
	if !s.box.put(note{kind: notePublish, attempt: attempt, batch: batch}) {
		batch.Release()
	}
}

// Close implements connector.SinkSession: an attempt under way is answered first, as long as ctx lasts. It must not be called from an
// event.
func (s *sinkSession) Close(ctx context.Context) error { return s.shut(ctx) }

func (s *sinkSession) run() { s.loop(s.handle, s.open, s.late) }

// late takes a process for hung whose sink does not answer (P-007).
func (s *sinkSession) late() {
	if s.pending {
		s.link.cut(fmt.Sprintf("%s: no answer to an attempt within %v", s.plan.Emitter, publishTimeout))
	}
}

func (s *sinkSession) tell(state connector.State, detail string) {
	now := connector.SinkStatus{State: state, Epoch: s.epoch, Detail: detail}
	if now == s.told {
		return
	}
	s.told = now
	s.emit(func() { s.events.SinkState(now) })
}

func (s *sinkSession) handle(n note) (ended bool) {
	switch n.kind {
	case noteUp:
		if s.link != n.link {
			s.link, s.channel, s.delay = n.link, 0, 0
			return s.open()
		}
	case noteDown:
		if n.link == s.link || s.link == nil {
			s.lose("connector " + s.plan.Kind + ": " + n.reason)
			s.link = nil
			return s.closing
		}
	case noteFrame:
		return s.receive(n.frame)
	case notePublish:
		s.publish(n.attempt, n.batch)
		n.batch.Release()
	case noteClose:
		s.closing = true
		return !s.pending && s.letGo()
	}
	return false
}

func (s *sinkSession) letGo() (ended bool) {
	s.closeErr = s.closeChannel(context.Background())
	return true
}

func (s *sinkSession) lose(reason string) {
	s.channel, s.pending, s.armed = 0, false, false
	s.tell(connector.Lost, reason)
}

// open makes an attempt in the current incarnation. No refusal is final (nspl 18.2).
func (s *sinkSession) open() (ended bool) {
	ctx, cancel := osclock.WithTimeout(s.life, callTimeout)
	defer cancel()
	l := s.link
	channel := l.open(&inbound{deliver: s.deliver})
	reply, err := l.control.OpenSink(ctx, &pluginv1.OpenSinkRequest{Channel: channel, Client: s.plan.Client, Options: s.plan.Options})
	switch {
	case s.life.Err() != nil:
		s.channel = channel
	case err != nil:
		_ = l.closeChannel(s.life, channel)
		s.lose("connector " + s.plan.Kind + ": " + whyNot(err))
		s.retry()
	case reply.GetRefusal() != nil:
		l.forget(channel)
		state := connector.Lost
		if reply.GetRefusal().GetDefinitive() {
			state = connector.Failed
		}
		s.tell(state, reply.GetRefusal().GetMessage())
		s.retry()
	default:
		s.channel, s.delay = channel, 0
		s.epoch++
		m, err := arrowipc.SchemaMessage(wire.SinkSchema)
		if err == nil {
			err = l.conn.Write(wire.Header{Kind: wire.KindSchema, Channel: channel}, m)
		}
		if err != nil {
			s.lose("connector " + s.plan.Kind + ": " + err.Error())
			return false
		}
		s.tell(connector.Open, "")
	}
	return false
}

func (s *sinkSession) refuse(attempt uint64, err error) {
	s.emit(func() { s.events.SinkAnswered(attempt, nil, err) })
}

func (s *sinkSession) publish(attempt uint64, batch arrow.RecordBatch) {
	if s.channel == 0 || s.pending {
		s.refuse(attempt, fault.New(fault.PluginExited, "supervise.Publish", s.plan.Emitter, "the sink is not open", nil))
		return
	}
	if err := arrowipc.Same(wire.SinkSchema, batch.Schema()); err != nil || batch.NumRows() == 0 {
		s.refuse(attempt, fault.New(fault.PluginRefused, "supervise.Publish", s.plan.Emitter, "the batch is empty or no sink batch", err))
		return
	}
	ids, ok := batch.Column(connector.SinkID).(*array.Uint64)
	parts, size, err := s.enc.Encode(batch)
	if err == nil && ok && size > s.p.maxBody && batch.NumRows() == 1 { // no attempt will ever take it, and the payloads behind it want to go on
		id := ids.Value(0)
		answer := connector.SinkAnswer{FirstID: id, LastID: id, Rejected: fmt.Sprintf("the payload is too long for a connector: %d bytes in all, the limit is %d", size, s.p.maxBody)}
		s.emit(func() { s.events.SinkAnswered(attempt, []connector.SinkAnswer{answer}, nil) })
		return
	}
	if err == nil && (!ok || size > s.p.maxBody) {
		err = fmt.Errorf("the batch has %d bytes, the limit is %d", size, s.p.maxBody)
	}
	if err != nil {
		s.refuse(attempt, fault.New(fault.PluginRefused, "supervise.Publish", s.plan.Emitter, "", err))
		return
	}
	s.pending, s.attempt, s.first, s.last = true, attempt, ids.Value(0), ids.Value(ids.Len()-1)
	s.alarm.Reset(publishTimeout)
	s.armed = true
	if err := s.link.conn.Write(wire.Header{Kind: wire.KindBatch, Channel: s.channel, Arg: attempt}, parts...); err != nil {
		s.lose("connector " + s.plan.Kind + ": " + err.Error())
	}
}

// receive takes one frame of the current channel.
func (s *sinkSession) receive(f frame) (ended bool) {
	defer f.release()
	if f.link != s.link || f.h.Channel != s.channel || s.channel == 0 {
		return false
	}
	switch f.h.Kind {
	case wire.KindAnswer:
		return s.answered(f)
	case wire.KindFailed:
		reason := bodyText(f)
		_ = s.closeChannel(context.Background())
		s.lose(reason)
		if s.closing {
			return true
		}
		s.retry()
	default:
		s.violated(fmt.Errorf("a frame of kind %d", f.h.Kind))
	}
	return false
}

func (s *sinkSession) answered(f frame) (ended bool) {
	var a wire.Answers
	var err error
	if f.body != nil {
		a, err = wire.ParseAnswers(f.body.Bytes())
	}
	switch {
	case !s.pending || f.h.Arg != s.attempt || f.body == nil:
		err = fmt.Errorf("an answer for attempt %d, which is not under way", f.h.Arg)
	case err == nil:
		err = a.Within(s.first, s.last)
	}
	if err != nil {
		// An answer for something that was not offered, or two, fails the attempt (P-038).
		if s.pending {
			s.pending = false
			s.refuse(s.attempt, fault.New(fault.PluginViolation, "supervise.Publish", s.plan.Emitter, "", err))
		}
		s.violated(err)
		return false
	}
	s.pending, s.armed = false, false
	s.alarm.Stop()
	answers := make([]connector.SinkAnswer, len(a.List))
	for i, one := range a.List {
		answers[i] = connector.SinkAnswer{FirstID: one.First, LastID: one.Last, Rejected: one.Rejected}
	}
	var failure error
	if a.Failure != "" {
		failure = &AttemptFailure{Err: fault.New(fault.PluginRefused, "supervise.Publish", s.plan.Emitter, a.Failure, nil), Delay: a.RetryAfter, Definitive: a.Definitive}
	}
	attempt := s.attempt
	s.emit(func() { s.events.SinkAnswered(attempt, answers, failure) })
	return s.closing && s.letGo()
}

func (s *sinkSession) violated(err error) {
	s.link.cut(fmt.Sprintf("%s: %v", s.plan.Emitter, err))
	s.lose("connector " + s.plan.Kind + " broke the data protocol: " + err.Error())
}

// AttemptFailure is the failure of an attempt as the sink told it.
type AttemptFailure struct {
	Err error
	// Delay is the pause the destination asked for (P-043).
	Delay time.Duration
	// Definitive says that the sink does not expect a retry to help.
	Definitive bool
}

// Error is the sink's text.
func (a *AttemptFailure) Error() string { return a.Err.Error() }

// Unwrap gives the fault.
func (a *AttemptFailure) Unwrap() error { return a.Err }

// RetryAfter is the least pause before the next attempt.
func (a *AttemptFailure) RetryAfter() time.Duration { return a.Delay }

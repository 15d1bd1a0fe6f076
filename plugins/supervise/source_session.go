// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/node/connector"
	"github.com/nervix-go/nervix/host/osclock"
	pluginv1 "github.com/nervix-go/nervix/plugins/proto/v1"
	"github.com/nervix-go/nervix/plugins/wire"
)

// sourceSession is one open source of the graph over all incarnations of its connector.
type sourceSession struct {
	session
	plan   connector.SourcePlan
	events connector.SourceEvents
	first  chan error // how opening came out: nil, or why there is no session

	// owned by run
	answered  bool // first
	attempts  int  // opening calls that failed before that
	identity  []byte
	committed []byte
	lost      string // the reason told last, while not open
	columns   *sourceColumns
	// owed was granted by the receiver and not yet told to the connector.
	owed    wire.Credit
	skipped uint64
}

func newSourceSession(p *process, plan connector.SourcePlan, events connector.SourceEvents) *sourceSession {
	plan.CreditBatches, plan.CreditBytes = max(plan.CreditBatches, 1), max(plan.CreditBytes, 1)
	if plan.CreditRows <= 0 {
		plan.CreditRows = math.MaxInt64 / 8
	}
	s := &sourceSession{plan: plan, events: events, first: make(chan error, 1), identity: plan.Identity, committed: plan.Position}
	s.init(p, s)
	return s
}

// Grant implements connector.SourceSession. Each epoch begins with the whole credit of the plan, so grants for an earlier one are
// ignored.
func (s *sourceSession) Grant(epoch uint64, batches int, bytes, rows int64) {
	s.box.put(note{kind: noteGrant, epoch: epoch, credit: wire.Credit{Batches: int64(batches), Bytes: bytes, Rows: rows}})
}

// Acknowledge implements connector.SourceSession.
func (s *sourceSession) Acknowledge(epoch uint64, position []byte) {
	s.box.put(note{kind: noteAck, epoch: epoch, position: append([]byte(nil), position...)})
}

// Reject implements connector.SourceSession. If the connector cannot serve it the epoch is lost, and the delivery comes again because
// it lies behind the committed position (P-023).
func (s *sourceSession) Reject(epoch uint64, position []byte) {
	s.box.put(note{kind: noteReject, epoch: epoch, position: append([]byte(nil), position...)})
}

// Close implements connector.SourceSession. It must not be called from an event.
func (s *sourceSession) Close(ctx context.Context) error { return s.shut(ctx) }

// giveUp ends a session whose caller waits for it no longer, without waiting. The connector still hears that it has to let go.
func (s *sourceSession) giveUp(ctx context.Context) error {
	s.leave()
	s.hush()
	return fault.New(fault.PluginHung, "supervise.OpenSource", s.plan.Ingestor, "connector "+s.plan.Kind+" had not opened the source when waiting ended", context.Cause(ctx))
}

func (s *sourceSession) run() { s.loop(s.handle, s.open, func() {}) }

func (s *sourceSession) state(st connector.SourceStatus) {
	s.emit(func() { s.events.SourceState(st) })
}

func (s *sourceSession) answer(err error) {
	if !s.answered {
		s.answered = true
		s.first <- err
	}
}

func (s *sourceSession) handle(n note) (ended bool) {
	switch n.kind {
	case noteUp:
		if s.link != n.link {
			s.link, s.channel, s.delay = n.link, 0, 0
			return s.open()
		}
	case noteDown:
		if n.err != nil && !s.answered {
			return s.refuse(n.err)
		}
		if n.link == s.link || s.link == nil {
			s.lose("connector " + s.plan.Kind + ": " + n.reason)
			s.link = nil
		}
	case noteEnded:
		if !s.answered {
			return s.refuse(fault.New(fault.PluginStopped, "supervise.OpenSource", s.plan.Ingestor, "", nil))
		}
	case noteFrame:
		return s.receive(n.frame)
	case noteGrant:
		s.granted(n.epoch, n.credit)
	case noteAck:
		if n.epoch != s.epoch {
			return false
		}
		s.committed = n.position // also while the epoch is lost: what became durable is not read again
		if s.channel != 0 {
			s.written(s.link.conn.Write(wire.Header{Kind: wire.KindAck, Channel: s.channel}, n.position))
		}
	case noteReject:
		s.reject(n.epoch, n.position)
	case noteClose:
		s.closeErr = s.closeChannel(context.Background())
		s.columns.release()
		return true
	}
	return false
}

// written handles a failed write: the connection is gone, noteDown follows.
func (s *sourceSession) written(err error) {
	if err != nil {
		s.lose("connector " + s.plan.Kind + ": " + err.Error())
	}
}

// lose ends the epoch, if there is one, and tells why.
func (s *sourceSession) lose(reason string) {
	if s.channel == 0 && s.lost == reason {
		return
	}
	s.channel, s.lost = 0, reason
	s.owed = wire.Credit{}
	s.state(connector.SourceStatus{State: connector.Lost, Epoch: s.epoch, Detail: reason, Skipped: s.skipped})
}

// openAttempts is how often a new source is offered to a connector that dies of it, or says nothing, before it counts as refused.
const openAttempts = 3

// open makes an attempt in the current incarnation. A refusal that may pass is an answer: the session goes on trying.
func (s *sourceSession) open() (ended bool) {
	l := s.link
	if l.over() {
		return false // noteDown follows; another call would only count as another attempt
	}
	ctx, cancel := osclock.WithTimeout(s.life, callTimeout)
	defer cancel()
	in := &inbound{source: true, deliver: s.deliver}
	channel := l.open(in)
	reply, err := l.control.OpenSource(ctx, &pluginv1.OpenSourceRequest{
		Channel: channel, Client: s.plan.Client, Options: s.plan.Options, Identity: s.identity, Position: s.committed,
	})
	switch {
	case s.life.Err() != nil: // Close is on its way; the connector may have opened nevertheless
		s.channel = channel
		return false
	case err != nil:
		_ = l.closeChannel(s.life, channel)
		if s.attempts++; !s.answered && s.attempts >= openAttempts {
			return s.refuse(s.exhausted(err))
		}
		s.lose("connector " + s.plan.Kind + ": " + whyNot(err))
		s.retry()
	case reply.GetRefusal().GetDefinitive():
		l.forget(channel)
		return s.fail(reply.GetRefusal().GetMessage())
	case reply.GetRefusal() != nil:
		l.forget(channel)
		s.lose(reply.GetRefusal().GetMessage())
		s.answer(nil)
		s.retry()
	default:
		return s.opened(channel, reply)
	}
	return false
}

// exhausted says that no attempt came to an answer. What the end of the process told says more than the broken call does.
func (s *sourceSession) exhausted(err error) error {
	detail := fmt.Sprintf("connector %s failed in each of %d attempts to open the source", s.plan.Kind, s.attempts)
	if s.lost != "" {
		detail += " (" + s.lost + ")"
	}
	return fault.New(fault.PluginExited, "supervise.OpenSource", s.plan.Ingestor, detail, err)
}

// refuse ends a session that never was: OpenSource returns the error, under the name of the ingestor.
func (s *sourceSession) refuse(err error) (ended bool) {
	s.columns.release()
	s.p.detach(s)
	var f *fault.Error
	if errors.As(err, &f) {
		named := *f
		named.Subject = s.plan.Ingestor
		err = &named
	}
	s.answer(err)
	return true
}

// fail ends the session for good.
func (s *sourceSession) fail(reason string) (ended bool) {
	_ = s.closeChannel(s.life)
	if !s.answered {
		return s.refuse(fault.New(fault.PluginRefused, "supervise.OpenSource", s.plan.Ingestor, reason, nil))
	}
	s.columns.release()
	s.p.detach(s)
	s.state(connector.SourceStatus{State: connector.Failed, Epoch: s.epoch, Detail: reason, Skipped: s.skipped})
	return true
}

func (s *sourceSession) opened(channel uint32, reply *pluginv1.OpenSourceReply) (ended bool) {
	columns, err := newSourceColumns(s.p.kind.Descriptor.Source.Metadata, reply.GetConstants())
	if err != nil {
		_ = s.link.closeChannel(s.life, channel)
		return s.fail(err.Error())
	}
	s.columns.release()
	s.columns, s.channel, s.delay, s.lost = columns, channel, 0, ""
	s.epoch++
	s.skipped = 0
	s.identity = reply.GetIdentity()
	if reply.GetRestarted() {
		s.committed = nil
	}
	s.state(connector.SourceStatus{
		State: connector.Open, Epoch: s.epoch, Identity: s.identity, Restarted: reply.GetRestarted(), Detail: reply.GetDetail(),
	})
	s.answer(nil)
	// Credit comes last: whatever the connector sends follows the state Open.
	s.written(s.link.grant(channel, wire.Credit{Batches: int64(s.plan.CreditBatches), Bytes: s.plan.CreditBytes, Rows: s.plan.CreditRows}))
	return false
}

// granted returns credit, a quarter at a time, so that small batches do not cost a frame each.
func (s *sourceSession) granted(epoch uint64, g wire.Credit) {
	if epoch != s.epoch || s.channel == 0 {
		return
	}
	s.owed.Grant(g)
	if s.owed.Batches*4 >= int64(s.plan.CreditBatches) || s.owed.Bytes*4 >= s.plan.CreditBytes || s.owed.Rows*4 >= s.plan.CreditRows {
		g, s.owed = s.owed, wire.Credit{}
		s.written(s.link.grant(s.channel, g))
	}
}

func (s *sourceSession) reject(epoch uint64, position []byte) {
	if epoch != s.epoch || s.channel == 0 {
		return // it comes again by itself (P-019)
	}
	ctx, cancel := osclock.WithTimeout(s.life, callTimeout)
	defer cancel()
	s.link.expectAgain(s.channel)
	if _, err := s.link.control.Reject(ctx, &pluginv1.RejectRequest{Channel: s.channel, Position: position}); err != nil {
		_ = s.closeChannel(s.life)
		s.lose("a rejected delivery could not be asked for again: " + err.Error())
		s.retry()
	}
}

// receive takes one frame of the current channel.
func (s *sourceSession) receive(f frame) (ended bool) {
	defer f.release()
	if f.link != s.link || f.h.Channel != s.channel || s.channel == 0 {
		return false
	}
	switch f.h.Kind {
	case wire.KindSchema:
		if err := s.columns.schema(int(f.h.Count), f.body); err != nil {
			s.violated(err)
		}
	case wire.KindBatch:
		batch, err := s.columns.decode(int(f.h.Count), f.body)
		if err != nil {
			s.violated(err)
			return false
		}
		if uint64(batch.NumRows()) != f.h.Arg {
			batch.Release()
			s.violated(fmt.Errorf("a batch with another number of rows than announced"))
			return false
		}
		delivered := false
		s.emit(func() { delivered = true; s.events.SourceBatch(s.epoch, batch, int64(f.h.Length)) })
		if !delivered {
			batch.Release()
		}
	case wire.KindFinished:
		s.skipped = f.h.Arg
		s.state(connector.SourceStatus{State: connector.Finished, Epoch: s.epoch, Identity: s.identity, Skipped: s.skipped})
	case wire.KindFailed:
		reason := bodyText(f)
		if f.h.Flags&wire.FlagDefinitive != 0 {
			return s.fail(reason)
		}
		_ = s.closeChannel(s.life)
		s.lose(reason)
		s.retry()
	case wire.KindClosed:
		s.violated(fmt.Errorf("the channel was closed without being asked to"))
	}
	return false
}

// violated cuts the connector off; noteDown follows.
func (s *sourceSession) violated(err error) {
	s.link.cut(fmt.Sprintf("%s: %v", s.plan.Ingestor, err))
	s.lose("connector " + s.plan.Kind + " broke the data protocol: " + err.Error())
}

func bodyText(f frame) string {
	if f.body == nil {
		return "no reason given"
	}
	return printable(f.body.Bytes(), maxLogged)
}

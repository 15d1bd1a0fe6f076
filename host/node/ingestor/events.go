// SPDX-License-Identifier: Apache-2.0

package ingestor

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/nervix-go/nervix/host/lanes"
	"github.com/nervix-go/nervix/host/node/connector"
)

// events receives what the source session reports and moves it to the lane.
type events struct {
	i    *Ingestor
	life uint64
}

// SourceBatch implements connector.SourceEvents.
func (e events) SourceBatch(epoch uint64, batch arrow.RecordBatch, bytes int64) {
	e.i.lane.Post(lanes.Func(func(l *lanes.Lane) {
		if e.life != e.i.next.life || epoch != e.i.epoch || e.i.closed {
			batch.Release()
			return
		}
		e.i.next.pause = 0
		e.i.queue = append(e.i.queue, intake{epoch: epoch, batch: batch, bytes: bytes})
		e.i.schedule(l)
	}))
}

// SourceState implements connector.SourceEvents.
func (e events) SourceState(s connector.SourceStatus) {
	e.i.lane.Post(lanes.Func(func(l *lanes.Lane) {
		if e.life == e.i.next.life {
			e.i.sourceState(l, s)
		}
	}))
}

func (i *Ingestor) sourceState(l *lanes.Lane, s connector.SourceStatus) {
	if i.closed {
		return
	}
	switch s.State {
	case connector.Open:
		i.epoch = s.Epoch
		i.identity = append([]byte(nil), s.Identity...)
		i.stats.opened(s)
		if s.Restarted {
			i.part++
			i.position = nil
		}
		if i.plan.Source.Endless {
			i.mark(s.Restarted)
		}
		if s.Restarted && s.Detail != "" { // without a reason it is the next part of an endless source
			i.config.Log.Warn("the source is read from its beginning", "ingestor", i.plan.Ref.Name, "domain", i.plan.Ref.Domain, "reason", s.Detail)
		}
	case connector.Lost:
		i.forget()
		i.stats.lost(s.Detail)
		if i.plan.GeneralLog {
			i.config.Log.Error("the source was lost; it is opened again", "ingestor", i.plan.Ref.Name, "domain", i.plan.Ref.Domain, "reason", s.Detail)
		}
	case connector.Finished:
		i.stats.finished(s.Skipped, !i.plan.Source.Endless)
		i.schedule(l)
		if i.plan.Source.Endless {
			i.partEnded(l)
		}
	case connector.Failed:
		i.stats.lost(s.Detail)
		if i.plan.Source.Endless {
			i.forget()
			i.partEnded(l)
		}
	}
	i.observe()
}

// forget ends the epoch. Nothing is judged: what it delivered is forgotten here, and the next one begins at the durable position (P-007, P-010). A
// write under way belongs to an epoch that is over, so it gives no places back.
func (i *Ingestor) forget() {
	i.window.Reset()
	i.commit.count, i.epoch = 0, 0
	i.dropQueue()
	i.next.wanted = false
}

// observe shows what the window says, and logs once that a delivery blocks the source.
func (i *Ingestor) observe() {
	if i.stats.observe(i.window, len(i.queue) > 0, i.rowCredit()) {
		oldest, _ := i.window.Oldest()
		i.config.Log.Error("the source is blocked by its oldest delivery, which is tried again and again", "ingestor", i.plan.Ref.Name, "domain", i.plan.Ref.Domain,
			"attempts", oldest.Attempts, "reason", oldest.Reason)
	}
}

// schedule posts a work task unless one is posted or there is nothing to do. Batches may come before Start has the session; they wait for it,
// because the credit they use is given back through it.
func (i *Ingestor) schedule(l *lanes.Lane) {
	if !i.working && i.parked == 0 && i.session != nil && len(i.queue) > 0 {
		i.working = true
		l.Post(lanes.Func(i.work))
	}
}

// work takes up one group and gives the lane back.
func (i *Ingestor) work(l *lanes.Lane) {
	i.working = false
	if i.parked > 0 || len(i.queue) == 0 || i.session == nil || i.closed {
		return
	}
	in := &i.queue[0]
	rows := int(in.batch.NumRows())
	end := min(in.next+groupRows, rows)
	i.group.run(l, in.batch, in.next, end)
	in.next = end
	if end == rows {
		i.session.Grant(in.epoch, 1, in.bytes, 0)
		in.batch.Release()
		i.queue[0] = intake{}
		i.queue = i.queue[1:]
	}
	i.advance(l)
	i.schedule(l)
	i.turn(l)
}

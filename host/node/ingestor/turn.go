// SPDX-License-Identifier: Apache-2.0

package ingestor

import (
	"context"
	"time"

	"github.com/nervix-go/nervix/host/lanes"
	"github.com/nervix-go/nervix/host/node/connector"
	"github.com/nervix-go/nervix/host/node/runtime"
	"github.com/nervix-go/nervix/host/osclock"
)

// Pauses before a source without an end is opened again: after a part that brought nothing, and after a refusal. They double up to the latest.
const (
	turnFirst   = 50 * time.Millisecond
	turnLatest  = time.Second
	refusedLast = 5 * time.Second
	// turnClose bounds how long the part that is left may take to close.
	turnClose = 30 * time.Second
)

// turning is how a source without an end (FOLLOW) gets from one of its parts to the next: the connector says that a part is finished, everything of
// it settles and becomes durable, and the source is opened again at that position. The connector finds the next part. So a position always belongs
// to one part, and no part is begun before the last one is safe. Lane only, but done.
type turning struct {
	// wanted says that the part is finished, or has failed.
	wanted bool
	// life numbers the sessions, so that no event of an old one is taken for one of the next.
	life   uint64
	pause  time.Duration
	cancel context.CancelFunc
	done   chan struct{} // nil before the first turn
}

// partEnded notes that the present part of an endless source is over. The next comes without a pause if this one brought something.
func (i *Ingestor) partEnded(l *lanes.Lane) {
	i.next.wanted = true
	i.turn(l)
}

// turn opens the source again once nothing of the present part is left on its way. Until then it hurries what the routes hold.
func (i *Ingestor) turn(l *lanes.Lane) {
	if !i.next.wanted || i.session == nil || i.stopping || i.closed || len(i.queue) > 0 {
		return
	}
	if i.window.Volatile() > 0 || i.commit.writing || i.commit.count > 0 || i.commit.begun != nil {
		i.alive.Each(func(o *runtime.Outlet) { o.Flush(l) })
		return
	}
	old, pause := i.session, i.next.pause
	i.session, i.epoch = nil, 0
	i.next.wanted, i.next.pause = false, min(max(2*pause, turnFirst), turnLatest)
	i.next.life++
	i.stats.turned()
	var ctx context.Context
	ctx, i.next.cancel = context.WithCancel(context.Background())
	done := make(chan struct{})
	i.next.done = done
	plan, events := i.sourcePlan(i.identity, i.position), events{i, i.next.life}
	go func() {
		defer close(done)
		// The old session is closed last: without any the connector would end, and forget what it knows of the part that is over.
		defer i.leave(old)
		i.reopen(ctx, plan, events, pause)
	}()
}

// reopen opens the source until it is open or ctx ends. What would fail a START is tried again here: a path may be missing while files are renamed.
func (i *Ingestor) reopen(ctx context.Context, plan connector.SourcePlan, events events, pause time.Duration) {
	told := false
	for osclock.Wait(ctx, pause) == nil {
		session, err := i.config.Sources.OpenSource(ctx, plan, events)
		if err == nil {
			i.adopt(session)
			return
		}
		if ctx.Err() != nil {
			return
		}
		i.stats.setTransient(err.Error())
		if !told && i.plan.GeneralLog {
			told = true
			i.config.Log.Error("the source cannot be opened again yet; it is tried until it can", "ingestor", i.plan.Ref.Name, "domain", i.plan.Ref.Domain, "error", err)
		}
		pause = min(max(2*pause, turnFirst), refusedLast)
	}
}

// adopt hands a session to the lane, unless the ingestor was stopped meanwhile.
func (i *Ingestor) adopt(session connector.SourceSession) {
	late := false
	i.onLane(func(l *lanes.Lane) {
		if late = i.stopping; late {
			return
		}
		i.session = session
		i.schedule(l)
		i.turn(l)
	})
	if late {
		i.leave(session)
	}
}

func (i *Ingestor) leave(session connector.SourceSession) {
	ctx, cancel := osclock.WithTimeout(context.Background(), turnClose)
	defer cancel()
	if err := session.Close(ctx); err != nil {
		i.config.Log.Warn("a source did not close in time", "ingestor", i.plan.Ref.Name, "domain", i.plan.Ref.Domain, "error", err)
	}
}

// stopTurning ends a turn under way and waits for its end, at most until ctx ends. It must not be called on a lane.
func (i *Ingestor) stopTurning(ctx context.Context) error {
	var done chan struct{}
	i.onLane(func(*lanes.Lane) {
		if done = i.next.done; done != nil {
			i.next.cancel()
		}
	})
	if done == nil {
		return nil
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

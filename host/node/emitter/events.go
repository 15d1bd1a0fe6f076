// SPDX-License-Identifier: Apache-2.0

package emitter

import (
	"github.com/nervix-go/nervix/host/lanes"
	"github.com/nervix-go/nervix/host/node/connector"
)

// events receives what the sink session reports and moves it to the lane.
type events struct{ e *Emitter }

// SinkAnswered implements connector.SinkEvents.
func (v events) SinkAnswered(attempt uint64, answers []connector.SinkAnswer, failure error) {
	v.e.home().Post(lanes.Func(func(l *lanes.Lane) { v.e.attemptEnded(l, attempt, answers, failure) }))
}

// SinkState implements connector.SinkEvents.
func (v events) SinkState(s connector.SinkStatus) {
	v.e.home().Post(lanes.Func(func(l *lanes.Lane) { v.e.sinkState(l, s) }))
}

func (e *Emitter) sinkState(l *lanes.Lane, s connector.SinkStatus) {
	if e.closed {
		return
	}
	switch s.State {
	case connector.Open:
		e.sink.open = true
		e.stats.opened()
		e.publish(l)
	case connector.Lost, connector.Failed:
		// An attempt under way judged nothing; its payloads are offered again in the next epoch (P-041).
		e.sink.open, e.sink.under = false, false
		e.stats.lost(s.Detail)
		if e.plan.GeneralLog {
			e.config.Log.Error("the sink was lost; it is opened again", "emitter", e.plan.Ref.Name, "domain", e.plan.Ref.Domain, "reason", s.Detail)
		}
	}
}

// SPDX-License-Identifier: Apache-2.0

package wasmproc

import (
	"fmt"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/lanes"
	"github.com/nervix-go/nervix/wasm/protocol"
)

// load reads the committed checkpoint before an instance is made.
func (s *state) load() (next event, more bool) {
	s.epoch++
	mine := s.epoch
	saved, pending, err := s.slot.Load(func(saved Saved, err error) {
		s.lane.Post(lanes.Func(func(l *lanes.Lane) {
			if s.epoch == mine && s.m.phase == loading {
				s.advance(l, s.loaded(l, saved, err))
			}
		}))
	})
	if pending {
		return event{}, false
	}
	return s.loaded(s.lane, saved, err), true
}

func (s *state) loaded(l *lanes.Lane, saved Saved, err error) event {
	e := event{kind: evLoaded, now: l.Now()}
	if err != nil {
		s.fail(failureOf(err, protocol.StageStateRestore), s.figures.committed.Load())
		e.outcome = faulty
		return e
	}
	s.saved = saved
	put(&s.figures.committed, saved.Revision)
	put(&s.figures.latest, saved.Revision)
	if saved.Revision > 0 && Stage(s.figures.stage.Load()) == StageEmpty {
		s.figures.stage.Store(uint32(StageLocallyDurable)) // restored, not taken here (gaps 1.7.18)
	}
	return e
}

// persist hands over what the guest saved and waits until it is durable, no longer than the deadline (W-201).
func (s *state) persist(l *lanes.Lane) (next event, more bool) {
	put(&s.figures.latest, s.slot.Capture(s.dump))
	s.figures.stage.Store(uint32(StageCaptured))
	if s.stored == nil {
		s.expect()
	}
	pending, err := s.slot.Persist(s.stored)
	if !pending {
		return s.persisted(err), true
	}
	l.Arm(&s.deadline, storeDeadline, lanes.Func(func(l *lanes.Lane) {
		late := fault.New(fault.WasmCheckpoint, "wasmproc.persist", s.p.plan.Ref, fmt.Sprintf("the checkpoint was not durable within %s", storeDeadline), nil)
		s.advance(l, s.persisted(late))
	}))
	return event{}, false
}

// expect makes the function that is told the end of a checkpoint. It is made anew after a checkpoint was given up, so that what comes late says nothing.
func (s *state) expect() {
	mine := s.givenUp
	s.stored = func(err error) {
		s.lane.Post(lanes.Func(func(l *lanes.Lane) {
			if s.givenUp == mine && s.m.phase == storing {
				l.Disarm(&s.deadline)
				s.advance(l, s.persisted(err))
			}
		}))
	}
}

func (s *state) persisted(err error) event {
	if err != nil {
		s.fail(failureOf(err, protocol.StagePersistence), s.figures.latest.Load())
		s.figures.stage.Store(uint32(StageFailed))
		return event{kind: evStored, outcome: faulty}
	}
	return event{kind: evStored, memory: s.figures.memory.Load(), bound: s.ledger.Live() > 0 || len(s.timeouts.heap) > 0}
}

// abort gives the checkpoint up.
func (s *state) abort(l *lanes.Lane) {
	l.Disarm(&s.deadline)
	s.givenUp++
	s.stored = nil
	s.slot.Abort()
}

// reset hands the guest's request on. The instance is gone already.
func (s *state) reset() (next event, more bool) {
	s.epoch++
	mine := s.epoch
	pending, err := s.p.config.Resets.Request(s.where(), func(err error) {
		s.lane.Post(lanes.Func(func(l *lanes.Lane) {
			if s.epoch == mine && s.m.phase == resetting {
				s.advance(l, s.wasReset(err))
			}
		}))
	})
	if pending {
		return event{}, false
	}
	return s.wasReset(err), true
}

// wasReset takes up the end of a reset. Its failure has no stage; the report names processor, domain and branch.
func (s *state) wasReset(err error) event {
	if err == nil {
		return event{kind: evReset}
	}
	branch := "unbranched"
	if s.print != "" {
		branch = "branch " + s.print
	}
	s.unreset = within(fmt.Sprintf("wasm processor '%s' of domain '%s' could not reset its state (%s)", s.p.plan.Ref.Name, s.p.plan.Ref.Domain, branch), err)
	return event{kind: evReset, outcome: faulty}
}

// drop discards the instance with its tokens and timeouts.
func (s *state) drop(l *lanes.Lane) {
	s.clean()
	s.forget(l)
	if s.guest == nil {
		return
	}
	s.guest.Close()
	s.guest = nil
	s.token = s.ledger.Next()
	s.ledger = nil
	s.p.instances.Add(^uint64(0))
	if s.reason == nil {
		s.p.lost.Add(1)
	}
	put(&s.figures.memory, 0)
	put(&s.figures.held, 0)
}

// classCallback counts rows that ON GLOBAL ERROR IGNORE accepted though the guest did not decide over them.
const classCallback = "callback"

// settle decides over inputs without the guest.
func (s *state) settle(do effects) {
	switch {
	case do&doNackWork != 0:
		s.endWork(func(in *intake) { s.p.rows.nacked.Add(uint64(in.fail(s.why()))) })
	case do&doAcceptWork != 0:
		s.endWork(func(in *intake) {
			s.p.reject(classCallback, in.open())
			in.succeed()
		})
	case do&doHoldWork != 0:
		s.endWork(func(in *intake) {
			in.ignore()
			s.done = append(s.done, in)
		})
	}
	switch {
	case do&doNackAll != 0:
		s.failAll()
	case do&doHoldAll != 0:
		for _, in := range s.inputs {
			in.ignore()
			s.done = append(s.done, in)
		}
		s.inputs = nil
		s.renew()
	}
}

// endWork ends the inputs of the callback: before they have tokens, or with them.
func (s *state) endWork(end func(*intake)) {
	if s.fresh != nil {
		in := intakeOf(s.fresh, 0)
		end(&in)
		s.fresh = nil
	}
	if s.current == nil {
		return
	}
	var in *intake
	if s.inputs, in = remove(s.inputs, s.current.first); in != nil {
		s.writeOff(in)
		end(in)
	}
	s.current = nil
}

// failAll acknowledges everything negatively that the branch has and no checkpoint covers.
func (s *state) failAll() {
	if s.fresh == nil && len(s.inputs) == 0 && len(s.done) == 0 {
		return
	}
	reason, rows := s.why(), 0
	if s.fresh != nil {
		rows += s.fresh.Rows()
		s.fresh.Fail(reason)
		s.fresh = nil
	}
	for _, in := range append(s.inputs, s.done...) {
		rows += in.fail(reason)
	}
	s.p.rows.nacked.Add(uint64(rows))
	clear(s.inputs)
	clear(s.done)
	s.inputs, s.done, s.covers, s.current = s.inputs[:0], s.done[:0], s.covers[:0], nil
	s.renew()
}

// renew makes every token unknown that the instance has.
func (s *state) renew() {
	if s.ledger != nil && s.ledger.Live() > 0 {
		s.ledger = protocol.NewLedger(s.ledger.Next())
	}
}

// release lets what the committed checkpoint covers succeed.
func (s *state) release() {
	kit := s.p.kit(s.lane)
	for i, in := range s.done {
		if in.dropped > 0 {
			s.p.reject(classCallback, in.dropped)
		}
		in.succeed()
		s.done[i] = nil
		kit.putIntake(in)
	}
	s.done = s.done[:0]
	for i, in := range s.covers {
		in.cover()
		s.covers[i] = nil
	}
	s.covers = s.covers[:0]
}

// note tells what the callback decided of a batch.
func (s *state) note(first uint64, fates []protocol.Fate) {
	live := false
	for _, f := range fates {
		if f == protocol.FateLive {
			live = true
			break
		}
	}
	if !live {
		return // the batch leaves as a whole
	}
	in := find(s.inputs, first)
	in.decided = nil
	for row, f := range fates {
		if f != protocol.FateLive && f != protocol.FatePast {
			in.decided = append(in.decided, uint32(row))
		}
	}
	if len(in.decided) > 0 {
		s.covers = append(s.covers, in)
	}
}

// leaves is told a batch without live tokens: its columns go, its success waits for the checkpoint.
func (s *state) leaves(first uint64) {
	var in *intake
	if s.inputs, in = remove(s.inputs, first); in != nil {
		in.drop()
		s.done = append(s.done, in)
	}
}

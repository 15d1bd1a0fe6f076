// SPDX-License-Identifier: Apache-2.0

package wasmproc

import (
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/wasm/protocol"
)

// laneKit is what the branches of one lane share. It belongs to whoever has the lane: nothing of it is used inside a section but what was taken out
// before.
type laneKit struct {
	p        *Processor
	contract *protocol.Contract
	out      output
	encoders []*protocol.InputEncoder // free ones
	messages [][]*memory.Buffer       // free ones
	intakes  []*intake                // free ones
	columns  []arrow.Array            // of one output

	all     []*state // every branch of the lane
	listed  []*state // those that have inputs
	holding atomic.Int64

	// gone and touched are the callbacks of the ledger, made once; they speak of at.
	at      *state
	gone    func(first uint64)
	touched func(first uint64, fates []protocol.Fate)
}

func newKit(p *Processor, declared []protocol.Route) (*laneKit, error) {
	k := &laneKit{p: p, contract: protocol.NewContract(p.plan.InputSchema, declared)}
	e, err := protocol.NewInputEncoder(p.plan.InputSchema)
	if err != nil {
		return nil, err
	}
	k.encoders = append(k.encoders, e)
	k.gone = func(first uint64) { k.at.leaves(first) }
	k.touched = func(first uint64, fates []protocol.Fate) { k.at.note(first, fates) }
	return k, nil
}

// encoder takes an encoder out. There are more than one a lane only while guests are in long calls.
func (k *laneKit) encoder() *protocol.InputEncoder {
	if n := len(k.encoders); n > 0 {
		e := k.encoders[n-1]
		k.encoders = k.encoders[:n-1]
		return e
	}
	e, err := protocol.NewInputEncoder(k.p.plan.InputSchema)
	if err != nil { // New has made one from the same schema
		panic("wasmproc: " + err.Error())
	}
	return e
}

func (k *laneKit) putEncoder(e *protocol.InputEncoder) { k.encoders = append(k.encoders, e) }

func (k *laneKit) takeMessages() []*memory.Buffer {
	if n := len(k.messages); n > 0 {
		m := k.messages[n-1]
		k.messages = k.messages[:n-1]
		return m
	}
	return nil
}

func (k *laneKit) putMessages(m []*memory.Buffer) {
	for _, b := range m {
		b.Release()
	}
	clear(m)
	if cap(m) <= 64 {
		k.messages = append(k.messages, m[:0])
	}
}

// intake makes the intake of a batch.
func (k *laneKit) intake(b *batch.Batch, first uint64) *intake {
	var in *intake
	if n := len(k.intakes); n > 0 {
		in = k.intakes[n-1]
		k.intakes = k.intakes[:n-1]
	} else {
		in = new(intake)
	}
	*in = intakeOf(b, first)
	return in
}

// putIntake takes back an intake that has ended.
func (k *laneKit) putIntake(in *intake) {
	*in = intake{}
	if len(k.intakes) < 64 {
		k.intakes = append(k.intakes, in)
	}
}

// enlist and discharge keep the list of all branches; list and unlist that of those with inputs.
func (k *laneKit) enlist(s *state) {
	s.place = len(k.all)
	k.all = append(k.all, s)
}

func (k *laneKit) discharge(s *state) {
	last := len(k.all) - 1
	k.all[s.place] = k.all[last]
	k.all[s.place].place = s.place
	k.all[last] = nil
	k.all = k.all[:last]
}

func (k *laneKit) list(s *state) {
	if s.listed > 0 {
		return
	}
	k.listed = append(k.listed, s)
	s.listed = len(k.listed) // one more than its index
	k.holding.Add(1)
}

func (k *laneKit) unlist(s *state) {
	if s.listed == 0 {
		return
	}
	last := len(k.listed) - 1
	k.listed[s.listed-1] = k.listed[last]
	k.listed[s.listed-1].listed = s.listed
	k.listed[last] = nil
	k.listed = k.listed[:last]
	s.listed = 0
	k.holding.Add(-1)
}

// SPDX-License-Identifier: Apache-2.0

package nodetest

import (
	"context"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/nervix-go/nervix/host/node/connector"
)

// Attempt is one publish call as the sink saw it.
type Attempt struct {
	Number   uint64
	IDs      []uint64
	Payloads []string
}

// Answer is what the sink says to an attempt. None says nothing at all.
type Answer struct {
	Answers []connector.SinkAnswer
	Failure error
	None    bool
}

// All confirms every payload of an attempt.
func All(a Attempt) Answer {
	return Answer{Answers: []connector.SinkAnswer{{FirstID: a.IDs[0], LastID: a.IDs[len(a.IDs)-1]}}}
}

// Sink is a sink that answers as it is told; without Respond it confirms everything.
type Sink struct {
	Respond func(a Attempt) Answer
	// Shut opens nothing until Open is called.
	Shut bool
	// Refuse is the error of OpenSink.
	Refuse error

	mu       sync.Mutex
	Plans    []connector.SinkPlan
	events   []connector.SinkEvents
	epoch    uint64
	attempts []Attempt
	closed   int
}

// OpenSink implements connector.Sinks.
func (s *Sink) OpenSink(_ context.Context, plan connector.SinkPlan, events connector.SinkEvents) (connector.SinkSession, error) {
	s.mu.Lock()
	if s.Refuse != nil {
		defer s.mu.Unlock()
		return nil, s.Refuse
	}
	s.Plans = append(s.Plans, plan)
	s.events = append(s.events, events)
	at := len(s.events) - 1
	s.mu.Unlock()
	if !s.Shut {
		s.open(at)
	}
	return sinkSession{s, at}, nil
}

func (s *Sink) open(at int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.epoch++
	s.events[at].SinkState(connector.SinkStatus{State: connector.Open, Epoch: s.epoch})
}

// Open begins the next epoch of the first session.
func (s *Sink) Open() { s.open(0) }

// Lose ends the epoch of the first session.
func (s *Sink) Lose(detail string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events[0].SinkState(connector.SinkStatus{State: connector.Lost, Epoch: s.epoch, Detail: detail})
}

// Answer answers an attempt of the first session now.
func (s *Sink) Answer(number uint64, a Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events[0].SinkAnswered(number, a.Answers, a.Failure)
}

// Do changes the sink, or what Respond reads, while it is in use.
func (s *Sink) Do(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// Attempts are all publish calls so far.
func (s *Sink) Attempts() []Attempt {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Attempt(nil), s.attempts...)
}

// Opened is the number of sessions opened and not closed.
func (s *Sink) Opened() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.events) - s.closed
}

type sinkSession struct {
	s  *Sink
	at int
}

func (x sinkSession) Publish(number uint64, batch arrow.RecordBatch) {
	a := Attempt{Number: number}
	ids, payloads := batch.Column(connector.SinkID).(*array.Uint64), batch.Column(connector.SinkPayload).(*array.Binary)
	for i := range ids.Len() {
		a.IDs = append(a.IDs, ids.Value(i))
		a.Payloads = append(a.Payloads, string(payloads.Value(i)))
	}
	x.s.mu.Lock()
	x.s.attempts = append(x.s.attempts, a)
	events, answer := x.s.events[x.at], All(a)
	if x.s.Respond != nil {
		answer = x.s.Respond(a)
	}
	x.s.mu.Unlock()
	if !answer.None {
		events.SinkAnswered(number, answer.Answers, answer.Failure)
	}
}

func (x sinkSession) Close(context.Context) error {
	x.s.mu.Lock()
	defer x.s.mu.Unlock()
	x.s.closed++
	return nil
}

// SPDX-License-Identifier: Apache-2.0

// Package conformance is the suite that every way of running connectors has to pass (P-013, P-016): the same tests run over real
// processes and over the in-process adapter. It also holds the recorders that tests of connectors use.
package conformance

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/host/node/connector"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/plugins/wire"
)

// patience bounds every wait of the suite; it is no measurement.
const patience = time.Minute

// Row is one delivery as a test sees it.
type Row struct {
	Epoch    uint64
	Payload  string
	Position string
	Error    string
	Path     string
	Line     int64
	Offset   int64
}

// Source records a source; its channels are wide enough that an event never blocks in the suite.
type Source struct {
	t       *testing.T
	Session connector.SourceSession
	batches chan received
	states  chan connector.SourceStatus
	Hold    bool // keep credit back

	stash []Row // taken while waiting for a state
}

type received struct {
	epoch uint64
	rows  []Row
	bytes int64
}

// SourceBatch implements connector.SourceEvents.
func (s *Source) SourceBatch(epoch uint64, b arrow.RecordBatch, bytes int64) {
	defer b.Release()
	s.batches <- received{epoch, Rows(epoch, b), bytes}
}

// SourceState implements connector.SourceEvents.
func (s *Source) SourceState(st connector.SourceStatus) { s.states <- st }

// Rows copies a batch; the metadata are those of the FILE source, zero for others.
func Rows(epoch uint64, b arrow.RecordBatch) []Row {
	rows := make([]Row, b.NumRows())
	text := func(c, i int) string {
		if c >= int(b.NumCols()) {
			return ""
		}
		col := b.Column(c)
		if col.IsNull(i) {
			return ""
		}
		switch col := col.(type) {
		case *array.Binary:
			return string(col.Value(i))
		case *array.String:
			return strings.Clone(col.Value(i)) // a view of the batch, which is released
		}
		return "?"
	}
	number := func(c, i int) int64 {
		if c >= int(b.NumCols()) {
			return 0
		}
		if col, ok := b.Column(c).(*array.Int64); ok {
			return col.Value(i)
		}
		return -1
	}
	for i := range rows {
		rows[i] = Row{
			Epoch: epoch, Payload: text(connector.SourcePayload, i), Position: text(connector.SourcePosition, i), Error: text(connector.SourceError, i),
			Path: text(connector.SourceMetadata, i), Line: number(connector.SourceMetadata+1, i), Offset: number(connector.SourceMetadata+2, i),
		}
	}
	return rows
}

// OpenSource opens and records a source; the caller judges the error.
func OpenSource(t *testing.T, sources connector.Sources, plan connector.SourcePlan) (*Source, error) {
	t.Helper()
	if plan.CreditBatches == 0 {
		plan.CreditBatches, plan.CreditBytes = 4, 4<<20
	}
	s := &Source{t: t, batches: make(chan received, 1<<16), states: make(chan connector.SourceStatus, 1<<12)}
	ctx, cancel := osclock.WithTimeout(t.Context(), patience)
	defer cancel()
	var err error
	s.Session, err = sources.OpenSource(ctx, plan, s)
	return s, err
}

// State waits for a state and gives it, dropping others. Meanwhile rows are taken, unless credit is held back.
func (s *Source) State(want connector.State) connector.SourceStatus {
	s.t.Helper()
	for {
		batches := s.batches
		if s.Hold || s.Session == nil {
			batches = nil
		}
		select {
		case r := <-batches:
			s.keep(r)
		case st := <-s.states:
			if st.State == want {
				return st
			}
			s.t.Logf("state %v: %s", st.State, st.Detail)
		case <-osclock.NewAlarm(patience).C():
			s.t.Fatalf("no state %v", want)
		}
	}
}

// Take waits for n rows and grants their credit, rows included, as if all were durable at once.
func (s *Source) Take(n int) []Row {
	s.t.Helper()
	for len(s.stash) < n {
		select {
		case r := <-s.batches:
			s.keep(r)
		case <-osclock.NewAlarm(patience).C():
			s.t.Fatalf("%d rows instead of %d", len(s.stash), n)
		}
	}
	rows := s.stash[:n:n]
	s.stash = s.stash[n:]
	return rows
}

func (s *Source) keep(r received) {
	s.stash = append(s.stash, r.rows...)
	if !s.Hold {
		s.Session.Grant(r.epoch, 1, r.bytes, int64(len(r.rows)))
	}
}

// Waiting is how many batches arrived and were not taken.
func (s *Source) Waiting() int { return len(s.batches) }

// Close closes within the suite's patience.
func (s *Source) Close() {
	s.t.Helper()
	ctx, cancel := osclock.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := s.Session.Close(ctx); err != nil {
		s.t.Errorf("close source: %v", err)
	}
}

// Sink records a sink.
type Sink struct {
	t       *testing.T
	Session connector.SinkSession
	answers chan Answered
	states  chan connector.SinkStatus
	attempt uint64
	nextID  uint64
}

// Answered is the end of one attempt.
type Answered struct {
	Attempt uint64
	Answers []connector.SinkAnswer
	Failure error
}

// SinkAnswered implements connector.SinkEvents.
func (s *Sink) SinkAnswered(attempt uint64, answers []connector.SinkAnswer, failure error) {
	s.answers <- Answered{attempt, answers, failure}
}

// SinkState implements connector.SinkEvents.
func (s *Sink) SinkState(st connector.SinkStatus) { s.states <- st }

// OpenSink opens and records a sink.
func OpenSink(t *testing.T, sinks connector.Sinks, plan connector.SinkPlan) *Sink {
	t.Helper()
	s := &Sink{t: t, answers: make(chan Answered, 1<<12), states: make(chan connector.SinkStatus, 1<<12)}
	var err error
	if s.Session, err = sinks.OpenSink(t.Context(), plan, s); err != nil {
		t.Fatal(err)
	}
	return s
}

// State waits for a state and gives it, dropping others.
func (s *Sink) State(want connector.State) connector.SinkStatus {
	s.t.Helper()
	for {
		select {
		case st := <-s.states:
			if st.State == want {
				return st
			}
			s.t.Logf("state %v: %s", st.State, st.Detail)
		case <-osclock.NewAlarm(patience).C():
			s.t.Fatalf("no state %v", want)
		}
	}
}

// Offer publishes payloads under the next attempt and new identities.
func (s *Sink) Offer(payloads ...string) uint64 {
	b := SinkBatch(s.nextID, payloads...)
	defer b.Release()
	s.nextID += uint64(len(payloads))
	s.attempt++
	s.Session.Publish(s.attempt, b)
	return s.attempt
}

// SinkBatch makes a sink batch with identities from first on.
func SinkBatch(first uint64, payloads ...string) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, wire.SinkSchema)
	defer b.Release()
	ids, _ := b.Field(0).(*array.Uint64Builder)
	texts, _ := b.Field(1).(*array.BinaryBuilder)
	for i, p := range payloads {
		ids.Append(first + uint64(i))
		texts.Append([]byte(p))
	}
	return b.NewRecordBatch()
}

// Answer waits for the end of an attempt.
func (s *Sink) Answer() Answered {
	s.t.Helper()
	select {
	case a := <-s.answers:
		return a
	case <-osclock.NewAlarm(patience).C():
		s.t.Fatal("no answer")
		return Answered{}
	}
}

// Write offers payloads and wants all of them delivered.
func (s *Sink) Write(payloads ...string) {
	s.t.Helper()
	attempt := s.Offer(payloads...)
	a := s.Answer()
	first, last := s.nextID-uint64(len(payloads)), s.nextID-1
	if a.Attempt != attempt || a.Failure != nil || len(a.Answers) != 1 || a.Answers[0] != (connector.SinkAnswer{FirstID: first, LastID: last}) {
		s.t.Fatalf("answer %+v, want %d..%d delivered", a, first, last)
	}
}

// Close closes within the suite's patience.
func (s *Sink) Close() {
	s.t.Helper()
	ctx, cancel := osclock.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := s.Session.Close(ctx); err != nil {
		s.t.Errorf("close sink: %v", err)
	}
}

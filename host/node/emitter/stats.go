// SPDX-License-Identifier: Apache-2.0

package emitter

import (
	"maps"
	"sync"
	"time"

	"github.com/nervix-go/nervix/host/node/runtime"
)

// Observation is a copy of what an emitter knows about itself (nspl 18.2, 23.2). It holds no payload.
type Observation struct {
	// Status is OK or ERROR; Detail says why.
	Status string
	Detail string
	// Transient is the last failure of the sink, empty when there is none.
	Transient string
	// Backoff is the pause before the next attempt, 0 when none waits.
	Backoff time.Duration
	// Emitted counts confirmed payloads, Flushes completed flushes, Attempts publish calls, Held payloads without an answer.
	Emitted, Flushes, Attempts, Held uint64
	Filtered                         uint64
	// Inputs counts what each input brought.
	Inputs []runtime.Passed
	// Rejected counts rows that did not get out, by reason.
	Rejected map[string]uint64
}

type stats struct {
	mu sync.Mutex
	o  Observation
}

func (s *stats) init() {
	s.o.Status = "OK"
	s.o.Rejected = make(map[string]uint64)
}

// Observe copies the state.
func (e *Emitter) Observe() Observation {
	e.stats.mu.Lock()
	defer e.stats.mu.Unlock()
	o := e.stats.o
	o.Rejected = maps.Clone(o.Rejected)
	for i := range e.inputs {
		o.Inputs = append(o.Inputs, e.inputs[i].Passed())
	}
	return o
}

func (s *stats) holding() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.o.Held
}

func (s *stats) hold(n uint64) {
	s.mu.Lock()
	s.o.Held = n
	s.mu.Unlock()
}

func (s *stats) collected(rows, kept int) {
	s.mu.Lock()
	s.o.Held += uint64(kept)
	s.o.Filtered += uint64(rows - kept)
	s.mu.Unlock()
}

func (s *stats) reject(reason string, n int) {
	s.mu.Lock()
	s.o.Rejected[reason] += uint64(n)
	s.mu.Unlock()
}

func (s *stats) publishing() {
	s.mu.Lock()
	s.o.Attempts++
	s.mu.Unlock()
}

func (s *stats) completed(rows int) {
	s.mu.Lock()
	s.o.Emitted += uint64(rows)
	s.o.Flushes++
	s.o.Held = 0
	s.o.Status, s.o.Detail, s.o.Transient, s.o.Backoff = "OK", "", "", 0
	s.mu.Unlock()
}

func (s *stats) failed(cause error, wait time.Duration) {
	s.mu.Lock()
	s.o.Status, s.o.Backoff = "ERROR", wait
	s.o.Detail = "the sink did not answer for every payload"
	if cause != nil {
		s.o.Detail = cause.Error()
	}
	s.o.Transient = s.o.Detail
	s.mu.Unlock()
}

func (s *stats) opened() {
	s.mu.Lock()
	s.o.Status, s.o.Detail, s.o.Transient = "OK", "", ""
	s.mu.Unlock()
}

func (s *stats) lost(detail string) {
	s.mu.Lock()
	s.o.Status, s.o.Detail, s.o.Transient = "ERROR", detail, detail
	s.mu.Unlock()
}

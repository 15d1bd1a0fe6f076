// SPDX-License-Identifier: Apache-2.0

package ingestor

import (
	"fmt"
	"maps"
	"strconv"
	"sync"

	"github.com/nervix-go/nervix/host/ack"
	"github.com/nervix-go/nervix/host/lanes"
	"github.com/nervix-go/nervix/host/node/connector"
	"github.com/nervix-go/nervix/host/node/runtime"
)

// Status is the state DESCRIBE INGESTOR shows (nspl 14.6).
type Status string

// The states.
const (
	Running  Status = "running"
	Finished Status = "finished"
	Blocked  Status = "blocked"
	Quiesced Status = "quiesced"
	Stopped  Status = "stopped"
)

// Observation is a copy of what an ingestor knows about itself. It holds no payload.
type Observation struct {
	Status Status
	// Ready says that the source is open, or finished.
	Ready    bool
	Identity []byte
	// Position is the durable position, opaque here.
	Position   []byte
	Unresolved int
	// Rejected counts payloads and rows that did not pass, by reason.
	Rejected map[string]uint64
	// Read counts the payloads taken up, redeliveries included; Redelivered those among them.
	Read, Redelivered, Filtered, Skipped uint64
	// Batches counts the groups taken up.
	Batches uint64
	// Sent counts what each route published.
	Sent []runtime.Passed
	// Transient is why the source does not deliver now: the last infrastructure failure, else a window that failed deliveries keep full; empty
	// when there is neither.
	Transient string
	// BlockedAt and BlockedWhy say what holds a blocked source: position, attempts and reason.
	BlockedAt       []byte
	BlockedAttempts int
	BlockedWhy      string
}

// stats is the observation under a lock; the lane writes it once a group or event.
type stats struct {
	mu sync.Mutex
	o  Observation
	// full says why the window has no place for another delivery; empty unless it waits for one that failed.
	full string
	// ended is set when the source reported its end.
	ended bool
	// before is what the parts of an endless source before the present one skipped.
	before uint64
}

func (s *stats) init() {
	s.o.Status = Running
	s.o.Rejected = make(map[string]uint64)
}

// Observe copies the state.
func (i *Ingestor) Observe() Observation {
	s := &i.stats
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.o
	o.Rejected = maps.Clone(s.o.Rejected)
	if o.Transient == "" && o.Status != Stopped {
		o.Transient = s.full
	}
	for _, r := range i.routes {
		o.Sent = append(o.Sent, r.shared.Sent.Passed())
	}
	return o
}

func (s *stats) setPosition(identity, position []byte) {
	s.mu.Lock()
	s.o.Identity, s.o.Position = identity, position
	s.mu.Unlock()
}

func (s *stats) setTransient(text string) {
	s.mu.Lock()
	s.o.Transient = text
	s.mu.Unlock()
}

func (s *stats) setStatus(status Status) {
	s.mu.Lock()
	s.o.Status = status
	s.mu.Unlock()
}

func (s *stats) opened(c connector.SourceStatus) {
	s.mu.Lock()
	s.o.Ready, s.o.Transient = true, ""
	s.ended = false
	if s.o.Status != Stopped {
		s.o.Status = Running
	}
	s.mu.Unlock()
}

func (s *stats) lost(detail string) {
	s.mu.Lock()
	s.o.Ready, s.o.Transient = false, detail
	s.ended = false
	s.mu.Unlock()
}

// finished says that the source was read to its end; ended is false if another part of it follows.
func (s *stats) finished(skipped uint64, ended bool) {
	s.mu.Lock()
	s.ended = ended
	s.o.Skipped = s.before + skipped
	s.mu.Unlock()
}

// turned says that the next part of an endless source begins.
func (s *stats) turned() {
	s.mu.Lock()
	s.before = s.o.Skipped
	s.mu.Unlock()
}

// observe takes up what the window says: how much is unresolved and whether the oldest delivery blocks the source. A source has finished when
// it said so and nothing of it waits to be taken up. bound is how many deliveries the window takes. blocked is true when the source has just
// become blocked.
func (s *stats) observe(w *ack.Window, queued bool, bound int64) (blocked bool) {
	oldest, open := w.Oldest()
	full := ""
	if open && oldest.Attempts > 0 && int64(w.Volatile()) >= bound {
		full = fullWords(w, oldest, bound)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended { // nothing further comes
		full = ""
	}
	s.full = full
	s.o.Unresolved = w.Unresolved()
	s.o.BlockedAt, s.o.BlockedAttempts, s.o.BlockedWhy = nil, 0, ""
	before := s.o.Status
	if before == Stopped {
		return false
	}
	switch {
	case open && oldest.Blocked:
		s.o.Status = Blocked
		s.o.BlockedAt, s.o.BlockedAttempts, s.o.BlockedWhy = oldest.Position, oldest.Attempts, oldest.Reason.Error()
	case s.ended && !queued:
		s.o.Status = Finished
	default:
		s.o.Status = Running
	}
	return s.o.Status == Blocked && before != Blocked
}

// fullWords says that the source waits for failed deliveries, and what to do. Places come back in the order of the source only, so what succeeded
// behind the oldest keeps its place.
func fullWords(w *ack.Window, oldest ack.Oldest, bound int64) string {
	waiting := w.Unresolved()
	return fmt.Sprintf("the source window is full, so no further row is read, for no branch: of the %d rows it takes %d wait for redelivery or their end, and %d "+
		"that succeeded stand behind the oldest of these, which failed %s: %v; mend what refuses it, or let it go (ON MESSAGE ERROR SEND TO or IGNORE, "+
		"ON GLOBAL ERROR IGNORE), or take more rows with a greater PARALLEL MAX", bound, waiting, w.Volatile()-waiting, times(oldest.Attempts), oldest.Reason)
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return strconv.Itoa(n) + " times"
}

// count adds the outcome of one group.
func (s *stats) count(read, again, filtered int, rejected map[string]uint64) {
	s.mu.Lock()
	s.o.Read += uint64(read)
	s.o.Redelivered += uint64(again)
	s.o.Filtered += uint64(filtered)
	s.o.Batches++
	for reason, n := range rejected {
		s.o.Rejected[reason] += n
	}
	s.mu.Unlock()
}

// Busy says whether admitted rows are on their way: taken up and not settled, waiting in a route, or settled with a position that is not
// durable yet. Deliveries that wait for a retry do not count. It must not be called on a lane.
func (i *Ingestor) Busy() bool {
	busy := false
	i.onLane(func(*lanes.Lane) {
		busy = !i.closed && (i.alive.Len() > 0 || i.window.InFlight() > 0 || i.parked > 0 || i.commit.writing || i.commit.count > 0 && !i.commit.failed)
	})
	return busy
}

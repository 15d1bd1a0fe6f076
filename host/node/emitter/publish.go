// SPDX-License-Identifier: Apache-2.0

package emitter

import (
	"errors"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/host/kernel/lineage"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/lanes"
	"github.com/nervix-go/nervix/host/node/connector"
	"github.com/nervix-go/nervix/host/osclock"
)

// payloads is what one collected batch became: encoded rows with consecutive identities, their lineage, and the source rows for error records.
type payloads struct {
	record  arrow.RecordBatch // sinkSchema
	firstID uint64
	rows    int
	open    int    // rows without an answer
	answer  []bool // allocated with the first partial answer
	lineage lineage.Lineage
	source  arrow.RecordBatch // the input record
	origin  []uint32          // source row of each payload; nil: the same
	now     vtime.Logical

	// Of the source rows, for error records.
	low, high []int64
	key       *batch.Key
}

var sinkSchema = arrow.NewSchema([]arrow.Field{
	{Name: "id", Type: arrow.PrimitiveTypes.Uint64},
	{Name: "payload", Type: arrow.BinaryTypes.Binary},
}, nil)

// releaseSource gives the source rows back; they are kept only for error records.
func (p *payloads) releaseSource() {
	if p.source != nil {
		p.source.Release()
	}
}

func (p *payloads) answered(row int) bool { return p.answer != nil && p.answer[row] }

// unanswered lists the rows to offer; nil for all of them.
func (p *payloads) unanswered() []uint32 {
	if p.open == p.rows {
		return nil
	}
	rows := make([]uint32, 0, p.open)
	for r := range p.rows {
		if !p.answered(r) {
			rows = append(rows, uint32(r))
		}
	}
	return rows
}

// arm sets the flush deadline of the first collected row.
func (e *Emitter) arm(l *lanes.Lane, now vtime.Logical) {
	f := e.plan.Flush
	if f.Immediate {
		l.Arm(&e.timer, immediateWindow, lanes.Func(e.expired))
		return
	}
	due, err := now.Add(f.Each)
	if err != nil {
		due = vtime.LogicalFromNS(1<<63 - 1)
	}
	e.dueAt = due
	l.Arm(&e.timer, e.untilDue(), lanes.Func(e.expired)) // domain time may run faster or slower than the timer (C-143)
}

func (e *Emitter) expired(l *lanes.Lane) {
	if !e.plan.Flush.Immediate {
		if left := e.untilDue(); left > 0 {
			l.Arm(&e.timer, left, lanes.Func(e.expired))
			return
		}
	}
	e.due = true
	e.publish(l)
}

// untilDue is the physical time until the flush deadline.
func (e *Emitter) untilDue() time.Duration {
	left, err := e.config.Clock.Until(e.dueAt)
	if err != nil {
		return clockRetry
	}
	return left
}

// publish offers the unanswered payloads, as many as one attempt holds. From here until all are answered the relays are held back.
func (e *Emitter) publish(l *lanes.Lane) {
	if !e.due || len(e.held) == 0 || e.closed {
		return
	}
	l.Disarm(&e.timer)
	if !e.sink.parked {
		e.sink.parked = true
		e.branch.Park()
	}
	if e.sink.under || e.sink.waiting || !e.sink.open || e.session == nil {
		return
	}
	record := e.portion()
	e.sink.attempt++
	e.sink.under = true
	e.stats.publishing()
	e.session.Publish(e.sink.attempt, record)
	record.Release()
}

// portion gathers the oldest unanswered payloads: those of the whole flush, unless they are more than an attempt may hold.
func (e *Emitter) portion() arrow.RecordBatch {
	pieces := make([]batch.Piece, 0, len(e.held))
	room := connector.MaxAttemptBytes
	for _, p := range e.held {
		if p.open == 0 {
			continue
		}
		rows, size, whole := p.oldest(room, len(pieces) == 0)
		if !whole && len(rows) == 0 {
			break
		}
		p.record.Retain()
		pieces = append(pieces, batch.Piece{Record: p.record, Rows: rows, Low: noMarks(p.rows), High: noMarks(p.rows)})
		e.sink.last = p.firstID + uint64(p.rows) - 1
		if room -= size; !whole {
			e.sink.last = p.firstID + uint64(rows[len(rows)-1])
			break
		}
	}
	record, _, _ := batch.Gather(sinkSchema, pieces, e.config.Alloc)
	return record
}

// oldest lists the unanswered rows that fit into room, nil for all rows there are; whole says that no unanswered row is left out. With first
// set the oldest row is among them whatever its size.
func (p *payloads) oldest(room int, first bool) (rows []uint32, size int, whole bool) {
	offsets := p.record.Column(connector.SinkPayload).(*array.Binary).ValueOffsets()
	rows = p.unanswered()
	if rows == nil {
		if size = int(offsets[p.rows] - offsets[0]); size <= room {
			return nil, size, true
		}
		rows = make([]uint32, 0, p.rows)
		for r := range p.rows {
			rows = append(rows, uint32(r))
		}
	}
	size = 0
	for n, r := range rows {
		more := int(offsets[r+1] - offsets[r])
		if size+more > room && (n > 0 || !first) {
			return rows[:n], size, false
		}
		size += more
	}
	return rows, size, true
}

// oldest is the identity of the oldest payload without an answer; there is one.
func (e *Emitter) oldest() uint64 {
	for _, p := range e.held {
		for row := 0; p.open > 0; row++ {
			if !p.answered(row) {
				return p.firstID + uint64(row)
			}
		}
	}
	return e.nextID
}

// noMarks is a shared column of zero watermarks: sinks have none.
func noMarks(n int) []int64 {
	if n <= len(zeroMarks) {
		return zeroMarks[:n]
	}
	return make([]int64, n)
}

var zeroMarks [4096]int64

// answered takes up the outcome of an attempt.
func (e *Emitter) attemptEnded(l *lanes.Lane, attempt uint64, answers []connector.SinkAnswer, failure error) {
	if attempt != e.sink.attempt || !e.sink.under || e.closed {
		return
	}
	e.sink.under = false
	for _, a := range answers {
		e.judge(l, a)
	}
	if e.complete(l) {
		return
	}
	if failure == nil && e.oldest() > e.sink.last { // the next portion
		e.sink.failures = 0
		e.publish(l)
		return
	}
	e.sink.failures++
	wait := e.backoff(e.sink.failures)
	var asked interface{ RetryAfter() time.Duration }
	if errors.As(failure, &asked) {
		wait = max(wait, asked.RetryAfter()) // a receiver may lengthen the pause, never shorten it (P-043)
	}
	e.stats.failed(failure, wait)
	if failure != nil && e.sink.failures == 1 && e.plan.GeneralLog {
		e.config.Log.Error("publishing failed and is tried again", "emitter", e.plan.Ref.Name, "domain", e.plan.Ref.Domain, "error", failure)
	}
	e.retryAfter(l, wait)
}

func (e *Emitter) retryAfter(l *lanes.Lane, wait time.Duration) {
	e.sink.waiting = true
	e.sink.retryAt = osclock.Mono().Add(wait)
	l.Arm(&e.sink.retry, wait, lanes.Func(func(l *lanes.Lane) {
		e.sink.waiting = false
		e.publish(l)
	}))
}

// judge applies one answer to the payloads it names.
func (e *Emitter) judge(l *lanes.Lane, a connector.SinkAnswer) {
	for _, p := range e.held {
		from, to := max(a.FirstID, p.firstID), min(a.LastID, p.firstID+uint64(p.rows)-1)
		if from > to || p.open == 0 {
			continue
		}
		if p.answer == nil && p.open == p.rows && to-from+1 == uint64(p.rows) && a.Rejected == "" {
			p.open = 0
			continue
		}
		if p.answer == nil {
			p.answer = make([]bool, p.rows)
		}
		for id := from; id <= to; id++ {
			row := int(id - p.firstID)
			if p.answer[row] {
				continue
			}
			p.answer[row] = true
			p.open--
			if a.Rejected != "" {
				e.rejected(l, p, row, a.Rejected)
			}
		}
	}
}

// complete settles the held payloads if every one of them was answered, and lets the relays go on.
func (e *Emitter) complete(l *lanes.Lane) bool {
	sent := 0
	for _, p := range e.held {
		if p.open > 0 {
			return false
		}
		sent += p.rows
	}
	for i, p := range e.held {
		p.record.Release()
		p.releaseSource()
		p.lineage.Settle()
		e.held[i] = nil
	}
	e.held = e.held[:0]
	e.bytes, e.due, e.sink.failures = 0, false, 0
	e.stats.completed(sent)
	if e.sink.parked {
		e.sink.parked = false
		e.branch.Unpark(l)
	}
	return true
}

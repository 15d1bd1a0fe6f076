// SPDX-License-Identifier: Apache-2.0

package nodetest

import (
	"context"
	"encoding/binary"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/nervix-go/nervix/host/node/connector"
)

// Source is a source of numbered lines with the metadata of a file: path, line, offset. Its position is the number of the line as 16 bytes, so that it
// looks like two fields. It sends what Queue holds as far as its credit goes, and again what was rejected.
type Source struct {
	// Refuse is the error of OpenSource.
	Refuse error
	// Hold opens nothing and sends nothing until Open is called.
	Hold bool
	// Size is the number of rows in a batch; 0 means 4.
	Size int
	// Mute does not send rejected lines again.
	Mute bool
	// Faulty are lines that the source itself cannot read.
	Faulty map[int]string
	// Opening is called inside OpenSource, before it returns.
	Opening func(ctx context.Context)
	// End says that the source is finished once all lines were sent.
	End bool
	// Closing is called inside Close.
	Closing func()
	// Identity is what is read, `file-1` when empty; Restarted and Detail are told with the next Open.
	Identity  string
	Restarted bool
	Detail    string

	mu       sync.Mutex
	lines    []string
	Plans    []connector.SourcePlan
	events   connector.SourceEvents
	epoch    uint64
	open     bool
	finished bool
	next     int // index of the next line
	base     int // where the next epoch begins
	batches  int
	bytes    int64
	rows     int64
	again    []int
	acks     []int
	rejects  []int
	most     int64
	closed   int
	sessions int
	current  int // the session that counts
	wrong    int
	heap     *Heap
}

// NewSource makes a source over lines.
func NewSource(heap *Heap, lines ...string) *Source { return &Source{lines: lines, heap: heap} }

// Position is the position of a line, counted from 1.
func Position(line int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(line*10))
	return binary.LittleEndian.AppendUint64(b, uint64(line))
}

// LineAt is the line of a position; 0 for none.
func LineAt(position []byte) int {
	if len(position) != 16 {
		return 0
	}
	return int(binary.LittleEndian.Uint64(position[8:]))
}

// OpenSource implements connector.Sources.
func (s *Source) OpenSource(ctx context.Context, plan connector.SourcePlan, events connector.SourceEvents) (connector.SourceSession, error) {
	s.mu.Lock()
	s.Plans = append(s.Plans, plan)
	refuse, hold, opening := s.Refuse, s.Hold, s.Opening
	if refuse == nil {
		s.sessions++
		s.current, s.epoch = s.sessions, 0 // each session counts its own
		s.events = events
		s.base = LineAt(plan.Position)
	}
	s.mu.Unlock()
	if refuse != nil {
		return nil, refuse
	}
	if !hold {
		s.Open()
	}
	if opening != nil {
		opening(ctx)
	}
	return session{s, s.Sessions()}, nil
}

// Sessions is the number of sessions opened so far.
func (s *Source) Sessions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions
}

// Finish says that the present part of the source is finished, whatever was sent of it.
func (s *Source) Finish(skipped uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events.SourceState(connector.SourceStatus{State: connector.Finished, Epoch: s.epoch, Skipped: skipped})
}

// Fail ends the session for good.
func (s *Source) Fail(detail string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = false
	s.events.SourceState(connector.SourceStatus{State: connector.Failed, Epoch: s.epoch, Detail: detail})
}

// Open begins the next epoch at the position last acknowledged, or the plan's.
func (s *Source) Open() {
	s.mu.Lock()
	defer s.mu.Unlock()
	plan := s.Plans[len(s.Plans)-1]
	s.epoch++
	s.open, s.finished, s.again = true, false, nil
	s.batches, s.bytes, s.rows = plan.CreditBatches, plan.CreditBytes, plan.CreditRows
	s.next = s.base
	if s.Identity == "" {
		s.Identity = "file-1"
	}
	if s.Restarted {
		s.base, s.next = 0, 0
	}
	s.events.SourceState(connector.SourceStatus{State: connector.Open, Epoch: s.epoch, Identity: []byte(s.Identity), Restarted: s.Restarted, Detail: s.Detail})
	s.Restarted, s.Detail = false, ""
	s.pump()
}

// Lose ends the epoch.
func (s *Source) Lose(detail string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = false
	s.events.SourceState(connector.SourceStatus{State: connector.Lost, Epoch: s.epoch, Detail: detail})
}

// Add appends lines.
func (s *Source) Add(lines ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, lines...)
	s.pump()
}

// Replace changes all lines, before the source is opened at its beginning.
func (s *Source) Replace(lines ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines, s.next = lines, len(lines)
}

// pump sends what credit allows. Rejected lines use no credit of rows.
func (s *Source) pump() {
	for s.open && s.batches > 0 {
		size := s.Size
		if size == 0 {
			size = 4
		}
		var send []int
		for len(send) < size && len(s.again) > 0 {
			send = append(send, s.again[0])
			s.again = s.again[1:]
		}
		for len(send) < size && s.rows > 0 && s.next < len(s.lines) {
			s.next++
			s.rows--
			send = append(send, s.next)
		}
		if len(send) == 0 {
			break
		}
		s.batches--
		if plan := s.Plans[len(s.Plans)-1]; plan.CreditRows-s.rows > s.most {
			s.most = plan.CreditRows - s.rows
		}
		s.events.SourceBatch(s.epoch, s.batch(send), int64(len(send)))
	}
	if s.open && s.End && !s.finished && s.next == len(s.lines) && len(s.again) == 0 {
		s.finished = true
		s.events.SourceState(connector.SourceStatus{State: connector.Finished, Epoch: s.epoch, Skipped: 2})
	}
}

func (s *Source) batch(lines []int) arrow.RecordBatch {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "payload", Type: arrow.BinaryTypes.Binary}, {Name: "position", Type: arrow.BinaryTypes.Binary},
		{Name: "error", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "path", Type: arrow.BinaryTypes.String},
		{Name: "line", Type: arrow.PrimitiveTypes.Int64}, {Name: "offset", Type: arrow.PrimitiveTypes.Int64},
	}, nil)
	b := array.NewRecordBuilder(s.heap, schema)
	defer b.Release()
	for _, n := range lines {
		b.Field(0).(*array.BinaryBuilder).AppendString(s.lines[n-1])
		b.Field(1).(*array.BinaryBuilder).Append(Position(n))
		if why, bad := s.Faulty[n]; bad {
			b.Field(2).(*array.StringBuilder).Append(why)
		} else {
			b.Field(2).AppendNull()
		}
		b.Field(3).(*array.StringBuilder).Append("in.ndjson")
		b.Field(4).(*array.Int64Builder).Append(int64(n))
		b.Field(5).(*array.Int64Builder).Append(int64(n * 10))
	}
	return b.NewRecordBatch()
}

// Do changes the source while it is in use.
func (s *Source) Do(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// Acks are the lines acknowledged so far, Rejects those asked for again.
func (s *Source) Acks() []int { return s.copied(&s.acks) }

// Rejects are the lines asked for again so far.
func (s *Source) Rejects() []int { return s.copied(&s.rejects) }

func (s *Source) copied(list *[]int) []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]int(nil), *list...)
}

// Most is the greatest number of lines that were beyond the durable position at once; Sent is the number of lines sent, Closed of sessions closed.
func (s *Source) Most() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.most
}

// Sent is the number of the last line sent.
func (s *Source) Sent() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.next
}

// Wrong counts grants that name an epoch which is not open.
func (s *Source) Wrong() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wrong
}

// Mend replaces a line.
func (s *Source) Mend(line int, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines[line-1] = text
}

// Opened is the number of sessions opened and not closed.
func (s *Source) Opened() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions - s.closed
}

// BatchCredit is what the host has given back so far of the credit of batches.
func (s *Source) BatchCredit() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.batches
}

// session implements connector.SourceSession.
type session struct {
	s *Source
	n int
}

func (x session) Grant(epoch uint64, batches int, bytes, rows int64) {
	x.s.mu.Lock()
	defer x.s.mu.Unlock()
	if epoch != x.s.epoch || !x.s.open || x.n != x.s.current {
		x.s.wrong++
		return
	}
	x.s.batches += batches
	x.s.bytes += bytes
	x.s.rows += rows
	x.s.pump()
}

func (x session) Acknowledge(epoch uint64, position []byte) {
	x.s.mu.Lock()
	defer x.s.mu.Unlock()
	if epoch != x.s.epoch || x.n != x.s.current {
		return // of an epoch before the one that is open
	}
	x.s.acks = append(x.s.acks, LineAt(position))
	x.s.base = LineAt(position)
}

func (x session) Reject(epoch uint64, position []byte) {
	x.s.mu.Lock()
	defer x.s.mu.Unlock()
	x.s.rejects = append(x.s.rejects, LineAt(position))
	if epoch != x.s.epoch || x.s.Mute {
		return
	}
	x.s.again = append(x.s.again, LineAt(position))
	x.s.pump()
}

func (x session) Close(context.Context) error {
	x.s.mu.Lock()
	closing := x.s.Closing
	x.s.mu.Unlock()
	if closing != nil {
		closing()
	}
	x.s.mu.Lock()
	defer x.s.mu.Unlock()
	if x.n == x.s.current {
		x.s.open = false
	}
	x.s.closed++
	return nil
}

// Positions is an ingestor's durable position in memory.
type Positions struct {
	mu       sync.Mutex
	identity []byte
	position []byte
	// Fail is the outcome of every write.
	Fail error
	hold bool
	held []func()
	all  []int
}

// Load implements ingestor.Positions.
func (p *Positions) Load() (identity, position []byte, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.identity, p.position, nil
}

// Save implements ingestor.Positions.
func (p *Positions) Save(identity, position []byte, durable func(error)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	finish := func() {
		p.mu.Lock()
		err := p.Fail
		if err == nil {
			p.identity, p.position = identity, position
			p.all = append(p.all, LineAt(position))
		}
		p.mu.Unlock()
		durable(err)
	}
	if p.hold {
		p.held = append(p.held, finish)
		return
	}
	go finish()
}

// Do changes the positions while they are in use.
func (p *Positions) Do(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

// Hold keeps writes from becoming durable until Release.
func (p *Positions) Hold() {
	p.mu.Lock()
	p.hold = true
	p.mu.Unlock()
}

// Release makes held writes durable.
func (p *Positions) Release() {
	p.mu.Lock()
	held := p.held
	p.held, p.hold = nil, false
	p.mu.Unlock()
	for _, f := range held {
		f()
	}
}

// Line is the durable line, Held the number of writes that wait.
func (p *Positions) Line() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return LineAt(p.position)
}

// Held is the number of writes that wait.
func (p *Positions) Held() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.held)
}

// Set stores a position.
func (p *Positions) Set(line int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.identity, p.position = []byte("file-1"), Position(line)
}

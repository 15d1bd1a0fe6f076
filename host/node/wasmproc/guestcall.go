// SPDX-License-Identifier: Apache-2.0

package wasmproc

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/lineage"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/lanes"
	"github.com/nervix-go/nervix/wasm/protocol"
)

// The functions of this file enter a section for each operation of a guest. Between Enter and Leave they use what they took into variables before,
// and nothing of the branch or the lane.

// create makes an instance, initialises it and restores it.
func (s *state) create(l *lanes.Lane) event {
	guest, memory, out := s.instance(l, s.saved)
	if out != fine {
		return event{kind: evCreated, outcome: out, now: l.Now()}
	}
	s.guest = guest
	s.ledger = protocol.NewLedger(s.token)
	s.p.instances.Add(1)
	return event{kind: evCreated, memory: memory}
}

// instance makes an instance that is restored from saved and arms what it asked for. memory is what it begins with, in bytes. out says why there is
// none, and the failure is noted.
func (s *state) instance(l *lanes.Lane, saved Saved) (guest Guest, memory uint64, out outcome) {
	p := s.p
	message, err := s.initMessage()
	if err != nil {
		s.fail(&Failure{Stage: protocol.StageInitialization, Cause: err}, 0)
		return nil, 0, faulty
	}
	limits := Limits{Fuel: p.plan.MaxFuel, Memory: p.plan.MaxMemory, FirstHandle: s.handle, Alloc: p.config.Alloc}
	now, module := s.now, p.module.Load()
	section := l.Enter(&p.gate)
	guest, answer, asked, err := instantiate(module, limits, now, message, saved)
	s.back(section)
	s.handle = max(s.handle, answer.NextHandle)
	if err != nil {
		f := failureOf(err, protocol.StageInstantiation)
		var revision uint64
		if f.Stage != protocol.StageInstantiation && len(saved.State) > 0 {
			revision = saved.Revision
		}
		s.fail(f, revision)
		return nil, 0, outcomeOf(f, lost)
	}
	p.made.Add(1)
	s.figures.instance.Add(1)
	put(&s.figures.memory, answer.Memory)
	_ = s.ask(now, asked) // fewer than one operation may ask for
	s.arm(l)
	return guest, answer.Memory, fine
}

func instantiate(module Module, limits Limits, now vtime.Logical, init protocol.Message, saved Saved) (g Guest, a Answer, asked []Timeout, err error) {
	g, err = module.Instantiate(limits, now)
	if err != nil {
		return nil, a, nil, err
	}
	g.Begin(OpInit, now)
	a, err = g.Send(init)
	if err == nil {
		asked = append(asked, a.Timeouts...)
		if len(saved.State) > 0 {
			g.Begin(OpRestore, now)
			a, err = g.Send(protocol.Bytes(saved.State))
		}
	}
	if err != nil {
		g.Close()
		return nil, a, nil, err
	}
	return g, a, asked, nil
}

// initMessage is what nervix_init gets.
func (s *state) initMessage() (protocol.Message, error) {
	init := *s.p.init
	if s.b.Key != nil {
		init.BranchKey = []byte(s.b.Key.Text)
	}
	message, err := protocol.EncodeInit(&init)
	return protocol.Bytes(message), err
}

// back ends a section. The end of a long call makes room for another.
func (s *state) back(section lanes.Section) {
	if section.Leave() {
		s.p.passOn()
	}
}

// run makes the callback of the work at hand and validates what it brought.
func (s *state) run(l *lanes.Lane) event {
	c := callback{work: s.m.work, guest: s.guest, now: s.now}
	kit := s.p.kit(l)
	switch c.work {
	case workInput:
		if c.encoder = s.give(kit); c.encoder == nil {
			return event{kind: evReturned, outcome: outcomeOf(s.failure, refused)}
		}
		if !s.dirty {
			s.dirty = true
			s.p.unflushed.Add(1)
		}
	case workTimeout:
		c.handle = s.nextDue()
	case workFlush:
		s.clean()
	}
	c.messages = kit.takeMessages()
	section := l.Enter(&s.p.gate)
	c.run()
	s.back(section)
	kit = s.p.kit(l)
	if c.encoder != nil {
		kit.putEncoder(c.encoder)
	}
	e := s.returned(l, kit, &c)
	kit.putMessages(c.messages)
	return e
}

// clean notes that the guest was asked to flush, or is no more.
func (s *state) clean() {
	if s.dirty {
		s.dirty = false
		s.p.unflushed.Add(-1)
	}
}

// callback is one guest callback and what it brought.
type callback struct {
	work     work
	guest    Guest
	now      vtime.Logical
	encoder  *protocol.InputEncoder
	handle   int64
	messages []*memory.Buffer
	answer   Answer
	failure  error
}

// run calls the guest and reads all its output. It runs inside of a section.
func (c *callback) run() {
	g := c.guest
	switch c.work {
	case workInput:
		g.Begin(OpBatch, c.now)
		c.answer, c.failure = g.Send(c.encoder)
	case workTimeout:
		g.Begin(OpTimeout, c.now)
		c.answer, c.failure = g.OnTimeout(c.handle)
	case workFlush:
		g.Begin(OpFlush, c.now)
		c.answer, c.failure = g.Flush()
	}
	total := 0
	for c.failure == nil && len(c.answer.Output) > 0 {
		c.messages = append(c.messages, c.answer.message())
		if total += len(c.answer.Output); total > maxOutputBytes || len(c.messages) > maxGroups {
			c.failure = &Failure{Stage: protocol.StageOutput, Export: protocol.ExportReadEmit, Gone: true, Cause: fault.New(fault.WasmOutput, "wasmproc.run",
				ident.Ref{}, fmt.Sprintf("the guest emitted more than %d messages or %d bytes in one callback", maxGroups, maxOutputBytes), nil)}
			return
		}
		c.answer, c.failure = g.ReadEmit()
	}
}

// message is the output with the place it goes back to.
func (a *Answer) message() *memory.Buffer {
	if a.Alloc == nil {
		return memory.NewBufferBytes(a.Output)
	}
	return memory.NewBufferWithAllocator(a.Output, a.Alloc)
}

// returned takes up the answer of a callback.
func (s *state) returned(l *lanes.Lane, kit *laneKit, c *callback) event {
	e := event{kind: evReturned, emitted: len(c.messages) > 0, reset: c.answer.Reset}
	s.figures.callbacks.Add(1)
	put(&s.figures.fuel, c.answer.FuelUsed)
	put(&s.figures.memory, c.answer.Memory)
	s.handle = max(s.handle, c.answer.NextHandle)
	err := c.failure
	if err == nil {
		err = s.asked(c)
	}
	if err != nil {
		f := failureOf(err, protocol.StageBatch)
		if c.work == workInput {
			f = sized(f, s.current, c.encoder)
		}
		s.fail(f, 0)
		kept := rejected
		if e.emitted {
			kept = invalid
		}
		e.outcome = outcomeOf(f, kept)
	} else if e.emitted && !e.reset {
		if f := s.validate(kit, c.messages); f != nil {
			s.fail(f, 0)
			e.outcome = invalid
		}
	}
	s.arm(l)
	return e
}

func (s *state) asked(c *callback) error {
	if len(c.answer.Timeouts) == 0 {
		return nil
	}
	err := s.ask(c.now, c.answer.Timeouts)
	if err == nil {
		return nil
	}
	stage := [...]protocol.Stage{protocol.StageBatch, protocol.StageTimeout, protocol.StageFlush}[c.work]
	return &Failure{Stage: stage, Export: stage.Export(), Gone: true, Cause: err}
}

// sized tells the size of the input where a guest had no room for it (A08).
func sized(f *Failure, in *intake, message protocol.Message) *Failure {
	switch fault.CodeOf(f.Cause) {
	case fault.WasmMemory, fault.WasmRange, fault.WasmBuffer:
		with := *f
		with.Cause = within(fmt.Sprintf("an input message of %d bytes for %d rows", message.Size(), in.rows), f.Cause)
		return &with
	default:
		return f
	}
}

// outcomeOf judges a failure; kept is what it means if the instance lives on.
func outcomeOf(f *Failure, kept outcome) outcome {
	switch code := fault.CodeOf(f.Cause); {
	case code == fault.WasmStopped:
		return stopped
	case code == fault.WasmMisuse || code == fault.WasmBudget || code == fault.WasmUnencodable || code == fault.WasmShortBuffer:
		return faulty
	case f.Gone:
		return lost
	default:
		return kept
	}
}

// save asks the guest for its state.
func (s *state) save(l *lanes.Lane) event {
	e := event{kind: evSaved}
	if err := s.slot.Begin(); err != nil {
		s.fail(failureOf(err, protocol.StageAuthority), 0)
		s.figures.stage.Store(uint32(StageFailed))
		e.outcome = faulty
		return e
	}
	guest, now := s.guest, s.now
	section := l.Enter(&s.p.gate)
	guest.Begin(OpSave, now)
	answer, err := guest.Dump()
	s.back(section)
	put(&s.figures.memory, answer.Memory)
	if err != nil {
		f := failureOf(err, protocol.StageSnapshot)
		s.fail(f, 0)
		put(&s.figures.latest, 0)
		s.figures.stage.Store(uint32(StageFailed))
		e.outcome = outcomeOf(f, rejected)
		return e
	}
	s.dump = answer.Output
	return e
}

// give makes the next part of the input a message: as many rows as fit a guest buffer get tokens, the others wait. Without a message it gives nil,
// and failure says why.
func (s *state) give(kit *laneKit) *protocol.InputEncoder {
	encoder := kit.encoder()
	first := s.ledger.Next()
	for {
		err := encoder.Prepare(s.fresh.Record, first)
		size, rows := encoder.Size(), s.fresh.Rows()
		if err == nil && size > s.p.limit && (rows > 1 || uint64(size) > s.p.plan.MaxMemory) {
			err = fault.New(fault.WasmBuffer, "wasmproc.give", ident.Ref{}, fmt.Sprintf("guest buffer size %d exceeds configured limit %d, which is MAX MEMORY", size, s.p.plan.MaxMemory), nil)
		}
		switch {
		case err == nil:
			s.ledger.Issue(rows)
			s.current = kit.intake(s.fresh, first)
			s.inputs = append(s.inputs, s.current)
			s.fresh = nil
			return encoder
		case fault.CodeOf(err) == fault.WasmBuffer && rows > 1:
			var rest *batch.Batch
			s.fresh, rest = halve(s.fresh)
			s.queue = slices.Insert(s.queue, 0, rest)
			s.taken -= uint64(rest.Rows())
		default:
			kit.putEncoder(encoder)
			if fault.CodeOf(err) == fault.WasmBuffer {
				err = within(fmt.Sprintf("an input message of %d bytes for 1 row", size), err)
			}
			s.fail(&Failure{Stage: protocol.StageBatch, Export: protocol.ExportProcessBatch, Cause: err}, 0)
			return nil
		}
	}
}

// halve cuts a batch in two.
func halve(b *batch.Batch) (head, tail *batch.Batch) {
	defer b.Record.Release()
	rows, at := b.Rows(), b.Rows()/2
	var first, second lineage.Lineage
	first, second = b.Lineage.Split(at)
	head = batch.New(b.Record.NewSlice(0, int64(at)), b.Key, first, b.Low[:at:at], b.High[:at:at])
	tail = batch.New(b.Record.NewSlice(int64(at), int64(rows)), b.Key, second, b.Low[at:], b.High[at:])
	return head, tail
}

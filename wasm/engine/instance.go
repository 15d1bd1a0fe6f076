// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"sync"
	"sync/atomic"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/wasm/protocol"
)

// Guest is what a processor needs of an instance; *Instance implements it. One caller at a time. Every error is a *Failure.
type Guest interface {
	// Begin opens a logical operation: the calls up to the next Begin share one fuel budget, one time limit and the snapshot now. No
	// guest code runs.
	Begin(op Op, now vtime.Logical)
	// Alloc calls nervix_alloc(size) and lends the range to write into. The buffer may have moved since the last call.
	Alloc(size uint32) (View, error)
	// Send calls Init, ProcessBatch or LoadState with a range inside the last grant. After ProcessBatch that answered 0 the first emit
	// is read too.
	Send(entry Export, at, size uint32) (Answer, error)
	// Deliver is Alloc, a copy of payload and Send in one crossing.
	Deliver(entry Export, payload []byte) (Answer, error)
	// OnTimeout delivers a due handle and reads the first emit.
	OnTimeout(handle int64) (Answer, error)
	// Flush calls nervix_flush and reads the first emit.
	Flush() (Answer, error)
	// ReadEmit reads the next emit; no output means that there is none.
	ReadEmit() (Answer, error)
	// Dump calls nervix_dump_state; no output means that the guest has no state.
	Dump() (Answer, error)
	// MemoryBytes is the linear memory the instance holds.
	MemoryBytes() uint64
	// NextHandle is the handle of the next timeout; a successor of this instance starts there (W-234).
	NextHandle() int64
	// Close frees the instance. Idempotent. It is wasm.misuse while a call runs.
	Close() error
}

var _ Guest = (*Instance)(nil)

// Answer is what a call brought. With an error it still tells what the guest had asked for before it failed (W-168).
type Answer struct {
	// Code is the guest's answer: of the export called, or of the emit read after it.
	Code int32
	// Output is the message or snapshot the guest announced; empty if none.
	Output View
	// Reset says that the guest asked for a reset of its state during the operation and was told yes.
	Reset bool
	// Timeouts are all timeouts of the operation so far; lent until the next call.
	Timeouts []Timeout
	// FuelUsed is what the operation has used so far.
	FuelUsed uint64
}

const (
	idle uint32 = iota
	busy
	gone
	closed
)

// Instance is one live guest: a store of its own, with shared code (W-007).
type Instance struct {
	mod        *Module
	store      Store
	spec       Spec
	state      atomic.Uint32
	prev, next *Instance // of the engine's list

	op       Op
	begun    bool // the operation's first call is made
	now      int64
	turn     uint64
	handle   int64
	memory   uint64
	grantAt  uint32
	grantLen uint32
	loans    loans
}

// crossing is the scratch of one call; 100,000 idle instances need none of it.
type crossing struct {
	req Request
	res Result
}

var crossings = sync.Pool{New: func() any { return new(crossing) }}

func prepare(req Request) *crossing {
	c := crossings.Get().(*crossing)
	c.req = req
	c.res.Status = StatusOK
	return c
}

func (c *crossing) done() {
	c.req.Payload = nil
	crossings.Put(c)
}

// Begin implements Guest.
func (i *Instance) Begin(op Op, now vtime.Logical) {
	i.op, i.begun, i.now = op, false, now.NS()
}

// Alloc implements Guest.
func (i *Instance) Alloc(size uint32) (View, error) {
	if size > i.mod.engine.lim.MaxBuffer {
		return View{}, i.tooLarge(uint64(size))
	}
	c := prepare(Request{Ask: true, Size: size, Entry: NoExport})
	defer c.done()
	if err := i.run(c); err != nil {
		return View{}, err
	}
	i.grantAt, i.grantLen = c.res.GrantPtr, size
	return i.view(c.res.GrantPtr, c.res.Grant, true), nil
}

func (i *Instance) tooLarge(size uint64) error {
	return &Failure{Stage: i.op.Stage(), Export: Alloc,
		Cause: coded(fault.WasmBuffer, nil, "guest buffer size %d exceeds configured limit %d", size, i.mod.engine.lim.MaxBuffer)}
}

// Send implements Guest.
func (i *Instance) Send(entry Export, at, size uint32) (Answer, error) {
	if uint64(at) < uint64(i.grantAt) || uint64(at)+uint64(size) > uint64(i.grantAt)+uint64(i.grantLen) {
		return Answer{}, i.misuse("a message of %d bytes at %d lies outside the granted range", size, at)
	}
	return i.call(Request{Entry: entry, A: int64(at), B: int64(size)})
}

// Deliver implements Guest.
func (i *Instance) Deliver(entry Export, payload []byte) (Answer, error) {
	if uint64(len(payload)) > uint64(i.mod.engine.lim.MaxBuffer) {
		return Answer{}, i.tooLarge(uint64(len(payload)))
	}
	if payload == nil {
		payload = []byte{}
	}
	i.grantAt, i.grantLen = 0, 0
	return i.call(Request{Ask: true, Size: uint32(len(payload)), Payload: payload, Entry: entry})
}

// OnTimeout implements Guest.
func (i *Instance) OnTimeout(handle int64) (Answer, error) {
	return i.call(Request{Entry: OnTimeout, A: handle})
}

// Flush implements Guest.
func (i *Instance) Flush() (Answer, error) { return i.call(Request{Entry: Flush}) }

// ReadEmit implements Guest.
func (i *Instance) ReadEmit() (Answer, error) { return i.call(Request{Entry: ReadEmit}) }

// Dump implements Guest.
func (i *Instance) Dump() (Answer, error) { return i.call(Request{Entry: DumpState}) }

// MemoryBytes implements Guest.
func (i *Instance) MemoryBytes() uint64 { return i.memory }

// NextHandle implements Guest.
func (i *Instance) NextHandle() int64 { return i.handle }

func (i *Instance) call(req Request) (Answer, error) {
	c := prepare(req)
	defer c.done()
	err := i.run(c)
	if err != nil && c.res.Status == StatusOK {
		return Answer{}, err // nothing ran
	}
	res := &c.res
	a := Answer{Code: int32(res.Code), Reset: res.Reset, Timeouts: res.Timeouts, FuelUsed: i.spec.Fuel - res.FuelLeft}
	if err != nil {
		return a, err
	}
	if f := judge(i.op, req.Entry, res); f != nil {
		return a, f
	}
	a.Output = i.view(res.OutputPtr, res.Output, false)
	return a, nil
}

// run makes one crossing.
func (i *Instance) run(c *crossing) error {
	if err := i.enter(c.req.Entry); err != nil {
		return err
	}
	i.turn++
	i.loans.settle()
	i.fill(&c.req, !i.begun)
	i.begun = true
	i.store.Run(&c.req, &c.res)
	i.handle, i.memory = c.res.NextHandle, c.res.Memory
	return i.leave(c)
}

// fill adds what the instance knows.
func (i *Instance) fill(req *Request, begin bool) {
	lim := &i.mod.engine.lim
	req.MaxBuffer = lim.MaxBuffer
	if begin {
		req.Begin, req.Fuel, req.Ticks, req.Ceiling = true, i.spec.Fuel, lim.ticks(), i.spec.Memory
		req.Now, req.NextHandle, req.Allow = i.now, i.handle, opTable[i.op].allow
	}
}

func (i *Instance) enter(entry Export) error {
	if !i.state.CompareAndSwap(idle, busy) {
		switch i.state.Load() {
		case busy:
			return i.misuse("two callers use one guest instance")
		case gone:
			return i.misuse("the guest instance failed before and has to be closed")
		default:
			return i.misuse("the guest instance is closed")
		}
	}
	if i.mod.engine.stopping.Load() {
		i.state.Store(idle)
		return &Failure{Stage: i.op.Stage(), Export: entry, Gone: true, Cause: errStopping}
	}
	return nil
}

func (i *Instance) leave(c *crossing) error {
	if c.res.Status == StatusOK {
		i.state.Store(idle)
		return nil
	}
	if c.res.Status == StatusNoBuffer {
		c.res.LiedLen = int64(c.req.Size)
	}
	e := i.mod.engine
	f := classify(i.op, &c.res, &i.spec, &e.lim, e.stopping.Load())
	if f.Gone {
		i.state.Store(gone)
	} else {
		i.state.Store(idle)
	}
	return f
}

func (i *Instance) misuse(format string, args ...any) *Failure {
	return &Failure{Stage: i.op.Stage(), Export: NoExport, Gone: i.state.Load() >= gone, Cause: coded(fault.WasmMisuse, nil, format, args...)}
}

// Close implements Guest.
func (i *Instance) Close() error {
	if i.state.CompareAndSwap(idle, closed) || i.state.CompareAndSwap(gone, closed) {
		i.turn++
		i.loans.settle()
		i.store.Close()
		i.mod.engine.forget(i)
		i.mod.Release()
		return nil
	}
	if i.state.Load() == closed {
		return nil
	}
	return i.misuse("a guest instance was closed during a call")
}

// start makes the store. The instance is busy and listed already, so that a shutdown interrupts a start function.
func (i *Instance) start(now vtime.Logical) error {
	e := i.mod.engine
	if e.stopping.Load() {
		return &Failure{Stage: protocol.StageInstantiation, Export: NoExport, Gone: true, Cause: errStopping}
	}
	c := prepare(Request{Entry: NoExport})
	defer c.done()
	i.now = now.NS()
	i.fill(&c.req, true)
	i.store = i.mod.code.Instantiate(&c.req, &c.res)
	i.memory = c.res.Memory
	if c.res.Status != StatusOK {
		return classify(OpInstantiate, &c.res, &i.spec, &e.lim, e.stopping.Load())
	}
	i.begun = true
	i.state.Store(idle)
	return nil
}

// SPDX-License-Identifier: Apache-2.0

package wasmproc

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/lanes"
	"github.com/nervix-go/nervix/host/node/runtime"
	"github.com/nervix-go/nervix/wasm/protocol"
)

// state is one concrete branch: the driver of its machine. It belongs to its lane.
//
// While the branch does something, or something is due, it is held: the runtime gives it no batch. A batch that is worked to its end inside of
// Handle holds nothing.
type state struct {
	p     *Processor
	b     *runtime.Branch
	lane  *lanes.Lane
	print string // fingerprint, empty when unbranched
	slot  Slot
	m     machine

	place, listed int // in the lane's lists
	held          bool
	blocked       int  // publications that wait for a place
	posted        bool // a task of the branch waits in its lane
	closed        bool
	waiting       bool // it is in the processor's list of those; guarded by its lock

	// The work at hand.
	now      vtime.Logical
	finished bool
	fresh    *batch.Batch // the input before it has tokens
	taken    uint64       // rows that were taken into work so far, redelivered ones again
	first    uint64       // which of them, from 1, is the first row of the input; 0 without one
	current  *intake      // the input of the callback
	failure  *Failure     // the newest; it stays until an instance works again
	revision uint64       // of the saved state that failure is about
	unreset  error        // a reset that failed
	reason   error        // of negative acknowledgements without a failure: the end of the branch, a reset
	saved    Saved
	dump     []byte

	// The instance.
	guest    Guest
	ledger   *protocol.Ledger
	token    uint64 // where the next ledger begins
	handle   int64  // of the next timeout
	timeouts timeouts

	// Inputs.
	queue  []*batch.Batch // of the batch in work, what is not worked yet
	inputs []*intake      // with live tokens, in the order of tokens
	covers []*intake      // those of which the callback decided some rows
	done   []*intake      // without live tokens; their success waits for the checkpoint
	flush  bool           // a flush was asked for
	dirty  bool           // the guest got input since its last flush

	// What is on its way. epoch counts loads and resets, givenUp checkpoints that nobody waits for any more: what belongs to an earlier one says nothing.
	epoch    uint64
	givenUp  uint64
	stored   func(error)
	deadline lanes.Timer

	senders []*sender
	faults  []*runtime.Faults

	figures figures
}

// fingerprint names a branch in diagnostics: all 32 bytes of the digest that batch.Key.Fingerprint shows half of (W-247).
func fingerprint(key *batch.Key) string {
	if key == nil {
		return ""
	}
	sum := sha256.Sum256([]byte(string(key.Branch) + "\x00" + key.Text))
	return hex.EncodeToString(sum[:])
}

func errEvicted(ref ident.Ref) error {
	return fault.New(fault.WasmEvicted, "wasmproc.Evicted", ref, "the branch ended for its TTL or instance limit while its guest held the input", nil)
}

// Run begins the next work of the branch. It implements lanes.Task.
func (s *state) Run(l *lanes.Lane) {
	s.posted = false
	s.p.passOn()
	s.next(l)
}

// next begins one piece of work if the branch is free and there is some.
func (s *state) next(l *lanes.Lane) {
	if s.closed || !s.m.free() || s.blocked > 0 {
		return // the end of what it does asks again
	}
	w, some := s.pick()
	if !some {
		s.unlist()
		s.letGo(l)
		return
	}
	if !s.p.ready() {
		s.hold()
		s.p.enqueue(s)
		return
	}
	snapshot, err := s.p.config.Clock.Snapshot()
	if err != nil {
		s.skip(l, w, err)
		return
	}
	s.now = snapshot.Now
	switch w {
	case workInput:
		s.fresh = s.queue[0]
		s.queue = slices.Delete(s.queue, 0, 1)
		s.first = s.taken + 1
		s.taken += uint64(s.fresh.Rows())
	case workFlush:
		s.flush = false
	}
	s.advance(l, event{kind: evWork, work: w, now: l.Now()})
	if !s.closed && !s.m.free() {
		s.hold()
	}
}

func (s *state) pick() (w work, some bool) {
	switch {
	case s.timeouts.due:
		return workTimeout, true
	case len(s.queue) > 0:
		return workInput, true
	default:
		return workFlush, s.flush
	}
}

// skip ends work that cannot run because the clock cannot be read.
func (s *state) skip(l *lanes.Lane, w work, err error) {
	switch w {
	case workInput:
		for _, b := range s.queue {
			b.Fail(err)
		}
		s.queue = nil
	case workFlush:
		s.flush = false
	case workTimeout:
		s.timeouts.due = false
		l.Arm(&s.timeouts.timer, clockRetry, (*alarm)(s))
	}
	s.turn(l)
}

// advance steps the machine and carries out what it decides, until something is on its way or the work is over.
func (s *state) advance(l *lanes.Lane, e event) {
	for more := true; more; {
		e, more = s.perform(l, s.m.step(e))
	}
	if s.finished {
		s.finished = false
		s.finish(l)
	}
}

// perform carries out effects in their order. If the last of them has an outcome already, it is the next event.
func (s *state) perform(l *lanes.Lane, do effects) (next event, more bool) {
	if do&doReport != 0 {
		s.report()
	}
	if do&doDispatch != 0 {
		s.dispatch(l)
	}
	if do&(doNackWork|doAcceptWork|doHoldWork|doNackAll|doHoldAll) != 0 {
		s.settle(do)
	}
	if do&doCommit != 0 {
		s.slot.Commit()
		put(&s.figures.committed, s.figures.latest.Load())
		s.figures.stage.Store(uint32(StageReplicaConfirmed))
	}
	if do&doRelease != 0 {
		s.release()
	}
	if do&doAbort != 0 {
		s.abort(l)
	}
	if do&doDrop != 0 {
		s.drop(l)
	}
	if do&doFinish != 0 {
		s.finished = true
	}
	switch {
	case do&doReset != 0:
		return s.reset()
	case do&doLoad != 0:
		return s.load()
	case do&doCreate != 0:
		return s.create(l), true
	case do&doRun != 0:
		return s.run(l), true
	case do&doSave != 0:
		return s.save(l), true
	case do&doPersist != 0:
		return s.persist(l)
	case do&doRenew != 0:
		return s.recycle(l), true
	default:
		return event{}, false
	}
}

// report tells of what failed.
func (s *state) report() {
	if s.unreset != nil {
		s.p.report(s.unreset, 0)
		s.unreset = nil
		return
	}
	s.p.report(s.p.diagnostic(s.failure, s.print, s.revision), s.first)
}

// fail notes a failure for reports and negative acknowledgements. revision is that of the saved state concerned, or 0.
func (s *state) fail(f *Failure, revision uint64) { s.failure, s.revision = f, revision }

// why is the reason of negative acknowledgements.
func (s *state) why() error {
	switch {
	case s.reason != nil:
		return s.reason
	case s.failure != nil:
		return s.p.diagnostic(s.failure, s.print, s.revision)
	default:
		return fault.New(fault.WasmReset, "wasmproc", s.p.plan.Ref, "the guest asked for a reset of its state", nil)
	}
}

// finish ends a piece of work.
func (s *state) finish(l *lanes.Lane) {
	s.current, s.dump, s.saved, s.first = nil, nil, Saved{}, 0
	if s.m.failed == 0 {
		s.failure, s.revision = nil, 0
	}
	if s.m.phase == ended {
		s.close(l)
		return
	}
	if s.ledger != nil {
		put(&s.figures.held, uint64(s.ledger.Live()))
	}
	s.turn(l)
}

// turn goes on after a piece of work. What follows runs as a task of its own, so that branches of the lane take turns.
func (s *state) turn(l *lanes.Lane) {
	if s.closed {
		return
	}
	if !s.m.free() || s.blocked > 0 {
		s.hold()
		return
	}
	if _, some := s.pick(); !some {
		s.unlist()
		s.letGo(l)
		return
	}
	s.hold()
	if !s.posted {
		s.posted = true
		l.Post(s)
	}
}

// hold keeps the runtime from giving the branch another batch.
func (s *state) hold() {
	if !s.held {
		s.held = true
		s.p.active.Add(1)
		s.b.Park()
	}
}

func (s *state) letGo(l *lanes.Lane) {
	if s.held {
		s.held = false
		s.b.Unpark(l)
		s.p.active.Add(-1)
	}
}

// Park implements runtime.Holder: a publication waits for a place.
func (s *state) Park() { s.blocked++ }

// Unpark implements runtime.Holder.
func (s *state) Unpark(l *lanes.Lane) {
	s.blocked--
	if s.closed {
		s.letGo(l)
		return
	}
	s.turn(l)
}

// quiet says that nothing runs, waits or is due. The guest may hold inputs.
func (s *state) quiet() bool {
	return s.closed || s.m.free() && !s.held && s.blocked == 0 && len(s.queue) == 0 && !s.timeouts.due
}

// list puts the branch among those whose inputs are reported alive; unlist takes it out when it has none.
func (s *state) list() { s.p.kit(s.lane).list(s) }

func (s *state) unlist() {
	if len(s.inputs) == 0 && len(s.queue) == 0 && s.fresh == nil {
		s.p.kit(s.lane).unlist(s)
	}
}

// end ends the branch: what it holds fails with reason. While a guest call runs it ends when the call returns.
func (s *state) end(l *lanes.Lane, reason error) {
	if s.closed || s.reason != nil {
		return
	}
	s.reason = reason
	s.advance(l, event{kind: evEnd})
	if s.m.phase == ended && !s.closed {
		s.close(l)
	}
}

// close lets go of everything; the machine has ended.
func (s *state) close(l *lanes.Lane) {
	s.closed = true
	for _, b := range s.queue {
		b.Fail(s.reason)
	}
	s.queue = nil
	for _, x := range s.senders {
		if x != nil {
			x.drop(s.reason)
		}
	}
	s.unlist()
	s.slot.Close()
	if s.blocked == 0 {
		s.letGo(l)
	}
	p := s.p
	for high := p.handles.Load(); s.handle-1 > high && !p.handles.CompareAndSwap(high, s.handle-1); high = p.handles.Load() {
	}
	p.kit(l).discharge(s)
	p.live.remove(s)
	p.leave()
}

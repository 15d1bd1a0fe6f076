// SPDX-License-Identifier: Apache-2.0

package wasmproc

import (
	"fmt"
	"math/bits"
	"strings"
	"time"

	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// machine is what a branch is doing. It is pure: step takes an event and gives what has to be done, in a fixed order. Its driver (branch.go)
// carries that out on the branch's lane and brings the next event. A branch does one piece of work at a time (W-186).
//
//	           work                    loaded              created             fine, rejected, invalid     saved               stored
//	absent ----------> loading ----------------> creating --------> calling ---------------------> saving -------> storing -------> idle
//	  ^                   | failed                  | failed          | ^                            | failed        | failed         |
//	  +-------------------+-------------------------+-----------------+-|----------------------------+---------------+                |
//	  |                                      lost, faulty, stopped      +------------------------- work ------------------------------+
//	  +---- resetting <---- reset asked, whatever else came of the call
//
// From storing a branch goes to renewing first, and from there to idle, when the instance is to be recycled (recycle.go).
// From calling a branch goes to idle at once if there is nothing to save: a flush that emitted nothing or was rejected, and a message that was never
// delivered. end leads to ended from everywhere; while a guest call runs, when it returns.
type machine struct {
	phase phase
	work  work
	// log is ON GLOBAL ERROR LOG; IGNORE otherwise.
	log bool
	// ending says that the branch was ended during a guest call.
	ending bool
	// failed counts the instances in a row that could not be made, last says why, and retryAt when the next may be tried.
	failed  int
	last    outcome
	retryAt vtime.Mono
	// sound says that the newest callback was fine. recycling judges the memory of the instance.
	sound     bool
	recycling recycling
}

type phase uint8

const (
	absent    phase = iota // there is no instance
	loading                // the committed checkpoint is being read
	creating               // an instance is being made, initialised and restored: a guest call
	idle                   // the instance waits for work
	calling                // a callback runs: a guest call
	saving                 // the guest saves its state: a guest call
	storing                // the checkpoint is on its way
	resetting              // a reset that the guest asked for is with the coordinator
	renewing               // a successor of the instance is made from the checkpoint just committed: a guest call
	ended
)

func (p phase) String() string {
	return [...]string{"absent", "loading", "creating", "idle", "calling", "saving", "storing", "resetting", "renewing", "ended"}[p]
}

// inGuest says that a guest call runs in this phase.
func (p phase) inGuest() bool { return p == creating || p == calling || p == saving || p == renewing }

// work is why a branch runs its guest.
type work uint8

const (
	workInput work = iota
	workTimeout
	workFlush
)

func (w work) String() string { return [...]string{"input", "timeout", "flush"}[w] }

// outcome is what a step of work came to.
type outcome uint8

const (
	fine     outcome = iota
	refused          // the callback did not run: its message fits no guest buffer
	rejected         // the guest said no and lives on; none of the callback's output was read
	invalid          // the guest lives on; the callback's output is not valid, or was given up with a later failure
	lost             // the instance is gone by its own fault: a trap, a limit, a restore that failed
	faulty           // the host or the node's room failed, not the guest
	stopped          // the node stops its guests
)

func (o outcome) String() string {
	return [...]string{"fine", "refused", "rejected", "invalid", "lost", "faulty", "stopped"}[o]
}

type eventKind uint8

const (
	evWork     eventKind = iota // there is work, and the branch does none
	evLoaded                    // outcome fine or faulty
	evCreated                   // outcome fine, lost, faulty or stopped
	evReturned                  // of the callback
	evSaved                     // outcome fine, or why not
	evStored                    // outcome fine or faulty
	evReset                     // outcome fine or faulty
	evRenewed                   // outcome fine, lost, faulty or stopped
	evEnd                       // the branch is evicted, or the node ends
)

func (k eventKind) String() string {
	return [...]string{"work", "loaded", "created", "returned", "saved", "stored", "reset", "renewed", "end"}[k]
}

type event struct {
	kind    eventKind
	work    work
	outcome outcome
	emitted bool       // evReturned: some output was read
	reset   bool       // evReturned: the guest asked for a reset and was told yes
	now     vtime.Mono // evWork, evLoaded, evCreated: for the backoff of creations
	memory  uint64     // evCreated, evStored, evRenewed: linear memory of the instance in bytes
	bound   bool       // evStored: the guest holds inputs or waits for a timeout, which no successor would have
}

// effects are what has to be done, lowest bit first.
type effects uint32

const (
	// The failure at hand is reported.
	doReport effects = 1 << iota
	// The callback's rows go to their relays, its nacks and message errors are carried out, and the success of all it decided is held back.
	doDispatch
	// The inputs of the callback are acknowledged negatively, succeed now, or succeed with the checkpoint.
	doNackWork
	doAcceptWork
	doHoldWork
	// Every input that the branch still has is acknowledged negatively: of the callback, held back, in the guest's buffer.
	doNackAll
	// Every input that the branch still has succeeds with the checkpoint.
	doHoldAll
	// The checkpoint becomes the one that the next instance restores; only then do the held inputs succeed (W-195).
	doCommit
	doRelease
	// The checkpoint is given up.
	doAbort
	// The instance goes, with its buffer, its tokens and its timeouts.
	doDrop
	// The work is over. What stands below begins something whose end is an event; at most one of these is set.
	doFinish
	doReset
	doLoad
	doCreate
	doRun
	doSave
	doPersist
	// A successor of the instance is restored from the checkpoint; the instance goes only when that lives.
	doRenew
)

var effectNames = [...]string{
	"report", "dispatch", "nack-work", "accept-work", "hold-work", "nack-all", "hold-all", "commit", "release", "abort", "drop", "finish", "reset",
	"load", "create", "run", "save", "persist", "renew",
}

func (e effects) String() string {
	var names []string
	for ; e != 0; e &= e - 1 {
		names = append(names, effectNames[bits.TrailingZeros32(uint32(e))])
	}
	return strings.Join(names, " ")
}

// The backoff of instances that cannot be made (A04). The first retries are free: a failed restore is reported for each input (W-128).
const (
	freeRetries  = 3
	backoffFirst = 100 * time.Millisecond
	backoffMost  = 5 * time.Second
)

// step takes an event. An event that cannot come in the present phase is a defect of the driver.
func (m *machine) step(e event) effects {
	if e.kind == evEnd {
		return m.end()
	}
	if m.phase == ended {
		return 0 // what was under way when the branch ended
	}
	if m.ending {
		m.phase, m.ending = ended, false
		return doNackAll | doAbort | doDrop | doFinish
	}
	switch {
	case m.phase == absent && e.kind == evWork:
		return m.begin(e)
	case m.phase == resetting && e.kind == evWork:
		return doNackWork | doFinish // gaps 1.7.16
	case m.phase == loading && e.kind == evLoaded:
		return m.loaded(e)
	case m.phase == creating && e.kind == evCreated:
		return m.created(e)
	case m.phase == idle && e.kind == evWork:
		m.phase, m.work = calling, e.work
		return doRun
	case m.phase == calling && e.kind == evReturned:
		return m.returned(e)
	case m.phase == saving && e.kind == evSaved:
		if e.outcome != fine {
			return m.failCheckpoint(e.outcome)
		}
		m.phase = storing
		return doPersist
	case m.phase == storing && e.kind == evStored:
		if e.outcome != fine {
			return m.failCheckpoint(e.outcome)
		}
		return doCommit | doRelease | m.rest(e)
	case m.phase == renewing && e.kind == evRenewed:
		return m.renewed(e)
	case m.phase == resetting && e.kind == evReset:
		m.phase = absent
		if e.outcome != fine {
			return doReport
		}
		return 0
	default:
		panic(fmt.Sprintf("wasmproc: %v came while a branch was %v", e.kind, m.phase))
	}
}

// free says whether the branch can take work now.
func (m *machine) free() bool { return m.phase == absent || m.phase == idle || m.phase == resetting }

func (m *machine) begin(e event) effects {
	m.work = e.work
	switch {
	case e.work != workInput:
		return doFinish // the instance went, and its timeouts and buffer with it
	case m.failed >= freeRetries && e.now.Before(m.retryAt):
		return m.judge(m.last) | doFinish
	default:
		m.phase = loading
		return doLoad
	}
}

func (m *machine) loaded(e event) effects {
	if e.outcome != fine {
		return m.uncreated(e)
	}
	m.phase = creating
	return doCreate
}

func (m *machine) created(e event) effects {
	if e.outcome != fine {
		return m.uncreated(e)
	}
	m.failed = 0
	m.recycling.begin(e.memory)
	m.phase = calling
	return doRun
}

// uncreated is an instance that could not be made. Nothing of it stays, so there is nothing to save.
func (m *machine) uncreated(e event) effects {
	m.phase, m.last = absent, e.outcome
	m.failed++
	if over := m.failed - freeRetries; over >= 0 {
		m.retryAt = e.now.Add(min(backoffFirst<<min(over, 10), backoffMost))
	}
	return m.judge(e.outcome) | doDrop | doFinish
}

// judge is what a failure without a living instance means for the inputs: ON GLOBAL ERROR decides over the callback's if the guest is to blame
// (gaps 1.7.3), everything else of the branch fails.
func (m *machine) judge(o outcome) effects {
	switch {
	case o == stopped:
		return doNackAll
	case o == faulty || m.log:
		return doReport | doNackAll
	default:
		return doAcceptWork | doNackAll
	}
}

func (m *machine) returned(e event) effects {
	m.sound = e.outcome == fine
	switch {
	case e.outcome == stopped || e.outcome == faulty || e.outcome == lost && !e.reset:
		m.phase = absent
		return m.judge(e.outcome) | doDrop | doFinish
	case e.reset:
		m.phase = resetting
		var report effects
		if e.outcome != fine && m.log {
			report = doReport
		}
		return report | doNackAll | doDrop | doFinish | doReset
	case e.outcome == fine && m.work == workFlush && !e.emitted:
		m.phase = idle
		return doFinish // it decided nothing (W-240)
	case e.outcome == fine:
		m.phase = saving
		return doDispatch | doSave
	case e.outcome == refused:
		m.phase = idle
		return m.policy(doNackWork, doAcceptWork) | doFinish
	case e.outcome == rejected && m.work == workFlush:
		m.phase = idle
		return m.policy(0, 0) | doFinish
	case e.outcome == rejected:
		m.phase = saving
		return m.policy(doNackWork, doHoldWork) | doSave
	default: // invalid (W-187)
		m.phase = saving
		return m.policy(doNackAll, doHoldAll) | doSave
	}
}

// policy is ON GLOBAL ERROR.
func (m *machine) policy(log, ignore effects) effects {
	if m.log {
		return doReport | log
	}
	return ignore
}

// failCheckpoint is reported whatever the policy says (W-204), unless the node stops its guests.
func (m *machine) failCheckpoint(o outcome) effects {
	m.phase = absent
	e := doNackAll | doAbort | doDrop | doFinish
	if o != stopped {
		e |= doReport
	}
	return e
}

func (m *machine) end() effects {
	switch {
	case m.phase == ended:
		return 0
	case m.phase.inGuest():
		m.ending = true
		return 0
	case m.phase == absent || m.phase == idle || m.phase == resetting:
		m.phase = ended
		return doNackAll | doDrop
	default:
		m.phase = ended
		return doNackAll | doAbort | doDrop | doFinish
	}
}

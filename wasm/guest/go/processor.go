// SPDX-License-Identifier: Apache-2.0

package guest

import "strconv"

// Processor is what a guest implements. Embed Base for the methods a guest does not need.
//
// An error fails the operation, with its text as the reason that the host shows (at most 4 KiB of it); a Code fails it without a reason. A
// callback that fails emits nothing.
type Processor interface {
	// Create is called once, before anything else: check the schemas, keep what you need. An error refuses this branch.
	Create(c *Call, init *Init) error
	// ProcessBatch gets an input batch.
	ProcessBatch(c *Call, b *Batch) error
	// OnTimeout gets a timeout of this instance that is due.
	OnTimeout(c *Call, t Timeout) error
	// Flush is called when the branch pauses or moves: emit what is buffered, now.
	Flush(c *Call) error
	// SaveState writes what a successor has to know to go on: no buffered rows, entries or timeouts (W-121). It is called after each callback
	// and must not change anything.
	SaveState(w *StateWriter) error
	// Restore takes over what SaveState wrote, after Create. An error refuses the state.
	Restore(r *StateReader) error
}

// Base has a default for each method of Processor but ProcessBatch: it accepts any schemas, emits nothing, saves nothing and refuses state that is
// not empty.
type Base struct{}

// Create accepts.
func (Base) Create(*Call, *Init) error { return nil }

// OnTimeout does nothing.
func (Base) OnTimeout(*Call, Timeout) error { return nil }

// Flush does nothing.
func (Base) Flush(*Call) error { return nil }

// SaveState saves nothing.
func (Base) SaveState(*StateWriter) error { return nil }

// Restore refuses any state but none.
func (Base) Restore(r *StateReader) error {
	if n := len(r.State()); n > 0 {
		return Failure("this guest saves no state and cannot take " + strconv.Itoa(n) + " bytes of it")
	}
	return nil
}

// Failure is an error with a fixed text.
type Failure string

// Error is the text.
func (f Failure) Error() string { return string(f) }

// Code is an error that the host sees as this negative number, without a reason (W-033).
type Code int32

// Error is the number.
func (c Code) Error() string { return "code " + strconv.Itoa(int(c)) }

// The codes of the kit itself. They are a convention; only BadSnapshot and BadState mean something to the host.
const (
	BadSize     Code = -1 // a size is negative or larger than a message may be
	BadRange    Code = -2 // a range does not lie inside the guest's buffer
	NotReady    Code = -3 // called before init, or restore after the first batch
	BadBatch    Code = -4 // the Arrow batch is damaged or has another schema
	BadMessage  Code = -5 // the message is damaged or of another kind
	Rejected    Code = -6 // any other error of the guest
	BadSnapshot Code = -7 // restore: no snapshot, or one of another branch or schema
	BadState    Code = -8 // restore: the state inside is refused
)

// Call is the operation in progress. It is lent to a callback until that returns.
type Call struct{ instance *instance }

// Now is the domain time of the operation. It does not move during a callback.
func (c *Call) Now() Time { return Time{c.instance.host.Now()} }

// After asks for OnTimeout when a duration of domain time has passed.
func (c *Call) After(d Duration) Timeout { return Timeout{c.instance.host.After(int64(d))} }

// RequestReset asks for a new life of this branch's state; the host drops this instance when the callback is over. It says whether the request was
// taken, which Create cannot do.
func (c *Call) RequestReset() bool { return c.instance.host.RequestReset() == 0 }

// Init is what the host said about this branch.
func (c *Call) Init() *Init { return c.instance.init }

// Output begins an envelope. It ends with Emit, or with the callback.
func (c *Call) Output() *Output { return c.instance.output() }

// Emit checks an output and queues it. The output must not be used afterwards.
func (c *Call) Emit(o *Output) error { return c.instance.emit(o) }

// ReportGlobalError fails the operation though the callback returns no error.
func (c *Call) ReportGlobalError(reason string) { c.instance.latch(reason) }

// Panic ends this instance: the reason, then a trap.
func Panic(reason string) {
	if running == nil {
		panic(reason)
	}
	running.trap(reason)
}

// Trap ends this instance without a reason.
func Trap() {
	if running == nil {
		panic("trap")
	}
	running.host.Trap()
}

// running is the instance whose call is in progress, for functions that have no Call. There is one in a module.
var running *instance

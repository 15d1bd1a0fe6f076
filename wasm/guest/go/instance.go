// SPDX-License-Identifier: Apache-2.0

package guest

import (
	"strconv"
	"unsafe"

	"github.com/nervix-go/nervix/wasm/guest/go/internal/flat"
)

// environment is what surrounds an instance: in a module the functions that the host offers, in tests a fake one.
type environment interface {
	// Now is the domain time of the operation on the wire; After and RequestReset are the host's functions as they are.
	Now() int64
	After(delay int64) int64
	RequestReset() int32
	// Latch puts a reason on the error channel; the bytes stay as they are until the next Latch. Latched says whether one waits there.
	Latch(reason []byte)
	Latched() bool
	// Trap does not return.
	Trap()
}

// instance is the machine behind the exported functions (W-243). Its methods are those functions, with addresses as wide as the machine's; guests need
// Register only.
type instance struct {
	host      environment
	processor Processor

	input   []byte   // the reusable buffer
	words   []uint64 // its memory
	shown   []byte   // a message that waits to be read, in the place of the buffer; nil if none
	spare   [][]byte // room of messages that were read
	message []byte   // of init
	init    *Init
	ready   bool // init accepted, and no restore failed
	worked  bool // a callback has run

	reader  inputReader
	batch   Batch
	encoder encoder
	call    Call
	begun   []*Output // of this operation
	ended   []*Output // to be used again
	queue   [][]byte  // what waits for ReadEmit
	reason  []byte
}

// newInstance makes an instance.
func newInstance(p Processor, h environment) *instance {
	i := &instance{host: h, processor: p}
	i.call.instance = i
	return i
}

// latch puts the first reason of an operation on the error channel: it is the cause of what follows.
func (i *instance) latch(reason string) {
	if i.host.Latched() {
		return
	}
	if reason == "" {
		reason = "no reason given"
	}
	i.reason = append(i.reason[:0], reason...)
	i.host.Latch(i.reason)
}

// trap leaves last words, in the place of what was reported before, and ends the instance.
func (i *instance) trap(reason string) {
	i.reason = append(i.reason[:0], reason...)
	i.host.Latch(i.reason)
	i.host.Trap()
}

// enter is deferred by every call that runs the processor; leave turns a panic into last words (A01).
func (i *instance) enter() { running = i }

func (i *instance) leave() {
	if p := recover(); p != nil {
		if _, ended := p.(trapped); ended {
			panic(p)
		}
		i.trap("panic: " + panicText(p))
	}
	running = nil
}

// trapped is implemented by what an environment panics with, if it has no other way to trap.
type trapped interface{ Trapped() }

func panicText(p any) string {
	switch p := p.(type) {
	case error:
		return p.Error()
	case string:
		return p
	case interface{ String() string }:
		return p.String()
	case int:
		return strconv.Itoa(p)
	}
	return "a value that is no text"
}

// fail latches the reason of an error and gives its code.
func (i *instance) fail(err error) int32 {
	if code, ok := err.(Code); ok && code < 0 {
		return int32(code)
	}
	i.latch(err.Error())
	return int32(Rejected)
}

// failAs latches a reason.
func (i *instance) failAs(code Code, reason string) int32 {
	i.latch(reason)
	return int32(code)
}

func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// buffer is what the host sees: a message that waits, or the buffer for its input.
func (i *instance) buffer() []byte {
	if i.shown != nil {
		return i.shown
	}
	return i.input
}

// BufferPtr is where the buffer begins, BufferLen what is used of it, BufferCapacity how large it is.
func (i *instance) BufferPtr() uintptr { return address(i.buffer()) }

// BufferLen is the length of the message in the buffer.
func (i *instance) BufferLen() int32 { return int32(len(i.buffer())) }

// BufferCapacity is how many bytes the host may write.
func (i *instance) BufferCapacity() int32 { return int32(cap(i.buffer())) }

// Alloc makes room for a message of the host. The memory is aligned to 16, or to 8 by allocators that give no more.
func (i *instance) Alloc(size int32) (at uintptr, code int32) {
	if size < 0 || size > maxMessage {
		return 0, int32(BadSize)
	}
	i.recycle()
	if int(size) > cap(i.input) || i.input == nil {
		i.input, i.words = nil, nil // so that the collector may have it before the new one is made
		i.words = make([]uint64, max(int(size)+int(size)/8+15, 1024)/16*2)
		i.input = octets(i.words)
	}
	i.input = i.input[:size]
	return address(i.input), 0
}

// recycle takes the memory of a message that was read.
func (i *instance) recycle() {
	if i.shown != nil && len(i.spare) < 4 {
		i.spare = append(i.spare, i.shown)
	}
	i.shown = nil
}

// room gives memory for a message.
func (i *instance) room() []byte {
	n := len(i.spare)
	if n == 0 {
		return make([]byte, 0, 2048)
	}
	b := i.spare[n-1]
	i.spare = i.spare[:n-1]
	return b[:0]
}

// at finds a range that has to lie inside the buffer (W-045).
func (i *instance) at(ptr uintptr, size int32) ([]byte, Code) {
	if size < 0 {
		return nil, BadSize
	}
	b := i.buffer()
	first := address(b)
	if b == nil || ptr < first || ptr-first > uintptr(cap(b)) || uintptr(size) > uintptr(cap(b))-(ptr-first) {
		return nil, BadRange
	}
	from := int(ptr - first)
	return b[from : from+int(size) : from+int(size)], 0
}

// Init hands over what the host says about the branch. It is accepted once: an instance is one branch.
func (i *instance) Init(ptr uintptr, size int32) int32 {
	message, code := i.at(ptr, size)
	if code < 0 {
		return int32(code)
	}
	if i.ready {
		return i.failAs(Rejected, "the guest is initialized already")
	}
	if i.processor == nil {
		return i.failAs(Rejected, "the module has no processor: call guest.Register in an init function")
	}
	i.message = append(i.message[:0], message...)
	if i.init = readInit(i.message); i.init == nil {
		return i.failAs(BadMessage, "the init payload is damaged or of another kind")
	}
	i.reader = inputReader{schema: i.init.Input}
	i.enter()
	defer i.leave()
	answer := int32(0)
	if err := i.processor.Create(&i.call, i.init); err != nil {
		answer = i.fail(err)
	}
	i.drop()
	i.endOutputs()
	i.ready = answer == 0 && !i.host.Latched()
	return answer
}

// drop forgets what waits to be read.
func (i *instance) drop() {
	for _, m := range i.queue {
		if len(i.spare) < 4 {
			i.spare = append(i.spare, m)
		}
	}
	i.queue = i.queue[:0]
}

// begin is what every callback begins with. While a reason waits on the error channel nothing runs.
func (i *instance) begin() int32 {
	i.drop()
	switch {
	case !i.ready:
		return int32(NotReady)
	case i.host.Latched():
		return int32(Rejected)
	}
	i.worked = true
	return 0
}

// end turns the result of a callback into its answer. A callback that fails emits nothing.
func (i *instance) end(err error) int32 {
	answer := int32(0)
	if err != nil {
		answer = i.fail(err)
	}
	if answer != 0 || i.host.Latched() {
		i.drop()
	}
	i.endOutputs()
	return answer
}

// output begins an output.
func (i *instance) output() *Output {
	o := &Output{init: i.init}
	if n := len(i.ended); n > 0 {
		o = i.ended[n-1]
		i.ended = i.ended[:n-1]
	}
	i.begun = append(i.begun, o)
	return o
}

// endOutputs takes back what was begun.
func (i *instance) endOutputs() {
	for _, o := range i.begun {
		o.reset()
		if len(i.ended) < 4 {
			i.ended = append(i.ended, o)
		}
	}
	i.begun = i.begun[:0]
}

// ProcessBatch delivers an input message.
func (i *instance) ProcessBatch(ptr uintptr, size int32) int32 {
	message, bad := i.at(ptr, size)
	if bad < 0 {
		return int32(bad)
	}
	if code := i.begin(); code < 0 {
		return code
	}
	if code := i.readBatch(message, &i.batch); code < 0 {
		return code
	}
	i.enter()
	defer i.leave()
	return i.end(i.processor.ProcessBatch(&i.call, &i.batch))
}

func (i *instance) readBatch(message []byte, b *Batch) int32 {
	message = i.reader.align(message)
	r, input := open(message, inputEnvelope, 2)
	sidecar := r.Child(&input, 1, 4)
	b.readEntries(&r, &sidecar)
	readSets(&r, &sidecar)
	stream := r.Bytes(r.Vector(&input, 0, 1))
	if !r.Closed() {
		return i.failAs(BadMessage, "the input message is damaged or of another kind")
	}
	b.message = message
	if !i.reader.read(stream, b) {
		return i.failAs(BadBatch, "the Arrow batch is damaged or has another schema than the input")
	}
	return 0
}

// OnTimeout delivers a handle that is due.
func (i *instance) OnTimeout(handle int64) int32 {
	if code := i.begin(); code < 0 {
		return code
	}
	i.enter()
	defer i.leave()
	return i.end(i.processor.OnTimeout(&i.call, Timeout{handle}))
}

// Flush asks for everything that is buffered.
func (i *instance) Flush() int32 {
	if code := i.begin(); code < 0 {
		return code
	}
	i.enter()
	defer i.leave()
	return i.end(i.processor.Flush(&i.call))
}

func (i *instance) emit(o *Output) error {
	rows, err := o.judge()
	if err != nil {
		return err
	}
	w := flat.Writer{B: i.room()}
	writeOutput(&w, o, rows, &i.encoder)
	i.queue = append(i.queue, w.B)
	return nil
}

// show puts a message into the place of the buffer.
func (i *instance) show(m []byte) int32 {
	i.recycle()
	i.shown = m
	return int32(len(m))
}

// ReadEmit shows the next message that waits; 0 if none does.
func (i *instance) ReadEmit() int32 {
	if len(i.queue) == 0 {
		return 0
	}
	m := i.queue[0]
	n := copy(i.queue, i.queue[1:])
	i.queue = i.queue[:n]
	return i.show(m)
}

// DumpState shows the state in its wrapping.
func (i *instance) DumpState() int32 {
	if !i.ready {
		return int32(NotReady)
	}
	i.enter()
	defer i.leave()
	w := flat.Writer{B: i.room()}
	if err := snapshot(&w, i.message, i.processor.SaveState); err != nil {
		return i.fail(err)
	}
	return i.show(w.B)
}

// LoadState restores what DumpState showed. An instance that refused state runs nothing any more.
func (i *instance) LoadState(ptr uintptr, size int32) int32 {
	message, bad := i.at(ptr, size)
	if bad < 0 {
		return int32(bad)
	}
	if !i.ready || i.worked || i.host.Latched() {
		return int32(NotReady)
	}
	i.ready = false
	state, reason := readSnapshot(message, i.init)
	if reason != "" {
		return i.failAs(BadSnapshot, reason)
	}
	i.enter()
	defer i.leave()
	if err := i.processor.Restore(&StateReader{state: state}); err != nil {
		if _, plain := err.(Code); plain {
			err = Failure("the guest refuses the state")
		}
		return i.failAs(BadState, err.Error())
	}
	if i.host.Latched() {
		return int32(BadState)
	}
	i.ready = true
	return 0
}

// ResetState is never called by a host: a new life of the state is a new instance.
func (i *instance) ResetState() int32 { return int32(Rejected) }

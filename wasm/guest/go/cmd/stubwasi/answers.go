// SPDX-License-Identifier: Apache-2.0

package main

import "fmt"

// domainTime is the host's clock.
const domainTime = "nervix_domain_time_nanos"

const wasi = "wasi_snapshot_preview1"

// Last words: what goes to standard error is kept here. Go's linker puts no data below 12 KiB.
const (
	wordsAt   = 4096
	wordsSize = 1024
)

// variables are added to those of the module, in this order.
var variables = []struct {
	typ    byte
	begins int64
}{{typeI32, 0}, {typeI32, 0}, {typeI32, 0}, {typeI32, 0}, {typeI64, 0}, {typeI64, 0x6E65727669780000}}

const (
	reasonAt   = iota // where the reason on the error channel is
	reasonSize        // 0: none waits
	wordsUsed         // of last words
	running           // a call of an export has begun, and not come back
	ticks             // of the monotonic clock
	dice              // the state of the random numbers
)

// Instructions.
const (
	opUnreachable = 0x00
	opBlock       = 0x02
	opLoop        = 0x03
	opIf          = 0x04
	opElse        = 0x05
	opEnd         = 0x0B
	opBr          = 0x0C
	opBrIf        = 0x0D
	opCall        = 0x10
	opLocalGet    = 0x20
	opLocalSet    = 0x21
	opLocalTee    = 0x22
	opGlobalGet   = 0x23
	opGlobalSet   = 0x24
	opI32Load     = 0x28
	opI64Load     = 0x29
	opI32Load8    = 0x2D
	opI32Load16   = 0x2F
	opI32Store    = 0x36
	opI64Store    = 0x37
	opI32Store8   = 0x3A
	opI32Const    = 0x41
	opI64Const    = 0x42
	opI32Eqz      = 0x45
	opI32Eq       = 0x46
	opI32LtU      = 0x49
	opI64GtS      = 0x55
	opI32Add      = 0x6A
	opI32Sub      = 0x6B
	opI32And      = 0x71
	opI32Shl      = 0x74
	opI64Add      = 0x7C
	opI64Mul      = 0x7E
	opI64Xor      = 0x85
	opI64ShrU     = 0x88
	opI32WrapI64  = 0xA7
	opSelect      = 0x1B
	noResult      = 0x40
)

// writer writes the bodies of answers.
type writer struct {
	gogc    string // what the environment says
	globals uint32 // of the module
	now     uint32
	hasNow  bool
}

// body is a function under construction.
type body struct {
	w *writer
	b []byte
}

// begin begins a function with local variables of one type.
func (w *writer) begin(locals uint32, typ byte) *body {
	b := &body{w: w}
	if locals == 0 {
		b.b = append(b.b, 0)
	} else {
		b.b = append(appendU32(append(b.b, 1), locals), typ)
	}
	return b
}

func (b *body) op(ops ...byte) *body {
	b.b = append(b.b, ops...)
	return b
}

func (b *body) i32(v int32) *body {
	b.b = appendS32(append(b.b, opI32Const), v)
	return b
}

func (b *body) i64(v uint64) *body {
	b.b = appendS64(append(b.b, opI64Const), int64(v))
	return b
}

func (b *body) get(local byte) *body { return b.op(opLocalGet, local) }
func (b *body) set(local byte) *body { return b.op(opLocalSet, local) }

func (b *body) global(v uint32) *body {
	b.b = appendU32(append(b.b, opGlobalGet), b.w.globals+v)
	return b
}

func (b *body) setGlobal(v uint32) *body {
	b.b = appendU32(append(b.b, opGlobalSet), b.w.globals+v)
	return b
}

// memory is the immediate of a load or store of 1<<align bytes.
func (b *body) memory(op, align, offset byte) *body { return b.op(op, align, offset) }

func (b *body) done() []byte { return append(b.b, opEnd) }

// sig spells a type of functions as it is encoded.
func sig(params, results string) string {
	return string([]byte{typeFunc, byte(len(params))}) + params + string([]byte{byte(len(results))}) + results
}

const (
	i1 = "\x7f"
	i2 = "\x7f\x7f"
	i4 = "\x7f\x7f\x7f\x7f"
)

// answers by module, name and type.
var answers = map[string]struct {
	typ  string
	make func(*writer) []byte
}{
	wasi + ".args_sizes_get":    {sig(i2, i1), (*writer).nothing},
	wasi + ".args_get":          {sig(i2, i1), (*writer).success},
	wasi + ".environ_sizes_get": {sig(i2, i1), (*writer).environSizes},
	wasi + ".environ_get":       {sig(i2, i1), (*writer).environ},
	wasi + ".sched_yield":       {sig("", i1), (*writer).success},
	wasi + ".clock_time_get":    {sig("\x7f\x7e\x7f", i1), (*writer).clock},
	wasi + ".random_get":        {sig(i2, i1), (*writer).random},
	wasi + ".poll_oneoff":       {sig(i4, i1), (*writer).poll},
	wasi + ".fd_write":          {sig(i4, i1), (*writer).write},
	wasi + ".proc_exit":         {sig(i1, ""), (*writer).trap},
	channelModule + ".latch":    {sig(i2, ""), (*writer).latch},
	channelModule + ".latched":  {sig("", i1), (*writer).latched},
	channelModule + ".trap":     {sig("", ""), (*writer).silent},
}

// answer makes the function in the place of an import. A function of WASI that is not listed fails as one of a closed file does.
func (w *writer) answer(i funcImport, typ string) ([]byte, error) {
	a, known := answers[i.module+"."+i.name]
	switch {
	case known && a.typ == typ:
		return a.make(w), nil
	case i.module != wasi || known:
		return nil, fmt.Errorf("it imports %s.%s, which is neither of the host nor of WASI, or has another type there", i.module, i.name)
	case typ[len(typ)-2] == 1 && typ[len(typ)-1] == typeI32:
		const badFile = 8
		return w.begin(0, 0).i32(badFile).done(), nil
	}
	return w.trap(), nil
}

func (w *writer) success() []byte { return w.begin(0, 0).i32(0).done() }

func (w *writer) trap() []byte { return w.begin(0, 0).op(opUnreachable).done() }

// silent traps, and lets nothing that was written before be the reason.
func (w *writer) silent() []byte {
	return w.begin(0, 0).i32(0).setGlobal(wordsUsed).op(opUnreachable).done()
}

// guarded calls a function with its parameters.
func (w *writer) guarded(index uint32, params byte) []byte {
	b := w.begin(0, 0).i32(1).setGlobal(running)
	for i := range params {
		b.get(i)
	}
	b.b = appendU32(append(b.b, opCall), index)
	return b.i32(0).setGlobal(running).done()
}

// nothing says twice how many there are: none.
func (w *writer) nothing() []byte {
	return w.begin(0, 0).get(0).i32(0).memory(opI32Store, 2, 0).get(1).i32(0).memory(opI32Store, 2, 0).i32(0).done()
}

// environSizes tells of one variable, and environ gives it: how much garbage Go's collector lets lie. A module is one branch of many, and most
// of its memory would be garbage if it were left at 100.
func (w *writer) environSizes() []byte {
	return w.begin(0, 0).get(0).i32(1).memory(opI32Store, 2, 0).get(1).i32(int32(len(w.gogc))+1).memory(opI32Store, 2, 0).i32(0).done()
}

func (w *writer) environ() []byte {
	const list, text = 0, 1
	b := w.begin(0, 0).get(list).get(text).memory(opI32Store, 2, 0)
	for i, c := range []byte(w.gogc + "\x00") {
		b.get(text).i32(int32(c)).memory(opI32Store8, 0, byte(i))
	}
	return b.i32(0).done()
}

// clock tells domain time as the wall clock. The monotonic clock counts its readings: it has to move, or what waits for it would never end, and
// it must not go back when domain time does.
func (w *writer) clock() []byte {
	b := w.begin(0, 0).get(2).get(0).op(opI32Eqz, opIf, typeI64)
	if w.hasNow {
		b.b = appendU32(append(b.b, opCall), w.now)
	} else {
		b.i64(0)
	}
	const microsecond = 1000
	b.op(opElse).global(ticks).i64(microsecond).op(opI64Add).setGlobal(ticks).global(ticks).op(opEnd)
	return b.memory(opI64Store, 3, 0).i32(0).done()
}

// poll says that everything waited for is there. A wait for a time turns the monotonic clock, so that nobody waits for it twice.
func (w *writer) poll() []byte {
	const in, out, n, events = 0, 1, 2, 3
	const userdata, kind, timeout, flags, subscription, event = 0, 8, 24, 40, 48, 32
	b := w.begin(0, 0).get(events).get(n).memory(opI32Store, 2, 0).op(opBlock, noResult, opLoop, noResult).get(n).op(opI32Eqz, opBrIf, 1)
	b.get(out).get(in).memory(opI64Load, 3, userdata).memory(opI64Store, 3, userdata)
	b.get(out).get(in).memory(opI32Load8, 0, kind).i32(16).op(opI32Shl).memory(opI32Store, 2, kind) // no error, and the kind behind it
	b.get(in).memory(opI32Load8, 0, kind).op(opI32Eqz, opIf, noResult)
	b.get(in).memory(opI32Load16, 1, flags).i32(1).op(opI32And, opIf, noResult) // an instant, or a duration
	b.get(in).memory(opI64Load, 3, timeout).global(ticks).get(in).memory(opI64Load, 3, timeout).global(ticks).op(opI64GtS, opSelect).setGlobal(ticks)
	b.op(opElse).global(ticks).get(in).memory(opI64Load, 3, timeout).op(opI64Add).setGlobal(ticks).op(opEnd, opEnd)
	b.get(in).i32(subscription).op(opI32Add).set(in).get(out).i32(event).op(opI32Add).set(out)
	b.get(n).i32(1).op(opI32Sub).set(n).op(opBr, 0, opEnd, opEnd)
	return b.i32(0).done()
}

// random fills bytes from splitmix64.
func (w *writer) random() []byte {
	const at, left, z = 0, 1, 2
	b := w.begin(1, typeI64).op(opBlock, noResult, opLoop, noResult).get(left).op(opI32Eqz, opBrIf, 1)
	b.global(dice).i64(0x9E3779B97F4A7C15).op(opI64Add).setGlobal(dice).global(dice).set(z)
	for _, step := range []struct{ shift, times uint64 }{{30, 0xBF58476D1CE4E5B9}, {27, 0x94D049BB133111EB}} {
		b.get(z).get(z).i64(step.shift).op(opI64ShrU, opI64Xor).i64(step.times).op(opI64Mul).set(z)
	}
	b.get(at).get(z).i64(56).op(opI64ShrU, opI32WrapI64).memory(opI32Store8, 0, 0)
	b.get(at).i32(1).op(opI32Add).set(at).get(left).i32(1).op(opI32Sub).set(left).op(opBr, 0, opEnd, opEnd)
	return b.i32(0).done()
}

// write swallows what is written, and keeps the first of what goes to standard error.
func (w *writer) write() []byte {
	const file, vectors, n, written, total, size = 0, 1, 2, 3, 4, 5
	b := w.begin(2, typeI32).op(opBlock, noResult, opLoop, noResult).get(n).op(opI32Eqz, opBrIf, 1)
	b.get(vectors).memory(opI32Load, 2, 4).op(opLocalTee, size).get(total).op(opI32Add).set(total)
	b.get(file).i32(2).op(opI32Eq, opIf, noResult)
	// size is at most what is free
	b.get(size).i32(wordsSize).global(wordsUsed).op(opI32Sub).get(size).i32(wordsSize).global(wordsUsed).op(opI32Sub, opI32LtU, opSelect).set(size)
	b.i32(wordsAt).global(wordsUsed).op(opI32Add).get(vectors).memory(opI32Load, 2, 0).get(size).op(0xFC, 0x0A, 0, 0) // memory.copy
	b.global(wordsUsed).get(size).op(opI32Add).setGlobal(wordsUsed).op(opEnd)
	b.get(vectors).i32(8).op(opI32Add).set(vectors).get(n).i32(1).op(opI32Sub).set(n).op(opBr, 0, opEnd, opEnd)
	return b.get(written).get(total).memory(opI32Store, 2, 0).i32(0).done()
}

func (w *writer) latch() []byte {
	return w.begin(0, 0).get(0).setGlobal(reasonAt).get(1).setGlobal(reasonSize).done()
}

func (w *writer) latched() []byte { return w.begin(0, 0).global(reasonSize).done() }

// channel are the exports that the host reads reasons with. It asks after each call, and once more after a trap.
func (w *writer) channel() []answer {
	return []answer{
		{name: "nervix_global_error_ptr", body: w.begin(0, 0).global(reasonAt).done()},
		{name: "nervix_global_error_len", body: w.length()},
		{name: "nervix_clear_global_error", body: w.begin(0, 0).i32(0).setGlobal(reasonSize).i32(0).done()},
	}
}

// length makes last words the reason, if there is no other and the last call did not come back; what was written in a call that did is forgotten. A
// character that was cut is left out, with what is like it before; the ends of lines become spaces, because a reason is one line.
func (w *writer) length() []byte {
	const at = 0
	b := w.begin(1, typeI32).global(reasonSize).op(opI32Eqz, opIf, noResult).global(running).op(opI32Eqz, opIf, noResult)
	b.i32(0).setGlobal(wordsUsed).op(opEnd, opBlock, noResult, opLoop, noResult)
	b.global(wordsUsed).op(opI32Eqz, opBrIf, 1)
	b.global(wordsUsed).i32(wordsAt-1).op(opI32Add).memory(opI32Load8, 0, 0).i32(0x80).op(opI32LtU, opBrIf, 1)
	b.global(wordsUsed).i32(1).op(opI32Sub).setGlobal(wordsUsed).op(opBr, 0, opEnd, opEnd)
	b.i32(wordsAt).op(opLocalTee, at).setGlobal(reasonAt).op(opBlock, noResult, opLoop, noResult)
	b.get(at).i32(wordsAt).global(wordsUsed).op(opI32Add, opI32Eq, opBrIf, 1)
	b.get(at).memory(opI32Load8, 0, 0).i32(' ').op(opI32LtU, opIf, noResult).get(at).i32(' ').memory(opI32Store8, 0, 0).op(opEnd)
	b.get(at).i32(1).op(opI32Add).set(at).op(opBr, 0, opEnd, opEnd)
	return b.global(wordsUsed).setGlobal(reasonSize).op(opEnd).global(reasonSize).done()
}

// SPDX-License-Identifier: Apache-2.0

package guests

import (
	"fmt"
	"strings"

	"github.com/nervix-go/nervix/wasm/protocol"
)

// hostile is what the guest of one branch does: the rows it gets, one a batch, what comes out of them and what the log says about it.
type hostile struct {
	name string
	// key is the script in the branch key: what the guest does in whatever instance.
	key string
	// rows are scripts. The first and the last are nearly always of a good guest.
	rows []string
	// counts are the counters of the rows that come out to the relay out. A row adds one; an instance that was made in place of another goes on
	// from the checkpoint of its predecessor.
	counts []int
	// fails are stage and code of the failures, in their order.
	fails []string
	// alone is a row that fails so without one before it, also in a branch of its own; a dot is one that a good guest gets.
	alone string
}

// bed is the branch key.
func (h hostile) bed() string {
	if h.key == "" {
		return h.name
	}
	return h.name + " " + keyMark + h.key + ";"
}

// Rows of a good guest before and after.
func after(script ...string) []string { return append(append([]string{""}, script...), "") }

// Failures.
func fails(stage protocol.Stage, code string, times ...int) []string {
	n := 1
	if len(times) > 0 {
		n = times[0]
	}
	var all []string
	for range n {
		all = append(all, string(stage)+" "+code)
	}
	return all
}

// Numbers in scripts.
func i32(v uint32) string { return fmt.Sprintf("%08x", v) }
func i64(v uint64) string { return fmt.Sprintf("%016x", v) }

// answers is the op that sets the answer of an export.
func answers(v int32) string { return "r" + i32(uint32(v)) }

// says puts a text on the global-error channel.
func says(text string) string { return fmt.Sprintf("E%04x%s", len(text), text) }

// timer asks for a timeout after nanoseconds.
func timer(ns uint64) string { return "t" + i64(ns) }

// The counters of a branch whose second row comes to nothing: from the committed one, and from that of the living guest.
var (
	fromCheckpoint = []int{1, 2}
	fromLife       = []int{1, 3}
	all3           = []int{1, 2, 3}
)

// traps has a trap in each export that a node calls.
func traps() []hostile {
	trap := func(name, script string, stage protocol.Stage) hostile {
		return hostile{name: "trap in " + name, rows: after(script), counts: fromCheckpoint, fails: fails(stage, "wasm.trap"), alone: script}
	}
	inBatch := protocol.StageBatch
	return []hostile{
		trap("process_batch", "p(ix)", inBatch),
		trap("read_emit", "m(x)", inBatch),
		trap("buffer_ptr", "b(x)", inBatch),
		trap("global_error_len", "h(x)", inBatch),
		trap("global_error_ptr", "p("+says("a reason")+answers(-3)+")g(x)", inBatch),
		trap("clear_global_error", "p("+says("a reason")+answers(-3)+")j(x)", inBatch),
		{name: "trap in alloc", rows: []string{"", "a(x)", "", ""}, counts: []int{1, 2, 3}, fails: fails(inBatch, "wasm.trap")},
		// The output of a callback is out before its checkpoint, so the counter that is not saved comes once more.
		{name: "trap in dump_state", rows: after("d(x)"), counts: []int{1, 2, 2}, alone: "d(x)", fails: fails(protocol.StageSnapshot, "wasm.trap")},
		{name: "trap in on_timeout", rows: after("p(k" + timer(1) + ")t(x)"), counts: []int{1, 2, 3}, fails: fails(protocol.StageTimeout, "wasm.trap")},
		{name: "trap in init", key: "i(x)", rows: after(""), alone: ".", fails: fails(protocol.StageInitialization, "wasm.trap", 3)},
		{name: "trap in load_state", key: "s(x)", rows: after("p(x)", ""), counts: []int{1},
			fails: append(fails(inBatch, "wasm.trap"), fails(protocol.StageStateRestore, "wasm.trap", 2)...)},
		{name: "trap once in load_state", key: "i(y)s(Y0002x)", rows: after("p(x)", ""), counts: fromCheckpoint,
			fails: append(fails(inBatch, "wasm.trap"), fails(protocol.StageStateRestore, "wasm.trap")...)},
		{name: "trap in the init of a successor", key: "i(yY0002x)", rows: after("p(x)", ""), counts: fromCheckpoint,
			fails: append(fails(inBatch, "wasm.trap"), fails(protocol.StageInitialization, "wasm.trap")...)},
		// A node never asks for these.
		{name: "trap where nobody calls", key: "n(x)c(x)z(x)y(x)", rows: after(""), counts: all3},
		{name: "trap outside of memory", rows: after("p(iuffffffff)"), counts: fromCheckpoint, alone: "p(iuffffffff)", fails: fails(inBatch, "wasm.trap")},
		{name: "trap after output", rows: after("m(kx)"), counts: fromCheckpoint, alone: "m(kx)", fails: fails(inBatch, "wasm.trap")},
		{name: "five traps in a row", rows: after("p(x)", "p(x)", "p(x)", "p(x)", "p(x)"), counts: fromCheckpoint, fails: fails(inBatch, "wasm.trap", 5)},
	}
}

// limits has guests that compute without end or want all memory.
func limits() []hostile {
	fuel := func(name, script string, stage protocol.Stage) hostile {
		return hostile{name: name, rows: after(script), counts: fromCheckpoint, fails: fails(stage, "wasm.fuel"), alone: script}
	}
	inBatch := protocol.StageBatch
	memory := func(name, script string, stage protocol.Stage) hostile {
		return hostile{name: name, rows: after(script), counts: fromCheckpoint, fails: fails(stage, "wasm.memory"), alone: script}
	}
	return []hostile{
		fuel("loop in process_batch", "p(il)", inBatch),
		fuel("loop in read_emit", "m(l)", inBatch),
		fuel("loop in buffer_ptr", "b(l)", inBatch),
		fuel("loop in global_error_len", "h(l)", inBatch),
		{name: "loop in alloc", rows: []string{"", "a(l)", "", ""}, counts: all3, fails: fails(inBatch, "wasm.fuel")},
		{name: "loop in init", key: "i(l)", rows: after(""), alone: ".", fails: fails(protocol.StageInitialization, "wasm.fuel", 3)},
		{name: "loop in dump_state", rows: after("d(l)"), counts: []int{1, 2, 2}, alone: "d(l)", fails: fails(protocol.StageSnapshot, "wasm.fuel")},
		{name: "loop in on_timeout", rows: after("p(k" + timer(1) + ")t(l)"), counts: all3, fails: fails(protocol.StageTimeout, "wasm.fuel")},
		{name: "loop once in load_state", key: "i(y)s(Y0002l)", rows: after("p(x)", ""), counts: fromCheckpoint,
			fails: append(fails(inBatch, "wasm.trap"), fails(protocol.StageStateRestore, "wasm.fuel")...)},
		// One budget for all calls of an operation, and a new one for the next (W-013, W-014).
		{name: "three fifths of the fuel in each operation", key: "i(f0016e360)d(f0016e360)s(f0016e360)t(f0016e360)", rows: after("p(f0016e360k"+timer(1)+")", "p(x)", "p(f0016e360k)"),
			counts: []int{1, 2, 3, 4}, fails: fails(inBatch, "wasm.trap")},
		{name: "two fifths of the fuel in each of three calls", rows: []string{"", "p(k)a(f00100000)", "p(f00100000k)m(f00100000)", ""}, counts: all3,
			fails: fails(inBatch, "wasm.fuel")},
		{name: "recursion", rows: after("p(ic)"), counts: fromCheckpoint, alone: "p(ic)", fails: fails(inBatch, "wasm.trap")},
		{name: "recursion in dump_state", rows: after("d(c)"), counts: []int{1, 2, 2}, fails: fails(protocol.StageSnapshot, "wasm.trap")},
		{name: "bulk memory", rows: after("p(km00000100)"), counts: all3},
		// 4 MiB of 8 at the start.
		{name: "growth to the limit", rows: after("p(kg00000040)"), counts: all3},
		memory("growth above the limit", "p(ig00000041)", inBatch),
		memory("growth by nearly all there is", "p(ig0000ffc0)", inBatch),
		// More than 4 GiB is no growth at all: the instruction answers -1, and the guest goes on.
		{name: "growth by more than there is", rows: after("p(kg0000ffc1)"), counts: all3},
		memory("growth page by page", "p(iG)", inBatch),
		memory("growth in read_emit", "m(G)", inBatch),
		{name: "growth in dump_state", rows: after("d(G)"), counts: []int{1, 2, 2}, fails: fails(protocol.StageSnapshot, "wasm.memory")},
		{name: "growth in on_timeout", rows: after("p(k" + timer(1) + ")t(G)"), counts: all3, fails: fails(protocol.StageTimeout, "wasm.memory")},
		{name: "growth in init", key: "i(G)", rows: after(""), alone: ".", fails: fails(protocol.StageInitialization, "wasm.memory", 3)},
		{name: "output without end", rows: after("p(i)m(k)"), counts: fromCheckpoint, fails: fails(inBatch, "wasm.fuel")},
		{name: "a mebibyte of output without end", rows: after("p(i)m(" + answers(1<<20) + ")"), counts: fromCheckpoint, fails: fails(protocol.StageOutput, "wasm.output")},
		{name: "timeouts without end", rows: after("p(kB00010000)", "p(kB00000001)"), counts: all3, fails: fails(inBatch, "wasm.output")},
		{name: "more timeouts than one operation may ask for", rows: after("p(kB00020000)"), counts: all3},
	}
}

// lies has guests that answer pointers, lengths and codes which are not there.
func lies() []hostile {
	inBatch := protocol.StageBatch
	kept := func(name, script, code string) hostile {
		return hostile{name: name, rows: after(script), counts: fromLife, fails: fails(inBatch, code), alone: script}
	}
	buffer := func(name string, at uint32) hostile {
		return hostile{name: "alloc answers " + name, rows: []string{"", "a(r" + i32(at) + ")", "", ""}, counts: []int{1, 2}, fails: fails(inBatch, "wasm.range", 2)}
	}
	// The save after the batch is the second to meet it.
	pointer := func(name string, at uint32) hostile {
		return hostile{name: "buffer_ptr answers " + name, rows: after("b(r" + i32(at) + ")"), counts: fromCheckpoint,
			fails: append(fails(inBatch, "wasm.range"), fails(protocol.StageSnapshot, "wasm.range")...)}
	}
	dump := func(name string, n int32, code string) hostile {
		script := "d(" + answers(n) + ")"
		return hostile{name: "dump_state answers " + name, rows: after(script), counts: []int{1, 2, 2}, fails: fails(protocol.StageSnapshot, code), alone: script}
	}
	const most = protocol.MaxBuffer
	return []hostile{
		buffer("nothing", 0), buffer("-1", 0xffffffff), buffer("the end of memory", puppetPages<<16), buffer("almost the end of memory", puppetPages<<16-8),
		buffer("the middle of nowhere", 1<<31),
		{name: "alloc answers an odd address", rows: []string{"", "a(r" + i32(puppetBuffer+3) + ")", "", ""}, counts: []int{1, 2, 3, 4}},
		{name: "alloc moves the buffer", rows: after("p(kv)", "", "", "p(x)", ""), counts: []int{1, 2, 3, 4, 5, 6}, fails: fails(inBatch, "wasm.trap")},
		{name: "the buffer lies elsewhere when it is read", rows: after("p(kb"+i32(puppetStaged+1<<20)+")", ""), counts: []int{1, 2, 3, 4}},
		pointer("-1", 0xffffffff), pointer("the end of memory", puppetPages<<16), pointer("almost the end of memory", puppetPages<<16-8),
		kept("read_emit answers more than its memory", "m("+answers(puppetPages<<16)+")", "wasm.range"),
		kept("read_emit answers more than 64 MiB", "m("+answers(most+1)+")", "wasm.buffer"),
		kept("read_emit answers 64 MiB that it does not have", "m("+answers(most)+")", "wasm.range"),
		kept("read_emit answers 2 GiB", "m("+answers(1<<31-1)+")", "wasm.buffer"),
		kept("read_emit answers -2147483648", "m("+answers(-1<<31)+")", "wasm.result"),
		kept("read_emit answers -3", "m("+answers(-3)+")", "wasm.result"),
		kept("process_batch answers -3", "p(i"+answers(-3)+")", "wasm.result"),
		kept("process_batch answers -8", "p(i"+answers(-8)+")", "wasm.result"),
		kept("process_batch answers 7", "p(i"+answers(7)+")", "wasm.result"),
		dump("more than its memory", puppetPages<<16, "wasm.range"), dump("more than 64 MiB", most+1, "wasm.buffer"), dump("2 GiB", 1<<31-1, "wasm.buffer"),
		dump("-1", -1, "wasm.result"), dump("-7", -7, "wasm.result"),
		{name: "on_timeout answers -3", rows: after("p(k" + timer(1) + ")t(i" + answers(-3) + ")"), counts: []int{1, 2, 4}, fails: fails(protocol.StageTimeout, "wasm.result")},
		{name: "on_timeout answers 1", rows: after("p(k" + timer(1) + ")t(i" + answers(1) + ")"), counts: []int{1, 2, 4}, fails: fails(protocol.StageTimeout, "wasm.result")},
		{name: "init answers -6", key: "i(" + answers(-6) + ")", rows: after(""), alone: ".", fails: fails(protocol.StageInitialization, "wasm.result", 3)},
		{name: "init answers 1", key: "i(" + answers(1) + ")", rows: after(""), alone: ".", fails: fails(protocol.StageInitialization, "wasm.result", 3)},
		// W-240: no state at all means that the successor begins anew.
		{name: "dump_state answers 0", rows: after("d("+answers(0)+")", "p(x)"), counts: []int{1, 2, 1}, fails: fails(inBatch, "wasm.trap")},
	}
}

// verdicts has each code that load_state can answer.
func verdicts() []hostile {
	var all []hostile
	for code := int32(-10); code <= 1; code++ {
		h := hostile{name: fmt.Sprintf("load_state answers %d", code), key: fmt.Sprintf("s(%s)", answers(code)), rows: after("p(x)", ""), counts: []int{1}, fails: fails(protocol.StageBatch, "wasm.trap")}
		switch code {
		case 0:
			h.counts = []int{1, 1, 2} // it read nothing
		case protocol.CodeSnapshotRejected:
			h.fails = append(h.fails, fails(protocol.StageSnapshotDecoding, "wasm.result", 2)...)
		case protocol.CodeStateRejected:
			h.fails = append(h.fails, fails(protocol.StageStateRestoration, "wasm.result", 2)...)
		default:
			h.fails = append(h.fails, fails(protocol.StageStateRestore, "wasm.result", 2)...)
		}
		all = append(all, h)
	}
	return all
}

// reasons has texts on the global-error channel, after each call that a node looks at it.
func reasons() []hostile {
	inBatch := protocol.StageBatch
	why := says("the counters are not what they were")
	return []hostile{
		{name: "reason with -3", rows: after("p(i" + why + answers(-3) + ")"), counts: fromLife, alone: "p(i" + why + answers(-3) + ")", fails: fails(inBatch, "wasm.result")},
		{name: "reason with success", rows: after("p(k" + why + ")"), counts: fromLife, alone: "p(k" + why + ")", fails: fails(inBatch, "wasm.result")},
		{name: "reason with a trap", rows: after("p(i" + why + "x)"), counts: fromCheckpoint, alone: "p(i" + why + "x)", fails: fails(inBatch, "wasm.trap")},
		{name: "reason of read_emit", rows: after("m(" + why + answers(-3) + ")"), counts: fromLife, alone: "m(" + why + answers(-3) + ")", fails: fails(inBatch, "wasm.result")},
		{name: "reason of read_emit with success", rows: after("p(ik)m(" + why + ")"), counts: []int{1, 4}, alone: "p(ik)m(" + why + ")", fails: fails(inBatch, "wasm.result")},
		{name: "reason of on_timeout", rows: after("p(k" + timer(1) + ")t(" + why + answers(-3) + ")"), counts: all3, fails: fails(protocol.StageTimeout, "wasm.result")},
		{name: "reason of init", key: "i(" + why + answers(-6) + ")", rows: after(""), alone: ".", fails: fails(protocol.StageInitialization, "wasm.result", 3)},
		{name: "reason of dump_state", rows: after("d(" + why + answers(-3) + ")"), counts: []int{1, 2, 2}, alone: "d(" + why + answers(-3) + ")", fails: fails(protocol.StageSnapshot, "wasm.result")},
		{name: "reason of load_state", key: "i(y)s(Y0002" + why + answers(-6) + ")", rows: after("p(x)", ""), counts: fromCheckpoint,
			fails: append(fails(inBatch, "wasm.trap"), fails(protocol.StageStateRestore, "wasm.result")...)},
		{name: "reason of a verdict", key: "i(y)s(Y0002" + says("counters header is truncated") + answers(-8) + ")", rows: after("p(x)", ""), counts: fromCheckpoint,
			fails: append(fails(inBatch, "wasm.trap"), fails(protocol.StageStateRestoration, "wasm.result")...)},
		// The channel itself lies.
		{name: "reason outside of memory", rows: after("p(iefffffff000000010"+answers(-3)+")", "p(ke0000010000000000)"), counts: []int{1, 3, 4}, fails: fails(inBatch, "wasm.range")},
		{name: "reason of two gigabytes", rows: after("p(ie000001007fffffff"+answers(-3)+")", "p(ke0000010000000000)"), counts: []int{1, 3, 4}, fails: fails(inBatch, "wasm.range")},
		{name: "reason of a negative length", rows: after("p(ie00000100ffffffff" + answers(-3) + ")"), counts: fromLife, fails: fails(inBatch, "wasm.result")},
		{name: "reason that is not UTF-8", rows: after("p(iw00000100fffefdfce0000010000000004" + answers(-3) + ")"), counts: fromLife, alone: "p(iw00000100fffefdfce0000010000000004" + answers(-3) + ")", fails: fails(inBatch, "wasm.result")},
		{name: "reason of seven thousand bytes", rows: after("p(i" + says(strings.Repeat("reason ", 1000)) + answers(-3) + ")"), counts: fromLife, alone: "p(i" + says(strings.Repeat("reason ", 1000)) + answers(-3) + ")", fails: fails(inBatch, "wasm.result")},
		{name: "reason that is never cleared", rows: after("p(i"+why+answers(-3)+")j("+answers(0)+")", ""), counts: []int{1, 4}, fails: fails(inBatch, "wasm.result", 2)},
		{name: "clear_global_error answers -1", rows: after("p(i"+why+answers(-3)+")j("+answers(-1)+")", ""), counts: []int{1, 4}, fails: fails(inBatch, "wasm.result", 2)},
	}
}

// asks has guests that ask for what they may not have.
func asks() []hostile {
	inBatch := protocol.StageBatch
	return []hostile{
		// -9 is added to the counter where a reset is refused (W-032), the handle -1 where a timeout is (W-233).
		{name: "reset in init", key: "i(yY0001z)", rows: after(""), counts: []int{-8, -7, -6}},
		{name: "reset in dump_state", rows: after("d(z)"), counts: []int{1, 2, -6}},
		{name: "timeout in dump_state", rows: after("d(yA)"), counts: []int{1, 2, 2}},
		// Taken, and nobody can carry it out: the branch keeps its lifetime, the callback is as if it had not been (gaps 1.7.16).
		{name: "reset in process_batch", rows: after("p(kz)"), counts: fromCheckpoint, fails: []string{"reset wasm.reset"}},
		{name: "reset twice and a trap", rows: after("p(kzzx)"), counts: fromCheckpoint, fails: append(fails(inBatch, "wasm.trap"), "reset wasm.reset")},
		{name: "reset with -3", rows: after("p(kz" + answers(-3) + ")"), counts: fromCheckpoint, fails: append(fails(inBatch, "wasm.result"), "reset wasm.reset")},
		{name: "reset in on_timeout", rows: after("p(k" + timer(1) + ")t(kz)"), counts: all3, fails: []string{"reset wasm.reset"}},
		{name: "timeouts of no length", rows: after("p(k" + timer(0) + timer(1<<63) + timer(1<<64-1) + ")t(i)"), counts: []int{1, 2, 6}},
	}
}

// SPDX-License-Identifier: Apache-2.0

package wasmproc

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// script runs events, written `kind[:outcome][+emitted][+reset]`, and gives the effects of the last one and the phase after it.
func script(m *machine, text string) (effects, phase) {
	var last effects
	for _, word := range strings.Fields(text) {
		last = m.step(parseEvent(word))
	}
	return last, m.phase
}

func parseEvent(word string) event {
	var e event
	parts := strings.Split(word, "+")
	kind, outcomeText, _ := strings.Cut(parts[0], ":")
	switch kind {
	case "input", "timeout", "flush":
		e.kind = evWork
		e.work = map[string]work{"input": workInput, "timeout": workTimeout, "flush": workFlush}[kind]
	default:
		for k := evLoaded; k <= evEnd; k++ {
			if k.String() == kind {
				e.kind = k
			}
		}
	}
	for o := fine; o <= stopped; o++ {
		if o.String() == outcomeText {
			e.outcome = o
		}
	}
	for _, p := range parts[1:] {
		e.emitted = e.emitted || p == "emitted"
		e.reset = e.reset || p == "reset"
	}
	return e
}

const (
	calls = "input loaded created "
	lives = calls + "returned+emitted saved stored " // an instance that has done one callback
)

// What each stage's failure does, under both policies.
func TestMachine(t *testing.T) {
	// req: W-019, W-020, W-098, W-099, W-100, W-184, W-186, W-187, W-188, W-195, W-204, W-205, W-206, W-207, W-240
	for _, c := range []struct{ events, log, ignore, phase string }{
		// The way of a callback.
		{"input", "load", "", "loading"},
		{"input loaded", "create", "", "creating"},
		{calls, "run", "", "calling"},
		{calls + "returned", "dispatch save", "", "saving"},
		{calls + "returned saved", "persist", "", "storing"},
		{lives, "commit release finish", "", "idle"},
		{lives + "input", "run", "", "calling"},
		{lives + "timeout", "run", "", "calling"},
		{lives + "timeout returned", "dispatch save", "", "saving"},
		// A flush that emits nothing decides nothing.
		{lives + "flush", "run", "", "calling"},
		{lives + "flush returned", "finish", "", "idle"},
		{lives + "flush returned+emitted", "dispatch save", "", "saving"},
		{lives + "flush returned:rejected", "report finish", "finish", "idle"},
		// No instance comes to be.
		{"input loaded:faulty", "report nack-all drop finish", "", "absent"},
		{"input loaded created:lost", "report nack-all drop finish", "accept-work nack-all drop finish", "absent"},
		{"input loaded created:faulty", "report nack-all drop finish", "", "absent"},
		{"input loaded created:stopped", "nack-all drop finish", "", "absent"},
		{"timeout", "finish", "", "absent"},
		{"flush", "finish", "", "absent"},
		// The callback fails.
		{calls + "returned:refused", "report nack-work finish", "accept-work finish", "idle"},
		{calls + "returned:rejected", "report nack-work save", "hold-work save", "saving"},
		{calls + "returned:rejected saved stored", "commit release finish", "", "idle"},
		{calls + "returned:invalid+emitted", "report nack-all save", "hold-all save", "saving"},
		{lives + "timeout returned:rejected", "report nack-work save", "hold-work save", "saving"},
		{lives + "flush returned:invalid+emitted", "report nack-all save", "hold-all save", "saving"},
		{calls + "returned:lost", "report nack-all drop finish", "accept-work nack-all drop finish", "absent"},
		{calls + "returned:faulty", "report nack-all drop finish", "", "absent"},
		{calls + "returned:stopped", "nack-all drop finish", "", "absent"},
		{calls + "returned:lost input", "load", "", "loading"},
		// The checkpoint fails: reported under both policies.
		{calls + "returned saved:rejected", "report nack-all abort drop finish", "", "absent"},
		{calls + "returned saved:lost", "report nack-all abort drop finish", "", "absent"},
		{calls + "returned saved:faulty", "report nack-all abort drop finish", "", "absent"},
		{calls + "returned saved:stopped", "nack-all abort drop finish", "", "absent"},
		{calls + "returned saved stored:faulty", "report nack-all abort drop finish", "", "absent"},
		{calls + "returned saved stored:faulty input", "load", "", "loading"},
		// The guest asks for a reset; a callback that asks and then fails still asks.
		{calls + "returned+emitted+reset", "nack-all drop finish reset", "", "resetting"},
		{calls + "returned:rejected+reset", "report nack-all drop finish reset", "nack-all drop finish reset", "resetting"},
		{calls + "returned:lost+reset", "report nack-all drop finish reset", "nack-all drop finish reset", "resetting"},
		{lives + "timeout returned+reset", "nack-all drop finish reset", "", "resetting"},
		{lives + "flush returned+reset", "nack-all drop finish reset", "", "resetting"},
		{calls + "returned:stopped+reset", "nack-all drop finish", "", "absent"},
		{calls + "returned+reset input", "nack-work finish", "", "resetting"},
		{calls + "returned+reset reset:faulty", "report", "", "absent"},
		{calls + "returned+reset reset", "", "", "absent"},
		{calls + "returned+reset reset:faulty input", "load", "", "loading"},
		// The end, whatever the branch is doing.
		{"end", "nack-all drop", "", "ended"},
		{lives + "end", "nack-all drop", "", "ended"},
		{lives + "end end", "", "", "ended"},
		{"input end", "nack-all abort drop finish", "", "ended"},
		{"input end loaded", "", "", "ended"},
		{"input loaded end", "", "", "creating"},
		{"input loaded end created", "nack-all abort drop finish", "", "ended"},
		{calls + "end", "", "", "calling"},
		{calls + "end returned+emitted", "nack-all abort drop finish", "", "ended"},
		{calls + "end returned:lost", "nack-all abort drop finish", "", "ended"},
		{calls + "returned end", "", "", "saving"},
		{calls + "returned end saved", "nack-all abort drop finish", "", "ended"},
		{calls + "returned saved end", "nack-all abort drop finish", "", "ended"},
		{calls + "returned saved end stored", "", "", "ended"},
		{calls + "returned+reset end", "nack-all drop", "", "ended"},
		{calls + "returned+reset end reset", "", "", "ended"},
	} {
		for _, log := range []bool{true, false} {
			want := c.log
			if !log && c.ignore != "" {
				want = c.ignore
			}
			got, at := script(&machine{log: log}, c.events)
			if got.String() != want || at.String() != c.phase {
				t.Errorf("log %v, %s:\n got %v, %v\nwant %s, %s", log, c.events, got, at, want, c.phase)
			}
		}
	}
}

func TestEventsThatCannotComePanic(t *testing.T) {
	for _, events := range []string{"loaded", "input input", "input created", "input loaded created created", lives + "saved", lives + "stored", lives + "reset", calls + "stored"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s passes", events)
				}
			}()
			script(&machine{}, events)
		}()
	}
}

// Instances that fail again and again are tried less and less often; what arrives meanwhile fails like the last one.
func TestBackoffOfCreations(t *testing.T) {
	// req: A04 half: the pause; that traps need no restart is shown with guests
	m := machine{log: true}
	at := func(d time.Duration) vtime.Mono { return vtime.MonoFromNS(int64(d)) }
	try := func(now time.Duration) bool {
		e := m.step(event{kind: evWork, now: at(now)})
		if e == doReport|doNackAll|doFinish {
			return false
		}
		m.step(event{kind: evLoaded})
		m.step(event{kind: evCreated, outcome: lost, now: at(now)})
		return true
	}
	for i := range 3 {
		if !try(0) {
			t.Fatalf("attempt %d waits", i)
		}
	}
	now := time.Duration(0)
	for _, pause := range []time.Duration{100, 200, 400, 800, 1600, 3200, 5000, 5000} {
		pause *= time.Millisecond
		if try(now + pause - 1) {
			t.Fatalf("tried again %v after %v", pause-1, now)
		}
		now += pause
		if !try(now) {
			t.Fatalf("not tried %v later", pause)
		}
	}
	now += 5 * time.Second
	m.step(event{kind: evWork, now: at(now)})
	m.step(event{kind: evLoaded})
	m.step(event{kind: evCreated})
	m.step(event{kind: evReturned, outcome: lost})
	for i, want := range []bool{true, true, true, false} {
		if try(now) != want {
			t.Fatalf("an instance that came to be does not end the backoff: attempt %d", i)
		}
	}
	m = machine{failed: freeRetries, last: lost, retryAt: at(time.Hour)} // IGNORE
	if e := m.step(event{kind: evWork}); e != doAcceptWork|doNackAll|doFinish {
		t.Fatal(e)
	}
}

// books is what the effects mean for inputs: a plain account beside the machine.
type books struct {
	work, held, buffered []int
	acked, nacked        map[int]int
	alive, dumped        bool
	reports              int
	open                 bool // the work is not finished
	busy                 effects
}

func (b *books) ack(rows []int) {
	for _, r := range rows {
		b.acked[r]++
	}
}

func (b *books) nack(rows []int) {
	for _, r := range rows {
		b.nacked[r]++
	}
}

// apply carries out effects; share is how many of the callback's inputs the guest keeps when its output is dispatched.
func (b *books) apply(t *rapid.T, e effects, share int) {
	has := func(x effects) bool { return e&x != 0 }
	if has(doReport) {
		b.reports++
	}
	if has(doDispatch) {
		all := append(b.buffered, b.work...)
		share = min(share, len(all))
		b.buffered, b.held, b.work = append([]int(nil), all[:share]...), append(b.held, all[share:]...), nil
	}
	if has(doNackWork) {
		b.nack(b.work)
		b.work = nil
	}
	if has(doAcceptWork) {
		b.ack(b.work)
		b.work = nil
	}
	if has(doHoldWork) {
		b.held, b.work = append(b.held, b.work...), nil
	}
	if has(doNackAll) {
		b.nack(b.work)
		b.nack(b.held)
		b.nack(b.buffered)
		b.work, b.held, b.buffered = nil, nil, nil
	}
	if has(doHoldAll) {
		b.held = append(append(b.held, b.buffered...), b.work...)
		b.work, b.buffered = nil, nil
	}
	if has(doCommit) != has(doRelease) || has(doCommit) && !b.dumped {
		t.Fatalf("%v: committed and released are one, and follow a save", e)
	}
	if has(doRelease) {
		b.ack(b.held)
		b.held = nil
	}
	if has(doDrop) {
		b.alive, b.dumped = false, false
	}
	if has(doRun|doSave) && !b.alive {
		t.Fatalf("%v: there is no instance", e)
	}
	if has(doPersist) {
		b.dumped = true
	}
	if has(doFinish) {
		if !b.open || len(b.work) > 0 || len(b.held) > 0 {
			t.Fatalf("%v: finished with %v in work and %v held, open %v", e, b.work, b.held, b.open)
		}
		b.open = false
	}
	if has(doRenew) && (!b.alive || !b.dumped || !has(doRelease) || len(b.work)+len(b.held)+len(b.buffered) > 0) {
		t.Fatalf("%v: replaced with %v in work, %v held and %v in the guest", e, b.work, b.held, b.buffered)
	}
	b.busy = e & (doReset | doLoad | doCreate | doRun | doSave | doPersist | doRenew)
	if b.busy&(b.busy-1) != 0 {
		t.Fatalf("%v begins two things", e)
	}
	if has(doCreate) {
		b.alive = true
	}
}

// Any sequence of what can happen settles each input exactly once, by its fate, and never releases success without a checkpoint. No instance is
// replaced that holds inputs.
func TestMachineAgreesWithBooks(t *testing.T) {
	// req: W-185, W-205, W-231
	rapid.Check(t, func(t *rapid.T) {
		m := &machine{log: rapid.Bool().Draw(t, "log")}
		m.recycling.rules = recycleRules{floor: 2, after: uint64(rapid.IntRange(0, 3).Draw(t, "after")), press: 7}
		b := &books{acked: map[int]int{}, nacked: map[int]int{}}
		inputs, resetting := 0, false
		var silent int
		step := func(e event) {
			before := b.reports
			eff := m.step(e)
			b.apply(t, eff, rapid.IntRange(0, 3).Draw(t, "kept"))
			if eff&doReset != 0 {
				resetting = true
			}
			if !m.log && b.reports > before && e.kind != evSaved && e.kind != evStored && e.kind != evReset && e.outcome != faulty && m.last != faulty {
				silent++
			}
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch {
			case m.phase == ended:
			case rapid.IntRange(0, 40).Draw(t, "end") == 0:
				step(event{kind: evEnd})
			case resetting && rapid.Bool().Draw(t, "reset ends"):
				resetting = false
				step(event{kind: evReset, outcome: rapid.SampledFrom([]outcome{fine, faulty}).Draw(t, "outcome")})
			case m.free():
				w := rapid.SampledFrom([]work{workInput, workInput, workTimeout, workFlush}).Draw(t, "work")
				b.open = true
				if w == workInput {
					for range rapid.IntRange(1, 3).Draw(t, "rows") {
						inputs++
						b.work = append(b.work, inputs)
					}
				}
				step(event{kind: evWork, work: w, now: vtime.MonoFromNS(int64(inputs) * 1e7)})
			default:
				e := answerOf(t, m.phase)
				e.bound = len(b.buffered) > 0 || rapid.IntRange(0, 3).Draw(t, "timeout") == 0
				step(e)
			}
		}
		if m.phase != ended {
			step(event{kind: evEnd})
		}
		if m.phase != ended {
			step(answerOf(t, m.phase))
		}
		if m.phase != ended || b.open || b.alive || silent > 0 {
			t.Fatalf("at the end %v, open %v, alive %v; %d reports under IGNORE", m.phase, b.open, b.alive, silent)
		}
		for i := 1; i <= inputs; i++ {
			if b.acked[i]+b.nacked[i] != 1 {
				t.Fatalf("input %d: %d times success, %d times failure", i, b.acked[i], b.nacked[i])
			}
		}
	})
}

func answerOf(t *rapid.T, p phase) event {
	e := event{kind: map[phase]eventKind{loading: evLoaded, creating: evCreated, calling: evReturned, saving: evSaved, storing: evStored, renewing: evRenewed}[p]}
	e.memory = rapid.Uint64Range(0, 9).Draw(t, "memory")
	can := map[phase][]outcome{
		loading: {fine, fine, fine, faulty}, creating: {fine, fine, fine, lost, faulty, stopped},
		calling: {fine, fine, fine, refused, rejected, invalid, lost, faulty, stopped}, saving: {fine, fine, fine, rejected, lost, faulty, stopped},
		storing: {fine, fine, faulty}, renewing: {fine, fine, lost, faulty, stopped},
	}[p]
	e.outcome = rapid.SampledFrom(can).Draw(t, "outcome")
	if p == calling {
		e.emitted = rapid.Bool().Draw(t, "emitted")
		e.reset = rapid.IntRange(0, 5).Draw(t, "reset") == 0
	}
	return e
}

// SPDX-License-Identifier: Apache-2.0

package guests

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nervix-go/nervix/test/nodes"
	"github.com/nervix-go/nervix/wasm/engine/watguest"
	"github.com/nervix-go/nervix/wasm/protocol"
)

// single is a module that does one thing, to whatever rows it gets.
type single struct {
	name         string
	guest        watguest.Guest
	fuel, memory string
	// fails is stage and code for each of two branches with two rows each, empty for none; last is that of the flush after them.
	fails, last string
}

// forever never ends; burn is a loop of n rounds.
const forever = "(loop $ever (br $ever))"

func burn(n int) string {
	return fmt.Sprintf("(local $n i32) (local.set $n (i32.const %d)) (loop $l (local.set $n (i32.sub (local.get $n) (i32.const 1))) (br_if $l (local.get $n)))", n)
}

// acknowledge answers each batch with nothing and keeps it, so that it fails in no way.
var keeps = map[string]string{"nervix_process_batch": "i32.const 0", "nervix_alloc": growing}

// growing is an nervix_alloc that makes room at 1024, as the whole of memory.
const growing = `(local $need i32)
  (local.set $need (i32.shr_u (i32.add (local.get 0) (i32.const 66559)) (i32.const 16)))
  (if (i32.gt_u (local.get $need) (memory.size)) (then (drop (memory.grow (i32.sub (local.get $need) (memory.size))))))
  i32.const 1024`

func starts(code string) watguest.Guest {
	return watguest.Guest{Bodies: keeps, Extra: "(func $start " + code + ") (start $start)"}
}

func initializes(code string) watguest.Guest {
	return watguest.Guest{Bodies: keeps, Extra: `(func (export "_initialize") ` + code + ")"}
}

func singles() []single {
	start := string(protocol.StageInstantiation)
	with := func(name, body string) watguest.Guest {
		g := watguest.Guest{Bodies: map[string]string{}}
		for k, v := range keeps {
			g.Bodies[k] = v
		}
		g.Bodies[name] = body
		return g
	}
	most := func(name string, n int) watguest.Guest {
		g := with(name, fmt.Sprintf("i32.const %d", n))
		g.Memory = "1100"
		return g
	}
	return []single{
		{name: "start_traps", guest: starts("unreachable"), fails: start + " wasm.trap"},
		{name: "start_spins", guest: starts(forever), fails: start + " wasm.fuel"},
		{name: "start_recurses", guest: starts("(call $start)"), fails: start + " wasm.trap"},
		{name: "start_grows", guest: starts("(drop (memory.grow (i32.const 200)))"), fails: start + " wasm.memory"},
		{name: "start_reads_nowhere", guest: starts("(drop (i32.load (i32.const -8)))"), fails: start + " wasm.trap"},
		{name: "start_fills", guest: starts("(loop $l (memory.fill (i32.const 0) (i32.const 0) (i32.const 65536)) (br $l))"), fuel: "100000", fails: start + " wasm.fuel"},
		// A start function has a budget of its own (W-015), and asks for nothing.
		{name: "start_burns_half", guest: watguest.Guest{Bodies: map[string]string{"nervix_init": burn(250_000) + "i32.const 0", "nervix_process_batch": "i32.const 0"},
			Extra: "(func $start " + burn(250_000) + ") (start $start)"}, fuel: "3000000"},
		{name: "start_asks", guest: starts("(if (i64.ne (call $after (i64.const 1)) (i64.const -1)) (then unreachable)) (if (i32.ne (call $reset) (i32.const -9)) (then unreachable))")},
		{name: "initialize_traps", guest: initializes("unreachable"), fails: start + " wasm.trap"},
		{name: "initialize_spins", guest: initializes(forever), fails: start + " wasm.fuel"},
		{name: "data_outside", guest: watguest.Guest{Bodies: keeps, Extra: `(data (i32.const 131070) "abcd")`}, fails: start + " wasm.trap"},
		{name: "elements_outside", guest: watguest.Guest{Bodies: keeps, Extra: `(table 1 funcref) (func $f) (elem (i32.const 1) $f)`}, fails: start + " wasm.trap"},
		{name: "memory_of_its_own_limit", guest: func() watguest.Guest {
			g := with("nervix_process_batch", "(if (i32.ne (memory.grow (i32.const 2)) (i32.const -1)) (then unreachable)) i32.const 0")
			g.Memory = "2 3"
			return g
		}()},
		{name: "growth_of_another_memory", guest: func() watguest.Guest {
			g := with("nervix_process_batch", "(drop (memory.grow $b (i32.const 100))) (drop (memory.grow $b (i32.const 27))) i32.const 0")
			g.Memories = "(memory $b 0)"
			return g
		}(), fails: string(protocol.StageBatch) + " wasm.memory"},
		{name: "mirror", guest: watguest.Guest{Bodies: map[string]string{"nervix_alloc": growing}}, fails: string(protocol.StageOutput) + " wasm.message"},
		// The edges of 64 MiB: what is there is taken and judged, one byte more is not read.
		{name: "emit_of_64_mib", guest: most("nervix_read_emit", protocol.MaxBuffer), memory: "70MiB", fails: string(protocol.StageOutput) + " wasm.output"},
		{name: "emits_for_ever", guest: with("nervix_read_emit", "i32.const 1"), fails: string(protocol.StageOutput) + " wasm.output"},
		{name: "emit_above_64_mib", guest: most("nervix_read_emit", protocol.MaxBuffer+1), memory: "70MiB", fails: string(protocol.StageBatch) + " wasm.buffer",
			last: string(protocol.StageFlush) + " wasm.buffer"},
		{name: "dump_of_64_mib", guest: most("nervix_dump_state", protocol.MaxBuffer), memory: "70MiB"},
		{name: "dump_above_64_mib", guest: most("nervix_dump_state", protocol.MaxBuffer+1), memory: "70MiB", fails: string(protocol.StageSnapshot) + " wasm.buffer"},
		// Nothing of the clock of the machine is there, and the domain's stands still during an operation (W-024).
		{name: "clock_stands", guest: with("nervix_process_batch", `(local $t i64) (local $n i32) (local.set $t (call $now)) (local.set $n (i32.const 1000))
		  (loop $l (if (i64.ne (local.get $t) (call $now)) (then unreachable)) (local.set $n (i32.sub (local.get $n) (i32.const 1))) (br_if $l (local.get $n))) i32.const 0`)},
	}
}

// TestSinglePurposeGuests runs a processor for each of them over one relay.
func TestSinglePurposeGuests(t *testing.T) {
	t.Parallel()
	// req: W-015
	// req: W-017
	// req: W-024
	// req: W-044
	// req: W-120
	// req: W-246
	// req: W-253 half: instantiation among others
	all := singles()
	files := []file{{"calm.wasm", wat(t, calmPuppet())}}
	for _, s := range all {
		files = append(files, file{s.name + ".wasm", module(t, s.guest)})
	}
	w := start(t)
	a := w.arena(t, "singles", arenaOptions{files: files})
	a.define(processor{name: "calm", file: "calm.wasm", routes: "TO calm ON MESSAGE ERROR LOG"}.text())
	for _, s := range all {
		a.define(processor{name: s.name, file: s.name + ".wasm", detached: true, fuel: s.fuel, memory: s.memory, routes: "TO out ON MESSAGE ERROR LOG"}.text())
	}
	beds := []string{"a", "b"}
	a.feed(item{"a", ""}, item{"b", ""}, item{"a", ""}, item{"b", ""})
	a.Do("START")
	a.Finish("feed") // the good processor is attached
	for _, s := range all {
		nodes.Eventually(t, s.name+" was given all rows", func() bool { return a.describe(s.name).Rows.Given == 4 })
	}
	a.Do("STOP")
	var texts []string
	for _, s := range all {
		failures := a.failures(s.name)
		for _, bed := range beds {
			var want, got []string
			if s.fails != "" {
				want = []string{s.fails, s.fails}
			}
			if s.last != "" {
				want = append(want, s.last)
			}
			for _, f := range of(failures, bed) {
				stage, _, _ := strings.Cut(strings.TrimPrefix(f.Message, "wasm processor '"+s.name+"' "), " failed (branch "+fingerprint(bed)+", resource 'modules' version 1 file '"+s.name+".wasm'")
				got = append(got, stage+" "+f.Code)
				texts = append(texts, strings.ReplaceAll(f.Message, fingerprint(bed), "FINGERPRINT"))
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s: %s", s.name, d)
			}
		}
	}
	golden(t, "singles.txt", compact(texts))
	w.node.Stop()
}

// compact keeps the first of lines that repeat.
func compact(lines []string) (out []string) {
	known := map[string]bool{}
	for _, l := range lines {
		if !known[l] {
			known[l] = true
			out = append(out, l)
		}
	}
	return out
}

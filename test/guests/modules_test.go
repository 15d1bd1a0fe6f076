// SPDX-License-Identifier: Apache-2.0

package guests

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/nervix-go/nervix/test/nodes"
	"github.com/nervix-go/nervix/wasm/engine/watguest"
)

// notGuests are files that CREATE WASM PROCESSOR must refuse, by their names in the resource.
func notGuests(t *testing.T) map[string][]byte {
	good := wat(t, puppet())
	elf, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	types := func(name, typ, body string) watguest.Guest {
		return watguest.Guest{Types: map[string]string{name: typ}, Bodies: map[string]string{name: body}}
	}
	extra := func(text string) []byte { return module(t, watguest.Guest{Extra: text}) }
	imports := func(text string) []byte { return module(t, watguest.Guest{Imports: text}) }
	all := map[string][]byte{
		"empty": nil, "text": []byte("(module)\n"), "one byte": {0}, "magic alone": good[:4], "header alone": good[:8],
		"elf": elf[:min(len(elf), 1<<20)], "component": append([]byte("\x00asm\x0d\x00\x01\x00"), good[8:]...), "version 2": append([]byte("\x00asm\x02\x00\x00\x00"), good[8:]...),
		"zeros": make([]byte, 4096), "header and zeros": append(slices.Clone(good[:8]), make([]byte, 4096)...),
		"huge section":                append(slices.Clone(good), 0, 0xff, 0xff, 0xff, 0xff, 0x0f),
		"section of many types":       append(slices.Clone(good[:8]), 1, 0x05, 0xff, 0xff, 0xff, 0xff, 0x0f),
		"section twice":               append(slices.Clone(good), 1, 1, 0),
		"code that is no code":        append(slices.Clone(good[:len(good)/2]), good[len(good)/2+3:]...),
		"wasi":                        imports(`(import "wasi_snapshot_preview1" "fd_write" (func (param i32 i32 i32 i32) (result i32)))`),
		"wasi exit":                   imports(`(import "wasi_unstable" "proc_exit" (func (param i32)))`),
		"unknown import":              imports(`(import "env" "nervix_wall_time" (func (result i64)))`),
		"import of another module":    imports(`(import "host" "nervix_domain_time_nanos" (func (result i64)))`),
		"import of another type":      imports(`(import "env" "nervix_domain_time_nanos" (func (result i32)))`),
		"import of a memory":          imports(`(import "env" "memory" (memory 1))`),
		"import of a global":          imports(`(import "env" "nervix_request_state_reset" (global i32))`),
		"no memory":                   module(t, watguest.Guest{Omit: []string{"memory"}}),
		"memory that is too large":    module(t, watguest.Guest{Memory: "129"}),
		"memories that are too large": module(t, watguest.Guest{Memory: "100", Memories: "(memory 20) (memory 9)"}),
		"five memories":               module(t, watguest.Guest{Memories: "(memory 1) (memory 1) (memory 1) (memory 1)"}),
		"64-bit memory":               module(t, watguest.Guest{Memories: "(memory $b i64 1)"}),
		"shared memory":               module(t, watguest.Guest{Memories: "(memory $b 1 1 shared)"}),
		"large table":                 extra("(table 70000 funcref)"),
		"tail calls":                  extra("(func $t (result i32) (return_call $t))"),
		"atomics":                     extra("(func (drop (i32.atomic.load (i32.const 0))))"),
		"relaxed SIMD":                extra("(func (param v128 v128) (result v128) (i8x16.relaxed_swizzle (local.get 0) (local.get 1)))"),
		"large function":              module(t, watguest.With("nervix_flush", strings.Repeat("nop ", 1<<20)+"i32.const 0")),
	}
	for _, name := range watguest.Exports() {
		all["without "+name] = module(t, watguest.Guest{Omit: []string{name}})
		all["other type of "+name] = module(t, types(name, "(param f32) (result i32)", "unreachable"))
		all["global "+name] = module(t, watguest.Guest{Omit: []string{name}, Extra: `(global (export "` + name + `") i32 (i32.const 0))`})
	}
	channel := []string{"nervix_global_error_ptr", "nervix_global_error_len", "nervix_clear_global_error"}
	for set := 1; set < 7; set++ {
		g := watguest.Guest{Errors: true}
		for k, name := range channel {
			if set>>k&1 == 0 {
				g.Omit = append(g.Omit, name)
			}
		}
		all[fmt.Sprintf("part %d of the error channel", set)] = module(t, g)
	}
	for _, name := range channel {
		g := types(name, "(result i64)", "i64.const 0")
		g.Errors = true
		all["other type of "+name] = module(t, g)
	}
	for _, n := range []int{9, 50, 500, len(good) - 1} {
		all[fmt.Sprintf("the first %d bytes", n)] = good[:n]
	}
	return all
}

// TestFilesThatAreNoGuests gives a processor each of them. It is refused with the cause, and nothing is created and nothing runs.
func TestFilesThatAreNoGuests(t *testing.T) {
	t.Parallel()
	// req: A09
	// req: W-001
	// req: W-035
	// req: W-095 half: what loads is in the engine's tests
	// req: W-246
	// req: W-251
	// req: W-253 half: the stage module compilation
	// req: W-254 half: the export
	w := start(t)
	bad := notGuests(t)
	files := []file{{"good.wasm", wat(t, puppet())}}
	var names []string
	for name, content := range bad {
		names = append(names, name)
		files = append(files, file{name + ".wasm", content})
	}
	slices.Sort(names)
	a := w.arena(t, "refusals", arenaOptions{files: files})
	var texts []string
	for _, name := range names {
		text := a.Refused(processor{name: "p", file: name + ".wasm"}.text())
		texts = append(texts, name+": "+text)
	}
	texts = append(texts, "no file: "+a.Refused(processor{name: "p", file: "nowhere.wasm"}.text()), "outside: "+a.Refused(processor{name: "p", file: "../good.wasm"}.text()),
		"no version: "+a.Refused(strings.Replace(processor{name: "p", file: "good.wasm"}.text(), "VERSION 1", "VERSION 2", 1)))
	golden(t, "refusals.txt", texts)
	a.Refused("DESCRIBE WASM PROCESSOR p") // there is none
	a.define(processor{name: "p", file: "good.wasm"}.text())
	a.feed(item{"a", ""})
	a.Do("START")
	a.Finish("feed")
	if got := a.counts("out"); len(got["a"]) != 1 {
		t.Errorf("the good guest: %v", got)
	}
	w.node.Stop()
}

// TestMutatedModules gives processors modules of which some bytes were changed. Each is refused with a cause, or runs as any other guest.
func TestMutatedModules(t *testing.T) {
	t.Parallel()
	// req: A09
	w := start(t)
	random := rand.New(rand.NewPCG(6, 3))
	seed := wat(t, puppet())
	var files []file
	for n := range soak(60, 600) {
		files = append(files, file{fmt.Sprintf("m%d.wasm", n), mutate(random, seed)})
	}
	a := w.arena(t, "mutated", arenaOptions{files: append(files, file{"calm.wasm", wat(t, calmPuppet())})})
	a.define(processor{name: "calm", file: "calm.wasm", detached: true, routes: "TO calm ON MESSAGE ERROR LOG"}.text())
	got := 0
	for n, f := range files {
		out, err := a.Try(processor{name: fmt.Sprintf("m%d", n), file: f.name, detached: true, fuel: "100000"}.text())
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Diagnostics) == 0 {
			got++
			continue
		}
		if d := out.Diagnostics[0]; !strings.HasPrefix(string(d.Code), "wasm.") || !strings.Contains(d.Message, "' module compilation failed (resource 'modules' version 1 file '"+f.name+"'): ") {
			t.Errorf("%s: %v", f.name, out.Diagnostics)
		}
	}
	if got < len(files)/50 {
		t.Errorf("%d of %d got in", got, len(files))
	}
	t.Logf("%d of %d got in", got, len(files))
	for range 20 {
		a.feed(item{"a", "p(x)"}, item{"b", ""}, item{"c", "p(k" + says("why") + ")"})
	}
	a.Do("START")
	a.Finish("feed")
	nodes.Eventually(t, "the good processor carried all", func() bool { return len(a.came("calm")) == 60 })
	a.Do("STOP")
	w.node.Stop()
}
